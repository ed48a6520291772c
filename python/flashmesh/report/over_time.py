"""How a run went on: what came behind its warm-up, and its epochs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.text import Text

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import RenderableType

    from flashmesh.report.terminal import Terminal
    from flashmesh.results import Interval, Measured, Result, WarmUp

CELLS = 32
MEASURES: dict[str, tuple[Callable[[Interval], float | None], Callable[[float], str]]] = {
    "IOPS": (lambda epoch: epoch.iops, q.scaled),
    "bandwidth": (lambda epoch: epoch.bandwidth_bytes_per_s, q.bandwidth),
    "mean latency": (lambda epoch: epoch.latency_ps.all.mean if epoch.latency_ps.all else None, q.time),
    "p99 latency": (lambda epoch: epoch.latency_ps.all.p99 if epoch.latency_ps.all else None, q.time),
    "write amplification": (lambda epoch: epoch.write_amplification, lambda value: f"{value:.2f}"),
    "garbage collection": (lambda epoch: epoch.utilisation.dies_gc_mean, q.share),
}


def warm_up(result: Result) -> Text:
    """How the warm-up ended, and what is measured; loud when it did not end."""
    found, window = result.warm_up, result.measured
    assert found is not None
    if window is None or found.ended_ps is None:
        return Text(f"NOT WARM: {unreached(found)}; these figures are those of the whole run.", style="bold red")
    span = f"{window.requests:,} requests in {q.time(window.end_ps - window.start_ps)}"
    by = ", by MSER-5" if found.how == "auto" else ""
    before = f"{q.time(found.ended_ps)} ({found.requests:,} requests{by})"
    if not found.converged:
        text = f"NOT STEADY: the run is too short to tell where its warm-up ends. Measured: its second half, {span}."
        return Text(text, style="bold red")
    if found.how == "auto" and window.steady is False:
        text = f"NOT STEADY: it still changes after a warm-up of {before}. Measured: {span}."
        return Text(text, style="bold red")
    return Text(f"Measured: {span}, after a warm-up of {before}", style="bold")


def unreached(found: WarmUp) -> str:
    """Why nothing came behind the warm-up."""
    if found.how == "auto":
        return "nothing completed"
    return f"the run ended within its warm-up, after {found.requests:,} requests"


def drift(window: Measured) -> list[tuple[str, str]]:
    """Whether the window is steady, and what the flash did in it."""
    rows = []
    if window.write_amplification is not None:
        rows.append(("write amplification", f"{window.write_amplification:.2f}"))
    use = window.utilisation
    rows.append(("dies busy", f"{q.share(use.dies_mean)}, with garbage collection {q.share(use.dies_gc_mean)}"))
    rounds = window.rounds
    if rounds is None or window.steady is None:
        return [*rows, ("steady (SNIA)", "too few requests to tell")]
    said = ", ".join(
        f"{name} range {q.share(one.range)}, slope {q.share(one.slope)}"
        for name, one in (("IOPS", rounds.iops), ("latency", rounds.latency))
    )
    return [*rows, ("steady (SNIA)", f"{'yes' if window.steady else 'NO'}: {said}")]


def streams(window: Measured, terminal: Terminal) -> RenderableType:
    """What became of each stream behind the warm-up."""
    table = terminal.table("stream", "requests", "IOPS", "bandwidth", "mean", "p99", "p99.9", gap=0)
    for stream in window.streams:
        found = stream.latency_ps.all
        latencies = [q.time(getattr(found, name)) if found else q.NONE for name in ("mean", "p99", "p99_9")]
        rates = q.scaled(stream.iops), q.bandwidth(stream.bandwidth_bytes_per_s)
        table.add_row(stream.name, q.scaled(stream.requests), *rates, *latencies)
    return table


def epochs(found: Sequence[Interval], terminal: Terminal) -> Iterator[RenderableType]:
    """How measures change from epoch to epoch."""
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
    """A character for each value, or for the mean of neighbours when there are too many."""
    each = math.ceil(len(values) / CELLS)
    cells = []
    for at in range(0, len(values), each):
        known = [value for value in values[at : at + each] if value is not None]
        cells.append(terminal.heat([math.fsum(known) / len(known) / most]) if known else " ")
    return "".join(cells)
