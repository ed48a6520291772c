"""Engine of a validation: simulates every measured load and every data-sheet load of the drives."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from flashmesh import configuration
from flashmesh._native import ConfigError
from flashmesh.installation import memory
from flashmesh.sweeps.executors.session import Session
from flashmesh.sweeps.tasks import Task
from flashmesh.validation.figures import Figures, simulated
from flashmesh.validation.judging.outcome import PointOutcome, RowOutcome, Validation, rounded_number
from flashmesh.validation.loads.rows import software_us, with_single_load
from flashmesh.validation.loads.skew import SkewLoad
from flashmesh.validation.loads.workload import Extent, drive_tables, size_note, with_load
from flashmesh.validation.tables.measurements import FIT, HELD_OUT, SERVED_SHARE, Measurements
from flashmesh.validation.tables.sheets import SheetLoad, SheetRow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashmesh._native import Config
    from flashmesh.configuration import ConfigSource
    from flashmesh.sweeps.executors.session import Executor, Outcome
    from flashmesh.sweeps.results.store import Store
    from flashmesh.validation.drives import Drive
    from flashmesh.validation.tables.measurements import Measured

FULL = Extent(400_000, requests_per_die=25_000)
QUICK = Extent(40_000)
RunKey = tuple[int, int | SheetLoad]
"""Identity of a run: index of the drive, and index of a measured load or the load of data-sheet rows."""


@dataclass(frozen=True)
class Subject:
    """A drive to validate, with its measurements."""

    name: str
    config: ConfigSource
    measurements: Measurements
    drive: Drive | None = None
    """Description of a validated preset; None for other drives."""
    software_us: float = 0.0
    rows: tuple[SheetRow, ...] = ()
    """Rows of data sheets and of sweeps of the measured drive."""

    @property
    def title(self) -> str:
        """Heading of the drive in reports."""
        return self.name if self.drive is None else self.drive.title


@dataclass(frozen=True)
class Simulated:
    """Results of one run of the simulated drive."""

    figures: Figures
    write_amplification: float | None
    requests: int
    precision: float | None = None
    """Half-width of the 95 % confidence interval of the request rate, as a share of the rate; None if unknown."""


class Validating:
    """Validation of several drives: a run for each measured load, and for each load of data-sheet rows."""

    def __init__(
        self, subjects: Sequence[Subject], extent: Extent, overrides: Mapping[str, str], store: Store | None
    ) -> None:
        """Configures all runs.

        Args:
            subjects: The drives.
            extent: The simulated length of each load.
            overrides: Values by key that override those of each drive.
            store: The store of the results; None to keep results in memory only.

        Raises:
            ConfigError: If a drive cannot be configured.
        """
        self.subjects = list(subjects)
        self.extents: list[Extent] = []
        """Length of the runs of measured loads, for each drive."""
        self.store = store
        self.notes: list[tuple[str, ...]] = []
        """Notes on the size of the simulated drive and on rows that are left out, for each drive."""
        self.configs: dict[RunKey, Config] = {}
        """Configuration of each run."""
        for number, subject in enumerate(subjects):
            tables = drive_tables(subject.config, overrides)
            self.extents.append(extent.of(tables))
            note = size_note(tables, subject.measurements.space_gib)
            self.notes.append(() if note is None else (note,))
            for at, point in enumerate(subject.measurements.points):
                space = subject.measurements.space_gib
                loaded = with_load(tables, point.offered_iops, space, self.extents[number])
                self.configs[number, at] = configuration.load(loaded, typed=overrides)
            # Several rows can share a load, with different statistics or references.
            for load in dict.fromkeys(row.load for row in subject.rows):
                try:
                    loaded = with_single_load(tables, load, extent, subject.software_us)
                    self.configs[number, load] = configuration.load(loaded, typed=overrides)
                except ConfigError as error:
                    if not isinstance(load, SkewLoad):
                        raise
                    self.leave_out(number, load, error)
        self.found: dict[RunKey, Simulated] = {}
        self.errors: dict[RunKey, str] = {}

    def leave_out(self, number: int, load: SkewLoad, error: ConfigError) -> None:
        """Removes the rows of `load` from the drive at index `number`, and adds a note with `error` as the reason."""
        subject = self.subjects[number]
        self.subjects[number] = replace(subject, rows=tuple(row for row in subject.rows if row.load != load))
        told = str(error).removeprefix("error: ").splitlines()[0]
        note = f"left out, since the drive cannot be divided into a small model: {load.title} ({told})"
        self.notes[number] = (*self.notes[number], note)

    def run(self, executor: Executor, on_session: Callable[[Session], Callable[[Outcome], None]]) -> None:
        """Simulates all loads.

        Results of saturated drives do not depend on the load. So of the loads that saturated the measured drive, the
        lowest and the highest run first. If the simulated drive completes less under the highest load than a load
        between them requests, that load takes the results of the highest. Otherwise it has its own run.

        Args:
            executor: The executor of the runs.
            on_session: Called with each session. Returns the function to call after each of its runs.

        Raises:
            OutputError: If the store cannot be written.
        """
        memory.require(list(self.configs.values()), executor.places)
        self.run_some([key for key in self.configs if not self.is_between(key)], executor, on_session)
        left = [key for key in self.configs if self.is_between(key) and not self.is_like_highest(key)]
        if left:
            self.run_some(left, executor, on_session)

    def run_some(
        self,
        keys: Sequence[RunKey],
        executor: Executor,
        on_session: Callable[[Session], Callable[[Outcome], None]],
    ) -> None:
        """Simulates the runs `keys` in one session."""
        tasks = [Task(index, self.labels(key), self.configs[key]) for index, key in enumerate(keys)]
        session = Session(tasks, self.store)
        try:
            session.run(executor, on_end=on_session(session))
        finally:
            for index, outcome in session.outcomes.items():
                self.take(keys[index], session, outcome)

    def labels(self, key: RunKey) -> dict[str, str]:
        """Returns the label of a run for progress lines and errors."""
        number, load = key
        subject = self.subjects[number]
        if isinstance(load, SheetLoad):
            return {"drive": subject.name, "load": load.label}
        return {"drive": subject.name, "offered-iops": f"{subject.measurements.points[load].offered_iops:.0f}"}

    def take(self, key: RunKey, session: Session, outcome: Outcome) -> None:
        """Records the figures or the error of a run."""
        text = session.document(outcome) if outcome.is_done else None
        if outcome.error is not None:
            told = (str(outcome.error).removeprefix("error: ").splitlines() or [""])[0]
            self.errors[key] = f"{outcome.task.label}: {told}"
        if text is None:
            return
        document: dict[str, Any] = json.loads(text)
        try:
            figures = simulated(document, software_us(key[1], self.subjects[key[0]].software_us))
        except ConfigError as error:
            self.errors[key] = f"{outcome.task.label}: {error}"
            return
        window = document["measured"]
        reached = document["precision"]
        precision = None if reached is None else reached["reached"]
        self.found[key] = Simulated(figures, window["write_amplification"], window["requests"], precision)

    def saturated(self, number: int) -> list[int]:
        """Returns the indices of the loads that saturated the measured drive at index `number`, by ascending load."""
        points = self.subjects[number].measurements.points
        return [at for at, point in enumerate(points) if point.is_saturated]

    def is_between(self, key: RunKey) -> bool:
        """Returns whether a load lies between the lowest and the highest load that saturated the measured drive."""
        return key[1] in self.saturated(key[0])[1:-1]

    def is_like_highest(self, key: RunKey) -> bool:
        """Returns whether the load of `key` saturates the simulated drive as the highest load does.

        It does if the run of the highest load served less than `SERVED_SHARE` of the rate that this load requests.
        """
        number, load = key
        assert isinstance(load, int)
        highest = self.found.get((number, self.saturated(number)[-1]))
        asked = self.subjects[number].measurements.points[load].asked_iops
        return highest is not None and highest.figures.iops < SERVED_SHARE * asked

    def validations(self) -> list[Validation]:
        """Returns the validation of each drive."""
        return [self.validation(number) for number in range(len(self.subjects))]

    def validation(self, number: int) -> Validation:
        """Returns the validation of the drive at index `number`."""
        subject = self.subjects[number]
        known = subject.measurements
        points: list[PointOutcome] = []
        for at, point in enumerate(known.points):
            key = (number, at)
            if key not in self.found and self.is_between(key) and self.is_like_highest(key):
                key = (number, self.saturated(number)[-1])
            points.append(self.outcome(subject, point, key))
        failures = tuple(self.errors[key] for key in self.configs if key[0] == number and key in self.errors)
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
            tuple(self.row_outcome(number, row) for row in subject.rows),
        )

    def row_outcome(self, number: int, row: SheetRow) -> RowOutcome:
        """Returns the outcome of a row of the drive at index `number`."""
        run = self.found.get((number, row.load))
        if run is None:
            return RowOutcome(row, None)
        value, precision = rounded_number(row.value_of(run.figures)), rounded_number(run.precision)
        return RowOutcome(row, value, run.requests, precision)

    def outcome(self, subject: Subject, point: Measured, key: tuple[int, int]) -> PointOutcome:
        """Returns the outcome of a measured load, with the results of the run `key`."""
        role = ""
        if subject.drive is not None and subject.drive.fitted:
            role = FIT if subject.drive.is_fit_point(point.offered_iops) else HELD_OUT
        run = self.found.get(key)
        if run is None:
            return PointOutcome(point, role, None)
        ran_at = subject.measurements.points[key[1]].offered_iops
        return PointOutcome(point, role, run.figures, ran_at, run.write_amplification, run.requests)
