"""What a run gives: the keys of its JSON as attributes, and data frames of them."""

from __future__ import annotations

import json
import tomllib
from copy import deepcopy
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from types import UnionType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
SCALARS = (bool, int, float, str)


@dataclass(frozen=True, slots=True)
class Latency:
    """Completion latency, in picoseconds."""

    count: int
    """How many requests these are."""
    mean: float
    p50: int
    p95: int
    p99: int
    p99_9: int
    p99_99: int
    max: int


@dataclass(frozen=True, slots=True)
class LatencyByKind:
    """Completion latency of all requests, of reads, of writes and of flushes; None where there were none."""

    all: Latency | None
    read: Latency | None
    write: Latency | None
    flush: Latency | None


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Where the latency of a request goes, in picoseconds; the parts add up to the whole."""

    count: int
    """How many requests these are the mean of."""
    host: float
    cache: float
    """In the device cache: the DRAM at work or busy, and waiting for room in it."""
    map_wait: float
    """Waiting for an entry of the map."""
    die_wait: float
    path_wait: float
    array: float
    transfer: float
    behind_gc: float


@dataclass(frozen=True, slots=True)
class BreakdownByPart:
    """The breakdown of the mean latency, and of the mean over the slowest requests."""

    mean: Breakdown | None
    tail: Breakdown | None


@dataclass(frozen=True, slots=True)
class GarbageCollection:
    """What garbage collection and wear levelling did."""

    collections: int
    """Blocks emptied, those of wear levelling included."""
    wear_moves: int
    """Of these, by static wear levelling."""
    translation_collections: int
    """Of all, blocks of translation pages."""
    pages_moved: int
    pages_copied: int
    """Of these, sent from chip to chip without a controller."""
    erases: int


@dataclass(frozen=True, slots=True)
class FlashOperations:
    """What the flash array did for requests, in pages."""

    pages_written: int
    """Those that requests wrote, wherever they went first."""
    user_reads: int
    user_programs: int
    partial_write_reads: int
    """Pages read to complete writes of a part of them."""
    map_reads: int
    """Translation pages read."""
    map_programs: int
    """Translation pages programmed."""
    multi_plane_operations: int
    suspensions: int
    """Programs and erases set aside for reads."""


@dataclass(frozen=True, slots=True)
class MappingCache:
    """What the cache of the map did."""

    entries: int
    """Entries it can hold."""
    hit_share: float | None
    hits: int
    misses: int
    """Entries for which a translation page was read."""
    joined_misses: int
    """Entries not found whose translation page was being read, or written back, already."""
    waits_for_room: int
    """Misses that waited for a write-back to make room."""
    evictions: int
    write_backs: int
    """Translation pages that were to be written back."""
    write_backs_without_read: int


@dataclass(frozen=True, slots=True)
class CauseOfConflicts:
    """Path conflicts with one thing in the way."""

    transfers: int
    """Transfers that waited."""
    requests: int
    """Requests with such a transfer."""
    wait_ps: int
    """Time waited, summed over the transfers."""


@dataclass(frozen=True, slots=True)
class CausesOfConflicts:
    """Path conflicts by what was in the way; a request counts under each cause that one of its transfers met."""

    channel: CauseOfConflicts
    """The channel, or the pins of the chip, carried something else."""
    controller: CauseOfConflicts
    """No controller that may serve the chip was free."""
    link: CauseOfConflicts
    """A link between routers carried something else."""


@dataclass(frozen=True, slots=True)
class PathConflict:
    """Shares that found their path free at the first try; None where nothing was transferred."""

    requests_free_share: float | None
    transfers_free_share: float | None
    transfers: int
    wait_ps: int
    """Time that transfers waited for a path, summed."""
    causes: CausesOfConflicts
    """The same by what was in the way."""


@dataclass(frozen=True, slots=True)
class Scouts:
    """What the scouts of Venice did."""

    sent: int
    failed: int
    """Of these, came back without a path."""
    steps: int
    """Links that scouts crossed in search of a path, forward and back."""
    misroutes: int
    """Of these, forward over a link that does not lead nearer to the chip."""
    backtracks: int
    """Of these, back to the router or controller that the scout came from."""
    circuit_lengths: tuple[int, ...]
    """Circuits set up, by their number of links from 0 on, those of the controller and the chip included."""


@dataclass(frozen=True, slots=True)
class Queue:
    """What the queue of one stream held."""

    commands: int
    """Commands that went through it, from issue to completion."""
    occupancy_mean: float
    """Commands in it, on average over the run."""


@dataclass(frozen=True, slots=True)
class Statuses:
    """Commands by how they ended."""

    success: int
    invalid_opcode: int
    invalid_field: int
    invalid_namespace: int
    lba_out_of_range: int


@dataclass(frozen=True, slots=True)
class Host:
    """What crossed between host and drive."""

    interface: str
    """As `host.interface` names it."""
    queues: tuple[Queue, ...]
    """By stream."""
    submission_doorbells: int
    completion_doorbells: int
    bytes_to_drive: int
    """Those of packets included, as the following."""
    bytes_to_host: int
    statuses: Statuses


@dataclass(frozen=True, slots=True)
class CacheLookups:
    """Pages looked up in the device cache: all of a page was there, some of it, or nothing."""

    hits: int
    partial_hits: int
    misses: int


@dataclass(frozen=True, slots=True)
class DeviceCache:
    """What the device cache did, in pages."""

    capacity_pages: int
    reads: CacheLookups
    writes: CacheLookups
    """Of streams whose writes it takes."""
    fills: int
    """Brought from flash by reads, and kept."""
    destages: int
    """Written to flash."""
    evictions: int
    """Forgotten to make room for others."""
    waits: int
    """Written pages that waited for room, or behind others that did."""
    wait_ps: int
    """How long those waited that went on, summed."""
    dirty_pages_max: int
    dirty_pages_end: int
    dram_share: float
    """Busy share of the DRAM."""


@dataclass(frozen=True, slots=True)
class PowerCut:
    """What a cut of the power did."""

    at_ps: int
    capacitors: bool
    requests_lost: int
    """In flight, and never completed."""
    dirty_pages: int
    """In the cache, with sectors that flash lacked."""
    dirty_bytes: int
    pages_programmed: int
    """From then on, with capacitors."""
    duration_ps: int
    """How long that took."""
    energy_j: float
    """What the drive drew for it."""
    pages_lost: int
    """Acknowledged to the host and lost, in whole or in part, without capacitors."""
    bytes_lost: int
    programs_lost: int
    """Pages that were being programmed."""


@dataclass(frozen=True, slots=True)
class Utilisation:
    """Shares of the simulated time, from 0 to 1, that resources were busy."""

    link_to_drive: float
    link_to_host: float
    adapter: float | None
    """In the host, for SATA: the busier of its two ways."""
    links: tuple[float, ...]
    """Each link of the fabric, in the order of `Links.names`: bytes on the move."""
    controllers: tuple[float, ...]
    """Each flash controller: with a transfer, or setting up its path."""
    dies: tuple[float, ...]
    """Each die, by row of chips, busy with anything."""
    links_mean: float
    controllers_mean: float
    dies_mean: float
    dies_gc_mean: float
    """With garbage collection and wear levelling."""


@dataclass(frozen=True, slots=True)
class Links:
    """What each link of the fabric carried."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    """What it connects: channel, controller, mesh or chip."""
    busy_ps: tuple[int, ...]
    bytes_to_chips: tuple[int, ...]
    bytes_from_chips: tuple[int, ...]
    bytes_between_chips: tuple[int, ...]
    hops: int
    """Links crossed, summed over the transfers."""
    hops_mean: float | None


@dataclass(frozen=True, slots=True)
class Bound:
    """What bounds the run: the resource, the share of time it was busy, and a sentence that says so."""

    resource: str
    share: float
    sentence: str


@dataclass(frozen=True, slots=True)
class LowerBound:
    """The least time that the work of the run takes, by the part that needs it; None where a part is no resource."""

    makespan_ps: int
    limit: str
    """The part that needs that time."""
    distance: float | None
    """How much longer the run took, as a share of the bound."""
    dies_ps: int
    chips_ps: int | None
    rows_ps: int | None
    controllers_ps: int | None
    link_to_drive_ps: int
    link_to_host_ps: int
    adapter_ps: int | None
    dram_ps: int | None
    arrivals_ps: int | None


@dataclass(frozen=True, slots=True)
class Constant:
    """A figure that a result rests on, with where it comes from."""

    name: str
    value: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True)
class Energy:
    """The energy of the events of the run by what took it, in joules."""

    total: float
    read: float
    program: float
    erase: float
    channels: float
    """Channels that several chips share."""
    links: float
    """Links with one driver at either end."""
    routers: float
    controllers: float


@dataclass(frozen=True, slots=True)
class DrivePower:
    """What the drive drew, by two measures that are not to be mixed: of events, and nominal."""

    energy_j: Energy
    average_w: float | None
    """The energy of events for each second of simulated time."""
    nominal_w: float
    """The power of the drive with all of its parts at work, however long the run took."""
    nominal_energy_j: float
    """The papers' own measure: nominal power times execution time."""
    constants: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """How many links there are, by what they connect."""

    channel: int
    controller: int
    mesh: int
    chip: int


