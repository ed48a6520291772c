"""Runs that go on until what they measure is steady: the same run with more requests, until its window is.

Each try is a run of its own, from the first request on, and the last one is the result: that of a configuration with so
many requests, as anybody can run it again. A try has at least twice the requests of the one before, and as many as that
one has estimated to be enough, so that all tries together take at most twice as long as the last one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from flashmesh._native import Config, ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

REQUESTS = 100_000
"""Requests of a synthetic workload that names none."""
T = TypeVar("T")
GROWTH = 2
LIMIT = 64
"""How many times the requests of its configuration a run may have, unless told otherwise."""


@dataclass(frozen=True)
class UntilSteady:
    """That runs go on until they are steady."""

    limit: int | None = None
    """The most requests of a run, all streams together; `LIMIT` times those of its configuration without one."""


def measured(config: Config) -> Config:
    """Returns the configuration with a measured window.

    A configuration that names no warm-up gets one that ends by itself: at a balance of the drive for a drive that is
    preconditioned at random, otherwise by MSER-5.

    Raises:
        ConfigError: When it has a stream that ends at a time, whatever its requests.
    """
    tables = json.loads(config.to_json())
    ended = [key for key, replay in keys_of(tables, "replay").items() if "stop-time" in replay]
    if ended:
        raise ConfigError(f"--until-steady: {ended[0]}.stop-time ends the run at a time: leave it out")
    named = tables["measure"].get("warm-up")
    if named not in (None, "none") or (named is None and settles(tables)):
        return config
    return Config.from_str(config.to_toml(), "<configuration>", ["measure.warm-up=auto"])


def settles(tables: Mapping[str, Any]) -> bool:
    """Returns whether a run comes to a balance before it measures, though no warm-up is named."""
    workloads = keys_of(tables, "workload").values()
    is_synthetic = all(workload["kind"] == "synthetic" for workload in workloads)
    return tables["precondition"]["kind"] == "random" and is_synthetic and tables["power"].get("cut") is None


def settled(
    config: Config, goal: UntilSteady, run: Callable[[Config], T], document_of: Callable[[T], Mapping[str, Any]]
) -> tuple[T, Config]:
    """Runs a configuration, and longer ones, until the window is steady, or cannot become so.

    Args:
        config: As `measured` makes it.
        goal: When to give up.
        run: Runs a configuration.
        document_of: The JSON document of a run.

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
    """Returns whether the window of a result is steady."""
    return document["measured"] is not None and bool(document["steadiness"]["steady"])


def lengthened(config: Config, document: Mapping[str, Any], limit: int) -> Config | None:
    """The configuration with more requests; None where its result has reached the limit, or its traces have ended."""
    total = document["requests"]
    needed = document["steadiness"]["requests_needed"] or 0
    growth = min(max(GROWTH, needed / total), limit / total) if total else 0
    is_settled = document["warm_up"] is not None and document["warm_up"]["how"] == "steady"
    requests = {stream["name"]: stream["requests"] for stream in document["streams"]}
    workloads = keys_of(json.loads(config.to_json()), "workload")
    overrides: list[str] = []
    for (key, workload), count in zip(workloads.items(), requests_of(workloads, requests), strict=True):
        asked = workload.get("requests")
        if is_settled:
            # Requests of the warm-up come before those that were asked for.
            count = asked if asked is not None else REQUESTS
        has_ended = asked is not None and count < asked
        reads_file = "trace" in workload or "fitted" in workload
        if has_ended or (asked is None and reads_file) or int(count * growth) <= count:
            continue
        overrides.append(f"{key}.requests={int(count * growth)}")
    return Config.from_str(config.to_toml(), "<configuration>", overrides) if overrides else None


def keys_of(tables: Mapping[str, Any], section: str) -> dict[str, Mapping[str, Any]]:
    """A section of every stream by its key; of a run without named streams the only one."""
    streams = tables.get("stream")
    if not streams:
        return {section: tables[section]}
    return {f"stream.{name}.{section}": stream[section] for name, stream in streams.items()}


def requests_of(workloads: Mapping[str, Any], requests: Mapping[str, int]) -> list[int]:
    """The requests of each stream, in the order of its workloads."""
    if len(workloads) == 1 and "workload" in workloads:
        return [sum(requests.values())]
    return [requests[key.split(".")[1]] for key in workloads]


def sentence(document: Mapping[str, Any]) -> str:
    """What became of a run that was to go on until it is steady."""
    requests = f"{document['requests']:,} requests"
    if is_steady(document):
        return f"steady after {requests}"
    return f"not steady after {requests}: neither --steady-limit nor its traces let it go on"
