"""Slowdown of streams by one another, compared with running alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flashmesh import _native
from flashmesh.results import Fairness, Result, StreamResult
from flashmesh.results.build import build

if TYPE_CHECKING:
    from collections.abc import Sequence


def fairness(together: Result, alone: Sequence[Result]) -> Fairness:
    """Compares a run with the runs of its streams alone, in the order of the streams."""
    streams = [
        (stream.name, mean_latency(stream), mean_latency(run.streams[index]))
        for index, (stream, run) in enumerate(zip(together.streams, alone, strict=True))
    ]
    return build(Fairness, json.loads(_native.fairness(streams)))


def mean_latency(stream: StreamResult) -> float | None:
    """Returns the mean completion latency of a stream; None without requests."""
    return stream.latency_ps.all.mean if stream.latency_ps.all else None
