"""Simulation of proposed drives under every load of a calibration."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh import memory
from flashmesh._native import ConfigError
from flashmesh.calibration.residuals import loss, residuals
from flashmesh.calibration.space import software_time_us
from flashmesh.sweeps.session import Session
from flashmesh.sweeps.tasks import Task
from flashmesh.validation.figures import Figures, has_window, simulated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashmesh.calibration.points import Target
    from flashmesh.execution import Progress
    from flashmesh.sweeps.session import Executor, Outcome
    from flashmesh.sweeps.store import Store

Settings = dict[str, str]


class OutOfTime(Exception):  # noqa: N818 - a time limit is not an error
    """Raised if a stage of the search (a share of the time budget) runs out of time."""


@dataclass(frozen=True)
class Candidate:
    """A proposed drive with its simulated figures."""

    settings: Settings
    figures: tuple[Figures | None, ...]
    """Simulated figures of each load; None if the drive is invalid, or the run failed or measured no request."""
    rows: tuple[tuple[float, ...], ...]
    """Residuals of each load, one for each of its measured figures."""
    unsettled: tuple[str, ...] = ()
    """Names of the loads whose runs ended before the mean latency was steady and precise enough."""

    @property
    def loss(self) -> float:
        """Mean soft-L1 loss over the residuals of all loads; 0 for an exact fit."""
        return loss(self.rows)

    def loss_without(self, left_out: int) -> float:
        """Returns the loss over all loads except the load at index `left_out`."""
        return loss([row for number, row in enumerate(self.rows) if number != left_out])


class Bench:
    """Simulator of proposed drives. Each drive is simulated once; its candidate is kept in `tried`."""

    def __init__(
        self,
        targets: Sequence[Target],
        software_us: float,
        executor: Executor,
        store: Store | None,
        on_candidate: Callable[[Candidate], None],
    ) -> None:
        """Creates a bench without candidates.

        Args:
            targets: The loads.
            software_us: The host software time in microseconds, for drives whose settings do not include it.
            executor: The executor of the runs.
            store: The store of the results; None to keep results in memory only.
            on_candidate: Called with each new candidate after its last run.
        """
        self.targets = targets
        self.software_us = software_us
        self.executor = executor
        self.store = store
        self.on_candidate = on_candidate
        self.tried: dict[tuple[tuple[str, str], ...], Candidate] = {}
        self.until = float("inf")
        """Deadline of the current stage of the search, in seconds of the monotonic clock; infinity without one."""
        self.failure: ConfigError | None = None
        """First error of a drive that could not be configured or simulated; None if there was none."""

    @property
    def candidates(self) -> list[Candidate]:
        """All simulated candidates, in the order of their simulation."""
        return list(self.tried.values())

    @property
    def best(self) -> Candidate:
        """The candidate with the smallest loss. There must be a candidate."""
        return min(self.candidates, key=lambda each: each.loss)

    def try_all(self, proposed: Sequence[Settings]) -> list[Candidate]:
        """Simulates those of the proposed drives that are new. Returns the candidate of each proposed drive, in order.

        Raises:
            OutOfTime: If the stage runs out of time. The store keeps finished runs.
        """
        left = [each for each in proposed if key_of(each) not in self.tried]
        left = list({key_of(each): each for each in left}.values())
        tasks: list[Task] = []
        owners: list[tuple[int, int]] = []
        for number, settings in enumerate(left):
            software_us = software_time_us(settings, self.software_us)
            for at, target in enumerate(self.targets):
                try:
                    config = target.config(settings, software_us)
                except ConfigError as error:
                    self.failure = self.failure or error
                    continue
                label = {"load": target.name, **settings}
                tasks.append(Task(len(tasks), label, config))
                owners.append((number, at))
        found: dict[tuple[int, int], Figures] = {}
        unsettled: dict[int, list[str]] = {}
        if tasks:
            memory.require([task.config for task in tasks], self.executor.places)
            session = Session(tasks, self.store)
            session.run(self.executor, on_progress=self.check_deadline)
            for task, (number, at) in zip(tasks, owners, strict=True):
                document = self.document(session, session.outcomes[task.index])
                if document is None:
                    self.note_failure(session.outcomes[task.index])
                    continue
                found[number, at] = simulated(document, software_time_us(left[number], self.software_us))
                if is_unsettled(document):
                    unsettled.setdefault(number, []).append(self.targets[at].name)
        for number, settings in enumerate(left):
            listed = tuple(found.get((number, at)) for at in range(len(self.targets)))
            rows = tuple(tuple(residuals(target.held, each)) for target, each in zip(self.targets, listed, strict=True))
            candidate = Candidate(settings, listed, rows, tuple(unsettled.get(number, ())))
            self.tried[key_of(settings)] = candidate
            self.on_candidate(candidate)
        return [self.tried[key_of(each)] for each in proposed]

    def check_deadline(self, progress: Progress) -> None:
        """Raises `OutOfTime`, which cancels the runs, if the deadline of the stage of the search has passed."""
        if time.monotonic() > self.until:
            raise OutOfTime

    def note_failure(self, outcome: Outcome) -> None:
        """Stores the error of a failed run in `failure`, unless an error is stored already."""
        if self.failure is None and outcome.error is not None:
            told = str(outcome.error).removeprefix("error: ")
            self.failure = ConfigError(f"{outcome.task.label}: {told}")

    def document(self, session: Session, outcome: Outcome) -> dict[str, Any] | None:
        """Returns the result document of a run; None if the run failed or measured no request."""
        text = session.document(outcome) if outcome.is_done else None
        document: dict[str, Any] | None = None if text is None else json.loads(text)
        return None if document is None or not has_window(document) else document


def is_unsettled(document: dict[str, Any]) -> bool:
    """Returns whether a run ended before its mean latency was steady and had the requested precision.

    False for a run without a requested precision of the mean latency.
    """
    reached = document["precision"]
    if reached is None or reached["of"] != "mean":
        return False
    return not (reached["met"] and document["steadiness"]["steady"])


def key_of(settings: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Returns the settings as a key of `Bench.tried`."""
    return tuple(settings.items())
