"""flashmesh: an SSD simulator for drive designers.

    >>> import flashmesh
    >>> config = flashmesh.Config(preset="venice-z-nand", workload=flashmesh.Workload(requests=10_000))
    >>> flashmesh.run(config).requests
    10000
    >>> comparison = flashmesh.compare(config, {"fabric.kind": ["bus", "ideal"]})
    >>> list(comparison.frame()["path_conflict.requests_free_share"] == 1.0)
    [False, True]

`run` simulates one drive, `compare` several that differ in varied keys. A configuration is typed as above, the path of
a file, "preset:NAME", or nested mappings.
"""

from importlib import import_module

# Importing `typing` is slow, and the command line can handle signals only once this package is loaded.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from flashmesh._native import (
        CheckError as CheckError,
        ConfigError as ConfigError,
        FlashmeshError as FlashmeshError,
        InternalError as InternalError,
        OutputError as OutputError,
        PolicyError as PolicyError,
        WorkloadError as WorkloadError,
        __version__ as __version__,
        describe_profile as describe_profile,
        presets as presets,
        profiles_by_paper as profiles_by_paper,
    )
    from flashmesh._parameters import (
        Area as Area,
        Cache as Cache,
        Config as Config,
        Fabric as Fabric,
        Firmware as Firmware,
        Flash as Flash,
        Ftl as Ftl,
        Gc as Gc,
        Geometry as Geometry,
        Host as Host,
        Mapping as Mapping,
        Mbm as Mbm,
        Measure as Measure,
        Namespace as Namespace,
        Nossd as Nossd,
        Nvme as Nvme,
        Packets as Packets,
        Persistence as Persistence,
        Pnssd as Pnssd,
        Policy as Policy,
        Power as Power,
        Precondition as Precondition,
        Queue as Queue,
        Replay as Replay,
        Replication as Replication,
        Sata as Sata,
        Schedule as Schedule,
        Stream as Stream,
        Slc as Slc,
        Superblock as Superblock,
        Venice as Venice,
        Wear as Wear,
        Workload as Workload,
    )
    from flashmesh.asking.answer import Answer as Answer
    from flashmesh.asking.engine import ask as ask
    from flashmesh.comparison import (
        ComparedRun as ComparedRun,
        Comparison as Comparison,
        FailedRun as FailedRun,
    )
    from flashmesh.configuration import (
        ConfigSource as ConfigSource,
        TomlTables as TomlTables,
    )
    from flashmesh.execution import (
        Interrupted as Interrupted,
        Progress as Progress,
        Unwritten as Unwritten,
    )
    from flashmesh.fitting import (
        TraceComparison as TraceComparison,
        TraceFigure as TraceFigure,
        TraceGeneration as TraceGeneration,
        compare_profile as compare_profile,
        compare_traces as compare_traces,
        fit_trace as fit_trace,
        generate_trace as generate_trace,
    )
    from flashmesh.html import write_report as write_report
    from flashmesh.importers.mqsim import (
        MqsimImport as MqsimImport,
        import_mqsim as import_mqsim,
    )
    from flashmesh.results import (
        Bound as Bound,
        Breakdown as Breakdown,
        BreakdownByPart as BreakdownByPart,
        CacheLookups as CacheLookups,
        CauseOfConflicts as CauseOfConflicts,
        CausesOfConflicts as CausesOfConflicts,
        Constant as Constant,
        DeviceCache as DeviceCache,
        Distribution as Distribution,
        DistributionByKind as DistributionByKind,
        Drift as Drift,
        DriveArea as DriveArea,
        DrivePower as DrivePower,
        Energy as Energy,
        Fairness as Fairness,
        FlashOperations as FlashOperations,
        GarbageCollection as GarbageCollection,
        Latency as Latency,
        LatencyByKind as LatencyByKind,
        LinkCounts as LinkCounts,
        Links as Links,
        LowerBound as LowerBound,
        MappingCache as MappingCache,
        Measured as Measured,
        MeasuredStream as MeasuredStream,
        NetworkRecording as NetworkRecording,
        PathConflict as PathConflict,
        PowerCut as PowerCut,
        Provenance as Provenance,
        RecordedHold as RecordedHold,
        RecordedRequest as RecordedRequest,
        RecordedScoutStep as RecordedScoutStep,
        RecordedTransfer as RecordedTransfer,
        Result as Result,
        Rounds as Rounds,
        Scouts as Scouts,
        StreamFairness as StreamFairness,
        StreamResult as StreamResult,
        Interval as Interval,
        IntervalUtilisation as IntervalUtilisation,
        TraceTally as TraceTally,
        Utilisation as Utilisation,
        WarmUp as WarmUp,
        WorkloadFile as WorkloadFile,
    )
    from flashmesh.library import (
        explain as explain,
        measures as measures,
    )
    from flashmesh.saved import (
        load as load,
    )
    from flashmesh.simulate import (
        compare as compare,
        run as run,
    )
    from flashmesh.stepping import (
        Completions as Completions,
        Drive as Drive,
        Op as Op,
        Status as Status,
    )
    from flashmesh.sweeps.front import (
        optimise as optimise,
        sweep as sweep,
    )
    from flashmesh.traces import (
        LeftOut as LeftOut,
        TraceConversion as TraceConversion,
        TraceSummary as TraceSummary,
        convert_trace as convert_trace,
        trace_summary as trace_summary,
    )

