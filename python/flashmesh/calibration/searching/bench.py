"""Simulation of proposed drives under every load of a calibration."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.calibration.residuals import loss, residuals
from flashmesh.calibration.searching.exercised import is_exercised, traits
from flashmesh.calibration.space import software_time_us
from flashmesh.installation import memory
from flashmesh.sweeps.executors.session import Session
from flashmesh.sweeps.tasks import Task
from flashmesh.validation.figures import Figures, has_window, simulated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashmesh.calibration.inputs.points import Target
    from flashmesh.execution import Progress
    from flashmesh.sweeps.executors.session import Executor, Outcome
    from flashmesh.sweeps.results.store import Store

Settings = dict[str, str]
RunKey = tuple[int, tuple[tuple[str, str], ...]]
"""Index of a load, and the settings on which its run depends."""
RUNS_A_PLACE = 2
"""Number of runs in a batch for each core. A small batch loses little work if the time runs out."""


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


@dataclass(frozen=True)
class Run:
    """A finished run of a drive under a load."""

    figures: Figures | None
    """Simulated figures; None if the drive is invalid, or the run failed or measured no request."""
    is_unsettled: bool = False
    """Whether the run ended before its mean latency was steady and precise enough."""


class Bench:
    """Simulator of proposed drives. Each drive is simulated once; its candidate is kept in `tried`.

    A load is simulated once for all drives that differ only by keys that the load does not exercise.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        software_us: float,
        executor: Executor,
        store: Store | None,
        on_candidate: Callable[[Candidate], None],
        on_wait: Callable[[], None] = lambda: None,
    ) -> None:
        """Creates a bench without candidates.

        Args:
            targets: The loads.
            software_us: The host software time in microseconds, for drives whose settings do not include it.
            executor: The executor of the runs.
            store: The store of the results; None to keep results in memory only.
            on_candidate: Called with each new candidate after its last run.
            on_wait: Called several times a second while runs last.
        """
        self.targets = targets
        self.software_us = software_us
        self.executor = executor
        self.store = store
        self.on_candidate = on_candidate
        self.on_wait = on_wait
        self.traits = [traits(target) for target in targets]
        self.known: dict[RunKey, Run] = {}
        """Finished runs."""
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
            OutOfTime: If the stage runs out of time. Drives whose runs have all ended are kept in `tried`, and the
            store keeps all finished runs.
        """
        left = list({key_of(each): each for each in proposed if key_of(each) not in self.tried}.values())
        at_once = max(1, math.ceil(RUNS_A_PLACE * self.executor.places / max(len(self.targets), 1)))
        for begin in range(0, len(left), at_once):
            self.simulate(left[begin : begin + at_once])
        return [self.tried[key_of(each)] for each in proposed]

    def simulate(self, drives: Sequence[Settings]) -> None:
        """Simulates drives under all loads, and keeps their candidates.

        Raises:
            OutOfTime: If the stage runs out of time. The candidates of drives whose runs have all ended are kept.
        """
        tasks: dict[RunKey, Task] = {}
        software: dict[RunKey, float] = {}
        refused: set[tuple[int, int]] = set()
        for number, settings in enumerate(drives):
            software_us = software_time_us(settings, self.software_us)
            for at, target in enumerate(self.targets):
                try:
                    config = target.config(settings, software_us)
                except ConfigError as error:
                    self.failure = self.failure or error
                    refused.add((number, at))
                    continue
                run = self.run_key(at, settings)
                if run not in self.known and run not in tasks:
                    tasks[run] = Task(len(tasks), {"load": target.name, **settings}, config)
                    software[run] = software_us
        is_whole = self.run(tasks, software)
        for number, settings in enumerate(drives):
            keys = [self.run_key(at, settings) for at in range(len(self.targets))]
            runs = [Run(None) if (number, at) in refused else self.known.get(key) for at, key in enumerate(keys)]
            self.keep(settings, [run for run in runs if run is not None])
        if not is_whole:
            raise OutOfTime

    def run(self, tasks: Mapping[RunKey, Task], software: Mapping[RunKey, float]) -> bool:
        """Simulates loads, and adds the finished runs to `known`. Returns whether the time sufficed.

        Args:
            tasks: The loads to simulate.
            software: The host software time of each, in microseconds.
        """
        if not tasks:
            return True
        memory.require([task.config for task in tasks.values()], self.executor.places)
        session = Session([*tasks.values()], self.store)
        is_whole = True
        try:
            session.run(self.executor, on_progress=self.check_deadline)
        except OutOfTime:
            is_whole = False
        for key, task in tasks.items():
            outcome = session.outcomes.get(task.index)
            if outcome is None or outcome.is_partial:
                continue
            document = self.document(session, outcome)
            if document is None:
                self.note_failure(outcome)
                self.known[key] = Run(None)
            else:
                self.known[key] = Run(simulated(document, software[key]), is_unsettled(document))
        return is_whole

    def keep(self, settings: Settings, runs: Sequence[Run]) -> None:
        """Adds the candidate of a drive if there is a run for each load."""
        if len(runs) < len(self.targets):
            return
        rows = tuple(tuple(residuals(target.held, run.figures)) for target, run in zip(self.targets, runs, strict=True))
        unsettled = tuple(target.name for target, run in zip(self.targets, runs, strict=True) if run.is_unsettled)
        candidate = Candidate(settings, tuple(run.figures for run in runs), rows, unsettled)
        self.tried[key_of(settings)] = candidate
        self.on_candidate(candidate)

    def run_key(self, at: int, settings: Settings) -> RunKey:
        """Returns the key in `known` of the run of a drive under the load at index `at`."""
        return at, tuple(item for item in settings.items() if is_exercised(item[0], self.traits[at]))

    def check_deadline(self, progress: Progress) -> None:
        """Raises `OutOfTime`, which cancels the runs, if the deadline of the stage of the search has passed."""
        self.on_wait()
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
