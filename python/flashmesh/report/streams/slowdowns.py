"""Text on how much the streams of a run slow each other down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from flashmesh.report import quantities as q
from flashmesh.report.streams.replay import phases

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rich.console import RenderableType

    from flashmesh.report.terminal import Terminal
    from flashmesh.results import Fairness, Result

NOT_STEADY = "*"
"""Mark of the slowdown of a stream whose run alone is not steady."""
TOGETHER_MIN = 0.9
"""Share of the measured window in which all streams run, below which the slowdowns get a warning."""


def shown(result: Result, measured: Fairness, terminal: Terminal) -> Iterator[RenderableType]:
    """Yields a table of the slowdown of each stream by the others, and warnings.

    A stream that ended early or whose run alone is not steady gets a warning, and the slowdowns of the latter a mark.
    The sentence on unfairness is about mean latencies, as in the MQSim paper.
    """
    table = terminal.table("stream", "mean", "alone", "slowdown", "p99", "alone", "slowdown")
    for stream in measured.streams:
        means, p99s = (stream.together_ps, stream.alone_ps), (stream.together_p99_ps, stream.alone_p99_ps)
        mark = NOT_STEADY if stream.alone_steady is False else ""
        slowdowns = [f"{q.ratio(*pair)}{mark}" for pair in (means, p99s)]
        table.add_row(stream.name, *map(q.time, means), slowdowns[0], *map(q.time, p99s), slowdowns[1])
    yield table
    if measured.slowdown_max is not None and measured.unfairness is not None and measured.fairness is not None:
        most, unfairness = measured.slowdown_max, measured.unfairness
        worst = next(stream.name for stream in measured.streams if stream.slowdown == most)
        told = f"unfairness {unfairness:.2f}, fairness {measured.fairness:.2f}"
        yield Text(f"slowdown of the mean at most {most:.2f} ({worst}), {told}")
    alone = not_steady_alone(result.document)
    for told in filter(None, (ended_early(result), f"{NOT_STEADY} {alone}" if alone else "")):
        yield Text(told, style="yellow")


def first_note(documents: Iterable[Mapping[str, Any]]) -> str:
    """Returns the sentence on runs alone of the first of some results that has one; empty if none has."""
    return next(filter(None, map(not_steady_alone, documents)), "")


def not_steady_alone(document: Mapping[str, Any]) -> str:
    """Returns a sentence on the streams of a result whose runs alone are not steady.

    Empty if all are steady, with one stream, or without slowdowns.
    """
    streams = document["fairness"]["streams"] if document["fairness"] is not None else []
    names = [stream["name"] for stream in streams if stream["alone_steady"] is False]
    if not names or len(streams) == 1:
        return ""
    subject = f"The run of {names[0]} alone is" if len(names) == 1 else f"The runs of {', '.join(names)} alone are"
    which = "the slowdown" if len(names) == 1 else "their slowdowns"
    may = f"{which} may change with the number of requests"
    return f"{subject} not steady: {may}. --until-steady lengthens runs alone, as far as --steady-limit allows."


def ended_early(result: Result) -> str:
    """Returns a sentence on the part of the measured window in which a stream had ended.

    Empty if all streams run in most of the window, or one after the other in phases. In the time without the ended
    stream, the others are faster, so that their slowdowns by it are underestimated.
    """
    active = [stream for stream in result.streams if stream.requests]
    if len(active) < 2 or phases(result.parameters) > 1:
        return ""
    window = result.measured
    start, end = (window.start_ps, window.end_ps) if window is not None else (0, result.makespan_ps)
    first = min(active, key=lambda stream: stream.makespan_ps)
    together = max(first.makespan_ps - start, 0) / (end - start) if end > start else 1.0
    if together >= TOGETHER_MIN:
        return ""
    at = q.time(first.makespan_ps)
    return (
        f"{first.name} ended at {at}: the other streams ran without it for {q.share(1 - together)} of the measured "
        f"time, which hides its effect on them. With replay.stop-time = {at} or less, all streams run together."
    )
