"""Random drives under all oracles, checked independently; and a test that the checks find injected faults."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import flashmesh
from campaign import campaign as engine
from campaign import draw, hostile, inputs, stepped
from campaign.arithmetic import Log, faults
from campaign.draw import BASE
from campaign.values import bare, declared
from conftest import environment
from flashmesh import _native
from flashmesh.configuration import read
from flashmesh.policies import trust
from flashmesh.results import Result
from long_cases import in_part

RUNS = int(os.environ.get("FLASHMESH_CAMPAIGN_RUNS", "300"))
SEED = 1
TESTS = Path(__file__).resolve().parents[1]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "campaign", *arguments]
    return subprocess.run(words, cwd=TESTS, env=environment(), capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("runs", [20, pytest.param(RUNS, marks=pytest.mark.long)])
def test_campaign_finds_nothing(tmp_path: Path, runs: int) -> None:
    state = engine.campaign(runs, SEED, tmp_path)
    assert state.runs == runs
    assert state.requests > runs * 50
    failed = [Path(name).read_text().split("\n# What")[0] for name in state.failures]
    assert failed == []


def test_campaign_draws_every_kind_of_drive() -> None:
    drawn = [engine.settings_of(number, SEED) for number in range(60)]
    keys = ("fabric.kind", "host.interface", "schedule.policy", "precondition.kind", "replay.mode", "measure.warm-up")
    for key in keys:
        assert len({settings.get(key) for settings in drawn}) > 2, key
    assert any(any(key.startswith("stream.") for key in settings) for settings in drawn)


@pytest.mark.long
def test_every_value_of_every_key_is_drawn_or_left_out_with_a_reason(tmp_path: Path) -> None:
    aims = draw.aims()
    assert {key for key, _ in aims} | set(draw.NEVER) | {"seed"} == set(declared())
    for number, (key, value) in enumerate(aims):
        settings = engine.settings_of(number, SEED, tmp_path)
        # Settings of a namespace or stream have its name before the key.
        name = key.removeprefix("namespace.NAME.")
        drawn = {bare(text) for path, text in settings.items() if f".{path}".endswith(f".{name}")}
        assert drawn, key
        assert value is None or value in drawn, (key, value)


@pytest.mark.parametrize("form", inputs.FORMATS)
def test_a_drawn_trace_is_read_whole_in_every_format(form: str, tmp_path: Path) -> None:
    for number in range(4):
        path = inputs.trace(Random(number), tmp_path, form)
        settings = ["workload.trace=" + json.dumps(str(path)), f"workload.format={form}", "workload.beyond=send"]
        settings += ["workload.time-unit=ns"] if form == "ascii" else []
        summary = json.loads(_native.scan_trace(read({}, settings))[0])
        expected = list(inputs.rows(Random(number)))
        assert summary["requests"] == len(expected), (form, summary)


def test_power_is_cut_and_drives_are_stepped_in_a_campaign(tmp_path: Path) -> None:
    state = engine.campaign(25, SEED, tmp_path)
    assert state.failures == []
    assert min(state.cuts, state.stepped, state.files) > 1, state


def test_hostile_files_are_refused(tmp_path: Path) -> None:
    for number in range(30):
        assert list(hostile.files_faults(Random(number), tmp_path / str(number))) == []


@pytest.mark.long
def test_a_policy_of_a_file_that_runs_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "_files_are_trusted", True)
    found = [fault for number in range(40) for fault in hostile.files_faults(Random(number), tmp_path / str(number))]
    assert any("its code has run" in fault for fault in found)
    assert any("is not refused by" in fault for fault in found)


def test_drawn_drives_go_the_same_way_from_a_snapshot_and_refuse_that_of_another_drive() -> None:
    tried = 0
    for number in range(12):
        settings, random = engine.settings_of(number, SEED), Random(number)
        try:
            stepped.stepped(settings, 1)
        except flashmesh.ConfigError:
            continue  # this drive cannot be stepped
        tried += 1
        found = [*stepped.restored(settings, random), *stepped.foreign(settings, random)]
        assert found == [], (number, settings)
    assert tried > 5


def test_same_seed_draws_the_same_whatever_ran_before(tmp_path: Path) -> None:
    assert engine.settings_of(7, 3) == engine.settings_of(7, 3)
    assert engine.settings_of(7, 3) != engine.settings_of(7, 4)
    first = engine.campaign(2, SEED, tmp_path)
    again = engine.campaign(4, SEED, tmp_path)
    whole = engine.campaign(4, SEED, tmp_path / "other")
    assert (first.runs, again.runs, again.requests) == (2, 4, whole.requests)
    with pytest.raises(flashmesh.OutputError, match="is that of seed 1"):
        engine.campaign(4, SEED + 1, tmp_path)


def sample(more: dict[str, str] | None = None) -> tuple[Result, Log]:
    """Returns a correct run with its log."""
    settings = {
        "preset": '"venice-z-nand"',
        "workload.requests": "500",
        "workload.read-share": "0.5",
        "measure.epoch": "50us",
        "measure.collisions": "true",
        "firmware.look-up-time": "100ns",
        "firmware.completion-time": "50ns",
    }
    settings |= more or {}
    config = read({}, [f"{key}={value}" for key, value in settings.items()])
    log = Log()
    result = engine.result_of(_native.Simulation(config).run(_native.Control(), log.take), config)
    assert list(faults(result, log)) == []
    return result, log


def altered(result: Result, path: str, change: Callable[[Any], Any]) -> Result:
    """Returns a result in which the figure at `path` was changed."""
    document = json.loads(json.dumps(result.document))
    *parents, last = path.split(".")
    inner = document
    for parent in parents:
        inner = inner[int(parent)] if isinstance(inner, list) else inner[parent]
    key = int(last) if isinstance(inner, list) else last
    inner[key] = change(inner[key])
    return Result.from_json(json.dumps(document), result.config)


@pytest.mark.parametrize(
    ("path", "change", "words"),
    [
        ("requests", lambda value: value + 1, "the log has 500 requests, the result 501"),
        ("streams.0.requests", lambda value: value - 1, "the streams have 499 requests"),
        ("latency_ps.read.mean", lambda value: value * 1.001, "mean latency of read"),
        ("latency_ps.write.max", lambda value: value + 1, "longest latency of write"),
        ("latency_ps.read.deviation", lambda value: value * 1.0001, "deviation of read"),
        ("streams.0.makespan_ps", lambda value: value + 1, "its last request completed at"),
        ("breakdown_ps.mean.array", lambda value: value * 1.001, "breakdown.mean: array is"),
        ("breakdown_ps.tail.host", lambda value: value + 1, "breakdown.tail: host is"),
        ("breakdown_ps.tail.count", lambda value: value + 1, "breakdown.tail is of"),
        ("lower_bound.firmware_ps", lambda value: value + 1, "cores worked"),
        ("lower_bound.firmware_ps", lambda value: value - 1, "cores worked"),
        ("collisions.reads", lambda value: value + 1, "reads may collide"),
        ("latency_ps.all.p99", lambda value: value * 1.05, "p99 of all"),
        ("latency_ps.all.p50", lambda value: value * 0.95, "p50 of all"),
        ("makespan_ps", lambda value: value // 2, "behind the makespan"),
        ("iops", lambda value: value * 2, "IOPS are"),
        ("bandwidth_bytes_per_s", lambda value: value * 2, "bandwidth is"),
        ("utilisation.dies_mean", lambda value: value + 0.1, "the mean share of dies"),
        ("lower_bound.makespan_ps", lambda value: value - 1, "the largest of its parts is not"),
        ("lower_bound.distance", lambda value: -0.1, "less than its work needs"),
        ("epochs.0.requests", lambda value: value + 1, "requests: the epochs have 501"),
        ("epochs.1.start_ps", lambda value: value + 1, "the next begins at"),
        ("host.statuses.success", lambda value: value - 1, "ended with success"),
        ("streams.0.requests", lambda value: value - 1, "the log has 500 requests of stream"),
        ("latency_ps.read.count", lambda value: value + 1, "reads that succeeded"),
        ("power.average_w", lambda value: value * 2, "energy is"),
        ("utilisation.dies.0", lambda value: 1.1, "a share of dies is outside 0 to 1"),
        ("epochs.0.start_ps", lambda value: 1, "the first epoch begins at 1 ps"),
        ("flash.journal_programs", lambda value: 1, "1 pages of journal were programmed, 0 are told"),
    ],
)
def test_every_figure_that_is_wrong_is_found(path: str, change: Callable[[Any], Any], words: str) -> None:
    result, log = sample()
    found = list(faults(altered(result, path, change), log))
    assert any(words in fault for fault in found), found


def test_more_pages_sent_to_flash_than_were_programmed_are_found() -> None:
    result, log = sample({"cache.capacity": "64KiB"})
    found = list(faults(altered(result, "cache.destages", lambda value: value + 1000), log))
    assert any("pages to flash, and" in fault for fault in found), found


@pytest.mark.parametrize(
    ("column", "change", "words"),
    [
        ("array_ps", lambda values: values ^ 1, "do not add up to their latencies"),
        ("array_ps", lambda values: values // 2, "which takes 3000000 ps at least"),
        ("id", lambda values: values // 2, "a request completed twice"),
        ("submitted_ps", lambda values: values - values, "was submitted before it arrived"),
        ("completed_ps", lambda values: values[::-1], "the log is not in the order of completion"),
        ("completed_ps", lambda values: values + 10**12, "behind the makespan"),
        ("kind", lambda values: values * 0, "writes that succeeded"),
    ],
)
def test_wrong_log_is_found(column: str, change: Callable[[Any], Any], words: str) -> None:
    result, log = sample()
    values = log.column(column)
    whole = {name: b"".join(batch[name] for batch in log.batches) for name in log.batches[0]}
    found = list(faults(result, Log([whole | {column: change(values).astype(values.dtype).tobytes()}])))
    assert any(words in fault for fault in found), found


@functools.cache
def recovered() -> tuple[Result, Log]:
    """Returns the run of a drive whose power is cut."""
    overrides = ("persistence.policy=journal", "power.cut=400us", "workload.read-share=0.5", "workload.requests=500")
    config = read({}, ['preset="venice-z-nand"', *overrides])
    log = Log()
    return engine.result_of(_native.Simulation(config).run(_native.Control(), log.take), config), log


@pytest.mark.parametrize(
    ("path", "change", "words"),
    in_part(
        1,
        [
            ("makespan_ps", lambda value: value + 1, "and the run ends at"),
            ("persistence.journal_pages", lambda value: value + 1, "pages of journal were programmed"),
            ("power_cut.recovery.duration_ps", lambda value: value + 1, "its steps"),
            ("power_cut.recovery.pages_lost", lambda value: 2, "2 pages that were programmed were not found"),
        ],
    ),
)
def test_wrong_recovery_is_found(path: str, change: Callable[[Any], Any], words: str) -> None:
    result, log = recovered()
    assert list(faults(result, log)) == []
    found = list(faults(altered(result, path, change), log))
    assert any(words in fault for fault in found), found


@pytest.mark.long
def test_failure_is_shrunk_and_can_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = engine.run_once

    def planted(settings: dict[str, str], *, twice: bool = False, step: bool = False) -> engine.Outcome:
        """Replaces `run_once`. Fails with the victim selector `random` and more than 100 requests."""
        failing = settings.get("gc.victim") == '"random"' and int(settings["workload.requests"]) > 100
        return engine.Outcome("gc: lost 3 pages" if failing else None, 1)

    monkeypatch.setattr(engine, "run_once", planted)
    state = engine.campaign(200, SEED, tmp_path)
    assert state.failures
    text = Path(state.failures[0]).read_text()
    assert text.startswith("# gc: lost 3 pages\n# Repeat it with: make campaign REPEAT=")
    told = [line for line in text.splitlines() if line.startswith("#   ")]
    beyond = [line for line in told if line.split()[1] not in BASE]
    assert [line.split()[1] for line in beyond] == ["gc.victim"]
    monkeypatch.setattr(engine, "run_once", sound)
    done = command("--repeat", state.failures[0])
    assert (done.returncode, done.stdout) == (0, f"{state.failures[0]}: nothing is wrong\n")


def test_command_says_how_far_it_came(tmp_path: Path) -> None:
    done = command("--runs", "2", "--out", str(tmp_path / "here"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("seed 1: 2 runs, ")
    assert command().returncode == 2


def test_interrupted_result_keeps_to_the_arithmetic() -> None:
    result, log = sample()
    assert replace(result) == result
    assert log.column("id").size == result.requests
