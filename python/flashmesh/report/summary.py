"""Summary of a run: first the results, then their causes."""

from __future__ import annotations

import math
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from flashmesh.report import quantities as q
from flashmesh.report.notes import recordings, scarce
from flashmesh.report.notes.capacity import spare_space
from flashmesh.report.notes.preemption import delaying_collections
from flashmesh.report.notes.throttle import foreign_throttle
from flashmesh.report.sections import (
    cache,
    chips,
    headline,
    interconnect,
    mapping,
    over_time,
    power_loss,
    replication,
    slc,
)
from flashmesh.report.sections.utilisation import BAR, utilisation
from flashmesh.report.streams import depth, slowdowns
from flashmesh.report.streams.bottleneck import bound_sentence
from flashmesh.report.streams.kinds import mixed_kinds
from flashmesh.report.streams.replay import phases
from flashmesh.results import Breakdown, Latency, LatencyByKind
from flashmesh.running.steady import uncertain_streams

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from flashmesh.report.terminal import Terminal
    from flashmesh.results import CauseOfConflicts, Confidence, Interval, Result

KINDS = tuple(kind.name for kind in fields(LatencyByKind) if kind.name != "all")
STATISTICS = {name: name.replace("_", ".") for name in ("mean", "p50", "p95", "p99", "p99_9", "p99_99", "max")}
"""Latency statistics that a summary shows, with their names in tables; results have more percentiles."""
PARTS = {
    "host": "host queue and link",
    "firmware": "firmware",
    "cache": "device cache",
    "map_wait": "waiting for the map",
    "die_wait": "waiting for the die",
    "path_wait": "waiting for the path",
    "array": "array",
    "transfer": "transfer",
    "behind_gc": "garbage collection",
}
CAUSES = {"channel": "channel taken", "controller": "controllers taken", "link": "links on the way taken"}
LIMITS = {
    "dies": "the busiest die needs",
    "chips": "the pins of the busiest chip need",
    "rows": "the channel of the busiest row needs",
    "mesh-links": "the busiest link between routers needs",
    "controllers": "the controllers need",
    "link-to-drive": "the link to the drive needs",
    "link-to-host": "the link to the host needs",
    "adapter": "the SATA adapter needs",
    "firmware": "the cores of the firmware need",
    "dram": "the DRAM of the cache needs",
    "arrivals": "the requests take to arrive",
}
WIDTH = 80
"""Width of a summary in characters, which fits any terminal, file and mail."""
TIMES_MIN = 10.0
"""Minimum distance to the bound, as a share, that a summary states as a multiple instead of a percentage."""
SETUP_SHOWN_S = 0.05
"""Minimum setup time in seconds that a summary mentions."""


def show(result: Result, terminal: Terminal) -> None:
    """Prints the summary of a run."""
    terminal.print(*sections(result, terminal))


def sections(result: Result, terminal: Terminal) -> Iterator[RenderableType]:
    """Yields the parts of the summary, from top to bottom."""
    yield Text(title(result), style="bold")
    span = headline.window(result)
    yield Text(f"{subject(result)}: {span}" if subject(result) else span)
    if ignored_stamps(result):
        yield Text('The time stamps of the trace were ignored; with replay.mode = "open" requests arrive at them.')
    if result.interrupted:
        yield Text("Interrupted: these figures cover what was simulated until then.", style="bold yellow")
    elif result.document.get("complete") is False:
        told = "Interrupted: this run has finished, but no further one that --until-steady or --fairness asked for."
        yield Text(told, style="bold yellow")
    if result.warm_up is not None and result.measured is None:
        yield over_time.not_warm(result.warm_up)
    for told in (headline.missed_rate(result), headline.verdict(result)):
        if told:
            yield Text(told, style="bold yellow")
    if told := over_time.imprecise(result):
        yield Text(told, style="bold yellow")
    # If a stream ended early, the interval is wide for that reason, and a longer run would not narrow it.
    wide = "" if slowdowns.ended_early(result) else headline.wide(result)
    notes = (wide, headline.unwritten(result), scarce.note(result.document), spare_space(result))
    for told in (*notes, foreign_throttle(result.document), delaying_collections(result.document)):
        if told:
            yield Text(told, style="yellow")
    if (count := phases(result.parameters)) > 1:
        yield Text(
            f"The streams run in {count} phases, one after the other: figures of all streams together mix the phases.",
            style="yellow",
        )
    for sentence in recordings.cut(result.document):
        yield Text(sentence, style="yellow")
    yield Text()
    measured = result.measured
    of = result.window
    yield throughput(of, result.confidence)
    yield Text()
    yield Text("completion latency", style="bold")
    yield latency(of, result.confidence, terminal)
    yield Text()
    if len(result.streams) > 1:
        yield streams(result, terminal) if measured is None else over_time.streams(measured, result.streams, terminal)
        yield Text()
    if result.epochs:
        yield from over_time.epochs(result.epochs, terminal)
        yield Text()
    if result.fairness is not None:
        yield from slowdowns.shown(result, result.fairness, terminal)
        yield Text()
    yield Text("Why", style="bold")
    yield Text(bound_sentence(result.document), style="bold cyan")
    if measured is None:
        yield Text(lower_bound(result))
    yield Text()
    yield breakdown(result, terminal)
    yield Text()
    if measured is not None:
        yield pairs(over_time.work(measured, result.confidence))
        yield Text()
        yield Text("The whole run, its warm-up included", style="bold")
        yield Text(lower_bound(result))
        yield Text()
    yield from utilisation(result, terminal)
    yield Text()
    yield flash(result)
    yield Text()
    parts = [*chips.rows(result), *mapping.rows(result), *cache.rows(result), *slc.rows(result)]
    parts += [*power_loss.rows(result), *replication.rows(result)]
    yield pairs([*parts, *interconnect.scouts(result), *interconnect.rows(result)])
    yield Text()
    yield Text(cost(result), style="dim")


