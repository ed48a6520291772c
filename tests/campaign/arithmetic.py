"""Properties of every result, recomputed from the log of requests and the configuration.

These checks share no code with the simulator: counts, sums and percentiles are computed from the log by other means,
and the lowest latencies follow from the configuration by hand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from flashmesh.results import Result

PARTS = ("host", "firmware", "cache", "map_wait", "die_wait", "path_wait", "array", "transfer", "behind_gc")
KINDS = ("read", "write", "deallocate", "flush", "write_zeroes")
READ, WRITE, FLUSH = 0, 1, 3
SUCCESS = 0
PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p99_9": 0.999, "p99_99": 0.9999}
RESOLUTION = 1 / 128
"""Largest relative excess of a percentile over the exact value: histograms keep seven bits or more."""
CLOSE = 1e-6
STEPS = 4
"""Number of bits after the leading one to which the breakdown rounds a latency down."""
UNITS_PS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
RUN_MAX_PS = 2**63 - 1
"""Longest simulated time of a run. A run may exceed it by a few events."""
SUMMED = ("requests", "gc.collections", "gc.pages_moved", "gc.erases", "flash.user_reads", "flash.user_programs")
"""Counts whose sum over the epochs equals that of the run."""

Column = "npt.NDArray[Any]"


@dataclass
class Log:
    """The completed requests of a run, with a column for each field."""

    batches: list[dict[str, bytes]] = field(default_factory=list)

    def take(self, _rows: int, columns: dict[str, bytes]) -> None:
        """Appends a batch of requests, as the bytes of each column."""
        self.batches.append(columns)

    def column(self, name: str) -> npt.NDArray[Any]:
        """Returns all values of a field."""
        from flashmesh._results import REQUEST_COLUMNS

        types = {"uint64": np.uint64, "uint32": np.uint32, "bool": np.uint8, "name": np.int8, "stream": np.int8}
        kind = next(types[column.type] for column in REQUEST_COLUMNS if column.name == name)
        parts = [np.frombuffer(batch[name], dtype=kind) for batch in self.batches]
        joined: npt.NDArray[Any] = np.concatenate(parts) if parts else np.empty(0, dtype=kind)
        return joined


def picoseconds(text: str) -> int:
    """Returns a time of a configuration in picoseconds; 0 for a text without a unit."""
    found = re.fullmatch(r"([0-9.]+)(ps|ns|us|ms|s)", text)
    return round(float(found[1]) * UNITS_PS[found[2]]) if found else 0


def faults(result: Result, log: Log) -> Iterator[str]:
    """Yields a sentence for each violated property of a run."""
    yield from counted(result, log)
    yield from latencies(result, log)
    yield from breakdown(result, log)
    yield from cores(result, log)
    yield from destages(result)
    yield from least(result, log)
    yield from rates(result, log)
    yield from shares(result)
    yield from epochs(result)
    yield from power_loss(result)
    yield from reads(result)


def reads(result: Result) -> Iterator[str]:
    """Checks that the reads counted for collisions do not exceed the pages read, and copied pages not their maximum."""
    found, copies = result.collisions, result.replication
    of_requests, of_writes = result.flash.user_reads, result.flash.partial_write_reads
    # After a power cut or an interruption, reads that were queued at a die are counted for collisions, but were never
    # executed. So such a run is not checked.
    if found is not None and result.power_cut is None and not result.interrupted:
        # `found.reads` includes reads for partial writes or not, depending on `replication.counted-reads`. It does not
        # if it is less than both kinds of reads together.
        most = of_requests if found.reads < found.reads_of_writes + of_requests else of_requests + of_writes
        if found.reads > most:
            yield f"{found.reads} reads may collide, and {most} pages were read"
        if found.reads_of_writes > of_writes:
            yield f"{found.reads_of_writes} reads of writes may collide, and {of_writes} pages were read for them"
    if copies is not None and copies.copies_peak > copies.copies_max:
        yield f"{copies.copies_peak} pages had copies at once, and {copies.copies_max} may"


def counted(result: Result, log: Log) -> Iterator[str]:
    """Checks that each request is counted once, with an id, a time and an outcome."""
    ids, kinds, statuses = log.column("id"), log.column("kind"), log.column("status")
    if len(ids) != result.requests:
        yield f"the log has {len(ids)} requests, the result {result.requests}"
    if len(np.unique(ids)) != len(ids):
        yield "a request completed twice"
    tables = (result.parameters.get("stream") or {"": result.parameters}).values()
    ramps = [picoseconds(str(table["replay"]["ramp-time"])) for table in tables]
    streams = sum(stream.requests for stream in result.streams)
    if streams != result.requests and not any(ramps):
        yield f"the streams have {streams} requests, the run {result.requests}"
    completed = log.column("completed_ps")
    for number, (stream, ramp) in enumerate(zip(result.streams, ramps, strict=True)):
        of_stream = (log.column("stream_name") == number) & (completed >= stream.start_ps + ramp)
        if (own := int(of_stream.sum())) != stream.requests:
            yield f"the log has {own} requests of stream {stream.name}, the result {stream.requests}"
        last = int(log.column("completed_ps")[of_stream].max(initial=0))
        if stream.makespan_ps != last:
            yield f"stream {stream.name} ends at {stream.makespan_ps} ps, its last request completed at {last} ps"
    for number, status in enumerate(
        ("success", "invalid_opcode", "invalid_field", "invalid_namespace", "lba_out_of_range")
    ):
        told = getattr(result.host.statuses, status)
        if (own := int((statuses == number).sum())) != told:
            yield f"the log has {own} requests that ended with {status}, the result {told}"
    for name, number in (("read", READ), ("write", WRITE), ("flush", FLUSH)):
        own = int(((kinds == number) & (statuses == SUCCESS)).sum())
        summary = getattr(result.latency_ps, name)
        if own != (summary.count if summary else 0):
            yield f"the log has {own} {name}s that succeeded, the result {summary.count if summary else 0}"


def latencies(result: Result, log: Log) -> Iterator[str]:
    """Checks that the parts of each latency add up, that time never decreases, and that statistics match the log."""
    # Times can exceed 2^63 ps, so they stay unsigned.
    arrival, submitted, completed = (log.column(f"{name}_ps") for name in ("arrival", "submitted", "completed"))
    latency = completed - arrival
    parts = sum(log.column(f"{part}_ps") for part in PARTS)
    if np.any(parts != latency):
        yield f"the parts of {int(np.sum(parts != latency))} requests do not add up to their latencies"
    if np.any(submitted < arrival) or np.any(completed < submitted):
        yield "a request completed before it was submitted, or was submitted before it arrived"
    if np.any(completed[1:] < completed[:-1]):
        yield "the log is not in the order of completion"
    kinds, statuses = log.column("kind"), log.column("status")
    masks = {"all": np.ones(len(kinds), dtype=bool)}
    masks |= {
        name: (kinds == number) & (statuses == SUCCESS)
        for name, number in (("read", READ), ("write", WRITE), ("flush", FLUSH))
    }
    for name, mask in masks.items():
        summary = getattr(result.latency_ps, name)
        values = np.sort(latency[mask])
        if summary is None or not len(values):
            continue
        if abs(summary.mean - values.mean()) > CLOSE * max(values.mean(), 1):
            yield f"mean latency of {name}: {summary.mean} in the result, {values.mean()} in the log"
        deviation = float(np.sqrt(np.mean((values - values.mean()) ** 2)))
        if abs(summary.deviation - deviation) > CLOSE * max(deviation, values.mean() * CLOSE, 1):
            yield f"deviation of {name}: {summary.deviation} in the result, {deviation} in the log"
        if summary.max != values[-1]:
            yield f"longest latency of {name}: {summary.max} in the result, {values[-1]} in the log"
        for percentile, share in PERCENTILES.items():
            exact = int(values[max(int(np.ceil(share * len(values))) - 1, 0)])
            shown = getattr(summary, percentile)
            if not exact * (1 - RESOLUTION) - 1 <= shown <= exact * (1 + RESOLUTION) + 1:
                yield f"{percentile} of {name}: {shown} in the result, {exact} in the log"


def breakdown(result: Result, log: Log) -> Iterator[str]:
    """Checks that the mean parts of latency, over all or the slowest requests, match the log, even beyond 64 bits."""
    summary = result.latency_ps.all
    if summary is None:
        return
    latency = np.maximum(log.column("completed_ps") - log.column("arrival_ps"), 1 << STEPS)
    whole = {"mean": np.ones(len(latency), dtype=bool), "tail": latency >= rounded_down(int(summary.p99))}
    for name, mask in whole.items():
        told = getattr(result.breakdown_ps, name)
        if told is None or told.count != int(mask.sum()):
            yield f"breakdown.{name} is of {told and told.count} requests, the log has {int(mask.sum())} of them"
            continue
        for part in PARTS:
            own = sum(log.column(f"{part}_ps")[mask].tolist()) / told.count
            if not close(getattr(told, part), own):
                yield f"breakdown.{name}: {part} is {getattr(told, part)} ps in the result, {own} ps in the log"


def rounded_down(latency_ps: int) -> int:
    """Returns a latency, rounded down to 1/16 of a power of two."""
    latency_ps = max(latency_ps, 1 << STEPS)
    step = latency_ps.bit_length() - 1 - STEPS
    return latency_ps >> step << step


def cores(result: Result, log: Log) -> Iterator[str]:
    """Checks the busy time of the cores against the commands and completions in the log, and the pages collected."""
    busy = result.lower_bound.firmware_ps
    # Jobs that begin after the maximum run time take no core time, so longer runs are not compared.
    if busy is None or result.power_cut is not None or result.interrupted or result.makespan_ps > RUN_MAX_PS:
        return
    parameters = result.parameters
    firmware, gc = parameters["firmware"], parameters["gc"]
    kinds, sizes, offsets = log.column("kind"), log.column("size_bytes"), log.column("offset_bytes")
    times = {
        name: picoseconds(str(firmware[f"{name}-time"])) for name in ("read", "write", "other", "look-up", "completion")
    }
    unit = np.uint64(size_of(parameters["ftl"].get("mapping-unit") or parameters["geometry"]["page-size"]))
    moves_data = np.isin(kinds, (READ, WRITE)) & (sizes > 0)
    units = ((offsets % unit + sizes + unit - np.uint64(1)) // unit)[moves_data]
    of_kind = {READ: times["read"], WRITE: times["write"]}
    commands = sum(of_kind.get(int(kind), times["other"]) for kind in kinds)
    commands += times["look-up"] * sum(units.tolist()) + times["completion"] * len(kinds)
    through_cores = gc["move"] == "through-controller" and not gc["copyback"]
    # Pages that GC has read but not yet programmed are missing in `pages_moved`, but have used core time. So with GC
    # there is no upper bound. The log does not say in how many parts reads are split.
    collect = picoseconds(str(firmware["collect-time"])) if through_cores else 0
    moved = collect * result.gc.pages_moved
    is_exact = collect == 0 and picoseconds(str(firmware["split-time"])) == 0
    worked, most = busy * firmware["cores"], commands if is_exact else float("inf")
    # The busy time is a mean over the cores, rounded down.
    if not commands + moved - firmware["cores"] < worked <= most:
        yield f"cores worked {worked} ps, and commands and pages of the log take {commands} and {moved} ps"


def size_of(text: str) -> int:
    """Returns a size of a configuration in bytes; 0 for a text without a unit."""
    found = re.fullmatch(r"([0-9]+)(B|KiB|MiB|GiB)", text)
    return int(found[1]) << 10 * ("B", "KiB", "MiB", "GiB").index(found[2]) if found else 0


def destages(result: Result) -> Iterator[str]:
    """Checks that no more pages were destaged than programmed.

    Programs may exceed destages, since some programs have not been acknowledged at the end.
    """
    cache, programs = result.cache, result.flash.user_programs
    if cache is not None and cache.destages > programs:
        yield f"the cache sent {cache.destages} pages to flash, and {programs} were programmed for users"


def least(result: Result, log: Log) -> Iterator[str]:
    """Checks that no read is faster than the flash if every read goes to the flash."""
    parameters = result.parameters
    flash: dict[str, Any] = parameters["flash"]
    fastest = min(picoseconds(str(flash[key])) for key in flash if key.endswith("read-time"))
    uncached = parameters["cache"]["capacity"] == "0B"
    reads = (log.column("kind") == READ) & (log.column("status") == SUCCESS)
    array = log.column("array_ps")[reads]
    if uncached and len(array) and int(array.min()) < fastest:
        yield f"a read spent {int(array.min())} ps in the array, which takes {fastest} ps at least"


def rates(result: Result, log: Log) -> Iterator[str]:
    """Checks that rates are counts divided by the makespan.

    The makespan ends with the last completion, a flush, or a power cut.
    """
    if not result.makespan_ps:
        return
    seconds = result.makespan_ps / 1e12
    completed = log.column("completed_ps")
    if len(completed) and int(completed.max()) > result.makespan_ps:
        yield f"a request completed at {int(completed.max())} ps, behind the makespan of {result.makespan_ps} ps"
    if not close(result.iops, result.requests / seconds):
        yield f"IOPS are {result.iops}, and {result.requests} requests in {seconds} s are {result.requests / seconds}"
    moves = (log.column("status") == SUCCESS) & np.isin(log.column("kind"), (READ, WRITE))
    moved = float(log.column("size_bytes")[moves].sum())
    if not close(result.bandwidth_bytes_per_s, moved / seconds):
        yield f"bandwidth is {result.bandwidth_bytes_per_s}, and {moved} bytes in {seconds} s are {moved / seconds}"
    average_w = result.power.average_w or 0.0
    if not close(average_w * end_s(result), result.power.energy_j.total):
        yield f"energy is {result.power.energy_j.total} J, and {average_w} W for {end_s(result)} s are not"


def end_s(result: Result) -> float:
    """Returns the seconds over which the mean power is taken; 0 if the result has no mean power.

    These are the makespan, or more if the drive worked on after the last completion.
    """
    if not result.power.average_w:
        return 0.0
    end = result.power.energy_j.total / result.power.average_w
    # Only the time after the last completion can exceed the makespan.
    return end if end >= result.makespan_ps / 1e12 * (1 - CLOSE) else result.makespan_ps / 1e12


def shares(result: Result) -> Iterator[str]:
    """Checks that shares lie between 0 and 1, that means are right, and that the lower bound is below the makespan."""
    use = result.utilisation
    for name, each in (("links", use.links), ("controllers", use.controllers), ("dies", use.dies)):
        if any(not 0 <= share <= 1 for share in each):
            yield f"a share of {name} is outside 0 to 1"
        mean = getattr(use, f"{name}_mean")
        if each and not close(mean, sum(each) / len(each)):
            yield f"the mean share of {name} is {mean}, that of {len(each)} shares is {sum(each) / len(each)}"
    bound = result.lower_bound
    if bound.distance is not None and bound.distance < -CLOSE:
        yield f"the run took less than its work needs: {bound.distance:.3e}"
    parts = [getattr(bound, name) for name in vars_of(bound) if name.endswith("_ps") and name != "makespan_ps"]
    if bound.makespan_ps != max((part for part in parts if part is not None), default=0):
        yield f"the lower bound is {bound.makespan_ps} ps, the largest of its parts is not"
    if result.power_cut is not None and result.makespan_ps != result.power_cut.at_ps:
        yield f"the power was cut at {result.power_cut.at_ps} ps, and the run ends at {result.makespan_ps} ps"


def power_loss(result: Result) -> Iterator[str]:
    """Checks that counts of the journal agree, and that a recovery finds all pages and takes the sum of its steps."""
    kept, cut = result.persistence, result.power_cut
    journal = 0 if kept is None else kept.journal_pages
    if result.flash.journal_programs != journal:
        yield f"{result.flash.journal_programs} pages of journal were programmed, {journal} are told"
    recovery = None if cut is None else cut.recovery
    if recovery is None:
        return
    steps = recovery.steps
    taken = steps.blocks_ps + steps.system_ps + steps.map_ps + steps.open_ps
    if recovery.duration_ps != taken:
        yield f"the recovery takes {recovery.duration_ps} ps, its steps {taken} ps"
    if recovery.pages_lost:
        yield f"{recovery.pages_lost} pages that were programmed were not found"


def vars_of(value: Any) -> list[str]:
    """Returns the names of the fields of a dataclass."""
    from dataclasses import fields

    return [one.name for one in fields(value)]


def epochs(result: Result) -> Iterator[str]:
    """Checks that epochs cover the run without gaps, and that their counts add up to those of the run."""
    if not result.epochs:
        return
    if result.epochs[0].start_ps != 0:
        yield f"the first epoch begins at {result.epochs[0].start_ps} ps"
    for one, other in zip(result.epochs, result.epochs[1:], strict=False):
        if one.end_ps != other.start_ps:
            yield f"an epoch ends at {one.end_ps} ps, the next begins at {other.start_ps} ps"
            return
    for name in SUMMED:
        total, summed = of(result.document, name), sum(of(epoch, name) for epoch in result.document["epochs"])
        if total != summed:
            yield f"{name}: the epochs have {summed}, the run {total}"


def of(document: dict[str, Any], path: str) -> int:
    """Returns the count at a dotted key of a document."""
    for key in path.split("."):
        document = document[key]
    return int(document)  # type: ignore[call-overload, no-any-return]


def close(one: float, other: float) -> bool:
    """Returns whether two figures are equal except for rounding."""
    return abs(one - other) <= CLOSE * max(abs(one), abs(other), 1e-12)
