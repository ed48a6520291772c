"""Table of the streams of runs by kind of request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.html.validation import Listed
from flashmesh.report import quantities as q
from flashmesh.report.streams.kinds import kinds_of
from flashmesh.results.streams import window_streams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.runs import Run

STATISTICS = {"mean": "mean", "p50": "p50", "p99": "p99", "p99_9": "p99.9", "max": "max"}
"""Latency statistics of the table, with their headings."""
ROWS_MAX = 200
"""Maximum number of rows of the table, which are requests of one kind of a stream each."""


def kinds_of_streams(runs: Sequence[Run]) -> Listed | None:
    """Returns a table of latencies by stream and kind of request, over the measured window of a run if there is one.

    None if no stream has several kinds of requests, for more than `ROWS_MAX` rows, and for means over several seeds.
    """
    rows: list[tuple[str, ...]] = []
    is_mixed = False
    for run in runs:
        if len(run.repeats) > 1:
            return None
        document = run.document
        streams = window_streams(document)
        if len(streams) < 2:
            continue
        for stream in streams:
            found = kinds_of(stream)
            is_mixed |= len(found) > 1
            name = f"{stream['name']} ({run.name})" if len(runs) > 1 else stream["name"]
            for each in found:
                counts = q.count(each.latency["count"]), q.scaled(each.iops)
                rows.append((name, each.kind, *counts, *each.latencies(tuple(STATISTICS))))
    if not is_mixed or len(rows) > ROWS_MAX:
        return None
    headings = ("stream", "kind", "requests", "IOPS", *STATISTICS.values())
    return Listed("Latency of each stream by kind of request", headings, tuple(rows))
