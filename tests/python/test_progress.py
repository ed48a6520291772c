"""Progress of runs: a total where the number of requests is known, a limit where a run ends by itself."""

from __future__ import annotations

from typing import Any

import pytest

import flashmesh
from flashmesh.cli.progress import ProgressBar, new_bar
from flashmesh.execution import Progress

SETTLED = {
    "geometry.channels": 2,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 64,
    "precondition.kind": "random",
    "workload.read-share": 0.5,
    "workload.requests": 40_000,
}
PRESET = "preset:venice-z-nand"


def seen(overrides: dict[str, Any]) -> list[Progress]:
    """Returns the reports on a run while it simulates requests."""
    found: list[Progress] = []
    flashmesh.run(PRESET, overrides=overrides, progress=found.append)
    return [each for each in found if each.requests_done]


def test_warm_up_that_ends_by_itself_leaves_the_total_unknown_and_states_the_limit() -> None:
    reports = seen(SETTLED)
    assert reports
    assert {each.request_total for each in reports} == {None}
    (limit,) = {each.requests_max for each in reports}
    assert limit is not None
    assert limit > 10 * reports[-1].requests_done


def test_run_of_a_known_length_has_a_total() -> None:
    reports = seen(SETTLED | {"measure.warm-up": "none"})
    assert {(each.request_total, each.requests_max) for each in reports} == {(40_000, None)}


@pytest.mark.parametrize("overrides", [{"replay.stop-time": "30ms"}, {"measure.warm-up": "auto"}])
def test_other_ends_of_a_run_leave_the_total_known(overrides: dict[str, Any]) -> None:
    reports = seen(SETTLED | overrides)
    assert reports
    assert all(each.request_total is not None and each.requests_max is None for each in reports)


def test_precision_makes_the_number_of_requests_a_limit() -> None:
    reports = seen({"workload.requests": 400_000, "measure.precision": 0.5})
    assert reports
    assert all(each.request_total is None for each in reports)


def test_runs_that_end_by_themselves_are_estimated_once_one_has_ended() -> None:
    reports: list[Progress] = []
    compared = flashmesh.compare(PRESET, vary={"seed": [1, 2, 3]}, overrides=SETTLED, jobs=1, progress=reports.append)
    done = sum(run.result.requests for run in compared)
    first = [each for each in reports if each.requests_done and not each.runs_done]
    assert first
    assert all(each.request_total is None for each in first)
    later = [each.request_total for each in reports if each.runs_done]
    assert later
    assert all(total is not None and 0.5 < total / done < 2 for total in later)


def test_bar_of_a_run_with_a_limit_shows_neither_a_share_nor_a_time_left() -> None:
    bar = ProgressBar()
    bar.bar = new_bar()
    bar(Progress(12_000, None, 10**9, 0, 1, False, requests_max=4_000_000))
    (task,) = bar.bar.tasks
    assert task.total is None
    assert task.fields["state"].startswith("12.00k requests of at most 4.000M")
    bar(Progress(12_000, 40_000, 10**9, 0, 1, False))
    assert task.total == 40_000
    assert task.fields["state"].startswith("12.00k/40.00k requests ")
