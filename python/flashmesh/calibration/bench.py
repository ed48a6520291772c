"""Simulates drives that a search proposes at every load, and keeps what came out."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh import memory
from flashmesh._native import ConfigError
from flashmesh.calibration.residuals import loss, residuals
from flashmesh.sweeps.session import Session
from flashmesh.sweeps.tasks import Task
from flashmesh.validation.figures import Figures, simulated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashmesh.calibration.points import Target
    from flashmesh.execution import Progress
    from flashmesh.sweeps.session import Executor, Outcome
    from flashmesh.sweeps.store import Store

Settings = dict[str, str]


class OutOfTime(Exception):  # noqa: N818 - no fault of anybody
    """The time of a stage is over."""


@dataclass(frozen=True)
class Candidate:
    """A drive that was tried."""

    settings: Settings
    figures: tuple[Figures | None, ...]
    """What is simulated at each load; None where there is no such drive."""
    rows: tuple[tuple[float, ...], ...]
    """The residuals of each load."""

    @property
    def loss(self) -> float:
        """How far it is from all loads."""
        return loss(self.rows)

    def loss_without(self, left_out: int) -> float:
        """How far it is from all loads but one."""
        return loss([row for number, row in enumerate(self.rows) if number != left_out])


class Bench:
    """Where candidates are tried, each once."""

    def __init__(
        self,
        targets: Sequence[Target],
        software_us: float,
        executor: Executor,
        store: Store | None,
        on_candidate: Callable[[Candidate], None],
    ) -> None:
        """With no candidate tried.

        Args:
            targets: The loads.
            software_us: What the software of the host adds to each latency.
            executor: Who runs.
            store: Where results are kept.
            on_candidate: Is told of each candidate whose loads have all run.
        """
        self.targets = targets
        self.software_us = software_us
        self.executor = executor
        self.store = store
        self.on_candidate = on_candidate
        self.tried: dict[tuple[tuple[str, str], ...], Candidate] = {}
        self.until = float("inf")
        """When the time of a stage is over, on the monotonic clock."""
        self.failure: ConfigError | None = None
        """Why the last one that could not be configured could not."""

    @property
    def candidates(self) -> list[Candidate]:
        """All that were tried, in their order."""
        return list(self.tried.values())

    @property
    def best(self) -> Candidate:
        """The nearest to all loads."""
        return min(self.candidates, key=lambda each: each.loss)

    def try_all(self, proposed: Sequence[Settings]) -> list[Candidate]:
        """Runs those candidates that were not tried; gives all of them.

        Raises:
            OutOfTime: When the time of the stage is over; what has run is kept.
        """
        left = [each for each in proposed if key_of(each) not in self.tried]
        left = list({key_of(each): each for each in left}.values())
        tasks: list[Task] = []
        owners: list[tuple[int, int]] = []
        for number, settings in enumerate(left):
            for at, target in enumerate(self.targets):
                try:
                    config = target.config(settings)
                except ConfigError as error:
                    self.failure = error
                    continue
                label = {"load": target.name, **settings}
                tasks.append(Task(len(tasks), label, config))
                owners.append((number, at))
        found: dict[tuple[int, int], Figures] = {}
        if tasks:
            memory.require([task.config for task in tasks], self.executor.places)
            session = Session(tasks, self.store)
            session.run(self.executor, on_progress=self.look)
            for task, owner in zip(tasks, owners, strict=True):
                figures = self.figures(session, session.outcomes[task.index])
                if figures is not None:
                    found[owner] = figures
        for number, settings in enumerate(left):
            listed = tuple(found.get((number, at)) for at in range(len(self.targets)))
            rows = tuple(tuple(residuals(target, each)) for target, each in zip(self.targets, listed, strict=True))
            candidate = self.tried[key_of(settings)] = Candidate(settings, listed, rows)
            self.on_candidate(candidate)
        return [self.tried[key_of(each)] for each in proposed]

    def look(self, progress: Progress) -> None:
        """Ends the runs when the time of the stage is over."""
        if time.monotonic() > self.until:
            raise OutOfTime

    def figures(self, session: Session, outcome: Outcome) -> Figures | None:
        """What a run gave; None where it failed."""
        text = session.document(outcome) if outcome.is_done else None
        if text is None:
            return None
        try:
            return simulated(json.loads(text), self.software_us)
        except ConfigError:
            return None


def key_of(settings: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What tells settings apart."""
    return tuple(settings.items())