def title(result: Result) -> str:
    """Returns the title of a summary: drive and state, workload, and how requests are issued."""
    parameters = result.parameters
    # A stepped or served drive has no workload, since its requests come from outside.
    is_stepped = all(stream.workload is None for stream in result.streams)
    asked = "" if is_stepped else headline.workload(parameters)
    issued = "requests of a program" if is_stepped else replay(result, "" if asked else "requests ")
    told = f"{asked}, {issued}" if asked else issued
    is_steady = result.steadiness.steady and not uncertain_streams(result.document)
    return f"flashmesh {result.version}: {headline.drive(parameters, is_steady=is_steady)}; {told}"


def subject(result: Result) -> str:
    """Returns the source of the requests as text; empty for generated requests of a single stream."""
    match result.workload:
        case {"kind": "trace", "file": file}:
            return f"trace {file}"
        case {"kind": "fitted", "file": file}:
            return f"fitted profile {file}"
        case {"kind": "profile", "name": name}:
            return f"workload {name}"
        case _:
            return f"{len(result.streams)} streams" if len(result.streams) > 1 else ""


def replay(result: Result, noun: str) -> str:
    """Describes when requests are issued, with the replay mode; `noun` names the requests."""
    parameters = result.parameters
    streams: dict[str, Any] = parameters.get("stream") or {"host": parameters}
    found = list(dict.fromkeys(replay_mode(stream, noun) for stream in streams.values()))
    if len(found) == 1:
        return found[0] if len(streams) == 1 else f"in each of {len(streams)} streams {found[0]}"
    modes = dict.fromkeys(stream["replay"]["mode"] for stream in streams.values())
    return f"{' and '.join(modes)} replay"


def replay_mode(stream: dict[str, Any], noun: str) -> str:
    """Describes when the requests of a stream are issued, with the replay mode."""
    settings = stream["replay"]
    match settings["mode"]:
        case "open":
            scale = settings["time-scale"]
            is_trace = stream.get("workload", {}).get("kind") == "trace"
            at = "at the time stamps of the trace" if is_trace else "at times of their own"
            scaled = "" if scale == 1 else f", times {scale:g}"
            return f"{noun}{at}{scaled} (open replay)"
        case "closed":
            threads = settings["threads"]
            waiting = "1 thread that waits" if threads == 1 else f"{threads} threads that wait"
            return f"{waiting} for each request (closed replay)"
        case _:
            count = settings["outstanding"]
            counted = noun.replace("requests", "request") if count == 1 else noun
            return f"{count} {counted}always in flight (stress replay)"


def ignored_stamps(result: Result) -> bool:
    """Returns whether the replay mode of a stream ignores the time stamps of its trace."""
    parameters = result.parameters
    streams: dict[str, Any] = parameters.get("stream") or {"host": parameters}
    return any(
        streams[stream.name]["replay"]["mode"] != "open"
        and isinstance(stream.workload, dict)
        and stream.workload.get("span_ps", 0) > 0
        for stream in result.streams
        if stream.name in streams
    )


