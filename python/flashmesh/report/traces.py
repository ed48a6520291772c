"""Report of the statistics of traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from flashmesh.report.terminal import Terminal
    from flashmesh.traces import TraceSummary


RATE_MIN = 0.1
"""Minimum number in a rate of arrivals; a smaller rate is stated per hour or per day."""


def show(summaries: Sequence[TraceSummary], terminal: Terminal) -> None:
    """Prints the statistics of traces."""
    terminal.print(*sections(summaries, terminal))


def sections(summaries: Sequence[TraceSummary], terminal: Terminal) -> Iterator[RenderableType]:
    """Yields tables of as many traces as the terminal width allows, then the remarks on each trace."""
    rest = list(summaries)
    while rest:
        counts = range(len(rest), 1, -1)
        count = next((count for count in counts if terminal.fits(table(rest[:count], terminal))), 1)
        if len(rest) < len(summaries):
            yield Text()
        yield table(rest[:count], terminal)
        rest = rest[count:]
    for summary in summaries:
        if summary.remarks:
            yield Text()
            yield Text(f"{summary.file}:")
            yield from (Text(f"  {remark}") for remark in summary.remarks)


def table(summaries: Sequence[TraceSummary], terminal: Terminal) -> Table:
    """Returns a table with a column for each trace."""
    shown = terminal.table("trace", *(name(summary) for summary in summaries))
    columns = [quantities(summary) for summary in summaries]
    for heading in columns[0]:
        shown.add_row(heading, *(column[heading] for column in columns))
    return shown


def name(summary: TraceSummary) -> str:
    """Returns the file name without its folders."""
    return summary.file.rsplit("/", 1)[-1]


def arrival_rate(per_s: float) -> str:
    """Returns a rate of arrivals as text: per second, or per hour or day if it is small."""
    for seconds, unit in ((1, "s"), (3600, "h")):
        if per_s * seconds >= RATE_MIN:
            return f"{q.scaled(per_s * seconds)}/{unit}"
    return f"{q.scaled(per_s * 86_400)}/d"


def quantities(summary: TraceSummary) -> dict[str, str]:
    """Returns the statistics of a trace as texts, by their names in the table."""
    packed = "" if summary.compression == "plain" else f" ({summary.compression})"
    rate = summary.arrivals_per_s
    return {
        "format": f"{summary.format}{packed}",
        "requests": f"{summary.requests:,}",
        "reads": q.share(summary.read_share),
        "writes": q.share(summary.write_share),
        "deallocates": q.share(summary.deallocate_share),
        "flushes": q.count(summary.flushes),
        "mean read": q.size(summary.read_size_mean_bytes) if summary.reads else q.NONE,
        "mean write": q.size(summary.write_size_mean_bytes) if summary.writes else q.NONE,
        "read": q.size(summary.read_bytes),
        "written": q.size(summary.write_bytes),
        "footprint": q.size(summary.footprint_bytes),
        "highest address": q.size(summary.address_end_bytes),
        "span": q.time(summary.span_ps),
        "mean interarrival": q.time(summary.interarrival_mean_ps),
        "arrivals": q.NONE if rate is None else arrival_rate(rate),
        "streams": q.count(summary.devices),
    }
