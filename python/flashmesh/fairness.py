"""How much streams slow one another down, against running alone.

The measures are those of the MQSim paper (Tavakkol et al., FAST 2018): the slowdown of a stream is its mean latency
beside the others over its mean latency alone, and fairness the least slowdown over the largest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.results import Fairness, Result, StreamFairness, StreamResult

if TYPE_CHECKING:
    from collections.abc import Sequence


def fairness(together: Result, alone: Sequence[Result]) -> Fairness:
    """Compares a run with the runs of its streams alone, in the order of the streams."""
    streams = tuple(
        compared(stream, run.streams[index])
        for index, (stream, run) in enumerate(zip(together.streams, alone, strict=True))
    )
    slowdowns = [stream.slowdown for stream in streams if stream.slowdown is not None]
    if not slowdowns:
        return Fairness(streams, None, None, None)
    least, most = min(slowdowns), max(slowdowns)
    return Fairness(streams, most, least / most, most / least)


def compared(together: StreamResult, alone: StreamResult) -> StreamFairness:
    """What the others do to one stream."""
    beside = together.latency_ps.all.mean if together.latency_ps.all else None
    by_itself = alone.latency_ps.all.mean if alone.latency_ps.all else None
    slowdown = beside / by_itself if beside is not None and by_itself else None
    return StreamFairness(together.name, beside, by_itself, slowdown)