def throughput(result: Result | Interval, confidence: Confidence) -> Text:
    """Returns IOPS and bandwidth with their 95 % intervals, as one line."""
    text = Text()
    rates = (
        ("IOPS ", q.scaled(result.iops), result.iops, confidence.iops),
        (
            "   bandwidth ",
            q.bandwidth(result.bandwidth_bytes_per_s),
            result.bandwidth_bytes_per_s,
            confidence.bandwidth_bytes_per_s,
        ),
    )
    for name, shown, value, interval in rates:
        text.append(name).append(shown, style="bold green")
        if told := headline.interval_text(interval, value):
            text.append(f" {told}")
    return text


def latency(result: Result | Interval, confidence: Confidence, terminal: Terminal) -> RenderableType:
    """Returns a table of completion latencies: a row for each kind of request, and below it the 95 % intervals."""
    table = terminal.table("", *STATISTICS.values(), gap=0)
    for kind in kinds(result):
        found: Latency = getattr(result.latency_ps, kind)
        table.add_row(f"{kind} ({q.scaled(found.count)})", *(q.time(getattr(found, name)) for name in STATISTICS))
        intervals = getattr(confidence.latency_ps, kind, None)
        told = [
            headline.interval_text(getattr(intervals, name, None), getattr(found, name)) if intervals else ""
            for name in STATISTICS
        ]
        if any(told):
            table.add_row("  95 %", *told, style="dim")
    return table


def streams(result: Result, terminal: Terminal) -> RenderableType:
    """Returns a table of the streams.

    Below each stream are the 95 % intervals, and its reads, writes and flushes if it has several of them.
    """
    table = terminal.table("stream", "requests", "ended at", "IOPS", "bandwidth", "mean", "p99", "p99.9", gap=0)
    for stream in result.streams:
        ended = q.time(stream.makespan_ps)
        table.add_row(stream.name, q.scaled(stream.requests), ended, *over_time.stream_figures(stream))
        if any(told := over_time.stream_intervals(stream, stream.confidence)):
            table.add_row("  95 %", "", "", *told, style="dim")
        for of in mixed_kinds(stream):
            table.add_row(*over_time.kind_cells(of, ""))
    return table


def kinds(result: Result | Interval) -> list[str]:
    """Returns the kinds of requests with latencies.

    `all` comes first if its latencies differ from those of every kind.
    """
    by_kind = result.latency_ps
    found = [kind for kind in KINDS if getattr(by_kind, kind) is not None]
    together = by_kind.all is not None and all(by_kind.all != getattr(by_kind, kind) for kind in KINDS)
    return ["all", *found] if together else found


def has_part(result: Result, part: str) -> bool:
    """Returns whether the drive has the component that causes a part of the latency."""
    match part:
        case "firmware":
            return result.utilisation.firmware is not None
        case "cache":
            return result.cache is not None
        case "map_wait":
            return result.mapping_cache is not None
        case _:
            return True


def breakdown(result: Result, terminal: Terminal) -> RenderableType:
    """Returns a table of the parts of the mean latency and of the slowest 1 %.

    Reads and writes have a column each if both occur.
    """
    means: dict[str, Breakdown | None] = {"mean": result.breakdown_ps.mean}
    of_window = result.measured.breakdown_ps if result.measured is not None else None
    read = of_window.read if of_window is not None else result.breakdown_ps.read.mean
    write = of_window.write if of_window is not None else result.breakdown_ps.write.mean
    if of_window is not None:
        means = {"mean": of_window.mean}
    if read is not None and write is not None:
        means = {"reads": read, "writes": write}
    columns = {**means, "tail 1 %": result.breakdown_ps.tail}
    bar = BAR if len(columns) < 3 else 0
    names = [cell for name in columns for cell in ((name, "", "") if bar else (name, ""))]
    table = terminal.table("where latency goes", *names, gap=1)
    if bar:
        for index in (3, 6):
            table.columns[index].justify = "left"
            table.columns[index].width = BAR
    for part, name in PARTS.items():
        if not has_part(result, part):
            continue
        cells: list[str] = []
        for column in columns.values():
            value, whole = (0.0, 0.0) if column is None else (getattr(column, part), total(column))
            of = value / whole if whole else 0.0
            cells += [q.NONE if column is None else q.time(value), "" if column is None else f"{of:.0%}"]
            cells += [terminal.bar(of, BAR)] if bar else []
        is_idle = all(cell in ("0", "0%", "", q.NONE) for cell in cells)
        table.add_row(name, *cells, style="dim" if is_idle else None)
    return table


def total(breakdown: Breakdown) -> float:
    """Returns the sum of the parts of a latency, in picoseconds."""
    return math.fsum(getattr(breakdown, part) for part in PARTS)


