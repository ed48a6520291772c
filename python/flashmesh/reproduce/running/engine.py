"""Runs of a reproduction: checks configurations, runs and stores tasks like a sweep, and measures results."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashmesh import configuration
from flashmesh._native import ConfigError
from flashmesh.installation import memory
from flashmesh.reproduce.judging.outcome import Outcome, Row, rounded
from flashmesh.reproduce.points import all_points, needs_of, run_in, settings_of
from flashmesh.reproduce.registry.paper import ANY, FIT, REAL_TRACES, Overrides
from flashmesh.reproduce.registry.reader import QUOTED
from flashmesh.reproduce.running.measuring import Measures
from flashmesh.reproduce.volumes import Volumes
from flashmesh.sweeps.executors.session import Session
from flashmesh.sweeps.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashmesh._native import Config
    from flashmesh.reproduce.points import Point
    from flashmesh.reproduce.registry.paper import Claim, Measurement, Paper, Regime
    from flashmesh.sweeps.results.store import Store


@dataclass(frozen=True)
class Selection:
    """Claims of a paper to reproduce, with their regimes (interpretations of the paper).

    Also names the recorded volumes that replace workload profiles.
    """

    paper: Paper
    claims: tuple[Claim, ...]
    volumes: Volumes = field(default_factory=Volumes)
    chosen: tuple[str, ...] = ()
    """Names of the selected regimes (interpretations of the paper); empty for all regimes of the paper."""

    def rows(self) -> list[tuple[Claim, str]]:
        """Returns (claim, regime) for each selected claim and each of its regimes (interpretations of the paper)."""
        return [(claim, regime) for claim in self.claims for regime in self.regimes(claim)]

    def regimes(self, claim: Claim) -> tuple[str, ...]:
        """Returns the regimes (interpretations of the paper) that are selected for a claim.

        Includes `real-traces` if a workload of the claim has a recorded volume.
        """
        if claim.is_constructed:
            return (ANY,)
        regimes = self.chosen or tuple(self.paper.regimes)
        found = self.volumes.found
        has_volumes = any(name in found for measurement in claim.measurements() for name in self.workloads(measurement))
        return (*regimes, REAL_TRACES) if has_volumes else regimes

    def workloads(self, measurement: Measurement) -> tuple[str, ...]:
        """Returns the workloads of a measurement: the named workload, or all workloads of its job."""
        named = measurement.of.get("workload")
        return (named,) if named else self.paper.jobs[measurement.job].extents["full"].workloads


class General:
    """Keys that a regime (interpretation of the paper) sets for all runs.

    A run omits a key that would make its configuration invalid.
    """

    def __init__(self, regime: Regime | None) -> None:
        """Collects the keys that `regime` sets; None stands for the replay of recorded volumes, which sets no keys."""
        overrides = regime.overrides if regime is not None else Overrides()
        self.keys = overrides.set | overrides.over
        self.changed = tuple(overrides.over)
        self.optional = set(self.keys)
        """Keys that no run of a job has to read: the general keys of the regime and, in a fit, also its keys for single
        jobs and labels."""
        if regime is not None and regime.name == FIT:
            labelled = (part for labels in overrides.where.values() for part in labels.values())
            parts = [*overrides.jobs.values(), *labelled]
            self.optional.update(key for part in parts for key in part)
        self.configs: list[Config] = []
        self.errors: dict[str, ConfigError] = {}
        """First error of a run that rejects a key, by key."""
        self.read: set[str] = set()

    def load(self, source: str, settings: dict[str, str]) -> Config:
        """Returns the configuration of a run, without the keys of the regime that would make the configuration invalid.

        Raises:
            ConfigError: If the run cannot be configured even without the keys of the regime.
        """
        try:
            config = configuration.load(source, overrides=settings, varied={})
            self.read.update(key for key in self.keys if config.unread(key) is None)
        except ConfigError as whole:
            if not self.keys:
                raise
            kept = {key: value for key, value in settings.items() if key not in self.keys}
            config = configuration.load(source, overrides=kept, varied={})
            for key in self.keys:
                if key not in settings:
                    continue
                try:
                    config = configuration.load(source, overrides=kept | {key: settings[key]}, varied={})
                except ConfigError:
                    self.errors.setdefault(key, whole)
                else:
                    kept[key] = settings[key]
                    self.read.add(key)
        self.configs.append(config)
        return config

    def refuse_unread(self, is_whole: bool) -> None:
        """Refuses keys that every run rejects or leaves unread.

        Args:
            is_whole: Whether all claims of the paper are measured. Otherwise only keys of the command line are checked.

        Raises:
            ConfigError: If no run accepts a key, or no run reads it.
        """
        keys = self.keys if is_whole else self.changed
        for key in keys:
            if key not in self.read and key in self.errors:
                raise self.errors[key]
        configuration.refuse_unread(self.configs, keys)


@dataclass
class Reproduction:
    """Runs of the selected claims, and the session that runs them."""

    selections: tuple[Selection, ...]
    mode: str
    points: list[tuple[Selection, Point]]
    session: Session

    @classmethod
    def prepared(
        cls, selections: Sequence[Selection], mode: str, open_store: Callable[[], Store], places: int
    ) -> Reproduction:
        """Returns a reproduction with every configuration checked and nothing run; stored runs are reused.

        Args:
            selections: The claims of each paper.
            mode: The extent of the runs.
            open_store: Opens the folder of results; called once all configurations are valid.
            places: The number of runs at once.

        Raises:
            ConfigError: If a registry file sets an invalid configuration, or the runs do not fit into memory.
        """
        points = [(each, run) for each in selections for run in all_points(each.paper, each.rows(), mode)]
        tasks: list[Task] = []
        groups: dict[tuple[str, str, str], tuple[list[Task], dict[str, None]]] = {}
        general: dict[tuple[str, str], General] = {}
        for index, (selection, run) in enumerate(points):
            paper = selection.paper
            settings = settings_of(paper, run, mode, selection.volumes)
            regime = paper.regimes.get(run.regime)
            read = general.setdefault((paper.path.name, run.regime), General(regime))
            try:
                config = read.load(paper.jobs[run.job].config, settings)
            except ConfigError as error:
                raise ConfigError(f"{paper.path.name}: {run.label}: {error}") from None
            tasks.append(Task(index, {"run": run.label}, config, paper.jobs[run.job].check))
            group, keys = groups.setdefault((paper.path.name, run.job, run.regime), ([], {}))
            group.append(tasks[-1])
            keys.update(dict.fromkeys(key for key in settings if key != "seed" and key not in read.optional))
        for (name, job, reading), (group, keys) in groups.items():
            try:
                configuration.refuse_unread([task.config for task in group], keys)
            except ConfigError as error:
                raise ConfigError(f"{name}: {job} in {reading}: {error}") from None
        whole = {each.paper.path.name for each in selections if len(each.claims) == len(each.paper.claims)}
        for (name, _), read in general.items():
            read.refuse_unread(name in whole)
        memory.require([task.config for task in tasks], places)
        return cls(tuple(selections), mode, points, Session(tasks, open_store()))

    def outcomes(self) -> list[Outcome]:
        """Returns the outcome of each paper; a number whose runs have not finished is None."""
        return [self._outcome(selection) for selection in self.selections]

    def _outcome(self, selection: Selection) -> Outcome:
        paper = selection.paper
        measures = Measures(paper, self.mode, self._values(selection))
        rows: dict[str, tuple[Row, ...]] = {}
        for claim in selection.claims:
            rows[claim.id] = tuple(row_of(paper, claim, regime, measures) for regime in selection.regimes(claim))
        traces = {name: path.name for name, path in selection.volumes.found.items()}
        quoted: dict[str, float] = {}
        for regime in {regime for _, regime in selection.rows() if regime in paper.regimes}:
            texts = f"{paper.regimes[regime].supports} {paper.regimes[regime].against}"
            quoted |= quotes(paper, texts, regime, measures)
        return Outcome(paper, self.mode, rows, traces, {name: rounded(quoted[name]) for name in sorted(quoted)})

    def _values(self, selection: Selection) -> Mapping[tuple[Point, str], float | None]:
        """Returns the value of each measure of each finished run; None for a run whose result lacks the measure."""
        wanted: dict[tuple[str, str], dict[str, Any]] = {}
        for claim, regime in selection.rows():
            for need in needs_of(selection.paper, claim, regime):
                measure = selection.paper.measured(need.measurement, need.regime)
                wanted.setdefault((need.measurement.job, need.regime), {})[measure.text] = measure
        values: dict[tuple[Point, str], float | None] = {}
        for index, (owner, run) in enumerate(self.points):
            outcome = self.session.outcomes.get(index)
            if owner is not selection or outcome is None or not outcome.is_done:
                continue
            text = self.session.document(outcome)
            if text is None:
                continue
            document = json.loads(text)
            for name, measure in wanted.get((run.job, run.regime), {}).items():
                values[run, name] = measure.of(document)
        return values


def row_of(paper: Paper, claim: Claim, regime: str, measures: Measures) -> Row:
    """Returns the measured values of a claim in a regime (interpretation of the paper)."""
    single = claim.measurement
    own = run_in(single, regime) if single is not None else regime
    needs = [need for need in needs_of(paper, claim, regime) if need.along is not None]
    return Row.of(
        regime,
        measures.by_seed(single, own, single.of) if single is not None else None,
        measures.by_seed(single, own, single.of | single.over) if single is not None and claim.is_beside else None,
        [measures.curve(need) for need in needs],
        measures.by_workload(single, own) if single is not None else {},
        quotes(paper, claim.sentence(regime), regime, measures),
    )


def quotes(paper: Paper, text: str, regime: str, measures: Measures) -> dict[str, float]:
    """Returns the measured numbers that a text quotes, by name, as means over seeds.

    Numbers without a measured value are left out.
    """
    values: dict[str, float] = {}
    for name in QUOTED.findall(text):
        evidence = paper.evidence[name].measurement
        found = measures.by_seed(evidence, run_in(evidence, regime), evidence.of)
        if found is not None:
            values[name] = sum(found) / len(found)
    return values
