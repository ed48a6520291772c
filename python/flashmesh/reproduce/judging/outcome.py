"""Outcome of a reproduction: the measured values of each claim and regime, stored as JSON for pages and verdicts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from flashmesh._native import OutputError, __version__
from flashmesh.reproduce.judging import verdict
from flashmesh.reproduce.judging.texts import filled, one_line, published, why
from flashmesh.reproduce.judging.verdict import Spread, Verdict
from flashmesh.reproduce.registry.openkeys import fitted
from flashmesh.reproduce.registry.paper import ANY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from flashmesh.reproduce.judging.verdict import Curve
    from flashmesh.reproduce.registry.paper import Claim, Judged, Paper, Series

FORMAT = 3
FIT_SUFFIX = "-fit"
"""Suffix of the file names of a fit, after the key of the paper."""


@dataclass(frozen=True)
class Row:
    """Measured values of a claim in one regime (interpretation of the paper)."""

    regime: str
    values: tuple[float, ...] | None = None
    """Measured number of each seed; None if it was not measured, or a run has no value."""
    beside: tuple[float, ...] | None = None
    """Measured neutral value (no effect) of each seed; None if it was not measured."""
    curves: tuple[Curve | None, ...] = ()
    """Measured curve of each trend of the claim, then of its series; None for a curve with a missing value."""
    workloads: dict[str, float] = field(default_factory=dict)
    """Mean over seeds of the measured number, by workload; empty for fewer than two workloads."""
    quoted: dict[str, float] = field(default_factory=dict)
    """Measured numbers that the explanation of the claim quotes, by name."""

    def to_dict(self, claim: Claim) -> dict[str, Any]:
        """Returns the row as JSON, with the verdict for readers without the registry."""
        return {
            "regime": self.regime,
            "verdict": str(judge(claim, self)),
            "values": None if self.values is None else list(self.values),
            "beside": None if self.beside is None else list(self.beside),
            "curves": [None if curve is None else [list(seed) for seed in curve] for curve in self.curves],
            "workloads": self.workloads,
            "quoted": self.quoted,
        }

    @classmethod
    def of(
        cls,
        regime: str,
        values: Sequence[float] | None,
        beside: Sequence[float] | None,
        curves: Sequence[Sequence[Sequence[float]] | None],
        workloads: Mapping[str, float],
        quoted: Mapping[str, float],
    ) -> Row:
        """Creates a row of rounded values, so that tables show exactly what the JSON file contains."""
        return cls(
            regime,
            None if values is None else tuple(map(rounded, values)),
            None if beside is None else tuple(map(rounded, beside)),
            tuple(None if curve is None else tuple(tuple(map(rounded, seed)) for seed in curve) for curve in curves),
            {name: rounded(value) for name, value in workloads.items()},
            {name: rounded(value) for name, value in quoted.items()},
        )

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Row:
        """Creates a row from JSON.

        Raises:
            KeyError: If a key is missing.
        """
        values, beside, curves = document["values"], document["beside"], document["curves"]
        return cls(
            document["regime"],
            None if values is None else tuple(values),
            None if beside is None else tuple(beside),
            tuple(None if curve is None else tuple(tuple(seed) for seed in curve) for curve in curves),
            document["workloads"],
            document["quoted"],
        )


@dataclass(frozen=True)
class Fit:
    """Result of a search: the regime (values of the keys that a paper leaves open) in which most claims hold."""

    choices: dict[str, str]
    """Choice for each open key, by the name of the key."""
    trials: int
    requests: int
    """Maximum number of requests of the short runs of the search."""
    origin: str
    """Sentence on the origin of the fitted regime: a start, or a proposal of the search."""
    verified: list[dict[str, Any]] = field(default_factory=list)
    """Regimes (values of the open keys) that were measured in full: `name`, `choices`, and the numbers of claims that
    hold, by their effect (`within`) and also by their published number (`of_number`). Claims exact by construction do
    not count."""

    def is_of(self, paper: Paper) -> bool:
        """Returns whether the registry still has all open keys and choices of the fit."""
        choices = {key.name: key.choices for key in paper.open}
        return self.choices.keys() == choices.keys() and all(
            choice in choices[name] for name, choice in self.choices.items()
        )


class StaleFitError(OutputError):
    """Error for a stored fit whose open keys or choices differ from those of the registry."""


@dataclass(frozen=True)
class Outcome:
    """Measured values of the claims of a paper in one mode, in all measured regimes (interpretations of it)."""

    paper: Paper
    mode: str
    rows: dict[str, tuple[Row, ...]]
    """Rows of each claim, one for each measured regime (interpretation of the paper), by the identifier of the claim.
    """
    traces: dict[str, str] = field(default_factory=dict)
    """Name of the replayed file of each workload, for the regime `real-traces`."""
    quoted: dict[str, float] = field(default_factory=dict)
    """Measured numbers that the descriptions of regimes (interpretations of the paper) quote, by name."""
    fit: Fit | None = None
    """Result of the search; None if the outcome is not that of a fit."""
    drift: dict[str, float] = field(default_factory=dict)
    """Change of each claim in the best stated reading (interpretation of the paper) when requests double, in the unit
    of the claim. Empty if the drift was not measured."""

    @property
    def name(self) -> str:
        """Name of the files of the outcome, without suffix."""
        return self.paper.key + (FIT_SUFFIX if self.fit is not None else "")

    def told(self, text: str) -> str:
        """Returns a text on a regime (interpretation of the paper) with the quoted numbers filled in, on one line."""
        return filled(self.paper, one_line(text), self.quoted)

    def verdict(self, claim: Claim) -> Verdict:
        """Returns the best of the verdicts on a claim in its regimes (interpretations of the paper)."""
        return verdict.best([judge(claim, row) for row in self.rows[claim.id]])

    def claims(self) -> list[Claim]:
        """Returns the measured claims and sub-values, in the order of the registry."""
        return [claim for claim in self.paper.claims if claim.id in self.rows]

    def row(self, claim: Claim, regime: str) -> Row:
        """Returns the row of a claim in a regime (interpretation of the paper).

        A claim that is exact by construction has one row for all regimes.
        """
        return next(row for row in self.rows[claim.id] if row.regime in (regime, ANY))

    def regimes(self) -> list[str]:
        """Returns the measured regimes (interpretations of the paper), in the order of the registry."""
        found = {row.regime for rows in self.rows.values() for row in rows} - {ANY}
        known = [name for name in self.paper.regimes if name in found]
        return known + sorted(found.difference(known))

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON document, with details that are not read again."""
        from flashmesh.reproduce.judging.details import details

        return {
            "format": FORMAT,
            "paper": self.paper.key,
            "version": __version__,
            "mode": self.mode,
            "traces": self.traces,
            "quoted": self.quoted,
            "fit": None if self.fit is None else asdict(self.fit),
            "change_with_twice_the_requests": self.drift,
            **details(self),
            "claims": {
                claim.id: {
                    "figure": claim.figure,
                    "says": claim.says,
                    "published": published(claim),
                    "verdict": str(self.verdict(claim)),
                    "rows": [row.to_dict(claim) | {"why": why(self, claim, row)} for row in self.rows[claim.id]],
                }
                for claim in self.claims()
            },
        }

    def to_json(self) -> str:
        """Returns the JSON document as text that ends with a newline."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: Path, paper: Paper) -> Outcome:
        """Reads the outcome of a paper from a file.

        Raises:
            OutputError: If the file cannot be read, or is not an outcome of this paper.
            StaleFitError: If the file is a fit, and the open keys of the registry have changed.
        """
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            rows = {
                name: tuple(Row.from_dict(row) for row in claim["rows"]) for name, claim in document["claims"].items()
            }
            if document["format"] != FORMAT or document["paper"] != paper.key:
                raise OutputError(f"{path}: is not a reproduction of {paper.key} by this version of flashmesh")
            fit = None if document["fit"] is None else Fit(**document["fit"])
            if fit is not None and not fit.is_of(paper):
                raise StaleFitError(f"{path}: was fitted over other keys than the registry leaves open: fit it again")
            if fit is not None:
                paper = paper.with_regime(fitted(paper, fit.choices))
            drift = document.get("change_with_twice_the_requests", {})
            return cls(paper, document["mode"], rows, document["traces"], document["quoted"], fit, drift)
        except OSError as error:
            raise OutputError(f"{path}: cannot be read: {error.strerror or error}") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise OutputError(f"{path}: is not a reproduction written by flashmesh: {error}") from error


def rounded(value: float) -> float:
    """Returns a value rounded to seven significant digits, so that it is the same on every machine."""
    return float(f"{value:.7g}")


def judge(claim: Claim, row: Row, share: float | None = None) -> Verdict:
    """Returns the verdict on a claim in a regime (interpretation of the paper).

    Args:
        claim: The claim.
        row: The measured values.
        share: A tolerance as a share of the published effect; counts if it is wider than that of the claim.
    """
    parts: list[Verdict] = []
    if claim.measurement is not None:
        # An order of values holds or does not: `share` does not widen its tolerance.
        parts.append(judge_number(claim, row, None if claim.kind == "order" else share))
    for at, trend in enumerate(claim.trends):
        curve = row.curves[at]
        level = trend.labels.index(trend.at) if trend.at else 0
        seeds = [verdict.trend(seed, trend.relation, trend.margin, level, trend.least) for seed in curve or ()]
        parts.append(verdict.joined(seeds) if seeds else Verdict.UNMEASURED)
    if claim.series is not None:
        parts.append(judge_series(claim.series, claim.judged, row.curves[-1], share))
    return verdict.joined(parts)


def judge_number(claim: Claim, row: Row, share: float | None) -> Verdict:
    """Returns the verdict on the number of a claim; `UNMEASURED` if a run has no value."""
    if row.values is None or (row.beside is None and claim.is_beside):
        return Verdict.UNMEASURED
    beside = Spread(row.beside) if row.beside is not None else None
    return verdict.number(Spread(row.values), claim.judged, beside, share)


def judge_series(series: Series, judged: Judged, curve: Curve | None, share: float | None) -> Verdict:
    """Returns the verdict on published values along an axis; `UNMEASURED` if a value is missing."""
    if curve is None:
        return Verdict.UNMEASURED
    if series.neutral is not None:
        return verdict.points(curve, series.published, replace(judged, neutral=series.neutral), share)
    tolerance = judged.tolerance if share is None else max(judged.tolerance, share)
    return verdict.series(verdict.means(curve), series.published, tolerance)