_HOMES = {
    "flashmesh._native": (
        "CheckError",
        "ConfigError",
        "FlashmeshError",
        "InternalError",
        "OutputError",
        "PolicyError",
        "WorkloadError",
        "__version__",
        "describe_profile",
        "presets",
        "profiles_by_paper",
    ),
    "flashmesh._parameters": (
        "Area",
        "Cache",
        "Config",
        "Fabric",
        "Firmware",
        "Flash",
        "Ftl",
        "Gc",
        "Geometry",
        "Host",
        "Mapping",
        "Mbm",
        "Measure",
        "Namespace",
        "Nossd",
        "Nvme",
        "Packets",
        "Persistence",
        "Pnssd",
        "Policy",
        "Power",
        "Precondition",
        "Queue",
        "Replay",
        "Replication",
        "Sata",
        "Schedule",
        "Stream",
        "Slc",
        "Superblock",
        "Venice",
        "Wear",
        "Workload",
    ),
    "flashmesh.asking.answer": ("Answer",),
    "flashmesh.asking.engine": ("ask",),
    "flashmesh.comparison": (
        "ComparedRun",
        "Comparison",
        "FailedRun",
    ),
    "flashmesh.configuration": (
        "ConfigSource",
        "TomlTables",
    ),
    "flashmesh.execution": (
        "Interrupted",
        "Progress",
        "Unwritten",
    ),
    "flashmesh.fitting": (
        "TraceComparison",
        "TraceFigure",
        "TraceGeneration",
        "compare_profile",
        "compare_traces",
        "fit_trace",
        "generate_trace",
    ),
    "flashmesh.html": ("write_report",),
    "flashmesh.importers.mqsim": (
        "MqsimImport",
        "import_mqsim",
    ),
    "flashmesh.results": (
        "Bound",
        "Breakdown",
        "BreakdownByPart",
        "CacheLookups",
        "CauseOfConflicts",
        "CausesOfConflicts",
        "Constant",
        "DeviceCache",
        "Distribution",
        "DistributionByKind",
        "Drift",
        "DriveArea",
        "DrivePower",
        "Energy",
        "Fairness",
        "FlashOperations",
        "GarbageCollection",
        "Latency",
        "LatencyByKind",
        "LinkCounts",
        "Links",
        "LowerBound",
        "MappingCache",
        "Measured",
        "MeasuredStream",
        "NetworkRecording",
        "PathConflict",
        "PowerCut",
        "Provenance",
        "RecordedHold",
        "RecordedRequest",
        "RecordedScoutStep",
        "RecordedTransfer",
        "Result",
        "Rounds",
        "Scouts",
        "StreamFairness",
        "StreamResult",
        "Interval",
        "IntervalUtilisation",
        "TraceTally",
        "Utilisation",
        "WarmUp",
        "WorkloadFile",
    ),
    "flashmesh.library": (
        "explain",
        "measures",
    ),
    "flashmesh.saved": ("load",),
    "flashmesh.simulate": (
        "compare",
        "run",
    ),
    "flashmesh.stepping": (
        "Completions",
        "Drive",
        "Op",
        "Status",
    ),
    "flashmesh.sweeps.front": (
        "optimise",
        "sweep",
    ),
    "flashmesh.traces": (
        "LeftOut",
        "TraceConversion",
        "TraceSummary",
        "convert_trace",
        "trace_summary",
    ),
}
"""Public names of the package, by the module that defines them. A module is imported on the first use of one of its
names, so that programs load only what they use."""
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}
__all__ = ["profiles", *_HOME_OF]


if not TYPE_CHECKING:  # With this function, type checkers would accept any name of the module.

    def __getattr__(name: str) -> object:
        """Returns a public name of the package; imports the module that defines the name on first use."""
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value: object = getattr(import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """Returns the public names of the package, even if their modules are not imported yet."""
    return sorted({*globals(), *_HOME_OF})


def profiles() -> list[str]:
    """Returns the names of the published workloads, and of mixes of them."""
    from flashmesh._native import profiles_by_paper

    return [name for summaries in profiles_by_paper().values() for name in summaries]
