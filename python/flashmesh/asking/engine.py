"""Trials of changes of a drive, with as many seeds for each as the time allows."""

from __future__ import annotations

import json
import math
import time
from typing import TYPE_CHECKING, Any

from flashmesh import configuration
from flashmesh._native import ConfigError
from flashmesh.aggregate.estimate import Estimate, estimate, ratio_of
from flashmesh.asking.answer import Answer, Effect, Row, is_higher_better
from flashmesh.asking.causes import cause_of, has_own_parts, inside, subject_of
from flashmesh.asking.changes import Change, changes_of
from flashmesh.configuring.spare_space import CAPACITY, KEPT, capacity_in, change_text
from flashmesh.configuring.spelling import spelt_settings
from flashmesh.frames import as_trace
from flashmesh.installation import memory
from flashmesh.report.measures.measure import Measure, in_document, measure_named
from flashmesh.report.measures.streams import refuse_slowdowns, refuse_unconfigured_streams
from flashmesh.report.sections.headline import longer
from flashmesh.report.tables.view import numbers
from flashmesh.results import Result
from flashmesh.results.window import windowed
from flashmesh.simulate import cores, jobs_of
from flashmesh.sweeps.executors.local import LocalThreads
from flashmesh.sweeps.executors.session import Session
from flashmesh.sweeps.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from flashmesh._native import Config
    from flashmesh.configuration import ConfigSource
    from flashmesh.execution import Progress
    from flashmesh.frames import DataFrame
    from flashmesh.importers.fio import FioJobs

MEASURES = ("IOPS", "p99")
SEEDS = 3
LIMIT_S = 60.0
SEED = "seed"
WARM_UP = "measure.warm-up"
FULL = "precondition.kind=random"


class OutOfTime(Exception):  # noqa: N818 - a time limit is not an error
    """Exception that stops the runs when the time limit has passed."""


def ask(
    config: ConfigSource,
    *,
    measures: Sequence[str] = MEASURES,
    keys: Sequence[str] | None = None,
    seeds: int = SEEDS,
    limit_s: float = LIMIT_S,
    trace: str | Path | DataFrame | None = None,
    profile: str | None = None,
    fio: str | Path | FioJobs | None = None,
    overrides: Mapping[str, Any] | None = None,
    tolerate: bool = False,
    sort: bool = False,
    keep: str = KEPT,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    trust_policies: bool = False,
) -> Answer:
    """Returns the changes of a drive that help most: tries each key that has a step, one at a time.

    Each change runs with one seed first; then the changes that help run with further seeds, then all others, those with
    the largest effects first, until the time is over. The warm-up of runs is excluded; it ends automatically unless
    `measure.warm-up` is set.

    Args:
        config: As in `run`, like all arguments not described here.
        measures: The measures; changes are ranked by all of them together.
        keys: The keys to change; by default all that have a step, shown by `flashmesh explain KEY`.
        seeds: The maximum number of seeds of each change, counted up from the seed of the configuration.
        limit_s: The time limit in seconds. The answer lists changes for which the time was too short.
        trace: As in `run`.
        profile: As in `run`.
        fio: As in `run`.
        overrides: As in `run`.
        tolerate: As in `run`.
        sort: As in `run`.
        keep: The quantity that stays constant if a change adds or removes flash: "over-provisioning", so that the
            capacity follows, or "capacity".
        jobs: The number of runs at once; by default one for each core.
        progress: As in `run`.
        trust_policies: As in `run`.

    Raises:
        ConfigError: If the configuration or a measure is invalid, or the time is too short for a single run.
        WorkloadError: If the workload cannot be read or replayed.
    """
    wanted = [measure_named(name) for name in measures]
    refuse_slowdowns(wanted, "flashmesh compare --fairness measures it, ask does not")
    path, reading = as_trace(trace, overrides)
    given: dict[str, Any] = {"trace": path, "profile": profile, "fio": jobs_of(fio), "tolerate": tolerate, "sort": sort}
    given["trust_policies"] = trust_policies
    settings = spelt_settings(reading or {})
    source = configuration.read_once(config)
    base = configuration.load(source, overrides=settings, **given)
    refuse_unconfigured_streams(wanted, [base])
    tables = json.loads(base.to_json())
    if tables["measure"].get("warm-up") is None and base.warm_up() == "none":
        settings[WARM_UP] = "auto"
        base = configuration.load(source, overrides=settings, **given)
    changes, unread = changes_of(base, "capacity" if CAPACITY in settings else keep)
    if keys is not None:
        changes, unread = chosen(changes, unread, keys)
    first = int(json.loads(base.to_json())[SEED])

    def load(varied: dict[str, str]) -> Config:
        left = {key: value for key, value in settings.items() if key not in varied}
        return configuration.load(source, overrides=left, varied=varied, keep=keep, **given)

    possible: list[Change] = []
    impossible: list[tuple[Change, str]] = []
    configs: dict[Change | None, list[Config]] = {}
    numbers = range(first, first + seeds)
    for change in (None, *changes):
        varied = {} if change is None else {change.key: change.after}
        try:
            configs[change] = [load({**varied, SEED: str(number)}) for number in numbers]
        except ConfigError as error:
            if change is None:
                raise
            impossible.append((change, str(error).removeprefix("error: ").splitlines()[0]))
            continue
        if change is not None:
            possible.append(change)
    places = jobs if jobs is not None else cores()
    memory.require([each[0] for each in configs.values()], places)
    trial = Trial(configs, wanted, LocalThreads(places), limit_s, progress)
    trial.run(possible)
    return answer_of(trial, possible, unread, impossible)


