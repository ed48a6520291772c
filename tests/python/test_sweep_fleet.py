"""Collection of results from a cluster that is replaced by objects with invented answers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from flashmesh.sweeps.executors.cluster import FETCHES_MAX, Fleet

if TYPE_CHECKING:
    from collections.abc import Callable


class Answer:
    """A finished run on an invented cluster: fetching its result times out the first few times."""

    def __init__(self, timeouts: int) -> None:
        self.timeouts = timeouts
        self.is_released = False

    def add_done_callback(self, call: Callable[[Answer], None]) -> None:
        call(self)

    def result(self, timeout: float) -> tuple[str, float]:
        assert timeout > 0
        if self.timeouts:
            self.timeouts -= 1
            raise TimeoutError("timed out")
        return "document", 1.0

    def release(self) -> None:
        self.is_released = True


@pytest.mark.parametrize("timeouts", [0, 1, FETCHES_MAX - 1, FETCHES_MAX])
def test_a_result_that_is_lost_with_its_worker_is_waited_for_again(timeouts: int) -> None:
    task = SimpleNamespace(index=0, name="run")
    fleet = Fleet(cast("Any", None), cast("Any", [task]))
    answer = Answer(timeouts)
    fleet.sent[cast("Any", answer)] = cast("Any", task)
    answer.add_done_callback(cast("Any", fleet.done.put))
    (outcome,) = fleet.ended()
    assert (outcome.error is None) == (timeouts < FETCHES_MAX)
    assert outcome.error is None or "no worker returned its result within 60 s" in str(outcome.error)
    assert answer.is_released
    assert (fleet.left, fleet.sent) == (0, {})
