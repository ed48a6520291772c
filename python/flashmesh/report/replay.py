"""Replay mode of a run, from its configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def is_open(configuration: Mapping[str, Any]) -> bool:
    """Returns whether a stream of a configuration uses open replay."""
    streams = (configuration.get("stream") or {"": configuration}).values()
    return any("replay" in stream and stream["replay"]["mode"] == "open" for stream in streams)
