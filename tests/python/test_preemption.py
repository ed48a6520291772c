"""Notes on collections that delay requests."""

from __future__ import annotations

from typing import Any

import pytest

import flashmesh
from flashmesh.report.notes.preemption import delaying_collections, share_behind_collections
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
    assert 0.5 < share_behind_collections(free.document) < 1
    assert "gc.paced = true" in delaying_collections(free.document)


@pytest.mark.parametrize(
    ("gc", "blocks", "told"),
    [
        ({"preemptible": False}, 120, "gc.preemptible = true lets requests go first"),
        ({"preemptible": True, "paced": False}, 120, "gc.paced = true spreads collections evenly"),
        ({"preemptible": True, "paced": True, "threshold": 0.02}, 64, 'gc.threshold = "6.2%" begins to collect at 4 '),
        ({"preemptible": True, "paced": True, "threshold": 0.02}, 100, ""),
    ],
)
def test_the_next_key_against_delays_by_collections_is_named(gc: dict[str, Any], blocks: int, told: str) -> None:
    mean = {"count": 5_000, "behind_gc": 900.0, "die_wait": 100.0}
    document = {
        "measured": {"breakdown_ps": {"mean": mean}},
        "configuration": {"gc": gc, "geometry": {"blocks-per-plane": blocks}},
    }
    found = delaying_collections(document)
    assert (told in found) if told else found == ""


def test_nothing_is_told_of_collections_that_hardly_delay_requests() -> None:
    result = flashmesh.run(DRIVE, overrides=FULL | {"precondition.kind": "none", "workload.requests": 1_000})
    assert share_behind_collections(result.document) == 0.0
    assert delaying_collections(result.document) == ""
