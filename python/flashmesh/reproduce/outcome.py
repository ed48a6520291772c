"""What came out: measured values of each claim and regime, as JSON that pages and verdicts are made from."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashmesh._native import OutputError, __version__
from flashmesh.reproduce import verdict
from flashmesh.reproduce.registry import QUOTED
from flashmesh.reproduce.verdict import Spread, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from flashmesh.reproduce.paper import Claim, Evidence, Paper

FORMAT = 1
NONE = "-"


@dataclass(frozen=True)
class Row:
    """A claim in a regime."""

    regime: str
    values: tuple[float, ...] | None = None
    """The number of each seed; None where nothing was measured."""
    curves: tuple[tuple[float, ...] | None, ...] = ()
    """The values along the axis of each trend, and of the series behind them."""
    workloads: dict[str, float] = field(default_factory=dict)
    """The number of each workload."""
    quoted: dict[str, float] = field(default_factory=dict)
    """The numbers that the sentence quotes."""

    def to_dict(self, claim: Claim) -> dict[str, Any]:
        """As JSON, with the verdict for whoever reads no registry."""
        return {
            "regime": self.regime,
            "verdict": str(judge(claim, self)),
            "values": None if self.values is None else list(self.values),
            "curves": [None if curve is None else list(curve) for curve in self.curves],
            "workloads": self.workloads,
            "quoted": self.quoted,
        }

    @classmethod
    def of(
        cls,
        regime: str,
        values: Sequence[float] | None,
        curves: Sequence[Sequence[float] | None],
        workloads: Mapping[str, float],
        quoted: Mapping[str, float],
    ) -> Row:
        """Of measured values, each to the digits that are kept of it: what is shown of a run is what its JSON gives."""
        return cls(
            regime,
            None if values is None else tuple(map(rounded, values)),
            tuple(None if curve is None else tuple(map(rounded, curve)) for curve in curves),
            {name: rounded(value) for name, value in workloads.items()},
            {name: rounded(value) for name, value in quoted.items()},
        )

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Row:
        """Out of JSON.

        Raises:
            KeyError: When it lacks a key.
        """
        values, curves = document["values"], document["curves"]
        return cls(
            document["regime"],
            None if values is None else tuple(values),
            tuple(None if curve is None else tuple(curve) for curve in curves),
            document["workloads"],
            document["quoted"],
        )


@dataclass(frozen=True)
class Outcome:
    """What came out of the claims of a paper."""

    paper: Paper
    mode: str
    rows: dict[str, tuple[Row, ...]]
    """By claim."""
    traces: dict[str, str] = field(default_factory=dict)
    """Names of the recorded files by workload, of `real-traces`."""
    quoted: dict[str, float] = field(default_factory=dict)
    """The numbers that what is said of the regimes quotes."""

    def told(self, text: str) -> str:
        """What is said of a regime, with the numbers that it quotes."""
        return filled(self.paper, " ".join(text.split()), self.quoted)

    def verdict(self, claim: Claim) -> Verdict:
        """The best verdict over the regimes."""
        return verdict.best([judge(claim, row) for row in self.rows[claim.id]])

    def claims(self) -> list[Claim]:
        """The claims that there is something of, in the order of the registry."""
        return [claim for claim in self.paper.claims if claim.id in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return {
            "format": FORMAT,
            "paper": self.paper.key,
            "version": __version__,
            "mode": self.mode,
            "traces": self.traces,
            "quoted": self.quoted,
            "claims": {
                claim.id: {
                    "figure": claim.figure,
                    "says": claim.says,
                    "published": published(claim),
                    "verdict": str(self.verdict(claim)),
                    "rows": [row.to_dict(claim) for row in self.rows[claim.id]],
                }
                for claim in self.claims()
            },
        }

    def to_json(self) -> str:
        """The JSON document as text, ending with a new line."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, path: Path, paper: Paper) -> Outcome:
        """What was written of a paper.

        Raises:
            OutputError: When it cannot be read, or is something else.
        """
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            rows = {
                name: tuple(Row.from_dict(row) for row in claim["rows"]) for name, claim in document["claims"].items()
            }
            if document["format"] != FORMAT or document["paper"] != paper.key:
                raise OutputError(f"{path}: is not a reproduction of {paper.key} by this version of flashmesh")
            return cls(paper, document["mode"], rows, document["traces"], document["quoted"])
        except OSError as error:
            raise OutputError(f"{path}: cannot be read: {error.strerror or error}") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise OutputError(f"{path}: is no reproduction that flashmesh wrote: {error}") from error


def rounded(value: float) -> float:
    """A value to seven digits: as many as matter, the same on every machine."""
    return float(f"{value:.7g}")


def judge(claim: Claim, row: Row) -> Verdict:
    """The verdict on a claim in a regime."""
    if claim.undecidable:
        return Verdict.UNDECIDABLE
    parts: list[Verdict] = []
    if claim.measurement is not None:
        parts.append(Verdict.UNMEASURED if row.values is None else verdict.number(Spread(row.values), claim.judged))
    for at, trend in enumerate(claim.trends):
        curve = row.curves[at]
        level = trend.labels.index(trend.at) if trend.at else 0
        parts.append(Verdict.UNMEASURED if curve is None else verdict.trend(curve, trend.relation, trend.margin, level))
    if claim.series is not None:
        curve = row.curves[-1]
        known = claim.series.published
        parts.append(Verdict.UNMEASURED if curve is None else verdict.series(curve, known, claim.judged.tolerance))
    return verdict.joined(parts)


def published(claim: Claim) -> str:
    """The published value as text."""
    if claim.shown:
        return claim.shown
    if claim.series is not None:
        return " ".join(f"{value:g}" for value in claim.series.published)
    value = claim.judged.published
    return NONE if value is None else with_unit(number_text(value, claim.digits), claim.unit)


def measured(claim: Claim, row: Row) -> str:
    """The measured value as text, with its spread over seeds where there are several."""
    if claim.measurement is not None:
        if row.values is None:
            return NONE
        spread = Spread(row.values)
        text = number_text(spread.mean, claim.digits)
        if len(spread.values) > 1:
            text += f" +-{number_text(spread.half_range, claim.digits)}"
        return with_unit(text, claim.unit)
    curves = [curve for curve in row.curves if curve is not None]
    if not curves:
        return NONE
    return "; ".join(" ".join(number_text(value, claim.digits) for value in curve) for curve in curves)


def number_text(value: float, digits: int) -> str:
    """A number with so many digits behind the point, and no sign before a zero."""
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0.0 else text


def with_unit(text: str, unit: str) -> str:
    """A number and its unit."""
    return f"{text} {unit}" if unit else text


def why(paper: Paper, claim: Claim, row: Row) -> str:
    """The sentence of a claim in a regime, with the numbers that it quotes."""
    sentence = filled(paper, claim.sentence(row.regime), row.quoted)
    return f"{claim.undecidable} {sentence}".strip() if claim.undecidable else sentence


def filled(paper: Paper, text: str, values: dict[str, float]) -> str:
    """A text with the numbers that it quotes."""
    return QUOTED.sub(lambda match: quoted(paper.evidence[match[1]], values.get(match[1])), text)


def quoted(evidence: Evidence, value: float | None) -> str:
    """A number in a sentence."""
    return NONE if value is None else with_unit(number_text(value, evidence.digits), evidence.unit)
