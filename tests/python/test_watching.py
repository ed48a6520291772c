"""Progress of a sweep, seen from outside, and the importance of keys in a search."""

from __future__ import annotations

import json
import platform
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import ENDLESS, TIMEOUT_S, Cli
from flashmesh.cli.sweeps.watching import lines
from flashmesh.sweeps.executors.heartbeat import LOST_S, Part, Watched, process_namespace, watch
from flashmesh.sweeps.importance import importance
from flashmesh.sweeps.results.store import FORMAT
from sweep_files import sweep_file
from watched import Watched as Process

__all__ = ["sweep_file"]


def part(**changes: Any) -> Part:
    given: dict[str, Any] = {
        "name": "host, process 1",
        "done": 30,
        "runs": 50,
        "failed": 1,
        "running": ("a=1", "a=2"),
        "running_count": 2,
        "elapsed_s": 60.0,
        "silent_s": 1.0,
    }
    return Part(**given | changes)


def test_rest_is_estimated_from_the_rate_of_all_that_are_heard_of() -> None:
    found = Watched(60, 100, (part(), part(done=10, elapsed_s=60.0), part(silent_s=LOST_S + 1)))
    # 40 runs end per minute, and 40 are left.
    assert found.left_s == pytest.approx(60.0)
    told = lines(found)
    assert told[0] == "60 of 100 runs done (60 %), 4 running, 3 failed"
    assert told[1] == "about 60 s left, at 40 runs a minute"
    assert "no report for" in told[-1]
    assert not found.is_over


def test_sweep_of_which_nobody_is_heard_is_said_to_wait() -> None:
    found = Watched(60, 100, (part(silent_s=99.0),))
    assert found.is_over
    assert found.left_s is None
    assert "no process is running: --resume runs the rest" in lines(found)
    assert lines(Watched(100, 100, ())) == ["100 of 100 runs done (100 %), 0 running, 0 failed"]
    assert lines(Watched(7, None, ()))[0] == "7 runs done, 0 running, 0 failed"


def test_running_sweep_is_watched_and_leaves_no_sign_when_it_ends(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    running = Process("sweep", sweep_file, "--out", "out", "--set", ENDLESS, "--jobs", "2", cwd=tmp_path)
    end = time.monotonic() + TIMEOUT_S
    while not list((tmp_path / "out").glob("progress/*.json")) or not watch(tmp_path / "out").parts[0].running:
        assert time.monotonic() < end
        time.sleep(0.05)
    seen = cli("sweep", "--watch", "out")
    assert seen.returncode == 0, seen.stderr
    assert seen.stdout.startswith("0 of 6 runs done (0 %), 2 running, 0 failed\n")
    assert "fabric.kind=bus, replay.outstanding=1" in seen.stdout
    running.process.send_signal(signal.SIGINT)
    assert running.finish()[0] == 130
    assert not (tmp_path / "out/progress").exists()
    assert "no process is running" in cli("sweep", "--watch", "out").stdout


def test_sweep_whose_process_was_killed_is_said_to_wait_at_once(tmp_path: Path) -> None:
    (tmp_path / "sweep.json").write_text(json.dumps({"format": FORMAT, "kind": "sweep", "points": 6}))
    (tmp_path / "progress").mkdir()
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    begun = time.time()
    beat = {
        "host": platform.node(),
        "process": process.pid,
        "processes": process_namespace(),
        "begun": begun,
        "beat": begun + 1.0,
        "runs": 6,
        "done": 1,
        "failed": 0,
        "running": ["a=1"],
        "running_count": 1,
    }
    (tmp_path / "progress/one.json").write_text(json.dumps(beat))
    try:
        assert not watch(tmp_path).is_over
        process.kill()
        # The killed process stays a zombie with its id until its parent waits, but the watch must notice its end.
        end = time.monotonic() + TIMEOUT_S
        while not watch(tmp_path).is_over:
            assert time.monotonic() < end
            time.sleep(0.02)
        process.wait(timeout=TIMEOUT_S)
        told = lines(watch(tmp_path))
    finally:
        process.kill()
        process.wait(timeout=TIMEOUT_S)
    assert told[1] == "no process is running: --resume runs the rest"
    assert "killed: the process is gone" in told[2]
    # A process on another machine cannot be checked, but its heartbeat is recent.
    (tmp_path / "progress/one.json").write_text(json.dumps(beat | {"host": "another", "beat": time.time()}))
    assert not watch(tmp_path).is_over


def test_what_cannot_be_watched_is_refused(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    assert "only shows progress: leave SWEEP.toml out" in cli("sweep", sweep_file, "--watch", ".").stderr
    assert "Missing argument" in cli("sweep").stderr
    (tmp_path / "empty").mkdir()
    done = cli("sweep", "--watch", "empty")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be read" in done.stderr


def trials(count: int) -> list[dict[str, Any]]:
    """Returns drives whose latency depends strongly on `kind`, weakly on `rate`, and not on `name`."""
    found = []
    for number in range(count):
        rate = number // 2 % 3
        settings: dict[str, Any] = {"kind": ("bus", "mesh")[number % 2], "rate": rate, "name": number // 7 % 3}
        latency = 100.0 * (10.0 if settings["kind"] == "bus" else 1.0) * (1.0 + rate)
        found.append({"run": str(number), "settings": settings, "idle": [], "measures": {"p99": latency, "none": 0.0}})
    return found


def test_importance_is_the_share_of_the_variance() -> None:
    found = importance(trials(42), ["kind", "rate", "name"])
    assert list(found["p99"]) == ["kind", "rate", "name"]
    assert found["p99"]["kind"] > 0.7
    assert 0.02 < found["p99"]["rate"] < 0.25
    assert found["p99"]["name"] < 0.02
    assert set(found["none"].values()) == {0.0}
    assert importance(trials(7), ["kind"]) == {}


def test_importance_looks_at_drives_that_read_a_key_alone() -> None:
    idle = trials(42)
    for trial in idle:
        if trial["settings"]["kind"] == "mesh":
            trial["idle"] = ["rate"]
            trial["settings"]["rate"] = 0
    found = importance(idle, ["kind", "rate"])
    # Among drives with a bus, only the rate matters.
    assert found["p99"]["rate"] == pytest.approx(1.0)
    assert json.dumps(found)
