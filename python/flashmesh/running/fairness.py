"""Slowdown of streams by one another, compared with running alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flashmesh import _native
from flashmesh.results import Fairness, Result
from flashmesh.results.build import build

if TYPE_CHECKING:
    from collections.abc import Sequence


def fairness(together: Result, alone: Sequence[Result]) -> Fairness:
    """Returns the slowdown of each stream of a run.

    `alone` has a run of each stream alone, in the order of the streams.
    """
    streams = [
        (stream.name, latency(together, index), latency(run, index), run.steadiness.steady)
        for index, (stream, run) in enumerate(zip(together.streams, alone, strict=True))
    ]
    return build(Fairness, json.loads(_native.fairness(streams)))


def latency(result: Result, index: int) -> tuple[float, int] | None:
    """Returns mean and p99 of the latency of a stream in picoseconds, in the measured window if any.

    None without requests.
    """
    found = result.window.streams[index].latency_ps.all
    return (found.mean, found.p99) if found else None