@dataclass(frozen=True, slots=True)
class DriveArea:
    """What the interconnect is made of, and the room it takes."""

    links: LinkCounts
    wires: int
    controllers: int
    routers: int
    links_saved_share: float | None
    """The share of the area of the bus's channels that the links save; None where nobody states their area."""
    chips_mm2: float
    added_inside_mm2: float
    added_beside_mm2: float
    constants: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class StreamResult:
    """What became of one stream; its rates count up to its last completion."""

    name: str
    requests: int
    makespan_ps: int
    """From the start to its last completion."""
    iops: float
    bandwidth_bytes_per_s: float
    latency_ps: LatencyByKind
    breakdown_ps: BreakdownByPart
    workload: dict[str, Any] | None
    """As `Result.workload`."""


@dataclass(frozen=True, slots=True)
class StreamFairness:
    """What the other streams do to one; None where it completed nothing."""

    name: str
    together_ps: float | None
    """Its mean latency beside the others."""
    alone_ps: float | None
    """Its mean latency on the same drive without them."""
    slowdown: float | None
    """The first over the second."""


@dataclass(frozen=True, slots=True)
class Fairness:
    """How evenly streams slow one another down."""

    streams: tuple[StreamFairness, ...]
    slowdown_max: float | None
    fairness: float | None
    """The least slowdown over the largest: 1 when all streams suffer alike."""
    unfairness: float | None
    """The largest slowdown over the least."""