def chosen(
    changes: Sequence[Change], unread: Mapping[str, str], keys: Sequence[str]
) -> tuple[list[Change], dict[str, str]]:
    """Restricts changes, and the reasons why other keys are not changed, to the given keys.

    Raises:
        ConfigError: If a key has no step.
    """
    from flashmesh.keys import declared, find, key_of

    wanted = [find(key_of(key)).key for key in keys]
    for key in wanted:
        if declared()[key].step is None:
            known = ", ".join(each.key for each in declared().values() if each.step is not None)
            raise ConfigError(f"{key} has no step, so it cannot be changed: the keys with a step are {known}")
    return (
        [change for change in changes if change.key in wanted],
        {key: reason for key, reason in unread.items() if key in wanted},
    )


class Trial:
    """Runs of all changes: in each round, some changes run with one seed."""

    def __init__(
        self,
        configs: Mapping[Change | None, Sequence[Config]],
        measures: Sequence[Measure],
        executor: LocalThreads,
        limit_s: float,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        """Creates a trial. `configs` has a configuration for each seed, by change; None is the unchanged drive."""
        self.configs = configs
        self.measures = {measure.name.strip(): measure for measure in measures}
        self.higher = {name: is_higher_better(measure.keys) for name, measure in self.measures.items()}
        """Whether higher is better, for each measure by name."""
        self.executor = executor
        self.limit_s = limit_s
        self.progress = progress
        self.begun = time.monotonic()
        self.results: dict[tuple[Change | None, int], dict[str, Any]] = {}
        """JSON results of finished runs, by change (None for the unchanged drive) and index of the seed."""
        self.failures: dict[Change, str] = {}

    @property
    def elapsed_s(self) -> float:
        """Seconds since the trial was created."""
        return time.monotonic() - self.begun

    def look(self, progress: Progress) -> None:
        """Raises `OutOfTime` at the time limit; before, reports `progress`.

        Until the unchanged drive has its first result, which an answer needs, twice the limit applies.
        """
        if self.elapsed_s > self.limit_s * (1 if (None, 0) in self.results else 2):
            raise OutOfTime
        if self.progress is not None:
            self.progress(progress)

    def run(self, changes: Sequence[Change]) -> None:
        """Runs the unchanged drive and all changes with one seed, then with further seeds, until the time limit.

        The changes that help with the first seed get all their seeds before the others get a second one.

        Raises:
            ConfigError: If the time is too short for a single run.
            FlashmeshError: If the unchanged drive cannot be run.
        """
        try:
            self.round([None], 0)
            self.round(changes, 0)
            further = range(1, len(self.configs[None]))
            helping, others = self.ranked(changes)
            for number in further:
                self.round([None, *helping], number)
            for number in further:
                self.round(others, number)
        except OutOfTime:
            if (None, 0) not in self.results:
                told = f"{self.limit_s:g} s are too short for a single run"
                raise ConfigError(f"{told}: allow more time, or lower workload.requests") from None

    def round(self, changes: Sequence[Change | None], number: int) -> None:
        """Runs the changes with the seed of index `number`, and stores their results or errors.

        Raises:
            OutOfTime: If the time is over.
            FlashmeshError: If the unchanged drive cannot be run.
        """
        left = [change for change in changes if change not in self.failures]
        tasks = [Task(index, {}, self.configs[change][number]) for index, change in enumerate(left)]
        session = Session(tasks)
        try:
            session.run(self.executor, on_progress=self.look)
        finally:
            for index, outcome in session.outcomes.items():
                change = left[index]
                if outcome.error is not None:
                    if change is None:
                        raise outcome.error
                    self.failures[change] = str(outcome.error).splitlines()[0]
                elif outcome.is_done and outcome.document is not None:
                    self.results[change, number] = json.loads(outcome.document)

    def ranked(self, changes: Sequence[Change]) -> tuple[list[Change], list[Change]]:
        """Returns the changes that help, in descending order of benefit, and the others, the largest effects first."""
        scores: dict[Change, float] = {}
        for change in changes:
            row = self.row(change)
            if row is not None and row.is_helpful(self.higher):
                scores[change] = row.score(self.higher)
        helping = sorted(scores, key=lambda change: -scores[change])
        others = [change for change in changes if change not in scores]
        return helping, sorted(others, key=lambda change: -self.size(change))

    def row(self, change: Change) -> Row | None:
        """Returns the effects of a change; None without a result that has a value of a measure."""
        found = {name: self.effect(change, measure) for name, measure in self.measures.items()}
        effects = {name: effect for name, effect in found.items() if effect is not None}
        if not effects:
            return None
        cause = cause_of(self.documents(change), subject_of(self.measures.values()))
        throughput = self.ratio(change, lambda each: windowed(each)["iops"])
        return Row(
            change, effects, self.seeds(change), self.also(change), cause, throughput, self.ratio(change, inside)
        )

    def effect(self, change: Change, measure: Measure) -> Effect | None:
        """Returns the effect of a change on a measure; None if no seed has both values.

        The interval is over seeds. That of a single seed is from the batch means of both runs, if they have any.
        """
        ratios = self.pairs(change, measure)
        found = estimate(ratios)
        if found is None:
            return None
        if len(ratios) == 1:
            found = next(filter(None, (within(measure, *pair) for pair in self.documents(change))), found)
        return Effect(found)

    def pairs(self, change: Change, measure: Measure) -> list[float]:
        """Returns the ratio of a measure with the change to that without it, for each seed that has both values."""
        found: list[float] = []
        for base, other in self.documents(change):
            before, after = measure.of_document(windowed(base)), measure.of_document(windowed(other))
            if before and after is not None and not isinstance(before, str | bool):
                found.append(after / before)
        return found

    def documents(self, change: Change) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Returns pairs of results (unchanged drive, changed drive), one for each seed with both results."""
        numbers = [number for number in range(len(self.configs[None])) if (change, number) in self.results]
        return [
            (self.results[None, number], self.results[change, number])
            for number in numbers
            if (None, number) in self.results
        ]

    def ratio(self, change: Change, value: Callable[[Mapping[str, Any]], float | None]) -> Effect | None:
        """Returns the effect of a change on one value of the results; None if no seed has both values."""
        values = [(value(before), value(after)) for before, after in self.documents(change)]
        found = estimate([after / before for before, after in values if before and after is not None])
        return None if found is None else Effect(found)

    def also(self, change: Change) -> str:
        """Returns the side effect of a change on the host capacity, as in `geometry.capacity 30GB -> 60GB`.

        Empty if the change leaves the capacity, or no capacity is stated.
        """
        before, after = (capacity_in(self.configs[each][0]) for each in (None, change))
        return change_text(before, after) if before is not None and after is not None and before != after else ""

    def size(self, change: Change) -> float:
        """Returns the largest relative change of any measure with any seed, without its sign; 0 without results."""
        ratios = (ratio for measure in self.measures.values() for ratio in self.pairs(change, measure))
        return max((abs(ratio - 1.0) for ratio in ratios), default=0.0)

    def seeds(self, change: Change | None) -> int:
        """Returns the number of seeds with results of both the changed (`change`) and the unchanged drive."""
        numbers = range(len(self.configs[None]))
        return sum((None, number) in self.results and (change, number) in self.results for number in numbers)


def within(measure: Measure, before: Mapping[str, Any], after: Mapping[str, Any]) -> Estimate | None:
    """Returns the ratio of a measure of two results, with its interval from the batch means of both.

    If only one result has an interval, its relative width stands for that of the other. None if both have none, or a
    value is not above zero.
    """
    values = [measure.of_document(windowed(each)) for each in (after, before)]
    ends = [None if measure.interval is None else in_document(each, measure.interval) for each in (after, before)]
    shares = [
        (each["low"] / value, each["high"] / value)
        for value, each in zip(values, ends, strict=True)
        if value and value > 0 and each is not None
    ]
    if not shares or not all(value and value > 0 for value in values):
        return None
    found = [
        Estimate(value, value * low, value * high, 1, "batches")
        for value, (low, high) in zip(numbers(values), (shares[0], shares[-1]), strict=True)
    ]
    return ratio_of(*found)


def answer_of(
    trial: Trial,
    changes: Sequence[Change],
    unread: dict[str, str],
    impossible: list[tuple[Change, str]],
) -> Answer:
    """Returns the answer from the results of a trial, with changes sorted by benefit."""
    bases = [document for (change, _), document in sorted(trial.results.items(), key=str) if change is None]
    base = {
        name: found
        for name, measure in trial.measures.items()
        if (found := estimate(numbers([measure.of_document(windowed(each)) for each in bases]))) is not None
    }
    rows = [row for change in changes if (row := trial.row(change)) is not None]
    rows.sort(key=lambda row: (not row.has_effect, -row.score(trial.higher)))
    tried = {change for change, _ in trial.results}
    untried = tuple(change for change in changes if change not in tried and change not in trial.failures)
    failed = [(change, reason) for change, reason in trial.failures.items() if change not in tried]
    unsteady = {change for (change, _), each in trial.results.items() if not each["steadiness"]["steady"]}
    notes = notes_on(bases[0]) or steadiness_notes(trial.results)
    return Answer(
        tuple(trial.measures),
        trial.higher,
        base,
        tuple(rows),
        unread,
        (*impossible, *failed),
        untried,
        max((row.seeds for row in rows), default=trial.seeds(None)),
        str(bases[0]["bound"]["sentence"]),
        trial.elapsed_s,
        (*notes, *cause_notes(bases[0], trial.measures.values())),
        len({change for change, _ in trial.results}),
        len(unsteady),
    )


def cause_notes(document: Mapping[str, Any], measures: Iterable[Measure]) -> list[str]:
    """Returns a note on the requests from which causes are computed, if they are not those of the measures.

    Args:
        document: The result of the unchanged drive.
        measures: The measures of the answer.
    """
    stream = subject_of(measures)
    if stream is None:
        return ["no causes: the measures are not all of the same requests, whose latencies have different parts"]
    if has_own_parts(document, stream) and document["measured"] is not None:
        return [f"latency parts of stream {stream} are left out for runs whose warm-up has another mean latency"]
    return []


def steadiness_notes(results: Mapping[tuple[Change | None, int], Mapping[str, Any]]) -> list[str]:
    """Returns a note on the number of drives without a steady window, and on the requests that they need.

    Empty if all windows are steady. The note names no number if no number of requests makes all drives steady.
    """
    unsteady = [(change, each) for (change, _), each in results.items() if not each["steadiness"]["steady"]]
    if not unsteady:
        return []
    drives, named = len({change for change, _ in results}), len({change for change, _ in unsteady})
    slowest = max((each for _, each in unsteady), key=lambda each: each["steadiness"]["requests_needed"] or math.inf)
    remedy = longer(Result.of_checked(dict(slowest))).removesuffix(".")
    are = "is" if named == 1 else "are"
    return [f"{named} of {drives} drives {are} not steady, so that longer runs may give other effects{remedy}"]


def notes_on(document: Mapping[str, Any]) -> list[str]:
    """Returns notes from the result of the unchanged drive: a fresh drive with writes has no garbage collection."""
    precondition = document["configuration"]["precondition"]
    has_writes = document["latency_ps"]["write"] is not None and document["latency_ps"]["write"]["count"] > 0
    if precondition["kind"] == "none" and has_writes:
        return [f"fresh drive: garbage collection is not measured; --set {FULL} fills the drive first"]
    return []
