"""Notes on collections that delay requests since requests do not preempt them."""

from __future__ import annotations

from typing import Any

import flashmesh
from flashmesh.report.preemption import share_behind_collections, unpreempted_collections
from summary_text import shown

DRIVE = "preset:venice-pm9a3"
FULL: dict[str, Any] = {
    "geometry.channels": 2,
    "geometry.chips-per-channel": 2,
    "geometry.blocks-per-plane": 120,
    "precondition.kind": "random",
    "replay.mode": "stress",
    "replay.outstanding": 16,
    "workload.read-share": 0.7,
    "workload.request-size": "4KiB",
    "workload.requests": 10_000,
}


def test_a_drive_whose_collections_are_not_preempted_names_the_keys_that_help() -> None:
    result = flashmesh.run(DRIVE, overrides=FULL)
    assert share_behind_collections(result.document) > 0.5
    told = " ".join(shown(result).split())
    assert "a die completes a collection of a block before it serves requests (gc.preemptible = false)" in told
    free = flashmesh.run(DRIVE, overrides=FULL | {"gc.preemptible": True})
    assert free.iops > 1.2 * result.iops
    assert unpreempted_collections(free.document) == ""


def test_nothing_is_told_of_collections_that_hardly_delay_requests() -> None:
    result = flashmesh.run(DRIVE, overrides=FULL | {"precondition.kind": "none", "workload.requests": 1_000})
    assert share_behind_collections(result.document) == 0.0
    assert unpreempted_collections(result.document) == ""
