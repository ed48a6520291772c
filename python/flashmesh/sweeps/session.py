"""A sweep as it goes on: what is still to be run, what came out, and what failed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from flashmesh._native import FlashmeshError, InternalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flashmesh.comparison import Comparison
    from flashmesh.execution import Progress
    from flashmesh.sweeps.store import Store
    from flashmesh.sweeps.tasks import Task


@dataclass
class Outcome:
    """What became of a run: its document, or the error it ended with."""

    task: Task
    document: str | None = field(default=None, repr=False)
    """Its JSON; None where it failed, or is kept in the folder of results."""
    error: BaseException | None = None
    wall_s: float | None = None
    """How long it took; None for one that was there already."""
    is_partial: bool = False
    """Whether it was interrupted."""
    name: str = ""
    """By which its result is kept."""

    @property
    def is_done(self) -> bool:
        """Whether the run came to its end."""
        return self.error is None and not self.is_partial


class Executor(Protocol):
    """Who runs tasks."""

    @property
    def places(self) -> int:
        """How many runs go on at once."""
        ...

    def run(
        self,
        tasks: Sequence[Task],
        take: Callable[[Outcome], None],
        on_progress: Callable[[Progress], None] | None,
        on_open: Callable[[str | None], None] | None,
    ) -> None:
        """Runs all tasks; gives each outcome to `take`, in the calling thread, as soon as it is there.

        A run that fails stops no other. An exception in the calling thread, such as that of Ctrl-C, ends the runs
        under way; what they had simulated is given to `take` before the exception goes on.
        """
        ...

    def close(self) -> None:
        """Lets go of what it runs on."""
        ...


class Session:
    """The runs of a sweep or a comparison."""

    def __init__(self, tasks: Sequence[Task], store: Store | None = None, shard: tuple[int, int] = (1, 1)) -> None:
        """With nothing run yet; what the store has of an earlier session is taken from there.

        Args:
            tasks: All runs.
            store: Where results are kept; without one they stay in memory.
            shard: Which part of the runs this session does, of how many: `(1, 1)` for all of them.
        """
        self.tasks = tasks
        self.store = store
        self.outcomes: dict[int, Outcome] = {}
        self.waiting: list[Task] = []
        names: dict[str, str] = {}
        for task in tasks:
            name = task.name if store is not None or task.idle else ""
            if store is not None and name in store:
                self.outcomes[task.index] = Outcome(task, name=name)
            elif (not name or name not in names) and task.index % shard[1] == shard[0] - 1:
                self.waiting.append(task)
            names[name] = name
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
        """Runs what is still to be run; results are in `outcomes`, and in the store, the moment they exist.

        Raises:
            OutputError: When the store cannot be written.
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
        """Points of the same configuration are run once."""
        if self.store is None:
            self._share_outcomes()
            return
        for task in self.tasks:
            if task.index not in self.outcomes and task.name in self.store:
                self.outcomes[task.index] = Outcome(task, name=task.name)

    def _share_outcomes(self) -> None:
        """Gives points whose runs differ in nothing that is read the outcome of the one that was run."""
        by_name = {each.task.name: each for each in self.outcomes.values() if each.task.idle}
        for task in self.tasks:
            if task.index not in self.outcomes and task.idle and task.name in by_name:
                self.outcomes[task.index] = replace(by_name[task.name], task=task)

    def document(self, outcome: Outcome) -> str | None:
        """The document of a run that has one."""
        if outcome.document is None and self.store is not None and outcome.error is None:
            return self.store.read(outcome.name)
        return outcome.document

    @property
    def failures(self) -> list[Outcome]:
        """The runs that failed, in their order."""
        return [outcome for _, outcome in sorted(self.outcomes.items()) if outcome.error is not None]

    @property
    def is_complete(self) -> bool:
        """Whether every run came to its end."""
        return len(self.outcomes) == len(self.tasks) and all(outcome.is_done for outcome in self.outcomes.values())

    def finished(self) -> list[Outcome]:
        """The runs that came to their end, in their order."""
        return [outcome for _, outcome in sorted(self.outcomes.items()) if outcome.is_done]

    def time_left_s(self) -> float | None:
        """How long the rest may take, going by the runs so far; None before the first."""
        done = len(self.outcomes) - self.kept
        left = len(self.waiting) - done
        return (time.monotonic() - self.started) * left / done if done else None

    def comparison(self, partial: bool = False) -> Comparison:
        """The results there are, with those of interrupted runs where `partial` is set."""
        from flashmesh.axes import typed
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
                    runs.append(ComparedRun(settings, Result.from_json(text, outcome.task.config.to_toml())))
        axes = axes_in(task.settings for task in self.tasks)
        typed_axes = {key: tuple(map(typed, values)) for key, values in axes.items()}
        return Comparison(typed_axes, tuple(runs), tuple(failures), self.is_complete)


def axes_in(settings: Iterable[dict[str, str]]) -> dict[str, list[str]]:
    """The values of each key in the order in which they come up, each once."""
    axes: dict[str, dict[str, None]] = {}
    for setting in settings:
        for key, value in setting.items():
            axes.setdefault(key, {})[value] = None
    return {key: list(values) for key, values in axes.items()}


def as_error(error: BaseException) -> FlashmeshError:
    """What a run failed with, as one of our errors."""
    if isinstance(error, FlashmeshError):
        return error
    return InternalError(f"{type(error).__name__}: {error}")
