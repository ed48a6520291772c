"""Data model of a registry file: the regimes, axes, jobs and claims of a paper."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from flashmesh.reproduce.registry.expression import Expression

AS_SPECIFIED = "as-specified"
"""Name of the regime (interpretation of the paper) that only sets what the paper states, on the preset of the paper."""
REAL_TRACES = "real-traces"
"""Name of the regime of `--traces`: as specified, but with recorded volumes in place of workload profiles."""
ANY = "any"
"""Stand-in for the regime of a claim that is exact by construction, which has one row for all regimes."""
FIT = "fit"
"""Name of the regime (values of the open keys) that `--fit` finds."""
CHANGED = "changed"
"""Name of the regime (interpretation of the paper) with the keys that `--set` changes."""
WORKLOAD = "workload"
"""Name of the axis of workloads."""
MODES = ("quick", "full")

Labels = dict[str, str]
"""Labels by axis, which together identify runs of a job."""
Settings = dict[str, Any]
"""Keys of a configuration with their values."""


@dataclass(frozen=True)
class Overrides:
    """Configuration keys that a regime (interpretation of the paper) sets; later fields override earlier ones."""

    set: Settings = field(default_factory=dict)
    """Keys for all runs; the keys of the job of a run override them."""
    jobs: dict[str, Settings] = field(default_factory=dict)
    """Keys for the runs of single jobs; they override the keys of the job itself."""
    where: dict[str, dict[str, Settings]] = field(default_factory=dict)
    """Keys for the runs with a label, by axis and label. For workloads, the label may be a list of names, as
    `@list`."""
    over: Settings = field(default_factory=dict)
    """Keys for all runs that override all others: the changes of `--set`."""
    measures: dict[str, Expression] = field(default_factory=dict)
    """Measures that replace others in all claims, by the text of the replaced measure."""

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
    """One interpretation of a paper.

    `overrides` sets configuration keys that the text leaves open. In some regimes it also replaces stated values, or
    measures.
    """

    name: str
    says: str
    supports: str = ""
    """Evidence in the paper for this interpretation."""
    against: str = ""
    """Evidence in the paper against this interpretation."""
    overrides: Overrides = field(default_factory=Overrides)


@dataclass(frozen=True)
class Extent:
    """Size of a job (family of runs) in a mode (`quick`, `full`).

    The size consists of the seeds, the workloads, and the requests of a run.
    """

    seeds: tuple[int, ...]
    workloads: tuple[str, ...]
    requests: int | None
    """Requests of each run; None if the job itself ends its runs."""
    requests_of: Mapping[str, int] = field(default_factory=dict)
    """Requests of a run for single workloads, such as volumes with fewer requests."""

    def requests_with(self, workload: str | None) -> int | None:
        """Returns the requests of a run with this workload; None if the job itself ends its runs."""
        return self.requests if workload is None else self.requests_of.get(workload, self.requests)


@dataclass(frozen=True)
class Job:
    """A family of runs: one for each combination of labels, workload, seed and regime that claims need."""

    name: str
    config: str
    set: Settings
    """Keys of the experiment; the general keys of a regime do not override them."""
    drive: Settings
    """Keys of the drive, which the keys of a regime override."""
    axes: tuple[str, ...]
    check: bool
    extents: dict[str, Extent]
    """Extent of the runs by mode (`quick`, `full`)."""
    of_regimes: dict[tuple[str, str], Extent]
    """Extent by mode and regime, for regimes (interpretations of the paper) whose runs take much longer or shorter."""

    def extent(self, mode: str, regime: str) -> Extent:
        """Returns the extent in a mode (`quick`, `full`) and a regime (interpretation of the paper)."""
        return self.of_regimes.get((mode, regime), self.extents[mode])


@dataclass(frozen=True)
class Measurement:
    """A number that is computed from runs of a job: a measure of the subject, possibly normalised to a baseline."""

    job: str
    measure: Expression
    of: Labels
    over: Labels
    """Labels in which the runs of the baseline differ from those of the subject. With `compute = "value"`, runs with
    these labels measure the neutral value (no effect) instead."""
    against: tuple[str, ...]
    """Labels of the first axis whose runs the subject must beat; only with `compute = "best"`."""
    compute: str
    above: float | None
    """Threshold above which the number of a workload counts 1, else 0; None if the number itself counts."""
    reduce: str
    regime: str = ""
    """Regime (interpretation of the paper) of the runs; empty for the regime of the claim."""


@dataclass(frozen=True)
class Trend:
    """A relation that the values of a measurement along an axis must have, such as a rise."""

    measurement: Measurement
    axis: str
    labels: tuple[str, ...]
    relation: str
    margin: float
    at: str
    says: str = ""
    """Name of the curve; only for claims with several curves."""
    least: float = 0.0
    """Minimum magnitude of the values; a curve with a smaller value counts as missed."""
    unit: str = ""
    """Unit of the values; empty for the unit of the claim."""


@dataclass(frozen=True)
class Series:
    """Published values of a claim along an axis."""

    measurement: Measurement
    axis: str
    labels: tuple[str, ...]
    published: tuple[float, ...]
    neutral: float | None = None
    """Neutral value (no effect) if each point is judged like a number; None if the curve is judged as a whole."""
    says: str = ""
    """Name of the curve; only for claims with several curves."""


@dataclass(frozen=True)
class Judged:
    """Published number of a claim, with the tolerance for the measured number."""

    published: float
    """The published number; NaN for a claim without a number."""
    tolerance: float
    """Allowed error, as a share of the published effect (the distance from the neutral value)."""
    within: float | None
    """Allowed error in the unit of the value, in place of `tolerance`; None to use `tolerance`."""
    neutral: float | None
    """Neutral value (no effect); None if the effect is the number itself."""
    limit: str
    """Meaning of the published value: the number itself (`none`), an upper bound (`at-most`), or a lower bound
    (`at-least`)."""


@dataclass(frozen=True)
class Claim:
    """A published figure: a number, a relation, or a curve that a paper states."""

    id: str
    figure: str
    says: str
    kind: str
    shown: str
    """The published value as text."""
    unit: str
    digits: int
    why: dict[str, str]
    """Explanation of the measured value, by regime (interpretation of the paper); the empty name stands for all other
    regimes."""
    judged: Judged
    measurement: Measurement | None = None
    trends: tuple[Trend, ...] = ()
    series: Series | None = None
    is_constructed: bool = False
    """Whether the claim follows from the design of the model, so that it is the same in every regime."""
    part_of: str = ""
    """Identifier of the claim to which this sub-value belongs; empty for a claim."""

    @property
    def is_beside(self) -> bool:
        """Whether the neutral value (no effect) is measured, not only published."""
        return self.measurement is not None and self.measurement.compute == "value" and bool(self.measurement.over)

    def sentence(self, regime: str) -> str:
        """Returns the explanation of the measured value in a regime (interpretation of a paper); empty without one."""
        other = "All else as specified." if regime == REAL_TRACES else ""
        return self.why.get(regime, self.why.get("", other))

    def measurements(self) -> tuple[Measurement, ...]:
        """Returns the measurements of the number, the trends and the series of the claim."""
        single = (self.measurement,) if self.measurement is not None else ()
        series = (self.series.measurement,) if self.series is not None else ()
        return (*single, *(trend.measurement for trend in self.trends), *series)


@dataclass(frozen=True)
class Evidence:
    """A measured number that explanations quote by its name."""

    name: str
    measurement: Measurement
    digits: int
    unit: str


@dataclass(frozen=True)
class OpenKey:
    """A configuration key that a paper leaves open, or several keys that are chosen together."""

    name: str
    """Name of the key in a fit."""
    section: str
    quote: str
    """Quotation, word for word, of the sentence that leaves the key open."""
    leaves: str
    """Rest of the sentence after the quotation, which names the detail that is left open."""
    choices: dict[str, Overrides]
    """Configuration keys that each choice sets, by the name of the choice."""


@dataclass(frozen=True)
class Start:
    """A regime from which a fit begins: a choice for each open key."""

    name: str
    origin: str
    """Sentence on the origin of the regime (values of the open keys), for a page."""
    choices: dict[str, str]
    """Choice for each open key, by the name of the key."""


@dataclass(frozen=True)
class Mechanism:
    """A mechanism of a paper that flashmesh implements."""

    section: str
    says: str
    keys: Settings
    """Configuration keys that select the mechanism."""


@dataclass(frozen=True)
class Paper:
    """Contents of the registry file of a paper."""

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
    """Name of the recorded volume of a workload, if it differs from the name of the workload."""
    lists: dict[str, tuple[str, ...]]
    """Lists of workloads, by the names that `@list` refers to."""
    open: tuple[OpenKey, ...] = ()
    """Configuration keys that the paper leaves open."""
    starts: tuple[Start, ...] = ()
    """Regimes from which a fit begins."""
    fit_base: str = AS_SPECIFIED
    """Name of the regime (interpretation of the paper) that the choices of a fit override."""
    fit_requests: int = 300
    """Maximum number of requests of the short runs of a fit."""
    mechanisms: tuple[Mechanism, ...] = ()
    limits: str = ""
    """Reason why some claims hold in no regime (interpretation of the paper)."""

    def labels(self, name: str) -> tuple[str, ...]:
        """Returns the labels that a name denotes: the workloads of `@list`, or the name itself."""
        return self.lists[name[1:]] if name.startswith("@") else (name,)

    def with_regime(self, regime: Regime) -> Paper:
        """Returns the paper with an additional regime (interpretation of it), which replaces one of the same name."""
        return replace(self, regimes={**self.regimes, regime.name: regime})

    def measured(self, measurement: Measurement, regime: str) -> Expression:
        """Returns the measure of a measurement, or its replacement in a regime (interpretation of the paper)."""
        reading = self.regimes.get(regime)
        own = measurement.measure
        return own if reading is None else reading.overrides.measures.get(own.text, own)

    def claim(self, identifier: str) -> Claim:
        """Returns the claim with this identifier."""
        return next(claim for claim in self.claims if claim.id == identifier)
