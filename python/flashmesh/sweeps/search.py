"""Search for the best drives of a space: Optuna proposes drives, which run and are stored as in a sweep."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from flashmesh import configuration
from flashmesh._native import Config, ConfigError, OutputError, __version__
from flashmesh.configuration import value_text
from flashmesh.configuring.spare_space import CAPACITY, capacity_in, is_followed
from flashmesh.files import reason, replace_text
from flashmesh.installation.extras import install
from flashmesh.policies.trust import UntrustedError
from flashmesh.results import Result
from flashmesh.sweeps.executors.heartbeat import Heartbeat
from flashmesh.sweeps.executors.session import Session
from flashmesh.sweeps.importance import importance
from flashmesh.sweeps.inputs.plan import at
from flashmesh.sweeps.inputs.points import Points
from flashmesh.sweeps.inputs.ranges import Range
from flashmesh.sweeps.tasks import Task, typed_settings, without_idle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from flashmesh.sweeps.executors.session import Executor, Outcome
    from flashmesh.sweeps.inputs.searchfile import Constraint, Objective, SearchFile
    from flashmesh.sweeps.results.store import Store

JOURNAL = "search.journal"
SEARCH = "search.json"
STUDY = "flashmesh"
SETTLED = "settled"
"""Attribute of a trial whose outcome, possibly a failure, is known. A trial without this attribute was interrupted, and
is repeated."""
DRIVE = "drive"
"""Attribute of a trial with the identifier of its drive: the hash of its configuration, or its settings if invalid."""
AGAIN = 20
"""Maximum number of proposals of known drives, as a multiple of the size of the population. Beyond it, untried points
are drawn instead."""
KNOWN = "known"
"""Attribute of a proposal whose drive was tried before. The proposal does not count as a trial; the sampler gets the
known outcome."""


class Search:
    """A search, whose state is in a folder of results."""

    def __init__(self, file: SearchFile, store: Store, load: Callable[[dict[str, str]], Config]) -> None:
        """Creates the search, or resumes it from its folder.

        Args:
            file: The search.
            store: The store of the results.
            load: Creates the configuration of a point.

        Raises:
            ConfigError: If Optuna is not installed, or the folder holds another search.
        """
        try:
            import optuna
        except ImportError as error:
            raise ConfigError(f"a search needs Optuna, which is not installed: {install('search')}") from error
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        self.file = file
        self.store = store
        self.load = load
        self.firsts = {
            key: domain.at(0.0) if isinstance(domain, Range) else domain[0] for key, domain in file.space.items()
        }
        """First value of each key; drives that do not read a key get this value."""
        self.tasks: dict[int, Task] = {}
        """Tasks by the numbers of their trials."""
        self.points = Points(file.space)
        self.is_exhausted = False
        """Whether all drives of the space were tried."""
        self.remaining: Iterator[dict[str, Any]] | None = self.points.all() if self.is_enumerated else None
        """Points left to try if the search tries all points of the space, else None. Different points can have the same
        drive, so the drive of a point may have been tried already."""
        self.drives: dict[tuple[str, ...], str] = {}
        """Identifier of the drive of each examined point, by the values of the point."""
        directions: list[Literal["minimize", "maximize"]] = [
            "minimize" if each.direction == "minimise" else "maximize" for each in file.objectives
        ]
        self.study = optuna.create_study(
            storage=JournalStorage(JournalFileBackend(str(store.folder / JOURNAL))),
            study_name=STUDY,
            directions=directions,
            load_if_exists=True,
        )
        described = json.dumps(
            {key: file.file.tables[key] for key in sorted(file.file.tables) if key != "trials"}, sort_keys=True
        )
        known = self.study.user_attrs.get("search")
        if known is not None and known != described:
            raise ConfigError(f"{store.folder}: holds another search than this file describes: name another folder")
        self.study.set_user_attr("search", described)
        for trial in self.study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,)):
            # A running trial is left from an interrupted session. Fail it, so that its drive can be proposed again.
            self.study.tell(trial.number, state=optuna.trial.TrialState.FAIL)

    @property
    def settled(self) -> int:
        """Number of trials whose outcome is known, without repeated drives."""
        return sum(is_trial(trial) for trial in self.study.get_trials(deepcopy=False))

    @property
    def is_enumerated(self) -> bool:
        """Whether the search tries all points: the space has at most as many points as trials."""
        return self.points.count is not None and self.points.count <= self.file.trials

    def run(self, executor: Executor, on_end: Callable[[Session], Callable[[Outcome], None]]) -> None:
        """Tries the requested number of drives, one population (generation of NSGA-II) at a time.

        Args:
            executor: The executor of the runs.
            on_end: Returns, for the session of a population, the function called for each run that ends.

        Raises:
            OutputError: If the folder cannot be written.
        """
        with self.journal():
            self.try_populations(executor, on_end)

    @contextmanager
    def journal(self) -> Iterator[None]:
        """Converts errors of the journal, which Optuna writes, to errors of flashmesh."""
        try:
            yield
        except OSError as error:
            path = error.filename or self.store.folder / JOURNAL
            raise OutputError(f"{path}: cannot be read or written: {reason(error)}") from error

    def try_populations(self, executor: Executor, on_end: Callable[[Session], Callable[[Outcome], None]]) -> None:
        """Tries populations of drives until the requested number of outcomes is known, or no untried drive is left.

        Raises:
            OSError: If the system refuses access to the journal.
        """
        import optuna

        while (settled := self.settled) < self.file.trials and not self.is_exhausted:
            # Each population has a new sampler with its own seed, so that a resumed search proposes the same drives.
            self.study.sampler = optuna.samplers.NSGAIISampler(
                population_size=self.file.population, seed=(self.file.seed * 1_000_003 + settled) % 2**32
            )
            proposed, again = self.population(min(self.file.population, self.file.trials - settled))
            if not proposed:
                break
            session = Session([task for _, task in proposed if isinstance(task, Task)], self.store)
            beat = Heartbeat(session, self.store.folder)
            try:
                session.run(executor, on_end=on_end(session), on_progress=beat)
            finally:
                beat.end()
            for trial, task in proposed:
                self.settle(trial, task, session)
            for trial, name in again:
                self.settle_known(trial, name)
            self.write()

    def population(self, count: int) -> tuple[list[tuple[Any, Task | ConfigError]], list[tuple[Any, str]]]:
        """Proposes `count` untried drives, or all untried drives if fewer are left.

        Returns:
            (Optuna's trials with their tasks or errors, proposals of known drives with the identifiers of these
                drives).
        """
        known = {trial.user_attrs.get(DRIVE) for trial in self.study.get_trials(deepcopy=False) if is_trial(trial)}
        proposed: list[tuple[Any, Task | ConfigError]] = []
        again: list[tuple[Any, str]] = []
        untried = self.remaining
        while len(proposed) < count:
            if untried is None and len(again) > AGAIN * count:
                untried = self.points.drawn(self.file.seed + len(known))
            if untried is not None:
                chosen = next(untried, None)
                if chosen is None:
                    self.is_exhausted = True
                    break
                if self.name_of(self.points.settings(chosen)) in known:
                    continue
                self.study.enqueue_trial(chosen)
            trial = self.study.ask()
            name, task = self.proposal(trial)
            if name in known:
                again.append((trial, name))
            else:
                known.add(name)
                proposed.append((trial, task))
        return proposed, again

    def name_of(self, settings: dict[str, str]) -> str:
        """Returns the identifier of the drive of a point; points that differ only in unread keys share a drive."""
        values = tuple(settings.values())
        if values not in self.drives:
            self.drives[values] = self.drive_of(settings)[0]
        return self.drives[values]

    def drive_of(self, settings: dict[str, str]) -> tuple[str, dict[str, str], tuple[str, ...], Config | ConfigError]:
        """Returns (identifier of the drive, its settings, keys it does not read, configuration or error) of a point."""
        try:
            config, idle = without_idle(settings, self.load(settings), self.firsts, self.load)
        except UntrustedError:
            raise
        except ConfigError as error:
            return json.dumps(settings), settings, (), error
        # An unread key gets its first value, so that each drive is run and shown only once.
        return config.hash(), settings | {key: self.firsts[key] for key in idle}, idle, config

    def proposal(self, trial: Any) -> tuple[str, Task | ConfigError]:
        """Returns (identifier of the drive, task or error of its configuration) of a trial."""
        settings = {key: proposed_value(trial, key, self.points) for key in self.file.space}
        name, settings, idle, config = self.drive_of(settings)
        trial.set_user_attr("settings", settings)
        trial.set_user_attr(DRIVE, name)
        if isinstance(config, ConfigError):
            return name, config
        trial.set_user_attr("idle", idle)
        capacity = capacity_in(config)
        if capacity is not None and is_followed(settings):
            trial.set_user_attr(CAPACITY, capacity)
        task = Task(trial.number, settings, config, idle=idle)
        self.tasks[trial.number] = task
        return name, task

    def settle_known(self, trial: Any, name: str) -> None:
        """Reports to Optuna the known outcome of the drive `name`, for a repeated proposal of this drive."""
        from optuna.trial import TrialState

        trials = self.study.get_trials(deepcopy=False)
        first = next(each for each in trials if is_trial(each) and each.user_attrs.get(DRIVE) == name)
        for constraint, violation in (first.constraints or {}).items():
            trial.set_constraint(constraint, violation)
        trial.set_user_attr(KNOWN, True)
        state = TrialState.COMPLETE if first.values is not None else TrialState.FAIL
        self.study.tell(trial, first.values, state=state)

    def settle(self, trial: Any, task: Task | ConfigError, session: Session) -> None:
        """Reports the outcome of a trial to Optuna."""
        from optuna.trial import TrialState

        outcome = session.outcomes.get(task.index) if isinstance(task, Task) else None
        error = task if isinstance(task, ConfigError) else outcome.error if outcome is not None else None
        values: list[float] | None = None
        if error is None and isinstance(task, Task) and outcome is not None and outcome.is_done:
            result = Result.from_json(self.store.read(task.name), "")
            trial.set_user_attr("run", task.name)
            values, error = self.judge(trial, result)
        if error is not None:
            trial.set_user_attr("error", (str(error).splitlines() or [""])[0])
        trial.set_user_attr(SETTLED, True)
        self.study.tell(trial, values, state=TrialState.COMPLETE if values is not None else TrialState.FAIL)

    def judge(self, trial: Any, result: Result) -> tuple[list[float] | None, Exception | None]:
        """Returns (objectives of a result, None), or (None, error) if a measure is missing.

        Adds the violations of the constraints to the trial.
        """
        wanted: Sequence[Objective | Constraint] = (*self.file.objectives, *self.file.constraints)
        found = {each.measure.name.strip(): each.measure.value(result) for each in wanted}
        absent = [name for name, value in found.items() if value is None]
        if absent:
            return None, ConfigError(f"the run has no {', '.join(absent)}")
        numbers = {name: float(value) for name, value in found.items() if value is not None}
        trial.set_user_attr("measures", numbers)
        for constraint in self.file.constraints:
            name = constraint.measure.name.strip()
            trial.set_constraint(f"{name} {constraint.text}", constraint.violation(numbers[name]))
        return [numbers[each.measure.name.strip()] for each in self.file.objectives], None

    def finish(self) -> None:
        """Writes the state of the search and the table of all runs into the folder.

        Raises:
            OutputError: If the files cannot be written.
        """
        from flashmesh.sweeps.results.finish import gather

        self.write()
        gather(self.tried(), self.store)

    def front(self) -> list[dict[str, Any]]:
        """Returns the Pareto front: the trials within all constraints that no other such trial dominates."""
        listed = [each for each in self.trials() if each["pareto"]]
        first = self.file.objectives[0]
        name, sign = first.measure.name.strip(), 1 if first.direction == "minimise" else -1
        return sorted(listed, key=lambda each: sign * each["measures"][name])

    def trials(self) -> list[dict[str, Any]]:
        """Returns all trials with a known outcome, as the JSON of the search has them."""
        best = {trial.number for trial in self.study.best_trials}
        listed: list[dict[str, Any]] = []
        for trial in self.study.get_trials(deepcopy=False):
            attributes = trial.user_attrs
            if not is_trial(trial):
                continue
            constraints = dict(trial.constraints or {})
            is_feasible = trial.values is not None and all(value <= 0 for value in constraints.values())
            listed.append(
                {
                    "number": trial.number,
                    "settings": typed_settings(attributes["settings"]),
                    "idle": attributes.get("idle", []),
                    "capacity": attributes.get(CAPACITY),
                    "run": attributes.get("run"),
                    "measures": attributes.get("measures"),
                    "violations": constraints,
                    "feasible": is_feasible,
                    "pareto": is_feasible and trial.number in best,
                    "error": attributes.get("error"),
                }
            )
        return listed

    def tried(self) -> list[Task]:
        """Returns the runs of all trials with a result, including earlier sessions; each run once."""
        found: dict[str, Task] = {}
        for trial in self.study.get_trials(deepcopy=False):
            name = trial.user_attrs.get("run")
            if name is not None and name not in found:
                settings = trial.user_attrs["settings"]
                task = self.tasks.get(trial.number)
                found[name] = task if task is not None else Task(trial.number, settings, self.load(settings))
        return list(found.values())

    def write(self) -> Path:
        """Writes the current state of the search into the folder, and returns the path of the file.

        Raises:
            OutputError: If the file cannot be written.
        """
        with self.journal():
            trials = self.trials()
            document = {
                "version": __version__,
                "objectives": [
                    {"measure": each.measure.name.strip(), "direction": each.direction} for each in self.file.objectives
                ],
                "constraints": [
                    {"measure": each.measure.name.strip(), "sign": each.sign, "bound": each.bound, "text": each.text}
                    for each in self.file.constraints
                ],
                "space": list(self.file.space),
                "trials": trials,
                "importance": importance(trials, list(self.file.space)),
            }
            self.store.write_plan([(task.name, task.settings) for task in self.tried()])
        path = self.store.folder / SEARCH
        try:
            replace_text(path, json.dumps(document, indent=2) + "\n")
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error
        return path


@contextmanager
def searching(
    path: Path,
    folder: Path,
    resume: bool,
    trust_policies: bool = False,
    overrides: Mapping[str, str] | None = None,
) -> Iterator[Search]:
    """Opens the folder of a search, and closes it at the end.

    Args:
        path: The search file.
        folder: The folder of the results.
        resume: Whether the folder may hold results.
        trust_policies: Whether files may name policies, whose code then runs.
        overrides: Settings of all drives, which override those of the file.

    Raises:
        ConfigError: If the search is invalid.
        OutputError: If the folder cannot be written, or holds other files.
    """
    from flashmesh.report.measures.streams import refuse_slowdowns, refuse_unconfigured_streams
    from flashmesh.sweeps.inputs.searchfile import read_search
    from flashmesh.sweeps.results.store import Store

    read = read_search(path, trust_policies)
    if overrides:
        read = replace(read, overrides={**read.overrides, **overrides})
    measures = [objective.measure for objective in read.objectives]
    measures += [constraint.measure for constraint in read.constraints]
    refuse_slowdowns(measures, "flashmesh compare --fairness measures it, optimise does not")
    texts = {key: value_text(value) for key, value in read.overrides.items()}

    def load(settings: dict[str, str]) -> Config:
        try:
            return configuration.load(
                read.config,
                overrides=read.overrides,
                varied=settings,
                keep=read.keep,
                typed={},
                trust_policies=trust_policies,
            )
        except UntrustedError:
            raise
        except ConfigError as error:
            raise read.file.placed(error, settings | texts) from None

    # Configure one point to refuse an untrusted policy before the folder is created. Other errors may concern this
    # point only.
    try:
        first = load({key: at(domain, 0.0) for key, domain in read.space.items()})
    except UntrustedError:
        raise
    except ConfigError:
        pass
    else:
        refuse_unconfigured_streams(measures, [first])
    described = {"file": str(path), "search": read.file.tables, "axes": list(read.space)}
    store = Store.open(folder, resume=resume, kind="search", described=described)
    try:
        yield Search(read, store, load)
    finally:
        store.close()


def is_trial(trial: Any) -> bool:
    """Returns whether a trial counts: its outcome is known, and its drive had not been tried before."""
    return SETTLED in trial.user_attrs


def proposed_value(trial: Any, key: str, points: Points) -> str:
    """Returns the value that Optuna proposes for a key, spelled as in an override."""
    if not isinstance(points.space[key], Range):
        return points.value(key, trial.suggest_categorical(key, points.listed[key]))
    if key in points.listed:
        return points.value(key, trial.suggest_int(key, 0, len(points.listed[key]) - 1))
    return points.value(key, trial.suggest_float(key, 0.0, 1.0))
