"""Words for the keys by which a run gets more requests, for the advice of reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.report.streams.replay import stops_at_a_time

if TYPE_CHECKING:
    from collections.abc import Mapping


def keys(configuration: Mapping[str, Any]) -> str:
    """Returns the key that limits the requests of a run of the configuration."""
    if stops_at_a_time(configuration):
        return "replay.stop-time; in a job file of fio: runtime"
    if len(configuration.get("stream", {})) > 1:
        return "stream.NAME.workload.requests"
    return "workload.requests"
