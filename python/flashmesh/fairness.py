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
        (stream.name, mean_latency(together, index), mean_latency(run, index))
        for index, (stream, run) in enumerate(zip(together.streams, alone, strict=True))
    ]
    return build(Fairness, json.loads(_native.fairness(streams)))


def mean_latency(result: Result, index: int) -> float | None:
    """Returns the mean latency of a stream in picoseconds, in the measured window if any; None without requests."""
    found = result.window.streams[index].latency_ps.all
    return found.mean if found else None
