"""flashmesh: an SSD simulator for the people who design drives.

    >>> import flashmesh
    >>> config = flashmesh.Config(preset="z-nand", workload=flashmesh.Workload(requests=10_000))
    >>> flashmesh.run(config).requests
    10000
    >>> comparison = flashmesh.compare(config, {"fabric.kind": ["bus", "ideal"]})
    >>> list(comparison.frame()["path_conflict.requests_free_share"] == 1.0)
    [False, True]

`run` simulates one drive, `compare` several that differ in the keys it is told to vary. A configuration is typed as
here, the path of a file, "preset:NAME", or tables as nested mappings.
"""

from flashmesh._native import (
    CheckError,
    ConfigError,
    FlashmeshError,
    InternalError,
    OutputError,
    WorkloadError,
    __version__,
    describe_profile,
    presets,
    profiles_by_paper,
)
from flashmesh._parameters import (
    Config,
    Fabric,
    Flash,
    Ftl,
    Gc,
    Geometry,
    Host,
    Measure,
    Namespace,
    Packets,
    Power,
    Precondition,
    Queue,
    Replay,
    Schedule,
    Stream,
    Wear,
    Workload,
)
from flashmesh.comparison import ComparedRun, Comparison
from flashmesh.configuration import ConfigSource, TomlTables
from flashmesh.execution import Interrupted, Progress
from flashmesh.fitting import (
    TraceComparison,
    TraceFigure,
    compare_profile,
    compare_traces,
    fit_trace,
    generate_trace,
)
from flashmesh.results import (
    Bound,
    Breakdown,
    BreakdownByPart,
    CauseOfConflicts,
    CausesOfConflicts,
    Constant,
    Drift,
    DriveArea,
    DrivePower,
    Energy,
    Fairness,
    FlashOperations,
    GarbageCollection,
    Latency,
    LatencyByKind,
    LinkCounts,
    Links,
    LowerBound,
    Measured,
    MeasuredStream,
    PathConflict,
    Result,
    Rounds,
    Scouts,
    StreamFairness,
    StreamResult,
    Stretch,
    StretchUtilisation,
    Utilisation,
    WarmUp,
)
from flashmesh.simulate import compare, run
from flashmesh.traces import TraceConversion, TraceSummary, TraceTally, convert_trace, trace_summary

__all__ = [
    "Bound",
    "Breakdown",
    "BreakdownByPart",
    "CauseOfConflicts",
    "CausesOfConflicts",
    "CheckError",
    "ComparedRun",
    "Comparison",
    "Config",
    "ConfigError",
    "ConfigSource",
    "Constant",
    "Drift",
    "DriveArea",
    "DrivePower",
    "Energy",
    "Fabric",
    "Fairness",
    "Flash",
    "FlashOperations",
    "FlashmeshError",
    "Ftl",
    "GarbageCollection",
    "Gc",
    "Geometry",
    "Host",
    "InternalError",
    "Interrupted",
    "Latency",
    "LatencyByKind",
    "LinkCounts",
    "Links",
    "LowerBound",
    "Measure",
    "Measured",
    "MeasuredStream",
    "Namespace",
    "OutputError",
    "Packets",
    "PathConflict",
    "Power",
    "Precondition",
    "Progress",
    "Queue",
    "Replay",
    "Result",
    "Rounds",
    "Schedule",
    "Scouts",
    "Stream",
    "StreamFairness",
    "StreamResult",
    "Stretch",
    "StretchUtilisation",
    "TomlTables",
    "TraceComparison",
    "TraceConversion",
    "TraceFigure",
    "TraceSummary",
    "TraceTally",
    "Utilisation",
    "WarmUp",
    "Wear",
    "Workload",
    "WorkloadError",
    "__version__",
    "compare",
    "compare_profile",
    "compare_traces",
    "convert_trace",
    "describe_profile",
    "fit_trace",
    "generate_trace",
    "presets",
    "profiles",
    "profiles_by_paper",
    "run",
    "trace_summary",
]


def profiles() -> list[str]:
    """The names of the published workloads, and of the mixes of them."""
    return [name for summaries in profiles_by_paper().values() for name in summaries]
