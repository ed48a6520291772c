"""Simulates the measured workload at every load, and holds the results to the measurements."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh import configuration, memory
from flashmesh._native import ConfigError
from flashmesh.sweeps.session import Session
from flashmesh.sweeps.tasks import Task
from flashmesh.validation.figures import Figures, simulated
from flashmesh.validation.measurements import SERVED_SHARE, Measurements
from flashmesh.validation.outcome import FIT, HELD_OUT, PointOutcome, Validation
from flashmesh.validation.workload import Extent, drive_tables, size_note, with_load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashmesh._native import Config
    from flashmesh.configuration import ConfigSource
    from flashmesh.sweeps.session import Executor, Outcome
    from flashmesh.sweeps.store import Store
    from flashmesh.validation.drives import Drive
    from flashmesh.validation.measurements import Measured

FULL = Extent(400_000, requests_per_die=25_000)
QUICK = Extent(40_000)


@dataclass(frozen=True)
class Subject:
    """A drive and what it is held to."""

    name: str
    config: ConfigSource
    measurements: Measurements
    drive: Drive | None = None
    """What is known of the values of its preset."""
    software_us: float = 0.0

    @property
    def title(self) -> str:
        """What it is called."""
        return self.name if self.drive is None else self.drive.title


@dataclass(frozen=True)
class Simulated:
    """What a run gives."""

    figures: Figures
    write_amplification: float | None
    requests: int


class Validating:
    """The runs of some drives."""

    def __init__(
        self, subjects: Sequence[Subject], extent: Extent, overrides: Mapping[str, str], store: Store | None
    ) -> None:
        """Makes the configuration of every load.

        Args:
            subjects: The drives.
            extent: How much is simulated of each load.
            overrides: Values by key, over those of each drive.
            store: Where results are kept; without one they stay in memory.

        Raises:
            ConfigError: When a drive cannot be configured.
        """
        self.subjects = subjects
        self.extents: list[Extent] = []
        """How much is simulated of each drive."""
        self.store = store
        self.notes: list[tuple[str, ...]] = []
        """What is to be known of each drive."""
        self.configs: dict[tuple[int, int], Config] = {}
        """By the numbers of the drive and of the load."""
        for number, subject in enumerate(subjects):
            tables = drive_tables(subject.config, overrides)
            self.extents.append(extent.of(tables))
            note = size_note(tables, subject.measurements.space_gib)
            self.notes.append(() if note is None else (note,))
            for at, point in enumerate(subject.measurements.points):
                space = subject.measurements.space_gib
                loaded = with_load(tables, point.offered_iops, space, self.extents[number])
                self.configs[number, at] = configuration.load(loaded, typed=overrides)
        self.found: dict[tuple[int, int], Simulated] = {}
        self.errors: dict[tuple[int, int], str] = {}

    def run(self, executor: Executor, on_session: Callable[[Session], Callable[[Outcome], None]]) -> None:
        """Simulates all loads.

        Of those that saturate a drive the lowest and the highest run first. Those between are run only where the
        simulated drive serves what they ask for: else they are like the highest.

        Args:
            executor: Who runs them.
            on_session: Makes, for some runs, what is told of each that ends.

        Raises:
            OutputError: When the store cannot be written.
        """
        memory.require(list(self.configs.values()), executor.places)
        self.run_some([key for key in self.configs if not self.is_between(key)], executor, on_session)
        left = [key for key in self.configs if self.is_between(key) and not self.is_like_highest(key)]
        if left:
            self.run_some(left, executor, on_session)

    def run_some(
        self,
        keys: Sequence[tuple[int, int]],
        executor: Executor,
        on_session: Callable[[Session], Callable[[Outcome], None]],
    ) -> None:
        """Runs some loads."""
        tasks = [Task(index, self.labels(key), self.configs[key]) for index, key in enumerate(keys)]
        session = Session(tasks, self.store)
        try:
            session.run(executor, on_end=on_session(session))
        finally:
            for index, outcome in session.outcomes.items():
                self.take(keys[index], session, outcome)

    def labels(self, key: tuple[int, int]) -> dict[str, str]:
        """What a run is called."""
        subject = self.subjects[key[0]]
        return {"drive": subject.name, "offered-iops": f"{subject.measurements.points[key[1]].offered_iops:.0f}"}

    def take(self, key: tuple[int, int], session: Session, outcome: Outcome) -> None:
        """Takes what a run gave."""
        text = session.document(outcome) if outcome.is_done else None
        if outcome.error is not None:
            told = (str(outcome.error).removeprefix("error: ").splitlines() or [""])[0]
            self.errors[key] = f"{outcome.task.label}: {told}"
        if text is None:
            return
        document: dict[str, Any] = json.loads(text)
        try:
            figures = simulated(document, self.subjects[key[0]].software_us)
        except ConfigError as error:
            self.errors[key] = f"{outcome.task.label}: {error}"
            return
        window = document["measured"]
        self.found[key] = Simulated(figures, window["write_amplification"], window["requests"])

    def saturated(self, number: int) -> list[int]:
        """The loads that saturated a drive when it was measured."""
        points = self.subjects[number].measurements.points
        return [at for at, point in enumerate(points) if point.is_saturated]

    def is_between(self, key: tuple[int, int]) -> bool:
        """Whether a load is one of those that saturated a drive, and neither the lowest nor the highest of them."""
        return key[1] in self.saturated(key[0])[1:-1]

    def is_like_highest(self, key: tuple[int, int]) -> bool:
        """Whether a load saturates the simulated drive, too."""
        highest = self.found.get((key[0], self.saturated(key[0])[-1]))
        asked = self.subjects[key[0]].measurements.points[key[1]].asked_iops
        return highest is not None and highest.figures.iops < SERVED_SHARE * asked

    def validations(self) -> list[Validation]:
        """What came out of each drive."""
        return [self.validation(number) for number in range(len(self.subjects))]

    def validation(self, number: int) -> Validation:
        """What came out of a drive."""
        subject = self.subjects[number]
        known = subject.measurements
        points: list[PointOutcome] = []
        for at, point in enumerate(known.points):
            key = (number, at)
            if key not in self.found and self.is_between(key) and self.is_like_highest(key):
                key = (number, self.saturated(number)[-1])
            points.append(self.outcome(subject, point, key))
        failures = tuple(text for (owner, _), text in sorted(self.errors.items()) if owner == number)
        amplification = None if subject.drive is None else subject.drive.write_amplification
        return Validation(
            subject.name,
            subject.title,
            known,
            tuple(points),
            subject.software_us,
            amplification,
            self.extents[number].requests,
            failures,
            self.notes[number],
            "" if subject.drive is None else subject.drive.values_hash(),
        )

    def outcome(self, subject: Subject, point: Measured, key: tuple[int, int]) -> PointOutcome:
        """A load with the run that stands for it."""
        role = ""
        if subject.drive is not None and subject.drive.fitted:
            role = FIT if subject.drive.is_fit_point(point.offered_iops) else HELD_OUT
        run = self.found.get(key)
        if run is None:
            return PointOutcome(point, role, None)
        ran_at = subject.measurements.points[key[1]].offered_iops
        return PointOutcome(point, role, run.figures, ran_at, run.write_amplification, run.requests)
