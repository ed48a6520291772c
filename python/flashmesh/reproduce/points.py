"""Runs that claims need: one point for each combination of labels, workload and seed, with its overrides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh.configuration import value_text
from flashmesh.reproduce.registry.paper import ANY, AS_SPECIFIED, REAL_TRACES, WORKLOAD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flashmesh.reproduce.registry.paper import Claim, Job, Labels, Measurement, Paper
    from flashmesh.reproduce.volumes import Volumes


@dataclass(frozen=True)
class Point:
    """One run of a job: a label for each axis, a workload and a seed, in a regime (interpretation of the paper)."""

    paper: str
    job: str
    regime: str
    labels: tuple[tuple[str, str], ...]
    """(Axis, label) of every axis, followed by the workload if the job has workloads."""
    seed: int

    @property
    def label(self) -> str:
        """Readable name of the run."""
        parts = [self.regime, *(label for _, label in self.labels), f"seed {self.seed}"]
        return f"{self.paper} {self.job}: {', '.join(parts)}"


@dataclass(frozen=True)
class Need:
    """A measurement, with its runs, that a claim needs in a regime (interpretation of the paper)."""

    measurement: Measurement
    regime: str
    along: tuple[str, tuple[str, ...]] | None = None
    """Axis of a curve, with its labels; None for a measurement of a single number."""

    def subjects(self) -> list[Labels]:
        """Returns the labels of the measured runs: one set, or one for each label of the axis of a curve."""
        if self.along is None:
            return [self.measurement.of]
        axis, labels = self.along
        return [self.measurement.of | {axis: label} for label in labels]

    def places(self, job: Job) -> Iterator[Labels]:
        """Yields the labels of the measured runs and of their baselines; workloads are not among these labels."""
        measurement = self.measurement
        for subject in self.subjects():
            yield subject
            if measurement.compute == "best":
                yield from (subject | {job.axes[0]: label} for label in measurement.against)
            elif measurement.over:
                yield subject | measurement.over


def needs_of(paper: Paper, claim: Claim, regime: str) -> list[Need]:
    """Returns the measurements that a claim needs in a regime (interpretation of the paper).

    This includes measurements of the numbers that its texts quote.
    """
    from flashmesh.reproduce.registry.reader import QUOTED

    found = [] if claim.measurement is None else [Need(claim.measurement, regime)]
    found += [Need(trend.measurement, regime, (trend.axis, trend.labels)) for trend in claim.trends]
    if claim.series is not None:
        found.append(Need(claim.series.measurement, regime, (claim.series.axis, claim.series.labels)))
    reading = paper.regimes.get(regime)
    texts = [claim.sentence(regime), *((reading.supports, reading.against) if reading is not None else ())]
    quoted = [paper.evidence[name] for name in QUOTED.findall(" ".join(texts))]
    found += [Need(evidence.measurement, regime) for evidence in quoted]
    return [Need(need.measurement, run_in(need.measurement, regime), need.along) for need in found]


def run_in(measurement: Measurement, regime: str) -> str:
    """Returns the regime (interpretation of the paper) for the runs of a measurement.

    This is the regime that the measurement names or, if it names none, the regime of the claim.
    """
    return measurement.regime or (AS_SPECIFIED if regime == ANY else regime)


def workloads_of(job: Job, mode: str, regime: str, labels: Labels) -> tuple[str, ...]:
    """Returns the workloads over which a measurement is reduced; an empty name for a job without workloads."""
    if WORKLOAD in labels:
        return (labels[WORKLOAD],)
    return job.extent(mode, regime).workloads or ("",)


def point(paper: Paper, job: Job, regime: str, labels: Labels, workload: str, seed: int) -> Point:
    """Returns the run of a job with these labels, workload and seed; an empty workload stands for none."""
    placed = [(axis, labels[axis]) for axis in job.axes]
    if workload:
        placed.append((WORKLOAD, workload))
    return Point(paper.key, job.name, regime, tuple(placed), seed)


def points_of(paper: Paper, need: Need, mode: str) -> Iterator[Point]:
    """Yields the runs that a measurement needs."""
    job = paper.jobs[need.measurement.job]
    for labels in need.places(job):
        for workload in workloads_of(job, mode, need.regime, labels):
            for seed in job.extent(mode, need.regime).seeds:
                yield point(paper, job, need.regime, labels, workload, seed)


def settings_of(paper: Paper, run: Point, mode: str, volumes: Volumes) -> dict[str, str]:
    """Returns the configuration keys that a run sets, with their values as texts.

    Args:
        paper: The paper of the run.
        run: The run.
        mode: The mode (`quick` or `full`), which selects the number of requests.
        volumes: Recorded volumes, for the regime `real-traces`.
    """
    job = paper.jobs[run.job]
    overrides = paper.regimes[AS_SPECIFIED if run.regime == REAL_TRACES else run.regime].overrides
    settings = job.drive | overrides.set | job.set | overrides.jobs.get(run.job, {})
    for axis, label in run.labels:
        if axis != WORKLOAD:
            settings |= paper.axes[axis][label]
    for axis, label in run.labels:
        for named, keys in overrides.where.get(axis, {}).items():
            if label in paper.labels(named):
                settings |= keys
    settings |= overrides.over
    workload = dict(run.labels).get(WORKLOAD)
    recorded = volumes.settings(workload) if workload is not None and run.regime == REAL_TRACES else None
    if recorded is not None:
        settings |= recorded
    elif workload is not None:
        settings["workload.profile"] = workload
    requests = job.extent(mode, run.regime).requests_with(workload)
    if requests is not None:
        settings["workload.requests"] = requests
    settings["seed"] = run.seed
    return {key: value_text(value) for key, value in settings.items()}


def all_points(paper: Paper, claims: Sequence[tuple[Claim, str]], mode: str) -> list[Point]:
    """Returns the runs that claims need in their regimes (interpretations of the paper), each once."""
    found: dict[Point, None] = {}
    for claim, regime in claims:
        for need in needs_of(paper, claim, regime):
            found.update(dict.fromkeys(points_of(paper, need, mode)))
    return list(found)
