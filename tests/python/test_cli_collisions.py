"""`flashmesh collisions`, and the figures of replication."""

from __future__ import annotations

import json
from pathlib import Path

import flashmesh
from conftest import Cli

SMALL = ("--set", "workload.requests=20_000", "--set", "workload.footprint=64MiB", "--quiet")


def test_the_report_is_printed_within_80_columns(cli: Cli) -> None:
    done = cli("collisions", "preset:collisions", "--set", "replay.outstanding=8", *SMALL)
    assert (done.returncode, done.stderr) == (0, "")
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
    for text in ("average OCC", "of observations", "of reads", "imbalanced", "most repeated pairs", "would gain"):
        assert text in done.stdout


def test_a_workload_alone_runs_on_the_drive_of_the_paper(cli: Cli) -> None:
    done = cli(
        "collisions", "--profile", "collisions/RR8", "--set", "workload.requests=5_000", "--json", "-", "--quiet"
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)["collisions"]
    assert found["dies"] == 16
    assert found["reads"] == sum(found["reads_per_die"]) > 0
    assert found["balanced"] + found["imbalanced"] == found["collisions"]


def test_json_goes_to_a_file_beside_the_tables(cli: Cli, tmp_path: Path) -> None:
    done = cli("collisions", "preset:collisions", *SMALL, "--json", "found.json")
    assert "collision ratio" in done.stdout
    assert json.loads((tmp_path / "found.json").read_text())["collisions"]["reads"] == 20_000


def test_what_cannot_be_is_refused_in_a_sentence(cli: Cli) -> None:
    nothing = cli("collisions")
    assert nothing.returncode == 2
    assert "Missing argument 'CONFIG', or a workload" in nothing.stderr
    off = cli("collisions", "preset:collisions", "--set", "measure.collisions=false")
    assert off.returncode == 2
    assert "leave it out" in off.stderr
    one_die = ("geometry.channels=1", "geometry.chips-per-channel=1", "replication.enabled=true")
    refused = cli("run", "preset:collisions", *(part for key in one_die for part in ("--set", key)))
    assert refused.returncode == 2
    assert "the drive has one die" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_replication_says_what_it_did_and_what_it_cost(cli: Cli) -> None:
    keys = ("replication.enabled=true", "workload.pattern=zipf", "workload.footprint=2MiB", "workload.requests=50_000")
    settings = [part for key in keys for part in ("--set", key)]
    done = cli("run", "preset:collisions", "--set", "replay.outstanding=32", *settings, "--check", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    for text in ("copies made", "reads of copied pages", "avoided", "of the dies' time", "DRAM", "lists 5,120 B"):
        assert text in done.stdout


def test_frames_hold_the_lists() -> None:
    overrides = {"measure.collisions": True, "workload.requests": 5_000, "workload.footprint": "4MiB"}
    result = flashmesh.run("preset:collisions", overrides=overrides)
    assert result.collisions is not None
    assert result.collision_dies_frame()["reads"].sum() == result.collisions.reads == 5_000
    pairs = result.collision_pairs_frame()
    assert list(pairs.columns) == ["first", "second", "occurrences"]
    assert pairs["occurrences"].is_monotonic_decreasing
    repetitions = result.collision_repetitions_frame()
    assert repetitions["pairs"].sum() == result.collisions.pairs
    plain = flashmesh.run("preset:collisions", overrides={"workload.requests": 10})
    assert plain.collisions is None
    assert len(plain.collision_pairs_frame()) == len(plain.collision_dies_frame()) == 0
