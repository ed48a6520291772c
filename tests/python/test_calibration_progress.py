"""`flashmesh calibrate` prints the time limit, the time of a drive, its stages, and a line every 30 seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashmesh.calibration.engine import Problem, read_problem
from flashmesh.calibration.searching.bench import Bench, Candidate
from flashmesh.calibration.searching.search import STAGES, new_search
from flashmesh.cli.measured.calibrate import SILENT_MAX_S, ProgressPrinter
from flashmesh.sweeps.executors.local import LocalThreads

EXAMPLES = Path(__file__).parents[2] / "examples" / "calibrate"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module")
def problem() -> Problem:
    return read_problem([], EXAMPLES / "facts.toml", None, 4_000, data_sheet=EXAMPLES / "sheet.csv")


@pytest.mark.parametrize("quiet", [False, True])
def test_the_start_tells_the_time_limit_and_the_first_drive_how_many_it_allows(
    quiet: bool, problem: Problem, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()
    told = ProgressPrinter(quiet, problem, 4.0, clock)
    told.begin()
    clock.now += 12.0
    told.on_candidate(Candidate({"flash.read-time": "48us"}, (), ((1.0,),)))
    lines = capsys.readouterr().err.splitlines()
    if quiet:
        assert lines == []
        return
    assert lines[0].startswith("at most 4 min (--budget); 4 loads, so a drive takes 4 runs; ")
    assert "flash.read-time" in lines[0]
    assert "the first drive took 12 s: the time is enough for some 20 such drives" in lines[1]
    assert lines[2] == "drive 1: loss 0.828: flash.read-time=48us"


def test_nothing_is_silent_for_longer_than_the_limit(problem: Problem, capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    told = ProgressPrinter(False, problem, 4.0, clock)
    for _ in range(7):
        clock.now += SILENT_MAX_S / 3.0
        told.on_wait()
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "0.5 of 4 min, initial drive: 0 drives tried",
        "1.0 of 4 min, initial drive: 0 drives tried",
    ]
    told.on_stage("full runs")
    told.on_stage("full runs")
    assert capsys.readouterr().err == "1.2 of 4 min, full runs: 0 drives tried\n"


def test_each_stage_is_named_when_it_begins(problem: Problem) -> None:
    names: list[str] = []
    bench = Bench(problem.targets, 0.0, LocalThreads(1), None, lambda _: None)
    search = new_search(bench, bench, problem.searched, 1, 60.0, names.append)
    for number in range(len(STAGES)):
        search.stage(number)
    assert names == list(STAGES)


def test_a_budget_that_is_too_short_is_refused_with_an_amount(problem: Problem) -> None:
    from flashmesh.calibration.searching.bench import Run

    bench = Bench(problem.targets, 0.0, LocalThreads(1), None, lambda _: None)
    search = new_search(bench, bench, problem.searched, 1, 3.0)
    assert "0.05 minutes are too short for a single drive: allow some 1 with --budget" in str(search.too_short(bench))
    bench.known = {(0, ()): Run(None)}
    late = new_search(bench, bench, problem.searched, 1, 60.0)
    object.__setattr__(late, "begun", late.begun - 60.0)
    assert "allow some 21 with --budget" in str(late.too_short(bench)), "four runs of a minute, five times"
