"""Section of a summary: the measured window after the warm-up, and the epochs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.text import Text

from flashmesh.report import quantities as q
from flashmesh.report.sections.headline import BEGIN_FULL, began_empty, interval_text
from flashmesh.report.streams import more_requests
from flashmesh.report.streams.kinds import mixed_kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import RenderableType

    from flashmesh._parameters import MeasurePrecisionOf
    from flashmesh.report.streams.kinds import OfKind
    from flashmesh.report.terminal import Terminal
    from flashmesh.results import (
        Confidence,
        ConfidenceInterval,
        Interval,
        Measured,
        MeasuredStream,
        Result,
        StreamConfidence,
        StreamResult,
        WarmUp,
    )

CELLS = 32
STATISTICS = ("mean", "p99", "p99_9")
"""Latency statistics of a stream that a summary shows."""
MEASURES: dict[str, tuple[Callable[[Interval], float | None], Callable[[float], str]]] = {
    "IOPS": (lambda epoch: epoch.iops, q.scaled),
    "bandwidth": (lambda epoch: epoch.bandwidth_bytes_per_s, q.bandwidth),
    "mean latency": (lambda epoch: epoch.latency_ps.all.mean if epoch.latency_ps.all else None, q.time),
    "p99 latency": (lambda epoch: epoch.latency_ps.all.p99 if epoch.latency_ps.all else None, q.time),
    "write amplification": (lambda epoch: epoch.write_amplification, lambda value: f"{value:.2f}"),
    "garbage collection": (lambda epoch: epoch.utilisation.dies_gc_mean, q.share),
}


def not_warm(found: WarmUp) -> Text:
    """Returns a warning that no request completed after the warm-up, so that figures are of the whole run."""
    why = (
        "nothing completed"
        if found.how == "auto"
        else f"the run ended within its warm-up, after {found.requests:,} requests"
    )
    return Text(f"NOT WARM: {why}; these figures are those of the whole run.", style="bold red")


def imprecise(result: Result) -> str:
    """Returns a warning that a figure is less precise than `measure.precision`; empty if it is precise enough."""
    found = result.precision
    if found is None or found.met:
        return ""
    wanted = f"+-{100 * found.wanted:.3g} %"
    more = f"more requests narrow it ({more_requests.keys(result.parameters)})."
    if began_empty(result):
        more = f"{BEGIN_FULL}, whose figures settle sooner."
    # The same text as beside the figure in the tables below, so that one figure has one interval.
    reached = interval_text(*precise_figure(result, found.of))
    if not reached:
        return f"NOT PRECISE: {found.of} is not known to {wanted}: there are too few requests to tell; {more}"
    return f"NOT PRECISE: {found.of} is known to {reached}, not to {wanted}; {more}"


def precise_figure(result: Result, of: MeasurePrecisionOf) -> tuple[ConfidenceInterval | None, float | None]:
    """Returns the interval and the value of the figure that `measure.precision-of` selects."""
    window, confidence = result.window, result.confidence
    match of:
        case "iops":
            return confidence.iops, window.iops
        case "bandwidth":
            return confidence.bandwidth_bytes_per_s, window.bandwidth_bytes_per_s
        case "write-amplification":
            return confidence.write_amplification, window.write_amplification
    name, of_latency = of.replace(".", "_"), window.latency_ps.all
    return getattr(confidence.latency_ps.all, name), getattr(of_latency, name) if of_latency else None


def work(window: Measured, confidence: Confidence) -> list[tuple[str, str]]:
    """Returns (name, text) rows on write amplification, die occupation and drift in the measured window."""
    rows = []
    if window.write_amplification is not None:
        told = interval_text(confidence.write_amplification, window.write_amplification)
        rows.append(("write amplification", f"{window.write_amplification:.2f} {told}".rstrip()))
    use = window.utilisation
    told = interval_text(confidence.dies_gc_mean, use.dies_gc_mean)
    rows.append(
        ("dies occupied", f"{q.share(use.dies_mean)} of the time: at work, or with data that waits for its path")
    )
    rows.append(("  by collection", f"{q.share(use.dies_gc_mean)} {told}".rstrip()))
    if window.rounds is None:
        return rows
    said = ", ".join(
        f"{name} range {q.share(one.range)}, slope {q.share(one.slope)}"
        for name, one in (("IOPS", window.rounds.iops), ("latency", window.rounds.latency))
    )
    return [*rows, ("drift (SNIA)", said)]


def streams(window: Measured, of_run: Sequence[StreamResult], terminal: Terminal) -> RenderableType:
    """Returns a table of the streams after the warm-up.

    Below each stream are the 95 % intervals from `of_run`, and its reads, writes and flushes if it has several of them.
    """
    table = terminal.table("stream", "requests", "IOPS", "bandwidth", "mean", "p99", "p99.9", gap=0)
    for stream, whole in zip(window.streams, of_run, strict=True):
        table.add_row(stream.name, q.scaled(stream.requests), *stream_figures(stream))
        if any(told := stream_intervals(stream, whole.confidence)):
            table.add_row("  95 %", "", *told, style="dim")
        for of in mixed_kinds(stream):
            table.add_row(*kind_cells(of))
    return table


def kind_cells(of: OfKind, *between: str) -> tuple[str, ...]:
    """Returns the cells of a row on one kind of requests of a stream; `between` follows the number of requests."""
    requests, rate = q.scaled(of.latency["count"]), q.scaled(of.iops)
    return f"  {of.kind}", requests, *between, rate, "", *of.latencies(STATISTICS)


def stream_figures(stream: MeasuredStream | StreamResult) -> tuple[str, ...]:
    """Returns IOPS, bandwidth, and mean, p99 and p99.9 of the latency of a stream."""
    found = stream.latency_ps.all
    latencies = (q.time(getattr(found, name)) if found else q.NONE for name in STATISTICS)
    return q.scaled(stream.iops), q.bandwidth(stream.bandwidth_bytes_per_s), *latencies


def stream_intervals(stream: MeasuredStream | StreamResult, confidence: StreamConfidence | None) -> tuple[str, ...]:
    """Returns the 95 % intervals of the figures in `stream_figures` as texts; empty texts without intervals."""
    found = stream.latency_ps.all
    if confidence is None or found is None:
        return ("",) * (2 + len(STATISTICS))
    of_latency = confidence.latency_ps.all
    return (
        interval_text(confidence.iops, stream.iops),
        interval_text(confidence.bandwidth_bytes_per_s, stream.bandwidth_bytes_per_s),
        *(interval_text(getattr(of_latency, name), getattr(found, name)) for name in STATISTICS),
    )


def epochs(found: Sequence[Interval], terminal: Terminal) -> Iterator[RenderableType]:
    """Yields a table of the measures over the epochs: minimum, maximum, and a line of blocks."""
    each = found[0].end_ps - found[0].start_ps
    scale = "" if terminal.blocks else " (9: the most)"
    table = terminal.table(f"{len(found)} epochs of {q.time(each)}", "least", "most", f"over time{scale}")
    table.columns[3].justify = "left"
    for name, (of, text) in MEASURES.items():
        values = [of(epoch) for epoch in found]
        known = [value for value in values if value is not None]
        most = max(known, default=0.0)
        if most > 0:
            table.add_row(name, text(min(known)), text(most), curve(values, most, terminal))
    yield table


def curve(values: Sequence[float | None], most: float, terminal: Terminal) -> str:
    """Returns a line of characters whose heights are the values relative to `most`.

    If there are more than `CELLS` values, each character is the mean of neighbouring values.
    """
    each = math.ceil(len(values) / CELLS)
    cells = []
    for at in range(0, len(values), each):
        known = [value for value in values[at : at + each] if value is not None]
        cells.append(terminal.heat([math.fsum(known) / len(known) / most]) if known else " ")
    return "".join(cells)
