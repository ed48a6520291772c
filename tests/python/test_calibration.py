"""`flashmesh calibrate` finds hidden values, names keys that measurements do not determine, and refuses bad input."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import COMMAND, TIMEOUT_S, Cli, environment
from flashmesh import ConfigError
from flashmesh.calibration.determined import found_keys
from flashmesh.calibration.engine import calibrate, read_problem
from flashmesh.calibration.facts import read_facts
from flashmesh.calibration.outcome import Calibration
from flashmesh.calibration.residuals import figures_held, loss, residuals
from flashmesh.calibration.space import free_key, listed
from flashmesh.sweeps.local import LocalThreads
from flashmesh.sweeps.ranges import quantity
from flashmesh.validation.figures import LATENCIES, Figures
from flashmesh.validation.workload import Extent
from made_up_drive import DRIVE, EXTENT, csv_of, simulated, written

HIDDEN = {"flash.read-time": 47.0, "flash.program-time": 130.0}
"""Hidden times, in microseconds."""
FIXED = [key.key for key in listed() if key.key not in HIDDEN]
FACTS = (
    DRIVE.replace('read-time = "40us"\nprogram-time = "100us"\n', "") + f"\n[calibrate]\nfixed = {json.dumps(FIXED)}\n"
)
RATES = (8_000.0, 14_000.0, 40_000.0)


def hidden_drive() -> str:
    text = DRIVE
    for key, old in (("flash.read-time", "40us"), ("flash.program-time", "100us")):
        text = text.replace(f'"{old}"', f'"{HIDDEN[key]}us"')
    return text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes measurements of a drive, and its facts without two times. Returns the folder."""
    found = tmp_path_factory.mktemp("calibration")
    (found / "measured.csv").write_text(csv_of(simulated(written(found, hidden_drive()), RATES)))
    (found / "facts.toml").write_text(FACTS)
    return found


@pytest.fixture(scope="module")
def found(folder: Path) -> Calibration:
    """Returns the result of a calibration."""
    problem = read_problem([folder / "measured.csv"], folder / "facts.toml", None, EXTENT.requests)
    return calibrate(problem, LocalThreads(2), budget_min=60.0)


@pytest.mark.long
def test_two_hidden_times_are_found_and_determined(found: Calibration) -> None:
    assert not found.cut
    assert {key.key for key in found.keys} == set(HIDDEN)
    for key in found.keys:
        assert key.is_determined, key.sentence
        assert quantity(key.key, key.value).value / 10**6 == pytest.approx(HIDDEN[key.key], rel=0.05)
        assert key.low is not None
        assert key.high is not None
        low, high = (float(quantity(key.key, end).value) / 10**6 for end in (key.low, key.high))
        assert low < HIDDEN[key.key] < high
    for point in found.points:
        assert point.predicted_error is not None
        assert point.predicted_error < 0.10, point.target.name


@pytest.mark.long
def test_the_same_seed_finds_the_same_and_what_is_kept_is_not_run_again(folder: Path, cli: Cli, tmp_path: Path) -> None:
    files = ("calibrate", folder / "measured.csv", "--facts", folder / "facts.toml")
    call = (*files, "--requests", "6000", "--trials", "4", "--quiet")
    first = cli(*call, "-o", "first.toml", "--json", "first.json")
    assert first.returncode == 0, first.stderr
    runs = sorted(path.name for path in (tmp_path / "calibration.results").rglob("*.json"))
    again = cli(*call, "-o", "again.toml")
    assert again.stdout == first.stdout
    assert (tmp_path / "again.toml").read_text() == (tmp_path / "first.toml").read_text()
    assert sorted(path.name for path in (tmp_path / "calibration.results").rglob("*.json")) == runs
    document = json.loads((tmp_path / "first.json").read_text())
    assert [point["name"] for point in document["points"]] == [f"{rate:,.0f} IOPS" for rate in RATES]
    # The fitted drive can be validated without changes.
    held = cli("validate", "first.toml", "--points", folder / "measured.csv", "--requests", "6000", "--quiet")
    assert held.returncode in (0, 3), held.stderr
    assert "first.toml: measured and simulated" in held.stdout


@pytest.mark.long
def test_a_key_that_no_figure_depends_on_is_not_determined(folder: Path, tmp_path: Path, cli: Cli) -> None:
    # No request waits as long as a second.
    (tmp_path / "facts.toml").write_text(FACTS + '[calibrate.search]\n"schedule.age-bound" = "1.0s..100.0s log"\n')
    ended = cli(
        "calibrate",
        folder / "measured.csv",
        *("--facts", "facts.toml", "-o", "out.toml", "--requests", "6000", "--trials", "4", "--json", "out.json"),
    )
    assert ended.returncode == 0, ended.stderr
    document = json.loads((tmp_path / "out.json").read_text())
    assert {key["key"]: key["is_determined"] for key in document["keys"]}["schedule.age-bound"] is False
    told = (
        "schedule.age-bound is not determined by these measurements: no figure depends on it, 1s to 100s fits as well"
    )
    assert told in " ".join(ended.stdout.split())
    assert "schedule.age-bound" in (tmp_path / "out.toml").read_text()


@pytest.mark.long
def test_without_slopes_nothing_is_determined(found: Calibration) -> None:
    keys = found_keys(found.facts.space, found.best, None, [found.best])
    assert [key.is_determined for key in keys] == [False, False]
    assert all("there was not enough time to decide" in key.sentence for key in keys)


