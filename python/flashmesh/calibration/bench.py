"""Simulation of proposed drives at every load."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh import memory
from flashmesh._native import ConfigError
from flashmesh.calibration.residuals import loss, residuals
from flashmesh.calibration.space import SOFTWARE
from flashmesh.sweeps.ranges import quantity
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
PS_PER_US = 10**6


class OutOfTime(Exception):  # noqa: N818 - a time limit is not an error
    """End of the time of a stage."""


@dataclass(frozen=True)
class Candidate:
    """A simulated drive of the search."""

    settings: Settings
    figures: tuple[Figures | None, ...]
    """Simulated figures of each load; None if the drive is invalid or the run failed."""
    rows: tuple[tuple[float, ...], ...]
    """Residuals of each load."""
    unsettled: tuple[str, ...] = ()
    """Names of the loads whose runs ended before they were steady and precise."""

    @property
    def loss(self) -> float:
        """Loss over all loads."""
        return loss(self.rows)

    def loss_without(self, left_out: int) -> float:
        """Returns the loss over all loads except one."""
        return loss([row for number, row in enumerate(self.rows) if number != left_out])


class Bench:
    """Simulator of candidates, each at most once."""

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
            software_us: The time of host software, in microseconds, for candidates whose settings do not have it.
            executor: The executor of the runs.
            store: The store of the results.
            on_candidate: Called for each candidate after its last run.
        """
        self.targets = targets
        self.software_us = software_us
        self.executor = executor
        self.store = store
        self.on_candidate = on_candidate
        self.tried: dict[tuple[tuple[str, str], ...], Candidate] = {}
        self.until = float("inf")
        """End of the current stage, on the monotonic clock."""
        self.failure: ConfigError | None = None
        """Error of the last candidate that could not be configured."""

    @property
    def candidates(self) -> list[Candidate]:
        """All simulated candidates, in the order of their simulation."""
        return list(self.tried.values())

    @property
    def best(self) -> Candidate:
        """The candidate with the smallest loss."""
        return min(self.candidates, key=lambda each: each.loss)

    def try_all(self, proposed: Sequence[Settings]) -> list[Candidate]:
        """Simulates those proposed drives that are new, and returns the candidates of all.

        Raises:
            OutOfTime: If the time of the stage has ended. Finished runs are kept.
        """
        left = [each for each in proposed if key_of(each) not in self.tried]
        left = list({key_of(each): each for each in left}.values())
        tasks: list[Task] = []
        owners: list[tuple[int, int]] = []
        for number, settings in enumerate(left):
            software_us = self.software_of(settings)
            for at, target in enumerate(self.targets):
                try:
                    config = target.config(settings, software_us)
                except ConfigError as error:
                    self.failure = error
                    continue
                label = {"load": target.name, **settings}
                tasks.append(Task(len(tasks), label, config))
                owners.append((number, at))
        found: dict[tuple[int, int], Figures] = {}
        unsettled: dict[int, list[str]] = {}
        if tasks:
            memory.require([task.config for task in tasks], self.executor.places)
            session = Session(tasks, self.store)
            session.run(self.executor, on_progress=self.look)
            for task, (number, at) in zip(tasks, owners, strict=True):
                document = self.document(session, session.outcomes[task.index])
                if document is None:
                    continue
                found[number, at] = simulated(document, self.software_of(left[number]))
                if is_unsettled(document):
                    unsettled.setdefault(number, []).append(self.targets[at].name)
        for number, settings in enumerate(left):
            listed = tuple(found.get((number, at)) for at in range(len(self.targets)))
            rows = tuple(tuple(residuals(target.held, each)) for target, each in zip(self.targets, listed, strict=True))
            candidate = Candidate(settings, listed, rows, tuple(unsettled.get(number, ())))
            self.tried[key_of(settings)] = candidate
            self.on_candidate(candidate)
        return [self.tried[key_of(each)] for each in proposed]

    def look(self, progress: Progress) -> None:
        """Cancels the runs by `OutOfTime` if the time of the stage has ended."""
        if time.monotonic() > self.until:
            raise OutOfTime

    def software_of(self, settings: Settings) -> float:
        """Returns the time of host software of a candidate, in microseconds."""
        searched = settings.get(SOFTWARE)
        return self.software_us if searched is None else float(quantity(SOFTWARE, searched).value / PS_PER_US)

    def document(self, session: Session, outcome: Outcome) -> dict[str, Any] | None:
        """Returns the document of a run that measured requests; None for any other run."""
        text = session.document(outcome) if outcome.is_done else None
        document: dict[str, Any] | None = None if text is None else json.loads(text)
        return None if document is None or not has_window(document) else document


def is_unsettled(document: dict[str, Any]) -> bool:
    """Returns whether a run ended before its mean latency was steady and had the wanted precision."""
    reached = document["precision"]
    if reached is None or reached["of"] != "mean":
        return False
    return not (reached["met"] and document["steadiness"]["steady"])


def key_of(settings: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Returns the settings in a hashable form."""
    return tuple(settings.items())
