"""Notes on the throttle of a preset that limits a drive of another geometry."""

from __future__ import annotations

from typing import Any

import pytest

import flashmesh
from conftest import Cli
from flashmesh.report.notes.throttle import delayed_share, foreign_throttle
from long_cases import in_part
from summary_text import shown

DRIVE = "preset:samsung-pm9a3"
SMALL: dict[str, Any] = {
    "geometry.blocks-per-plane": 40,
    "geometry.capacity": "38GB",
    "precondition.kind": "random",
    "replay.outstanding": 32,
    "workload.read-share": 0.0,
    "workload.requests": 4_000,
    "measure.warm-up": "none",
}
"""Writes to a full drive, which is small so that it is soon made."""
TWICE = {"geometry.chips-per-channel": 4, "geometry.capacity": "76GB"}


def test_the_throttle_of_a_preset_that_caps_twice_the_dies_is_told() -> None:
    result = flashmesh.run(DRIVE, overrides=SMALL | TWICE)
    assert delayed_share(result.document) > 0.5
    told = shown(result)
    assert "The throttle of samsung-pm9a3 (cache.throttle-interval = 11.5us) delayed" in told
    assert "is that of a drive with geometry.chips-per-channel = 2, here 4." in told
    assert "cache.throttle-interval = 0ps turns it off" in told
    # The advice of the note takes the cap away.
    free = flashmesh.run(DRIVE, overrides=SMALL | TWICE | {"cache.throttle-interval": "0ps"})
    assert free.iops > 1.1 * result.iops
    assert foreign_throttle(free.document) == ""


@pytest.mark.parametrize(
    "changes",
    in_part(
        1,
        [
            {},
            TWICE | {"workload.read-share": 1.0},
            TWICE | {"cache.throttle-interval": "12us"},
        ],
    ),
)
def test_no_throttle_is_told_of_its_own_drive_of_reads_or_of_the_user(changes: dict[str, Any]) -> None:
    assert foreign_throttle(flashmesh.run(DRIVE, overrides=SMALL | changes).document) == ""


def test_a_comparison_of_geometries_tells_the_throttle_once(cli: Cli) -> None:
    sets = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
    done = cli("compare", DRIVE, *sets, "--vary", "geometry.chips-per-channel=2,4")
    assert done.returncode == 0, done.stderr
    assert " ".join(done.stdout.split()).count("The throttle of samsung-pm9a3") == 1


def test_an_answer_of_a_throttled_drive_names_the_key_that_caps_all_changes(cli: Cli) -> None:
    sets = [word for key, value in SMALL.items() for word in ("--set", f"{key}={value}")]
    done = cli("ask", DRIVE, *sets, "--seeds", "1", "--key", "geometry.chips-per-channel")
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "cache.throttle-interval stays as it is in every change" in told
