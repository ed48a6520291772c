"""Runs that are repeated with more requests, or later stop times, until their measured window is steady.

Each attempt is a run of its own, from the first request on. The last attempt is the result, equal to a run of a
configuration with that number of requests and these stop times. Unless the limit is lower, an attempt is at least twice
as long as the previous one, and at least as long as the previous one estimated to suffice. So all attempts together
take at most about twice as long as the last one.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from flashmesh._native import Config
from flashmesh.texts.durations import time_ps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

REQUESTS = 100_000
"""Requests of a synthetic workload that does not state their number."""
T = TypeVar("T")
BACKLOG = "backlog"
OF_BACKLOG = frozenset({BACKLOG, "drift", "warm-up"})
"""Reasons against a steady state that a growing queue explains: latency drifts with its length, without an end."""
GROWTH = 2
"""Minimum ratio of the requests of an attempt to those of the previous attempt, unless the limit is lower."""
STREAM_NOISE_MAX = 0.1
"""Maximum half-width of the 95 % interval of the mean latency of each stream, as a share of the mean."""
STREAM_REQUESTS_MIN = 320
"""Number of requests from which on a stream can have an interval: ten batches of 32 requests."""
LIMIT = 64
"""Default maximum number of requests of an attempt, as a multiple of those of the first attempt."""


@dataclass(frozen=True)
class UntilSteady:
    """End of the repetition of a run with more requests: a steady measured window, or the limit."""

    limit: int | None = None
    """Maximum number of requests of an attempt, of all streams together, including those of the warm-up; None for
    `LIMIT` times those of the first attempt."""


def measured(config: Config) -> Config:
    """Returns the configuration with a warm-up, so that its runs have a measured window.

    If `measure.warm-up` is `none`, or is not set although the configuration does not settle (see `settles`), it becomes
    `auto`: MSER-5 then determines the end of the warm-up after the run.
    """
    if config.warm_up() != "none":
        return config
    return Config.from_str(config.to_toml(), "<configuration>", ["measure.warm-up=auto"])


def settled(
    config: Config, goal: UntilSteady, run: Callable[[Config], T], document_of: Callable[[T], Mapping[str, Any]]
) -> tuple[T, Config]:
    """Runs a configuration, then longer ones, until the window is steady, or can no longer become steady.

    Args:
        config: A configuration from `measured`.
        goal: The limit.
        run: Runs a configuration.
        document_of: Returns the JSON document of a run.

    Returns:
        The last run, and its configuration.
    """
    limit, is_last, requests = goal.limit, False, 0
    while True:
        found = run(config)
        document = document_of(found)
        # A later stop time brings no requests to a stream that was at the end of its trace.
        has_more = document["requests"] > requests
        if is_last or document["interrupted"] or is_steady(document) or is_behind(document) or not has_more:
            return found, config
        requests = document["requests"]
        limit = limit if limit is not None else LIMIT * document["requests"]
        longer = lengthened(config, document, limit)
        if longer is None:
            return found, config
        config, is_last = longer


def is_steady(document: Mapping[str, Any]) -> bool:
    """Returns whether a result has a measured window, the window is steady, and each stream has enough requests."""
    is_whole = document["measured"] is not None and bool(document["steadiness"]["steady"])
    return is_whole and not uncertain_streams(document)


def uncertain_streams(document: Mapping[str, Any]) -> dict[str, float]:
    """Returns the streams whose mean latency has a wider interval than `STREAM_NOISE_MAX`, the widest first.

    The verdict on a run takes all streams together, in which a rare stream disappears. Each stream comes with half the
    width of its 95 % interval, as a share of the mean; infinity if the stream has too few requests for an interval.
    Empty with one stream, and if intervals of single streams are not measured.
    """
    if len(document["streams"]) < 2:
        return {}
    streams = (document["measured"] or document)["streams"]
    confidences = {stream["name"]: stream["confidence"] for stream in document["streams"]}
    if not any(confidences.values()):
        return {}
    widths = {stream["name"]: half_width(stream, confidences[stream["name"]]) for stream in streams}
    wide = sorted(widths.items(), key=lambda found: -found[1])
    return {name: width for name, width in wide if width > STREAM_NOISE_MAX}


def half_width(stream: Mapping[str, Any], confidence: Mapping[str, Any] | None) -> float:
    """Returns half the width of the 95 % interval of the mean latency of a stream, as a share of the mean.

    Infinity without an interval, if the stream has few requests. A stream with many requests has none if it ends long
    before the run, which more requests do not change; 0 for such a stream, and for one without requests.
    """
    latency = stream["latency_ps"]["all"]
    interval = confidence["latency_ps"]["all"]["mean"] if confidence is not None else None
    if interval is None or latency is None:
        return math.inf if 0 < stream["requests"] < STREAM_REQUESTS_MIN else 0.0
    width: float = (interval["high"] - interval["low"]) / 2 / latency["mean"]
    return width


def is_behind(document: Mapping[str, Any]) -> bool:
    """Returns whether only a backlog keeps a result from being steady, so that more requests cannot help.

    With other reasons beside it, such as a drive whose free pages still rise, a longer run may yet catch up.
    """
    reasons = set(document["steadiness"]["reasons"])
    return BACKLOG in reasons and reasons <= OF_BACKLOG


def lengthened(config: Config, document: Mapping[str, Any], limit: int) -> tuple[Config, bool] | None:
    """Returns the configuration of the next, longer attempt, and whether its number of requests is the limit.

    None if no stream can have more requests: at the limit, or at the end of its trace.
    """
    streams = extensible(config, document)
    total, multiplied = document["requests"], sum(stream.requests for stream in streams)
    if not multiplied:
        return None
    # The width of an interval falls with the square root of the number of requests.
    of_streams = [(width / STREAM_NOISE_MAX) ** 2 for width in uncertain_streams(document).values()]
    of_noise = max((times for times in of_streams if math.isfinite(times)), default=0.0)
    wanted = max(GROWTH, (document["steadiness"]["requests_needed"] or 0) / total, of_noise)
    # The other requests, such as those of the warm-up, remain as they are.
    allowed = (limit - (total - multiplied)) / multiplied
    overrides = [text for stream in streams for text in stream.times(min(wanted, allowed))]
    if not overrides:
        return None
    return Config.from_str(config.to_toml(), "<configuration>", overrides), allowed <= wanted


@dataclass(frozen=True)
class Extensible:
    """A stream that the next attempt can lengthen: completed requests, and the configuration keys that end it."""

    requests: int
    ends: Mapping[str, tuple[int, str]]
    """Value and unit of each key that ends the stream: a number of requests, or a stop time in picoseconds."""

    def times(self, factor: float) -> list[str]:
        """Returns the overrides that multiply each value by `factor`, without values that would not grow."""
        longer = {key: (int(value * factor), unit) for key, (value, unit) in self.ends.items()}
        return [f"{key}={value}{unit}" for key, (value, unit) in longer.items() if value > self.ends[key][0]]


def extensible(config: Config, document: Mapping[str, Any]) -> list[Extensible]:
    """Returns the streams that the next attempt lengthens: all but those at the end of their trace."""
    has_steady_warm_up = document["warm_up"] is not None and document["warm_up"]["how"] == "steady"
    completed = {stream["name"]: stream["requests"] for stream in document["streams"]}
    tables = json.loads(config.to_json())
    workloads, replays = keys_of(tables, "workload"), keys_of(tables, "replay")
    found: list[Extensible] = []
    for (key, workload), count in zip(workloads.items(), requests_of(workloads, completed), strict=True):
        asked = workload.get("requests")
        of_replay = f"{key.removesuffix('workload')}replay"
        stop = replays[of_replay].get("stop-time")
        ends = {} if stop is None else {f"{of_replay}.stop-time": (time_ps(stop), "ps")}
        if stop is None and has_steady_warm_up and count:
            # The requested number excludes requests of the warm-up. In a run of one stream alone the others have none.
            count = asked if asked is not None else REQUESTS
        has_ended = asked is not None and count < asked
        reads_whole_file = asked is None and ("trace" in workload or "fitted" in workload)
        is_endless = asked is None and stop is not None
        if not has_ended and not reads_whole_file and not is_endless:
            ends[f"{key}.requests"] = (count, "")
        if count and ends:
            found.append(Extensible(count, ends))
    return found


def keys_of(tables: Mapping[str, Any], section: str) -> dict[str, Mapping[str, Any]]:
    """Returns the tables `section` of all streams, each by its key, such as `stream.logs.workload`.

    A configuration without named streams has a single such table.
    """
    streams = tables.get("stream")
    if not streams:
        return {section: tables[section]}
    return {f"stream.{name}.{section}": stream[section] for name, stream in streams.items()}


def requests_of(workloads: Mapping[str, Any], requests: Mapping[str, int]) -> list[int]:
    """Returns the requests of each stream, in the order of `workloads`."""
    if len(workloads) == 1 and "workload" in workloads:
        return [sum(requests.values())]
    return [requests[key.split(".")[1]] for key in workloads]


def sentence(document: Mapping[str, Any]) -> str:
    """Returns a sentence that says whether a repeated run became steady."""
    requests = f"{document['requests']:,} requests"
    if is_steady(document):
        return f"steady after {requests}"
    if is_behind(document):
        return (
            f"not steady after {requests}, and with no more: they are due faster than they complete, "
            "see the reason in the summary"
        )
    return f"not steady after {requests}, the most that --steady-limit and the traces allow"
