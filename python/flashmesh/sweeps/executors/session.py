"""Session of a sweep or comparison: its pending runs, and the outcomes of the runs that have ended."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from flashmesh._native import FlashmeshError, InternalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flashmesh.comparison import Comparison
    from flashmesh.execution import Progress
    from flashmesh.sweeps.results.store import Store
    from flashmesh.sweeps.tasks import Task


@dataclass
class Outcome:
    """Outcome of a run: a result, or an error."""

    task: Task
    document: str | None = field(default=None, repr=False)
    """JSON result as text; None if the run failed, or if the result is only in the store."""
    error: BaseException | None = None
    wall_s: float | None = None
    """Duration of the run in seconds; None for a result of an earlier session."""
    is_partial: bool = False
    """Whether the run was interrupted, so that the result is incomplete."""
    name: str = ""
    """Name of the result in the store; empty without a store."""

    @property
    def is_done(self) -> bool:
        """Whether the run was completed."""
        return self.error is None and not self.is_partial


class Executor(Protocol):
    """Interface of an object that runs tasks, such as threads or a cluster."""

    @property
    def places(self) -> int:
        """Maximum number of runs at the same time."""
        ...

    def run(
        self,
        tasks: Sequence[Task],
        take: Callable[[Outcome], None],
        on_progress: Callable[[Progress], None] | None,
        on_open: Callable[[str | None], None] | None,
    ) -> None:
        """Runs all tasks; passes each outcome to `take` in the calling thread as soon as it exists.

        A failed run stops no other. An exception in the calling thread, such as KeyboardInterrupt, ends the active
        runs; their partial results are passed to `take` before the exception propagates.
        """
        ...

    def close(self) -> None:
        """Releases the resources of the executor."""
        ...


class Session:
    """Runs of a sweep or a comparison, with the outcomes of those that ended."""

    def __init__(self, tasks: Sequence[Task], store: Store | None = None, shard: tuple[int, int] = (1, 1)) -> None:
        """Creates a session; takes the results of earlier sessions from the store.

        Args:
            tasks: All runs.
            store: The store of the results; None to keep them in memory.
            shard: Part of the runs to do in this session, and the number of parts; `(1, 1)` for all runs.
        """
        self.tasks = tasks
        self.store = store
        self.shard = shard
        self.outcomes: dict[int, Outcome] = {}
        self.waiting: list[Task] = []
        names: set[str] = set()
        # Assign distinct runs to the shards round-robin, as `shares` does. Finished runs count too, so that all
        # processes agree.
        place = 0
        for task in tasks:
            name = task.name if store is not None or task.idle else ""
            is_first = not name or name not in names
            if store is not None and name in store:
                self.outcomes[task.index] = Outcome(task, name=name)
            elif is_first and place % shard[1] == shard[0] - 1:
                self.waiting.append(task)
            place += is_first
            names.add(name)
        self.kept = len(self.outcomes)
        self.started = time.monotonic()

    def run(
        self,
        executor: Executor,
        *,
        on_end: Callable[[Outcome], None] | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        on_open: Callable[[str | None], None] | None = None,
    ) -> None:
        """Runs the pending tasks; each result is in `outcomes`, and in the store, as soon as it exists.

        Raises:
            OutputError: If the store cannot be written.
        """

        def take(outcome: Outcome) -> None:
            if self.store is not None and outcome.is_done and outcome.document is not None:
                outcome.name = outcome.task.name
                self.store.write(outcome.name, outcome.document)
            self.outcomes[outcome.task.index] = outcome
            if on_end is not None:
                on_end(outcome)
            if self.store is not None:
                outcome.document = None

        self.started = time.monotonic()
        if self.waiting:
            executor.run(self.waiting, take, on_progress, on_open)
        self._copy_twins()

    def _copy_twins(self) -> None:
        """Adds the outcomes of points that did not run themselves, but share the run of another point."""
        if self.store is None:
            self._share_outcomes()
            return
        for task in self.tasks:
            if task.index not in self.outcomes and task.name in self.store:
                self.outcomes[task.index] = Outcome(task, name=task.name)

    def _share_outcomes(self) -> None:
        """Copies the outcome of each run to the points that differ from it only in keys that the run does not read."""
        by_name = {each.task.name: each for each in self.outcomes.values() if each.task.idle}
        for task in self.tasks:
            if task.index not in self.outcomes and task.idle and task.name in by_name:
                self.outcomes[task.index] = replace(by_name[task.name], task=task)

    def document(self, outcome: Outcome) -> str | None:
        """Returns the JSON result of a run as text; None if it has none."""
        if outcome.document is None and self.store is not None and outcome.error is None:
            return self.store.read(outcome.name)
        return outcome.document

    @property
    def failures(self) -> list[Outcome]:
        """Failed runs, in the order of the plan."""
        return [outcome for _, outcome in sorted(self.outcomes.items()) if outcome.error is not None]

    @property
    def is_complete(self) -> bool:
        """Whether every run of the session has a complete result."""
        return len(self.outcomes) == len(self.tasks) and all(outcome.is_done for outcome in self.outcomes.values())

    def finished(self) -> list[Outcome]:
        """Returns the completed runs, in the order of the plan."""
        return [outcome for _, outcome in sorted(self.outcomes.items()) if outcome.is_done]

    @property
    def run_count(self) -> int:
        """Number of runs of the session, with those that have stored results; points that share a run count once."""
        return self.kept + len(self.waiting)

    def time_left_s(self) -> float | None:
        """Returns the estimated seconds for the remaining runs; None before the first has ended."""
        done = len(self.outcomes) - self.kept
        left = len(self.waiting) - done
        return (time.monotonic() - self.started) * left / done if done else None

    @property
    def until_steady(self) -> bool:
        """Whether runs are extended until they are steady, or up to a limit."""
        return any(task.until_steady is not None for task in self.tasks)

    def comparison(self, partial: bool = False) -> Comparison:
        """Returns the results so far as a comparison; with `partial`, also those of interrupted runs."""
        from flashmesh.comparing.axes import typed
        from flashmesh.comparison import ComparedRun, Comparison, FailedRun
        from flashmesh.results import Result
        from flashmesh.sweeps.tasks import typed_settings

        runs: list[ComparedRun] = []
        failures: list[FailedRun] = []
        for _, outcome in sorted(self.outcomes.items()):
            settings = typed_settings(outcome.task.settings)
            if outcome.error is not None:
                failures.append(FailedRun(settings, str(outcome.error)))
            elif outcome.is_done or partial:
                text = self.document(outcome)
                if text is not None:
                    result = Result.from_json(text, outcome.task.config.to_toml())
                    runs.append(ComparedRun(settings, result, outcome.is_partial))
        axes = axes_in(task.settings for task in self.tasks)
        typed_axes = {key: tuple(map(typed, values)) for key, values in axes.items()}
        return Comparison(typed_axes, tuple(runs), tuple(failures), self.is_complete, self.until_steady)


def axes_in(settings: Iterable[dict[str, str]]) -> dict[str, list[str]]:
    """Returns the distinct values of each key, in the order of their first use."""
    axes: dict[str, dict[str, None]] = {}
    for setting in settings:
        for key, value in setting.items():
            axes.setdefault(key, {})[value] = None
    return {key: list(values) for key, values in axes.items()}


def as_error(error: BaseException) -> FlashmeshError:
    """Returns the error of a run as an error of flashmesh; unexpected ones become internal errors."""
    if isinstance(error, FlashmeshError):
        return error
    return InternalError(f"{type(error).__name__}: {error}")
