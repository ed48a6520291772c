"""Data model of a registry file: the regimes, axes, jobs and claims of a paper."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from flashmesh.reproduce.expression import Expression

AS_SPECIFIED = "as-specified"
"""The regime in which every job can run: the preset of the paper with the settings that the paper states."""
REAL_TRACES = "real-traces"
"""The regime of `--traces`: as specified, with recorded volumes in place of workload profiles."""
ANY = "any"
"""Placeholder for the regime of a claim that is exact by construction, which is the same in all regimes."""
FIT = "fit"
"""The regime that `--fit` finds."""
CHANGED = "changed"
"""The regime with the keys that `--set` changes."""
WORKLOAD = "workload"
"""The name of the axis of workloads."""
MODES = ("quick", "full")

Labels = dict[str, str]
"""A position on some axes: a label for each."""
Settings = dict[str, Any]
"""Keys of a configuration with their values."""


@dataclass(frozen=True)
class Overrides:
    """Keys that a regime sets. Settings of later fields override those of earlier ones."""

    set: Settings = field(default_factory=dict)
    """Keys for all runs; keys of a job override these."""
    jobs: dict[str, Settings] = field(default_factory=dict)
    """Keys for single jobs, which override the keys of the job itself."""
    where: dict[str, dict[str, Settings]] = field(default_factory=dict)
    """Keys for single labels, by axis and label. Labels of workloads are names, or lists of names as `@list`."""
    over: Settings = field(default_factory=dict)
    """Keys for all runs that override everything else: the changes of the command line."""
    measures: dict[str, Expression] = field(default_factory=dict)
    """Replacements of measures in all claims, by the text of the replaced measure."""

    def joined(self, other: Overrides) -> Overrides:
        """Returns these overrides, overridden by `other`."""
        jobs = {name: self.jobs.get(name, {}) | other.jobs.get(name, {}) for name in (*self.jobs, *other.jobs)}
        where: dict[str, dict[str, Settings]] = {}
        for axis in (*self.where, *other.where):
            mine, theirs = self.where.get(axis, {}), other.where.get(axis, {})
            where[axis] = {label: mine.get(label, {}) | theirs.get(label, {}) for label in (*mine, *theirs)}
        return Overrides(self.set | other.set, jobs, where, self.over | other.over, self.measures | other.measures)


@dataclass(frozen=True)
class Regime:
    """One reading of the experiments of a paper: `overrides` sets the keys that the text leaves open."""

    name: str
    says: str
    supports: str = ""
    """Evidence for this reading."""
    against: str = ""
    """Evidence against this reading."""
    overrides: Overrides = field(default_factory=Overrides)


@dataclass(frozen=True)
class Extent:
    """Extent of a job in a mode: its seeds, workloads and requests."""

    seeds: tuple[int, ...]
    workloads: tuple[str, ...]
    requests: int | None
    """Requests of each run; None if the job itself ends its runs."""
    requests_of: Mapping[str, int] = field(default_factory=dict)
    """Requests of each run of some workloads, such as volumes that have fewer."""

    def requests_with(self, workload: str | None) -> int | None:
        """Returns the requests of a run with this workload."""
        return self.requests if workload is None else self.requests_of.get(workload, self.requests)


@dataclass(frozen=True)
class Job:
    """A family of runs: one for each label of each axis, workload, seed and regime that claims need."""

    name: str
    config: str
    set: Settings
    """Keys of the experiment, which precede those of a regime."""
    drive: Settings
    """Keys of the drive, for regimes that leave them open."""
    axes: tuple[str, ...]
    check: bool
    extents: dict[str, Extent]
    """Extent by mode."""
    of_regimes: dict[tuple[str, str], Extent]
    """Extent by mode and regime, for regimes whose runs take much more or less time."""

    def extent(self, mode: str, regime: str) -> Extent:
        """Returns the extent in a mode and regime."""
        return self.of_regimes.get((mode, regime), self.extents[mode])


@dataclass(frozen=True)
class Measurement:
    """One number from the runs of a job."""

    job: str
    measure: Expression
    of: Labels
    over: Labels
    """Labels of the baseline that differ from the subject; for a `value`, labels of the neutral value (no effect)."""
    against: tuple[str, ...]
    """Labels of the first axis that the subject must beat; only with `compute = "best"`."""
    compute: str
    above: float | None
    """Threshold: a workload counts 1 if its number is larger, else 0; None if the number itself counts."""
    reduce: str
    regime: str = ""
    """Regime of the runs; empty for the regime of the claim."""


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
    """Name of the curve, for claims with several curves."""
    least: float = 0.0
    """Minimum magnitude of the values; a curve with a smaller value is no evidence."""
    unit: str = ""
    """Unit of the values; empty for the unit of the claim."""


@dataclass(frozen=True)
class Series:
    """Published values along an axis."""

    measurement: Measurement
    axis: str
    labels: tuple[str, ...]
    published: tuple[float, ...]
    neutral: float | None = None
    """Neutral value (no effect) if each point is judged by its effect; None if the curve is judged as a whole."""
    says: str = ""
    """Name of the curve, for claims with several curves."""


@dataclass(frozen=True)
class Judged:
    """Published number, with the tolerance for the measured number."""

    published: float
    """The published number; NaN for a claim without a number."""
    tolerance: float
    """Allowed error, as a share of the published effect."""
    within: float | None
    """Allowed error in the unit of the value, in place of `tolerance`; None to use `tolerance`."""
    neutral: float | None
    """Neutral value (no effect), from which the effect is measured; None for an absolute value."""
    limit: str
    """Meaning of the published value: the number itself (`none`), an upper bound (`at-most`), or a lower bound
    (`at-least`)."""


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
    """Explanation of the measured value, by regime; the empty name stands for all other regimes."""
    judged: Judged
    measurement: Measurement | None = None
    trends: tuple[Trend, ...] = ()
    series: Series | None = None
    is_constructed: bool = False
    """Whether the claim follows from the design of a model in every regime: exact by construction."""
    part_of: str = ""
    """Identifier of the claim that has this sub-value; empty for a claim that is not a sub-value."""

    @property
    def is_beside(self) -> bool:
        """Whether the neutral value (no effect) is also measured."""
        return self.measurement is not None and self.measurement.compute == "value" and bool(self.measurement.over)

    def sentence(self, regime: str) -> str:
        """Returns the explanation of the measured value in a regime."""
        other = "All else as specified." if regime == REAL_TRACES else ""
        return self.why.get(regime, self.why.get("", other))

    def measurements(self) -> tuple[Measurement, ...]:
        """Returns all measurements of the claim."""
        single = (self.measurement,) if self.measurement is not None else ()
        series = (self.series.measurement,) if self.series is not None else ()
        return (*single, *(trend.measurement for trend in self.trends), *series)


@dataclass(frozen=True)
class Evidence:
    """A measured number that sentences quote by name."""

    name: str
    measurement: Measurement
    digits: int
    unit: str


@dataclass(frozen=True)
class OpenKey:
    """A key that a paper leaves open, or several open keys with common choices."""

    name: str
    """Name of the key in a fit."""
    section: str
    quote: str
    """Quotation, word for word, of the sentence that leaves the key open."""
    leaves: str
    """Continuation of the quotation, which names the open detail."""
    choices: dict[str, Overrides]
    """Overrides of each choice."""


@dataclass(frozen=True)
class Start:
    """A regime from which a fit begins."""

    name: str
    origin: str
    """Origin of the regime, as a sentence on a page."""
    choices: dict[str, str]
    """The choice of each open key, by its name."""


@dataclass(frozen=True)
class Mechanism:
    """A mechanism of a paper that flashmesh has."""

    section: str
    says: str
    keys: Settings
    """Keys that select the mechanism."""


@dataclass(frozen=True)
class Paper:
    """Contents of a registry file."""

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
    """Names of recorded volumes by workload, if they differ from the name of the workload."""
    lists: dict[str, tuple[str, ...]]
    """Lists of workloads by their names."""
    open: tuple[OpenKey, ...] = ()
    """Keys that the paper leaves open."""
    starts: tuple[Start, ...] = ()
    """Regimes from which a fit begins."""
    fit_base: str = AS_SPECIFIED
    """The regime that the choices of a fit override."""
    fit_requests: int = 300
    """Maximum number of requests of a run of a fit."""
    mechanisms: tuple[Mechanism, ...] = ()
    limits: str = ""
    """Reason why some claims hold in no reading."""

    def labels(self, name: str) -> tuple[str, ...]:
        """Returns the labels that a name stands for: the workloads of `@list`, or the label itself."""
        return self.lists[name[1:]] if name.startswith("@") else (name,)

    def with_regime(self, regime: Regime) -> Paper:
        """Returns the paper with a further regime, which replaces a regime of the same name."""
        return replace(self, regimes={**self.regimes, regime.name: regime})

    def measured(self, measurement: Measurement, regime: str) -> Expression:
        """Returns the measure of a measurement in a regime: its own measure, or the replacement by the regime."""
        reading = self.regimes.get(regime)
        own = measurement.measure
        return own if reading is None else reading.overrides.measures.get(own.text, own)

    def claim(self, identifier: str) -> Claim:
        """Returns the claim with this identifier."""
        return next(claim for claim in self.claims if claim.id == identifier)