@pytest.mark.long
def test_a_drive_that_is_far_from_all_measurements_determines_nothing(found: Calibration) -> None:
    far = replace(found.best, rows=tuple(tuple(9.0 for _ in row) for row in found.best.rows))
    keys = found_keys(found.facts.space, far, None, [far])
    assert not any(key.is_determined for key in keys)
    assert "no drive that was tried is near the measurements" in keys[0].sentence


@pytest.mark.long
def test_an_interrupted_calibration_keeps_its_runs_and_goes_on(folder: Path, tmp_path: Path, cli: Cli) -> None:
    files = ("calibrate", folder / "measured.csv", "--facts", folder / "facts.toml", "-o", "out.toml")
    call = (*files, "--requests", "6000", "--trials", "4")
    process = subprocess.Popen(
        [COMMAND, *call], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    runs = tmp_path / "calibration.results" / "runs"
    end = time.monotonic() + TIMEOUT_S
    while not list(runs.glob("*/*.json")) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=TIMEOUT_S)
    # The process may have ended before the signal arrived.
    assert process.returncode in (130, 0), told
    if process.returncode == 130:
        assert "the same command goes on" in told
        assert not (tmp_path / "out.toml").exists()
    kept = {path: path.stat().st_mtime_ns for path in runs.glob("*/*.json")}
    assert kept
    assert cli(*call).returncode == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept, "what was kept is not run again"
    assert (tmp_path / "out.toml").is_file()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "[flash]",
            '[flash]\nread-time = "40us"',
            "states flash.read-time, which calibrate fits: remove it, or declare",
        ),
        ("fixed = [", 'fixed = ["gc.victim", ', "fixed has gc.victim, which is not searched"),
        ("[calibrate]", "[calibrate]\ncolour = 1", "[calibrate] colour is unknown"),
        ("[calibrate]", '[calibrate]\nsoftware-time = "fast"', "has a unit that ranges do not know"),
        ("[calibrate]", "[workload]\nrequests = 5\n[calibrate]", "[workload] describes a workload"),
        ("[calibrate]", '[calibrate]\nsearch = { "flash.colour" = "1..2" }', "flash.colour is no key"),
        ("[calibrate]", '[calibrate]\nsearch = { "gc.d" = "5..5" }', "gc.d: 5..5 is one value"),
        ("[calibrate]", '[calibrate]\nsearch = { "gc.victim" = ["fifo"] }', "one choice is nothing to search"),
        ("fixed = [", 'fixed = ["flash.read-time", "flash.program-time", ', "leaves nothing to fit"),
        ("[geometry]", "[geometry", "is not TOML"),
    ],
)
def test_bad_facts_are_refused_with_a_sentence(old: str, new: str, told: str, tmp_path: Path) -> None:
    assert old in FACTS
    (tmp_path / "facts.toml").write_text(FACTS.replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        read_facts(tmp_path / "facts.toml")
    assert told in str(caught.value)


def test_a_time_too_short_for_a_single_drive_is_refused(folder: Path, cli: Cli) -> None:
    files = (folder / "measured.csv", "--facts", folder / "facts.toml", "-o", "out.toml")
    ended = cli("calibrate", *files, "--budget", "0.00001", "--requests", "4000000")
    assert ended.returncode == 2
    assert "minutes are too short for a single drive" in ended.stderr


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (("a.csv", "b.csv"), "give one table, or results of fio"),
        (("missing.csv",), "missing.csv: cannot be read"),
        (("missing.json",), "its job file is missing"),
    ],
)
def test_files_that_are_no_measurements_are_refused(
    folder: Path, files: Sequence[str], told: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        read_problem([tmp_path / name for name in files], folder / "facts.toml", None, 6_000)
    assert told in str(caught.value)


def test_residuals_are_logarithms_in_units_of_the_tolerance(folder: Path) -> None:
    problem = read_problem([folder / "measured.csv"], folder / "facts.toml", None, Extent(6_000).requests)
    target = next(target for target in problem.targets if not target.is_saturated)
    held = figures_held(target)
    assert held == ["iops", *LATENCIES]
    exact = residuals(target, target.measured)
    assert exact == [0.0] * len(held)
    assert loss([exact]) == 0.0
    measured = target.measured.read_p99_us
    assert measured is not None
    moved = Figures.from_dict({**target.measured.to_dict(), "read_p99_us": measured * 1.15})
    distances = dict(zip(held, residuals(target, moved), strict=True))
    assert distances["read_p99_us"] == pytest.approx(0.1398 / 0.15, rel=1e-3)
    assert sum(value != 0.0 for value in distances.values()) == 1
    assert all(value == 50.0 for value in residuals(target, None))


def test_a_value_lies_where_its_range_says() -> None:
    key = free_key("x", {"key": "flash.read-time", "range": "10.0us..1000.0us log"})
    assert key.at(0.5) == "100us"
    assert key.share_of("100us") == pytest.approx(0.5)
    assert key.share_of("0.1ms") == pytest.approx(0.5)
    assert key.share_of("1us") is None
    assert key.share_of("8KiB") is None
    assert (key.at(-1.0), key.at(2.0)) == ("10us", "1000us")


def test_every_listed_key_can_be_searched() -> None:
    assert len(listed()) >= 8
    assert len({key.key for key in listed()}) == len(listed())
    assert all(key.about for key in listed())
