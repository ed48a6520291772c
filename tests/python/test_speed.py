"""Processor time that commands take in addition to the simulation.

The bounds are far above what an idle machine takes, since tests run beside others; docs/performance.md has the figures.
"""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import flashmesh
from conftest import COMMAND, REFERENCE, TIMEOUT_S, cpu_s, environment

SWEEP = """config = "preset:venice-z-nand"
seeds = 300
[set]
"workload.requests" = 45_000
[axes]
fabric.kind = ["ideal"]
"""
MANY = """config = "preset:venice-z-nand"
seeds = 5
[set]
"workload.requests" = 100
[axes]
"fabric.kind" = ["bus", "ideal"]
"replay.outstanding" = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
"flash.read-time" = ["1us", "2us", "3us", "5us", "10us", "15us", "20us", "30us", "40us", "60us"]
"""


@pytest.mark.parametrize(
    ("command", "times_reference"),
    [
        ([sys.executable, "-c", "import flashmesh"], 1.0),
        ([COMMAND, "--help"], 2.5),
        ([COMMAND, "run", "preset:venice-z-nand", "--set", "workload.requests=1"], 5.0),
    ],
    ids=["import", "help", "run"],
)
def test_commands_start_quickly(tmp_path: Path, command: Sequence[str | Path], times_reference: float) -> None:
    reference_s = max(cpu_s(REFERENCE, tmp_path, 3), cpu_s(REFERENCE, tmp_path, 3))
    limit_s = times_reference * reference_s
    assert cpu_s(command, tmp_path, 5, limit_s) < limit_s


@pytest.mark.long
def test_a_report_of_ten_runs_is_made_quickly_and_is_small(tmp_path: Path) -> None:
    axis = "replay.outstanding=1,2,4,8,16,32,64,128,256,512"
    settings = ["--set", "workload.requests=20000", "--set", "measure.epoch=1ms", "--vary", axis]
    compare: list[str | Path] = [COMMAND, "compare", "preset:venice-z-nand", *settings, "--json", "ten.json"]
    subprocess.run(compare, cwd=tmp_path, env=environment(), capture_output=True, check=True, timeout=TIMEOUT_S)
    limit_s = 60 * cpu_s(REFERENCE, tmp_path, 3)
    assert cpu_s([COMMAND, "report", "ten.json", "-o", "ten.html"], tmp_path, 2, limit_s) < limit_s
    assert (tmp_path / "ten.html").stat().st_size < 8_000_000


@pytest.mark.long
def test_a_thousand_runs_are_reported_and_shown_quickly(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(MANY)
    sweep: list[str | Path] = [COMMAND, "sweep", "s.toml", "--out", "many", "--quiet", "--jobs", "2"]
    subprocess.run(sweep, cwd=tmp_path, env=environment(), capture_output=True, check=True, timeout=TIMEOUT_S)
    # Machines differ, so the processor times of report and show are compared with that of a start of Python.
    reference = cpu_s(REFERENCE, tmp_path, 3)
    report = cpu_s([COMMAND, "report", "many", "-o", "many.html"], tmp_path, 2, 40 * reference)
    assert (tmp_path / "many.html").stat().st_size < 10_000_000
    show = cpu_s([COMMAND, "show", "many"], tmp_path, 2, 20 * reference)
    assert (report < 40 * reference, show < 20 * reference) == (True, True), (report, show, reference)


def test_types_are_looked_at_once_however_many_epochs_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def epochs(most: int) -> flashmesh.Result:
        overrides = {"workload.requests": 1_000, "measure.epoch": "1ns", "measure.epochs-max": most}
        return flashmesh.run("preset:venice-z-nand", overrides=overrides)

    looked = 0

    def counting(kind: object) -> bool:
        nonlocal looked
        looked += 1
        return dataclasses.is_dataclass(kind)

    epochs(2).epochs_frame()
    monkeypatch.setattr("flashmesh.results.build.is_dataclass", counting)
    assert len(epochs(512).epochs_frame()) > 200
    assert looked < 200


@pytest.mark.long
def test_a_sweep_spends_its_time_simulating(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SWEEP)
    bare = (
        "from flashmesh import configuration, _native\n"
        "settings = {'workload.requests': 45_000, 'fabric.kind': 'ideal'}\n"
        "config = configuration.load('preset:venice-z-nand', overrides=settings)\n"
        "for _ in range(300): _native.Simulation(config).run(_native.Control())\n"
    )
    alone = cpu_s([sys.executable, "-c", bare], tmp_path)
    sweep: list[str | Path] = [COMMAND, "sweep", "s.toml", "--out", "out", "--quiet", "--jobs", "2"]
    # A run adds a few milliseconds to its simulation; the sweep may add two seconds, 20 times a start of Python.
    two_seconds = 20 * cpu_s(REFERENCE, tmp_path, 3)
    assert cpu_s(sweep, tmp_path) < 1.5 * alone + two_seconds
    assert cpu_s([*sweep, "--resume"], tmp_path) < two_seconds
