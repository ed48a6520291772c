"""What a registry file says of a paper: regimes, axes, jobs and claims."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from flashmesh.reproduce.expression import Expression

AS_SPECIFIED = "as-specified"
"""The regime that every job can run in: the preset of the paper, and what the paper says of the experiment."""
REAL_TRACES = "real-traces"
"""The regime of `--traces`: as specified, with recorded volumes in place of profiles."""
ANY = "any"
"""What stands for the regime of a claim that is exact by construction: it is the same in all of them."""
FIT = "fit"
"""The regime that `--fit` finds."""
CHANGED = "changed"
"""A regime with the keys that `--set` changes."""
WORKLOAD = "workload"
"""The axis of the workloads of a job."""
MODES = ("quick", "full")

Labels = dict[str, str]
"""The position on some axes: a label for each."""
Settings = dict[str, Any]
"""Keys of a configuration with their values."""


@dataclass(frozen=True)
class Overrides:
    """Keys that a reading sets, and where."""

    set: Settings = field(default_factory=dict)
    """Of what jobs leave open."""
    jobs: dict[str, Settings] = field(default_factory=dict)
    """Of single jobs, whatever these set."""
    where: dict[str, dict[str, Settings]] = field(default_factory=dict)
    """Of single labels, by axis and label; of workloads, by their name or that of a list of them with `@` before."""
    over: Settings = field(default_factory=dict)
    """Of everything else: what the command line changes."""
    measures: dict[str, Expression] = field(default_factory=dict)
    """What is measured in place of a measure, by its text: in all claims that have it, or in none."""

    def joined(self, other: Overrides) -> Overrides:
        """These, and others above them."""
        jobs = {name: self.jobs.get(name, {}) | other.jobs.get(name, {}) for name in (*self.jobs, *other.jobs)}
        where: dict[str, dict[str, Settings]] = {}
        for axis in (*self.where, *other.where):
            mine, theirs = self.where.get(axis, {}), other.where.get(axis, {})
            where[axis] = {label: mine.get(label, {}) | theirs.get(label, {}) for label in (*mine, *theirs)}
        return Overrides(self.set | other.set, jobs, where, self.over | other.over, self.measures | other.measures)


@dataclass(frozen=True)
class Regime:
    """A reading of the experiments of a paper."""

    name: str
    says: str
    supports: str = ""
    """The evidence for it."""
    against: str = ""
    """What speaks against it."""
    overrides: Overrides = field(default_factory=Overrides)


@dataclass(frozen=True)
class Extent:
    """How much a job runs in a mode."""

    seeds: tuple[int, ...]
    workloads: tuple[str, ...]
    requests: int | None
    """Requests of each run; None where the job sets what ends it."""


@dataclass(frozen=True)
class Job:
    """Runs that claims read: every label of each axis, workload and seed, in each regime that a claim asks for."""

    name: str
    config: str
    set: Settings
    axes: tuple[str, ...]
    check: bool
    extents: dict[str, Extent]
    """By mode."""
    of_regimes: dict[tuple[str, str], Extent]
    """Of regimes whose runs take much longer or shorter, by mode and regime."""

    def extent(self, mode: str, regime: str) -> Extent:
        """How much is run in a mode and regime."""
        return self.of_regimes.get((mode, regime), self.extents[mode])


@dataclass(frozen=True)
class Measurement:
    """One number out of the runs of a job."""

    job: str
    measure: Expression
    of: Labels
    over: Labels
    """Labels of the baseline that differ from those of the subject; of a `value`, what is to have no effect."""
    against: tuple[str, ...]
    """Labels of the first axis that differs, of which the subject is to be the best; of `compute = "best"` only."""
    compute: str
    above: float | None
    """What the number of a workload must exceed to count, as 1 and else 0; None where the number itself counts."""
    reduce: str
    regime: str = ""
    """The regime it is always taken in; empty for that of the claim."""


@dataclass(frozen=True)
class Trend:
    """A relation between the values of a measurement along an axis."""

    measurement: Measurement
    axis: str
    labels: tuple[str, ...]
    relation: str
    margin: float
    at: str
    says: str = ""
    """Which of the curves of a claim it is."""


@dataclass(frozen=True)
class Series:
    """Published values along an axis."""

    measurement: Measurement
    axis: str
    labels: tuple[str, ...]
    published: tuple[float, ...]
    neutral: float | None = None
    """The value of no effect, where the points are judged as numbers, each by its effect."""
    says: str = ""
    """Which of the curves of a claim it is."""


@dataclass(frozen=True)
class Judged:
    """What a verdict compares a number with."""

    published: float
    """NaN of a claim without a number."""
    tolerance: float
    """Share of the published effect that the measured value may be off."""
    within: float | None
    """The same in the unit of the value; takes the place of `tolerance`."""
    neutral: float | None
    """The value of no effect, from which the published one differs in some direction; None of an absolute value."""
    limit: str
    """Whether the published value is itself (`none`), the most (`at-most`) or the least (`at-least`) there may be."""


@dataclass(frozen=True)
class Claim:
    """A published figure."""

    id: str
    figure: str
    says: str
    kind: str
    shown: str
    """The published value as text."""
    unit: str
    digits: int
    why: dict[str, str]
    """A sentence by regime; the empty name stands for all others."""
    judged: Judged
    measurement: Measurement | None = None
    trends: tuple[Trend, ...] = ()
    series: Series | None = None
    is_constructed: bool = False
    """Whether it follows from how a model is made, whatever the reading: exact by construction."""
    part_of: str = ""
    """The claim whose note or maximum it is; empty for a claim of its own."""

    @property
    def is_beside(self) -> bool:
        """Whether the value of no effect is measured as well."""
        return self.measurement is not None and self.measurement.compute == "value" and bool(self.measurement.over)

    def sentence(self, regime: str) -> str:
        """Why it comes out as it does in a regime."""
        other = "All else as specified." if regime == REAL_TRACES else ""
        return self.why.get(regime, self.why.get("", other))

    def measurements(self) -> tuple[Measurement, ...]:
        """All that is measured for it."""
        single = (self.measurement,) if self.measurement is not None else ()
        series = (self.series.measurement,) if self.series is not None else ()
        return (*single, *(trend.measurement for trend in self.trends), *series)


@dataclass(frozen=True)
class Evidence:
    """A number that sentences quote by its name."""

    name: str
    measurement: Measurement
    digits: int
    unit: str


@dataclass(frozen=True)
class OpenKey:
    """A key, or a few that belong together, which a paper leaves open."""

    name: str
    """What a fit calls it."""
    section: str
    quote: str
    """The sentence that leaves it open, or a part of it, word for word."""
    leaves: str
    """What it leaves open."""
    choices: dict[str, Overrides]
    """What each choice sets."""


@dataclass(frozen=True)
class Start:
    """A reading from which a fit begins."""

    name: str
    origin: str
    """Who found it, and how."""
    choices: dict[str, str]
    """A choice of each open key, by its name."""


@dataclass(frozen=True)
class Paper:
    """A registry file."""

    key: str
    path: Path
    title: str
    cite: str
    overview: str
    regimes: dict[str, Regime]
    axes: dict[str, dict[str, Settings]]
    jobs: dict[str, Job]
    claims: tuple[Claim, ...]
    evidence: dict[str, Evidence]
    volumes: dict[str, str]
    """Names of recorded volumes by workload, where they differ from its name."""
    lists: dict[str, tuple[str, ...]]
    """Lists of workloads by their names."""
    open: tuple[OpenKey, ...] = ()
    """The keys that the paper leaves open."""
    starts: tuple[Start, ...] = ()
    """Readings from which a fit begins."""
    fit_base: str = AS_SPECIFIED
    """The regime above which a fit chooses."""
    fit_requests: int = 300
    """Requests of a run of a fit, at most."""

    def labels(self, name: str) -> tuple[str, ...]:
        """The labels that a reading means by a name: those of a list of workloads, or the label itself."""
        return self.lists[name[1:]] if name.startswith("@") else (name,)

    def with_regime(self, regime: Regime) -> Paper:
        """The paper with another reading of it."""
        return replace(self, regimes={**self.regimes, regime.name: regime})

    def measured(self, measurement: Measurement, regime: str) -> Expression:
        """The measure of a measurement in the runs of a regime: its own, or what the regime has in place of it."""
        reading = self.regimes.get(regime)
        own = measurement.measure
        return own if reading is None else reading.overrides.measures.get(own.text, own)

    def claim(self, identifier: str) -> Claim:
        """The claim of this name."""
        return next(claim for claim in self.claims if claim.id == identifier)