def flash(result: Result) -> RenderableType:
    """Returns rows on write amplification, garbage collection, starvation, failed commands and path conflicts."""
    gc, conflict = result.gc, result.path_conflict
    copied = f" ({q.count(gc.pages_copied)} from chip to chip)" if gc.pages_copied else ""
    rows = [
        (
            "garbage collection",
            f"{q.count(gc.collections)} collections, {q.count(gc.pages_moved)} pages moved{copied}, "
            f"{q.count(gc.erases)} erases",
        )
    ]
    if result.write_amplification is not None:
        rows.insert(0, ("write amplification", f"{result.write_amplification:.2f}"))
    if gc.pages_reallocated:
        rows.append(("", f"{q.count(gc.pages_reallocated)} pages of read-intensive areas reallocated"))
    if gc.collections:
        rows.append(("", f"{q.share(result.utilisation.dies_gc_mean)} of the dies' time"))
    if gc.turns:
        each = q.time(gc.turns_ps / gc.turns)
        rows.append(("", f"{q.count(gc.turns)} turns before stripes of the cache, {each} each"))
    if skipped := result.flash.units_skipped:
        why = "too few pages had gathered (ftl.gather-timeout)"
        rows.append(("partly filled programs", f"{q.count(skipped)} mapping units left empty: {why}"))
    rows += starved(result)
    rows += refused(result)
    if conflict.requests_free_share is not None:
        free = f"{q.share(conflict.requests_free_share)} of requests"
        if conflict.transfers_free_share is not None:
            free += f", {q.share(conflict.transfers_free_share)} of transfers"
        rows.append(("no wait for a path", free))
    for name, cause in CAUSES.items():
        found: CauseOfConflicts = getattr(conflict.causes, name)
        if found.transfers:
            waited = q.time(found.wait_ps / found.transfers)
            requests = f"{q.count(found.requests)} requests"
            rows.append((f"  {cause}", f"{q.count(found.transfers)} transfers of {requests}, {waited} each"))
    return pairs(rows)


def starved(result: Result) -> list[tuple[str, str]]:
    """Returns a row for reads or writes that went before waiting operations of the other kind because of their age.

    From the age of `schedule.age-bound` on, an operation is overdue, and the scheduler prefers it.
    """
    bound = result.parameters["schedule"].get("age-bound")
    if bound == "0ps":
        # With an age bound of 0, every waiting operation is overdue, even without starvation.
        return []
    counts = {"writes": result.flash.overdue_programs, "reads": result.flash.overdue_reads}
    return [
        (
            f"starving {kind}",
            f"{q.count(count)} operations had waited for {bound} (schedule.age-bound), so that they went before"
            f" {other}",
        )
        for (kind, count), other in zip(counts.items(), reversed(counts), strict=True)
        if count
    ]


def refused(result: Result) -> list[tuple[str, str]]:
    """Returns (status, number of requests) rows for requests that ended with an error; empty if all succeeded."""
    ended = asdict(result.host.statuses)
    del ended["success"]
    return [
        (f"ended with {status.replace('_', ' ')}", f"{q.count(count)} requests")
        for status, count in ended.items()
        if count
    ]


def lower_bound(result: Result) -> str:
    """Returns a sentence that compares the run time with the minimum time that the work takes."""
    bound = result.lower_bound
    if bound.distance is None:
        return "no work, so no minimum time (no distance to the bound)"
    least = q.time(bound.makespan_ps)
    took = f"took {q.share(bound.distance)} longer than"
    if bound.distance >= TIMES_MIN:
        took = f"took {bound.distance + 1:,.0f} times"
    if bound.limit == "arrivals" and depth.missed(result.document):
        return f"{took} the {least} that the rate asks for (distance to the bound)"
    return f"{took} the {least} that {LIMITS[bound.limit]} at least (distance to the bound)"


def pairs(rows: Sequence[tuple[str, str]]) -> RenderableType:
    """Returns a table of two columns without headings."""
    grid = Table.grid(padding=(0, 2))
    for row in rows:
        grid.add_row(*row)
    return grid


def cost(result: Result) -> str:
    """Describes the cost of the simulation in one line: wall time, request rate and memory."""
    wall, memory = f"{result.wall_s:.3g} s", q.memory(result.peak_rss_bytes)
    rate = q.scaled(result.requests_per_wall_s)
    setup = result.setup.total_seconds() if result.setup is not None else 0.0
    before = f" after {setup:.3g} s of setup" if setup >= SETUP_SHOWN_S else ""
    return f"took {wall}{before} ({rate} requests/s), peak memory {memory}, configuration {result.config_hash[:16]}"
