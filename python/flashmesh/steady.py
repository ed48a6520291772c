"""Runs that are repeated with more requests until their measured window is steady.

Each attempt is a run of its own, from the first request on. The last attempt is the result, equal to a run of a
configuration with that number of requests. Unless the limit is lower, an attempt has at least twice the requests of the
previous one, and at least the number that the previous one estimated to suffice. So all attempts together take at most
about twice as long as the last one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from flashmesh._native import Config, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

REQUESTS = 100_000
"""Requests of a synthetic workload that does not state their number."""
T = TypeVar("T")
GROWTH = 2
"""Minimum number of requests of an attempt below the limit, as a multiple of the previous attempt."""
GROWTH_MIN = 1.25
"""Minimum number of requests of an attempt at the limit, as a multiple of the previous attempt."""
LIMIT = 64
"""Default maximum number of requests of a repeated run, as a multiple of those of its configuration."""


@dataclass(frozen=True)
class UntilSteady:
    """End of the repetition of a run with more requests: a steady measured window, or the limit."""

    limit: int | None = None
    """Maximum number of requests of a run, of all streams together; None for `LIMIT` times those of its
    configuration."""


def measured(config: Config) -> Config:
    """Returns the configuration with a warm-up, so that its runs have a measured window.

    If `measure.warm-up` is `none`, or is not set although the configuration does not settle (see `settles`), it becomes
    `auto`: MSER-5 then determines the end of the warm-up after the run.

    Raises:
        ConfigError: If a stream has a stop time.
    """
    tables = json.loads(config.to_json())
    ended = [key for key, replay in keys_of(tables, "replay").items() if "stop-time" in replay]
    if ended:
        raise ConfigError(
            f"--until-steady: {ended[0]}.stop-time (in a job file of fio: runtime) ends the run at a time: remove it, "
            "or leave out --until-steady and lengthen the time"
        )
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
    limit = goal.limit
    while True:
        found = run(config)
        document = document_of(found)
        if document["interrupted"] or is_steady(document):
            return found, config
        limit = limit if limit is not None else LIMIT * document["requests"]
        longer = lengthened(config, document, limit)
        if longer is None:
            return found, config
        config = longer


def is_steady(document: Mapping[str, Any]) -> bool:
    """Returns whether a result has a measured window, and the window is steady."""
    return document["measured"] is not None and bool(document["steadiness"]["steady"])


def lengthened(config: Config, document: Mapping[str, Any], limit: int) -> Config | None:
    """Returns the configuration of the next, longer run: more requests for each stream that can have more.

    None if no stream can have more: near the limit, or at the end of its trace.
    """
    total = document["requests"]
    needed = document["steadiness"]["requests_needed"] or 0
    growth = min(max(GROWTH, needed / total), limit / total) if total else 0
    # A warm-up that grows with the run would leave room for ever smaller steps to the limit.
    if growth < GROWTH_MIN:
        return None
    is_settled = document["warm_up"] is not None and document["warm_up"]["how"] == "steady"
    requests = {stream["name"]: stream["requests"] for stream in document["streams"]}
    workloads = keys_of(json.loads(config.to_json()), "workload")
    overrides: list[str] = []
    for (key, workload), count in zip(workloads.items(), requests_of(workloads, requests), strict=True):
        asked = workload.get("requests")
        if is_settled:
            # The requested number excludes requests of the warm-up.
            count = asked if asked is not None else REQUESTS
        has_ended = asked is not None and count < asked
        reads_file = "trace" in workload or "fitted" in workload
        if has_ended or (asked is None and reads_file) or int(count * growth) <= count:
            continue
        overrides.append(f"{key}.requests={int(count * growth)}")
    return Config.from_str(config.to_toml(), "<configuration>", overrides) if overrides else None


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
    return f"not steady after {requests}, about the most that --steady-limit and the traces allow"
