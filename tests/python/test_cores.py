"""Order of parallel runs: no core waits for a drive that another core prepares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

import flashmesh
from flashmesh import _native, configuration
from flashmesh.installation import states
from flashmesh.sweeps.executors.local import KEPT, Crew
from flashmesh.sweeps.tasks import Task


def tasks(drives: list[str]) -> list[Task]:
    """Returns a task for each letter.

    Tasks with the same letter need the same preconditioned drive; a blank needs none.
    """

    def config(letter: str) -> _native.Config:
        settings = {"workload.requests": 1, "geometry.blocks-per-plane": 64}
        if letter.strip():
            settings |= {"precondition.kind": "random", "seed": ord(letter)}  # type: ignore[dict-item]
        return configuration.load("preset:venice-z-nand", overrides=settings)

    return [Task(index, {}, config(letter)) for index, letter in enumerate(drives)]


def order(letters: str, at_once: int) -> str:
    """Returns the letters in the order in which `at_once` threads take their tasks.

    In each round every thread takes a task before any drive is ready.
    """
    crew = Crew(tasks(list(letters)), states.drives(), None)
    taken: list[Task] = []
    while crew.waiting:
        round_of = [task for task in (crew.take() for _ in range(at_once)) if task is not None]
        for task in round_of:
            crew.opened_or_failed(task)
        taken += round_of
    return "".join(letters[task.index] for task in taken)


@pytest.mark.parametrize(
    ("letters", "at_once", "expected"),
    [
        ("   ", 2, "   "),
        # The two threads prepare different drives; then both drives are ready.
        ("aabb", 2, "abab"),
        # Tasks of a ready drive run before another drive is prepared.
        ("abcabcabc", 1, "aaabbbccc"),
        ("abcabc", 2, "ababcc"),
        # The second thread waits for the drive that the first prepares.
        ("aaa", 2, "aaa"),
        ("aa b", 2, " aab"),
    ],
)
def test_a_core_takes_a_run_whose_drive_is_there_or_is_its_own_to_prepare(
    letters: str, at_once: int, expected: str
) -> None:
    found = order(letters, at_once)
    assert sorted(found) == sorted(letters)
    assert found == expected
    assert KEPT == 2


def test_progress_of_runs_is_read_while_another_thread_begins_a_run() -> None:
    crew = Crew(tasks([" ", " "]), states.drives(), None)

    class Beginning:
        """Control of a run, which another run follows at the moment that its total is read."""

        requests_done = 0
        simulated_ps = 0
        preconditioned = None

        @property
        def request_total(self) -> int:
            crew.running[1] = _native.Control()
            return 10

    crew.running[0] = cast("_native.Control", Beginning())
    assert crew.progress().running == (0,)
    assert crew.progress().running == (0, 1)


def test_comparison_that_takes_its_runs_in_another_order_is_the_same(tmp_path: Path) -> None:
    vary: dict[str, list[Any]] = {"fabric.kind": ["bus", "ideal"], "geometry.channels": [2, 4, 8]}
    settings = {
        "workload.requests": 200,
        "precondition.kind": "random",
        "geometry.blocks-per-plane": 32,
        "geometry.over-provisioning": 0.3,
    }
    both = [flashmesh.compare("preset:venice-z-nand", vary, overrides=settings, jobs=jobs) for jobs in (1, 2)]
    assert [run.settings for run in both[0].runs] == [run.settings for run in both[1].runs]
    assert both[0].runs == both[1].runs
    assert json.loads(both[0].to_json()) == both[0].to_dict()
