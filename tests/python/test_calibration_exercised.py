"""A calibration searches only keys that a load exercises, and keeps what a batch finished before its time ran out."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from flashmesh import ConfigError
from flashmesh.calibration.engine import Problem, read_problem
from flashmesh.calibration.inputs.points import ClosedLoad, JobLoad, OpenLoad, Target
from flashmesh.calibration.residuals import SERVED, Held
from flashmesh.calibration.searching.bench import Bench, Candidate, OutOfTime
from flashmesh.calibration.searching.determined import FAR, FAR_AND_CUT, KeyEstimate, found_keys
from flashmesh.calibration.searching.estimates import Aim, initial_values, program_bytes
from flashmesh.calibration.searching.exercised import ALL, COLLECTION, MISSING, NEEDS, READS, WRITES, traits
from flashmesh.calibration.searching.local import descend
from flashmesh.calibration.searching.search import AIMS, SHARES, Search, new_search
from flashmesh.calibration.space import Space, free_key, listed
from flashmesh.importers.fio import FioJobs
from flashmesh.report.calibration import undetermined_lines
from flashmesh.sweeps.executors.local import LocalThreads
from flashmesh.sweeps.executors.session import Executor, Outcome
from flashmesh.sweeps.inputs.ranges import quantity
from flashmesh.sweeps.tasks import Task
from flashmesh.validation.figures import Figures
from flashmesh.validation.loads.workload import Extent, drive_tables, planes_of
from flashmesh.validation.tables.sheets import EmptyDriveLoad, SheetLoad
from made_up_drive import DRIVE, written

KEYS = (
    free_key("x", {"key": "flash.read-time", "range": "10.0us..1000.0us log"}),
    free_key("x", {"key": "flash.program-time", "range": "10.0us..1000.0us log"}),
    free_key("x", {"key": "flash.suspension", "choices": ["both", "off"]}),
)
START = {"flash.read-time": "100us", "flash.program-time": "100us", "flash.suspension": "both"}
HELD = (Held(SERVED, 1e4, 0.05),)


def closed(read_share: float, tables: dict[str, Any] | None = None, *, is_empty: bool = False) -> Target:
    load = (EmptyDriveLoad if is_empty else SheetLoad)(read_share, 4096, "random", 1)
    return Target(load.label, HELD, ClosedLoad(tables or {}, load, Extent(2_000)))


def jobs(*shares: float) -> Target:
    settings: dict[str, Any] = {}
    for number, share in enumerate(shares):
        settings |= {f"stream.j{number}.replay.mode": "stress", f"stream.j{number}.workload.read-share": share}
    return Target("jobs", HELD, JobLoad({}, FioJobs(settings)))


class Places:
    """Executor that gives each run a rate by its settings, and lets the time run out after a number of runs."""

    places = 1

    def __init__(self, rate: Callable[[Task], float], runs_max: int = 10**6) -> None:
        self.rate = rate
        self.runs_max = runs_max
        self.begun: list[dict[str, str]] = []

    def run(self, tasks: Sequence[Task], take: Callable[[Outcome], None], *_: object) -> None:
        for task in tasks:
            if len(self.begun) == self.runs_max:
                raise OutOfTime
            self.begun.append(task.settings)
            take(Outcome(task, document=json.dumps(self.rate(task))))

    def close(self) -> None:
        pass


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, Any]:
    return drive_tables(written(tmp_path), {})


def rates(rate: float, targets: Sequence[Target]) -> Figures:
    """Returns a rate as figures: of writes if the only load writes, otherwise of reads."""
    return Figures(0.0, rate) if traits(targets[0]) <= {WRITES, COLLECTION} else Figures(rate, 0.0)


def bench_of(
    monkeypatch: pytest.MonkeyPatch, targets: Sequence[Target], executor: Executor, told: list[Candidate] | None = None
) -> Bench:
    """Returns a bench whose results have only a read rate, which the executor gives."""
    from flashmesh.calibration.searching import bench as module

    monkeypatch.setattr(module, "has_window", lambda document: True)
    monkeypatch.setattr(module, "is_unsettled", lambda document: False)
    monkeypatch.setattr(module, "simulated", lambda document, software_us: rates(document, targets))
    return Bench(targets, 0.0, executor, None, (told if told is not None else []).append)


def test_the_requests_of_a_load_decide_which_keys_it_exercises() -> None:
    assert traits(closed(1.0)) == {READS}
    assert traits(closed(0.0)) == {WRITES, COLLECTION}
    assert traits(closed(0.0, is_empty=True)) == {WRITES}
    assert traits(closed(0.7)) == ALL
    assert traits(closed(0.0, {"mapping": {"cache-capacity": "1MiB"}})) == ALL, "writes read the map from flash"
    assert traits(Target("table", HELD, OpenLoad({}, False))) == ALL
    assert traits(jobs(1.0)) == {READS}
    assert traits(jobs(1.0, 0.0)) == ALL, "the jobs read and write together"
    assert set(NEEDS.values()) == set(MISSING)
    derived = {"geometry.blocks-per-plane", "cache.destage-stripe", "cache.throttle-share"}
    assert set(NEEDS) <= {key.key for key in listed()} | derived


def test_keys_that_no_row_exercises_are_not_searched_and_are_named_with_the_reason(tmp_path: Path) -> None:
    sheet, facts = tmp_path / "sheet.csv", tmp_path / "facts.toml"
    heading = "drive,what,reference,value,unit,read_share,request_size,pattern,outstanding,statistic"
    reads = "made up,reads,data sheet,60,us,1,4KiB,random,1,mean"
    sheet.write_text(f"{heading}\n{reads}\n")
    facts.write_text(DRIVE.replace('program-time = "100us"\n', "").replace('read-time = "40us"\n', ""))
    problem = read_problem([], facts, None, 2_000, data_sheet=sheet)
    searched = {key.key for key in problem.searched.keys}
    assert "flash.read-time" in searched
    assert not searched & {"flash.program-time", "flash.suspension", "flash.suspend-time", "cache.stall"}
    assert problem.unexercised["flash.program-time"] == "no load writes"
    assert problem.unexercised["flash.suspension"].startswith("no load mixes reads and writes")
    sheet.write_text(f"{heading}\n{reads}\nmade up,mix,data sheet,9000,IOPS,0.7,4KiB,random,8,rate\n")
    assert not read_problem([], facts, None, 2_000, data_sheet=sheet).unexercised
    open_keys = [key.key for key in problem.facts.space.keys if key.key not in problem.unexercised]
    fixed = json.dumps([key for key in open_keys if key in {each.key for each in listed()}])
    facts.write_text(f"{facts.read_text()}\n[calibrate]\nfixed = {fixed}\n")
    sheet.write_text(f"{heading}\n{reads}\n")
    with pytest.raises(ConfigError, match=r"leaves nothing to fit: no load writes, as flash\.program-time needs"):
        read_problem([], facts, None, 2_000, data_sheet=sheet)


def test_a_load_is_not_run_again_for_keys_that_it_does_not_exercise(
    monkeypatch: pytest.MonkeyPatch, tables: dict[str, Any]
) -> None:
    executor = Places(lambda task: 1e4)
    bench = bench_of(monkeypatch, [closed(1.0, tables), closed(0.0, tables)], executor)
    bench.try_all([START])
    assert len(executor.begun) == 2
    bench.try_all([START | {"flash.suspension": "off"}])
    assert len(executor.begun) == 2
    bench.try_all([START | {"flash.program-time": "200us"}, START | {"flash.program-time": "300us"}])
    assert [each["load"] for each in executor.begun[2:]] == [closed(0.0).name] * 2
    assert len(bench.tried) == 4


def test_drives_that_are_complete_when_the_time_runs_out_are_kept(
    monkeypatch: pytest.MonkeyPatch, tables: dict[str, Any]
) -> None:
    executor = Places(lambda task: 1e4, runs_max=5)
    told: list[Candidate] = []
    bench = bench_of(monkeypatch, [closed(1.0, tables), closed(0.0, tables)], executor, told)
    drives = [START | {"flash.read-time": f"{time}us"} for time in (50, 60, 70, 80)]
    with pytest.raises(OutOfTime):
        bench.try_all(drives)
    assert [each.settings for each in told] == drives[:2], "the fifth run is half of a third drive"
    executor.runs_max = 8
    assert len(bench.try_all(drives)) == 4
    assert len(executor.begun) == 8, "the half of the third drive is kept as well"


def searched(bench: Bench) -> Search:
    return new_search(bench, bench, Space(KEYS), 1, 3600.0)


@pytest.mark.parametrize(("shares", "is_mixed"), [((1.0, 0.0), False), ((1.0, 0.7), True)])
def test_ranges_come_before_choices_unless_a_load_mixes_reads_and_writes(
    shares: Sequence[float], is_mixed: bool, monkeypatch: pytest.MonkeyPatch, tables: dict[str, Any]
) -> None:
    executor = Places(lambda task: 2e4)
    bench = bench_of(monkeypatch, [closed(each, tables) for each in shares], executor)
    searched(bench).explore(START, 1)
    second = next(each for each in bench.candidates if each.settings != START)
    assert (second.settings["flash.suspension"] == "off") is is_mixed


def test_proposed_drives_keep_the_keys_that_are_not_searched(
    monkeypatch: pytest.MonkeyPatch, tables: dict[str, Any]
) -> None:
    bench = bench_of(monkeypatch, [closed(1.0, tables)], Places(lambda task: 2e4))
    search = new_search(bench, bench, Space(KEYS[:1]), 1, 3600.0)
    search.explore(START, 8)
    others = {
        tuple((key, each.settings[key]) for key in START if key != "flash.read-time") for each in bench.candidates
    }
    assert len(others) == 1
    assert len(bench.candidates) > 8


def test_far_from_the_measurements_the_time_limit_is_named_if_it_cut_the_search() -> None:
    far = Candidate(START, (None,), ((50.0,),))
    why = {"flash.suspension": "no load mixes reads and writes"}
    for is_cut, told in ((True, FAR_AND_CUT), (False, FAR)):
        keys = found_keys(Space(KEYS), far, None, [far], why, is_cut=is_cut)
        assert [key.reason for key in keys] == [told, told, why["flash.suspension"]]
    assert "--budget" in FAR_AND_CUT


def returned(
    monkeypatch: pytest.MonkeyPatch, tables: dict[str, Any], rate: Callable[[Task], float], runs_max: int = 10**6
) -> tuple[dict[str, str], bool, int]:
    """Returns the settings after a return from drifted values, whether the time sufficed, and the number of runs."""
    executor = Places(rate, runs_max)
    bench = bench_of(monkeypatch, [closed(0.7, tables)], executor)
    (drifted,) = bench.try_all([DRIFTED])
    kept, is_whole = searched(bench).return_to_start(START, drifted, list(START))
    return kept.settings, is_whole, len(executor.begun)


DRIFTED = {"flash.read-time": "300us", "flash.program-time": "400us", "flash.suspension": "off"}


def test_keys_without_an_effect_return_to_their_initial_values_together(
    monkeypatch: pytest.MonkeyPatch, tables: dict[str, Any]
) -> None:
    told = "the drifted drive, its choice, and both ranges"
    assert returned(monkeypatch, tables, lambda task: 1e4) == (START, True, 3), told


def test_distances_are_shares_of_the_range() -> None:
    times, _, choices = KEYS
    assert times.distance("100us", "1000us") == pytest.approx(0.5)
    assert times.distance("100us", "2us") == math.inf
    assert choices.distance("both", "off") == 0.0


def test_a_key_whose_initial_value_fits_worse_stays_and_the_others_return(
    monkeypatch: pytest.MonkeyPatch, tables: dict[str, Any]
) -> None:
    def rate(task: Task) -> float:
        return 1e4 if task.settings["flash.program-time"] == "400us" else 5e3

    settings, is_whole, _ = returned(monkeypatch, tables, rate)
    assert settings == START | {"flash.program-time": "400us"}
    assert is_whole
    settings, is_whole, _ = returned(monkeypatch, tables, rate, runs_max=2)
    assert (settings, is_whole) == (DRIFTED | {"flash.suspension": "both"}, False), "choices and small moves come first"


def test_small_losses_do_not_add_up_when_keys_return(monkeypatch: pytest.MonkeyPatch, tables: dict[str, Any]) -> None:
    def rate(task: Task) -> float:
        same = sum(task.settings[key] == START[key] for key in START)
        return 1e4 * (1.0 + 0.05 * 0.15 * same)

    settings, _, _ = returned(monkeypatch, tables, rate)
    assert sum(settings[key] == START[key] for key in START) == 1, "a loss of 0.02, then 0.09"


def test_the_report_says_what_the_loads_say_nothing_about_and_which_keys_keep_their_values() -> None:
    keys = [
        KeyEstimate("flash.suspension", "both", None, None, False, "no load mixes"),
        KeyEstimate("flash.read-time", "100us", "1us", "200us", False, "no figure depends on it"),
        KeyEstimate("flash.program-time", "400us", "1us", "900us", False, "no figure depends on it"),
    ]
    lines = undetermined_lines(keys, {"flash.suspension": "no load mixes"}, START, "the values of the preset p")
    assert lines == [
        "no load mixes: flash.suspension keeps the values of the preset p",
        "flash.read-time, flash.program-time are not determined by these measurements: no figure depends on it",
        "of the keys that are not determined, these keep the values of the preset p: flash.read-time",
    ]


def aimed(folder: Path) -> tuple[Problem, float]:
    """Returns a problem with a row of sequential writes, and the rate of its drive times the program time in us."""
    (folder / "facts.toml").write_text(DRIVE.replace('program-time = "100us"\n', ""))
    heading = "drive,what,reference,value,unit,read_share,request_size,pattern,outstanding,statistic"
    row = "made up,writes,data sheet,6000,IOPS,0,128KiB,sequential,32,rate"
    (folder / "sheet.csv").write_text(f"{heading}\n{row}\n")
    found = read_problem([], folder / "facts.toml", None, 2_000, data_sheet=folder / "sheet.csv")
    drive = found.facts.tables
    return found, planes_of(drive["geometry"]) * program_bytes(drive) / (128 * 1024) * 1e6


def program_us(settings: dict[str, str]) -> float:
    return float(quantity("t", settings["flash.program-time"]).value) / 1e6


def test_closed_forms_are_corrected_by_the_factor_that_the_drive_misses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found, scale = aimed(tmp_path)
    executor = Places(lambda task: 0.8 * scale / program_us(task.settings))
    bench = bench_of(monkeypatch, found.targets, executor)
    start = initial_values(found.facts, found.targets)
    bench.try_all([start])
    new_search(bench, bench, found.searched, 1, 3600.0).take_aim(Aim(found.facts, found.targets, start))
    assert program_us(bench.best.settings) == pytest.approx(0.8 * scale / 6_000, rel=1e-3)
    assert bench.best.loss < 1e-3
    assert len(executor.begun) <= 1 + AIMS
    others = set(start) - {"flash.program-time", "fabric.channel-rate", "geometry.blocks-per-plane"}
    assert {key for key in others if bench.best.settings[key] != start[key]} == set()


def test_an_aim_that_makes_the_drive_worse_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found, _ = aimed(tmp_path)
    start = initial_values(found.facts, found.targets)
    executor = Places(lambda task: 6e3 if task.settings["flash.program-time"] == start["flash.program-time"] else 1.0)
    bench = bench_of(monkeypatch, found.targets, executor)
    (first,) = bench.try_all([start])
    new_search(bench, bench, found.searched, 1, 3600.0).take_aim(Aim(found.facts, found.targets, start))
    assert bench.best is first
    assert len(executor.begun) == 2


def test_a_figure_is_corrected_by_a_factor_of_two_at_most(tmp_path: Path) -> None:
    found, _ = aimed(tmp_path)
    aim = Aim(found.facts, found.targets, initial_values(found.facts, found.targets))
    aim.correct(Candidate({}, (Figures(0.0, 1_000.0),), ()))
    assert aim.aimed[0].held[0].measured == 12_000.0
    aim.correct(Candidate({}, (None,), ()))
    assert aim.aimed[0].held[0].measured == 12_000.0


def test_short_runs_take_the_place_of_full_runs_that_do_not_end_in_time(
    monkeypatch: pytest.MonkeyPatch, tables: dict[str, Any]
) -> None:
    coarse = bench_of(monkeypatch, [closed(1.0, tables)], Places(lambda task: 2e4))
    bench = bench_of(monkeypatch, [closed(1.0, tables)], Places(lambda task: 1e4, runs_max=0))
    search = new_search(bench, coarse, Space(KEYS), 1, 3600.0)
    assert search.explore(START, 1) is False
    assert bench.best is coarse.best
    assert not search.has_full_runs
    whole = bench_of(monkeypatch, [closed(1.0, tables)], Places(lambda task: 1e4))
    search = new_search(whole, coarse, Space(KEYS), 1, 3600.0)
    assert search.explore(START, 1) is True
    assert search.has_full_runs


@pytest.mark.parametrize(("drive_s", "share"), [(1.0, SHARES[0]), (10.0, SHARES[1])])
def test_short_runs_have_the_time_of_full_runs_if_a_drive_takes_long(drive_s: float, share: float) -> None:
    bench = Bench([], 0.0, LocalThreads(1), None, lambda _: None)
    search = new_search(bench, bench, Space(KEYS), 1, 100.0)
    search.begin_short_runs(drive_s)
    assert bench.until == pytest.approx(search.begun + 100.0 * share)


def test_least_squares_leave_a_value_at_the_end_of_its_range(
    monkeypatch: pytest.MonkeyPatch, tables: dict[str, Any]
) -> None:
    bench = bench_of(monkeypatch, [closed(1.0, tables)], Places(lambda task: 1e4))
    descend(bench, bench, Space(KEYS), START | {"flash.read-time": "10us", "flash.program-time": "1000us"}, 1)
    first = bench.candidates[0].settings
    assert (first["flash.read-time"], first["flash.program-time"]) == ("10us", "1000us")