@dataclass(frozen=True, slots=True)
class StretchUtilisation:
    """Shares of the time of a stretch, from 0 to 1, that resources were busy; means over all of a kind."""

    link_to_drive: float
    link_to_host: float
    links_mean: float
    dies_mean: float
    dies_gc_mean: float
    """With garbage collection and wear levelling."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a stretch of the run came to, such as an epoch; a request belongs to the one in which it completed."""

    start_ps: int
    end_ps: int
    requests: int
    iops: float
    bandwidth_bytes_per_s: float
    latency_ps: LatencyByKind
    write_amplification: float | None
    gc: GarbageCollection
    flash: FlashOperations
    mapping_hit_share: float | None
    """Share of the entries wanted that the cache of the map had."""
    occupancy_mean: float
    """Commands in the queues of all streams, on average."""
    utilisation: StretchUtilisation


@dataclass(frozen=True, slots=True)
class Drift:
    """How much a measure changes over five rounds, as shares of its mean."""

    range: float
    """The largest less the least."""
    slope: float
    """What the straight line that fits best rises, or falls, from the first round to the last."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """How much the measured window changes over five rounds, each a fifth of its requests."""

    iops: Drift
    latency: Drift


@dataclass(frozen=True, slots=True)
class MeasuredStream:
    """What one stream did behind the warm-up; its rates count up to its last completion."""

    name: str
    requests: int
    iops: float
    bandwidth_bytes_per_s: float
    latency_ps: LatencyByKind


@dataclass(frozen=True, slots=True)
class Measured(Stretch):
    """What came behind the warm-up."""

    steady: bool | None
    """Whether throughput and latency of the rounds are steady as the SNIA has it; None after too few requests."""
    rounds: Rounds | None
    streams: tuple[MeasuredStream, ...]


@dataclass(frozen=True, slots=True)
class WarmUp:
    """How the warm-up ended."""

    how: str
    """What was to end it, as `measure.warm-up` names it."""
    converged: bool
    """Whether it ended. Where the run itself was to tell and did not, the second half is measured nevertheless."""
    ended_ps: int | None
    requests: int
    """Requests that completed during it."""
    batch_requests: int | None
    """Requests in a batch, which the end is a multiple of, where the run itself told."""


@dataclass(frozen=True)
class Result:
    """The measures of one run, named as in its JSON."""

    requests: int
    makespan_ps: int
    iops: float
    bandwidth_bytes_per_s: float
    latency_ps: LatencyByKind
    breakdown_ps: BreakdownByPart
    write_amplification: float | None
    gc: GarbageCollection
    flash: FlashOperations
    mapping_cache: MappingCache | None
    """None when the whole map is in DRAM."""
    path_conflict: PathConflict
    scouts: Scouts | None
    """None on fabrics other than Venice."""
    host: Host
    cache: DeviceCache | None
    """None when it is turned off."""
    power_cut: PowerCut | None
    """None when none came."""
    utilisation: Utilisation
    links: Links
    bound: Bound
    lower_bound: LowerBound
    power: DrivePower
    area: DriveArea
    wall_s: float
    requests_per_wall_s: float
    peak_rss_bytes: int | None
    config_hash: str
    seed: int
    version: str
    interrupted: bool
    streams: tuple[StreamResult, ...]
    """The results of each stream; one of a run without several streams."""
    warm_up: WarmUp | None
    """None where there was to be none."""
    measured: Measured | None
    """What came behind the warm-up; None where there was to be none, or nothing came."""
    epochs: tuple[Stretch, ...]
    """The run in stretches of equal length; none unless `measure.epoch` is set."""
    workload: dict[str, Any] | None
    """What the workload is, by its `kind`: synthetic, a profile with its name, a trace with what its scan found; None
    where there are several streams.
    """
    fairness: Fairness | None
    """None when the streams were not run alone as well."""
    config: str = field(repr=False)
    """Every parameter of the run, as TOML."""
    document: dict[str, Any] = field(repr=False, compare=False)
    """The JSON document itself."""

    @classmethod
    def from_json(cls, text: str, config: str) -> Result:
        """The result behind the JSON of a run under a configuration, given as TOML."""
        document = {"fairness": None} | json.loads(text)
        return _build(cls, document | {"config": config, "document": document})

    def with_fairness(self, fairness: Fairness) -> Result:
        """The same result with what running the streams alone has shown."""
        document = self.document | {"fairness": asdict(fairness)}
        return replace(self, fairness=fairness, document=document)

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter of the run, as tables."""
        return tomllib.loads(self.config)

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return deepcopy(self.document)

    def to_json(self) -> str:
        """The JSON document as text, ending with a new line."""
        return json.dumps(self.document, indent=2) + "\n"

    def frame(self) -> pd.DataFrame:
        """One row; the columns are the keys of the JSON with dots, without the lists."""
        import pandas as pd

        return pd.DataFrame([columns(self)])

    def epochs_frame(self) -> pd.DataFrame:
        """A row for each epoch; the columns are the keys of its JSON with dots."""
        import pandas as pd

        rows = [_columns(Stretch, epoch) for epoch in self.epochs]
        return pd.DataFrame(rows, columns=list(_columns(Stretch, None)))

    def latency_frame(self) -> pd.DataFrame:
        """Completion latency in picoseconds: a row for all, read, write and flush, a column for each statistic."""
        import pandas as pd

        kinds = {kind.name: getattr(self.latency_ps, kind.name) for kind in fields(LatencyByKind)}
        names = [statistic.name for statistic in fields(Latency)]
        rows = {kind: asdict(latency) if latency else dict.fromkeys(names) for kind, latency in kinds.items()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=names).astype(float).rename_axis("kind")

    def breakdown_frame(self) -> pd.DataFrame:
        """Where latency goes, in picoseconds: a row for each part, the columns mean and tail."""
        import pandas as pd

        names = [part.name for part in fields(Breakdown) if part.name != "count"]
        columns = {part.name: getattr(self.breakdown_ps, part.name) for part in fields(BreakdownByPart)}
        values = {name: asdict(part) if part else dict.fromkeys(names) for name, part in columns.items()}
        return pd.DataFrame(values, index=names).astype(float).rename_axis("part")

    def utilisation_frame(self) -> pd.DataFrame:
        """Busy shares: a row for each resource, with its kind, its index and its share."""
        import pandas as pd

        rows: list[tuple[str, int, float]] = [("link_to_drive", 0, self.utilisation.link_to_drive)]
        rows.append(("link_to_host", 0, self.utilisation.link_to_host))
        rows += [("link", index, share) for index, share in enumerate(self.utilisation.links)]
        rows += [("controller", index, share) for index, share in enumerate(self.utilisation.controllers)]
        rows += [("die", index, share) for index, share in enumerate(self.utilisation.dies)]
        return pd.DataFrame(rows, columns=["resource", "index", "share"])


