"""Requests in flight at submission, as the shares `iodepth_level` of fio's results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.texts.durations import time_ps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashmesh._results import StreamResult

LEVELS = ("1", "2", "4", "8", "16", "32", ">=64")
"""Names of fio's levels of queue depth: the smallest depth of each level."""


def levels_of(stream: StreamResult, replay: Mapping[str, Any]) -> dict[str, float]:
    """Returns the percentage of requests by the number in flight when each is submitted, counting the request itself.

    In stress and closed replay, the number in flight rises to the depth and stays there. In open replay, all requests
    count at the mean number in flight of the stream, since the distribution is not recorded.

    Args:
        stream: The stream.
        replay: The section `replay` of the stream.
    """
    latency = stream.latency_ps
    flushes = latency.flush.count if latency.flush is not None else 0
    requests = stream.requests - flushes
    if requests <= 0 or latency.all is None:
        return dict.fromkeys(LEVELS, 0.0)
    if replay["mode"] == "open":
        ramp_ps = time_ps(replay["ramp-time"])
        duration_ps = max(stream.makespan_ps - stream.start_ps - ramp_ps, 1)
        mean = latency.all.mean * latency.all.count / duration_ps
        depth = min(1 + round(mean), replay.get("outstanding-max") or 1 + round(mean))
        return shares({depth: requests})
    if replay["mode"] == "stress":
        return shares(filled(requests, replay["outstanding"]))
    thinks = not str(replay["think-time"]).startswith("0")
    batch = replay["threads"] * replay["think-every"] if thinks else requests
    whole, rest = divmod(requests, batch)
    found = {depth: count * whole for depth, count in filled(batch, replay["threads"]).items()}
    for depth, count in filled(rest, replay["threads"]).items():
        found[depth] = found.get(depth, 0) + count
    return shares(found)


def filled(requests: int, depth: int) -> dict[int, int]:
    """Returns the number of requests by queue depth, if the depth rises by one with each request up to `depth`."""
    rising = dict.fromkeys(range(1, min(depth, requests + 1)), 1)
    return rising | ({depth: requests - len(rising)} if requests > len(rising) else {})


def shares(counts: Mapping[int, int]) -> dict[str, float]:
    """Returns the percentage of requests in each of `LEVELS`, from the number of requests by queue depth."""
    found = dict.fromkeys(LEVELS, 0.0)
    total = sum(counts.values())
    for depth, count in counts.items():
        found[LEVELS[min(max(depth.bit_length() - 1, 0), len(LEVELS) - 1)]] += 100.0 * count / total
    return {name: round(share, 6) for name, share in found.items()}
