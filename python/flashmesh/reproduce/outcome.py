"""What came out: measured values of each claim and regime, as JSON that pages and verdicts are made from."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashmesh._native import OutputError, __version__
from flashmesh.reproduce import verdict
from flashmesh.reproduce.texts import filled, published
from flashmesh.reproduce.verdict import Spread, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from flashmesh.reproduce.paper import Claim, Paper
    from flashmesh.reproduce.verdict import Curve

FORMAT = 2


@dataclass(frozen=True)
class Row:
    """A claim in a regime."""

    regime: str
    values: tuple[float, ...] | None = None
    """The number of each seed; None where nothing was measured."""
    beside: tuple[float, ...] | None = None
    """What it is set beside with each seed, where that is measured: the value of no effect."""
    curves: tuple[Curve | None, ...] = ()
    """Of each trend, and of the series behind them, the values along the axis with each seed."""
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
        """Of measured values, each to the digits that are kept of it: what is shown of a run is what its JSON gives."""
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
        """Out of JSON.

        Raises:
            KeyError: When it lacks a key.
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
        parts.append(judge_number(claim, row))
    for at, trend in enumerate(claim.trends):
        curve = row.curves[at]
        level = trend.labels.index(trend.at) if trend.at else 0
        seeds = [verdict.trend(seed, trend.relation, trend.margin, level) for seed in curve or ()]
        parts.append(verdict.over_seeds(seeds) if seeds else Verdict.UNMEASURED)
    if claim.series is not None:
        curve = row.curves[-1]
        known, tolerance = claim.series.published, claim.judged.tolerance
        parts.append(Verdict.UNMEASURED if curve is None else verdict.series(verdict.means(curve), known, tolerance))
    return verdict.joined(parts)


def judge_number(claim: Claim, row: Row) -> Verdict:
    """The verdict on the number of a claim."""
    if row.values is None or (row.beside is None and claim.is_beside):
        return Verdict.UNMEASURED
    return verdict.number(Spread(row.values), claim.judged, Spread(row.beside) if row.beside is not None else None)