def columns(result: Result) -> dict[str, Any]:
    """The single values of a result by their dotted key, the same keys for every result."""
    return _columns(Result, result)


def _columns(kind: type, value: Any) -> dict[str, Any]:
    """The single values of a dataclass by their dotted key; None for all of them where there is none."""
    flat: dict[str, Any] = {}

    def add(kind: Any, value: Any, prefix: str) -> None:
        for name, hint in get_type_hints(kind).items():
            part, inner = None if value is None else getattr(value, name), _inner(hint)
            if is_dataclass(inner):
                add(inner, part, f"{prefix}{name}.")
            elif inner in SCALARS and name != "config":
                flat[prefix + name] = part

    add(kind, value, "")
    return flat


def _build(kind: type[T], document: dict[str, Any]) -> T:
    """A dataclass out of the JSON object with its keys; further keys are left to `Result.document`."""
    hints = get_type_hints(kind)
    return kind(**{name: _value(hint, document[name]) for name, hint in hints.items()})


def _value(hint: Any, value: Any) -> Any:
    inner = _inner(hint)
    if value is None and inner is not hint:
        return None
    if is_dataclass(inner) and isinstance(inner, type):
        return _build(inner, value)
    if get_origin(inner) is tuple:
        return tuple(_value(get_args(inner)[0], item) for item in value)
    return value


def _inner(hint: Any) -> Any:
    """The type that an optional type makes optional; any other type as it is."""
    if get_origin(hint) is UnionType:
        return next(part for part in get_args(hint) if part is not type(None))
    return hint
