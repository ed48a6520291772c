"""Replay settings of the streams, read from a configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def replays(configuration: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns the section `replay` of each stream of a configuration."""
    streams = (configuration.get("stream") or {"": configuration}).values()
    return [stream["replay"] for stream in streams if "replay" in stream]


def is_open(configuration: Mapping[str, Any]) -> bool:
    """Returns whether a stream of a configuration uses open replay."""
    return any(replay["mode"] == "open" for replay in replays(configuration))


def stops_at_a_time(configuration: Mapping[str, Any]) -> bool:
    """Returns whether a stream of a configuration has a stop time."""
    return any("stop-time" in replay for replay in replays(configuration))


def phases(configuration: Mapping[str, Any]) -> int:
    """Returns the number of phases of a configuration: groups of streams that begin one after the other."""
    return len({replay["phase"] for replay in replays(configuration)})
