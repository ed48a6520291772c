"""Summary of a paper: the number of claims that hold in a regime (interpretation of the paper).

Claims are counted separately for each share of the published effect within which they hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flashmesh.reproduce.judging.outcome import judge
from flashmesh.reproduce.judging.verdict import Verdict
from flashmesh.reproduce.registry.paper import ANY, CHANGED, FIT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashmesh.reproduce.judging.outcome import Outcome, Row
    from flashmesh.reproduce.registry.paper import Claim

SHARES = (0.1, 0.25, 0.5)
"""Shares of the published effect. For each share, the claims are counted that hold with this tolerance."""

Within = tuple[int, ...]
"""Numbers of claims that hold within each of `SHARES`, in the same order."""


@dataclass(frozen=True)
class Reading:
    """Numbers of claims and sub-values that hold in one regime (interpretation of the paper)."""

    regime: str
    within: Within
    subs: Within
    """Numbers of sub-values that hold within each of `SHARES`."""
    of_number: Within = (0, 0, 0)
    """Like `within`, but claims also count if they are within this share of the published number itself. Comparable
    with counts that do not use effects."""

    @property
    def score(self) -> tuple[int, Within]:
        """Sort key of regimes: a claim counts once for each share of its effect within which it holds."""
        return sum(self.within), self.within


@dataclass(frozen=True)
class Summary:
    """Numbers of claims of a paper, and of those that hold."""

    claims: int
    """Number of all claims, without sub-values."""
    constructed: int
    """Number of claims that are exact by construction."""
    constructed_met: int
    """Number of claims that are exact by construction and met."""
    subs: int
    """Number of all sub-values: additional published values of the claims."""
    best: Reading
    """Numbers of claims that hold in the best stated reading: the regime, other than a fit or one changed by `--set`,
    in which most claims hold."""
    any_regime: Within
    """Numbers of claims that hold in at least one stated regime (interpretation of the paper); different claims may
    hold in different regimes."""

    @property
    def measured(self) -> int:
        """Number of claims whose value is measured: all that are not exact by construction."""
        return self.claims - self.constructed

    @property
    def only_elsewhere(self) -> int:
        """Number of claims that hold within the smallest share in a stated regime, but not in the best reading."""
        return self.any_regime[0] - self.best.within[0]


def holds(claim: Claim, row: Row, share: float) -> bool:
    """Returns whether a claim holds within a share of its effect; for the smallest share, within its own tolerance."""
    return judge(claim, row, None if share == SHARES[0] else share) == Verdict.MET


def nearness(claim: Claim, row: Row) -> float | None:
    """Returns the smallest of `SHARES` within which a claim holds; None if it holds within none."""
    return next((share for share in SHARES if holds(claim, row, share)), None)


def measured_claims(outcome: Outcome) -> list[Claim]:
    """Returns the claims whose value depends on the regime (interpretation of the paper), without sub-values."""
    return [claim for claim in outcome.claims() if not claim.part_of and not claim.is_constructed]


def row_in(outcome: Outcome, claim: Claim, regime: str) -> Row | None:
    """Returns the row of a claim in a regime (interpretation of the paper); None if it was not measured there."""
    return next((row for row in outcome.rows[claim.id] if row.regime == regime), None)


def near_in(outcome: Outcome, claim: Claim, regime: str) -> float | None:
    """Returns the smallest of `SHARES` within which a claim holds in a regime (interpretation of the paper).

    None if the claim does not hold.
    """
    row = row_in(outcome, claim, regime)
    return None if row is None else nearness(claim, row)


def holds_by_number(claim: Claim, row: Row, share: float) -> bool:
    """Returns whether a claim holds within a share of its effect, or within this share of the published number."""
    plain = replace(claim, judged=replace(claim.judged, neutral=None, within=None))
    return holds(claim, row, share) or judge(plain, row, share) == Verdict.MET


def counted(pairs: Iterable[tuple[Claim, tuple[Row, ...]]]) -> Within:
    """Returns, for each of `SHARES`, the number of claims that hold in at least one of their rows."""
    listed = list(pairs)
    return tuple(sum(any(holds(claim, row, share) for row in rows) for claim, rows in listed) for share in SHARES)


def reading(outcome: Outcome, regime: str) -> Reading:
    """Returns the numbers of claims and sub-values that hold in a regime (interpretation of the paper)."""

    def pairs(is_sub: bool) -> list[tuple[Claim, tuple[Row, ...]]]:
        found = []
        for claim in outcome.claims():
            rows = tuple(row for row in outcome.rows[claim.id] if row.regime == regime)
            if rows and bool(claim.part_of) == is_sub:
                found.append((claim, rows))
        return found

    own = pairs(False)
    of_number = tuple(sum(holds_by_number(claim, row, share) for claim, (row, *_) in own) for share in SHARES)
    return Reading(regime, counted(own), counted(pairs(True)), of_number)


def stated_rows(outcome: Outcome, claim: Claim) -> tuple[Row, ...]:
    """Returns the rows of a claim in all stated regimes (interpretations of the paper) and over recorded volumes.

    Leaves out the rows of a fit and of a regime changed by `--set`.
    """
    return tuple(row for row in outcome.rows[claim.id] if row.regime not in (FIT, CHANGED))


def best_reading(outcome: Outcome) -> Reading:
    """Returns the numbers of claims that hold in the best stated reading (interpretation of the paper).

    This is the first stated regime with the highest score.
    """
    readings = [reading(outcome, regime) for regime in outcome.regimes() if regime not in (FIT, CHANGED)]
    return max(readings, key=lambda each: each.score) if readings else Reading(ANY, (0, 0, 0), (0, 0, 0))


def summary(outcome: Outcome) -> Summary:
    """Returns the numbers of claims of a paper, and of those that hold."""
    own = [claim for claim in outcome.claims() if not claim.part_of]
    exact = [claim for claim in own if claim.is_constructed]
    return Summary(
        claims=len(own),
        constructed=len(exact),
        constructed_met=sum(judge(claim, row) == Verdict.MET for claim in exact for row in outcome.rows[claim.id]),
        subs=len(outcome.claims()) - len(own),
        best=best_reading(outcome),
        any_regime=counted((claim, stated_rows(outcome, claim)) for claim in own if not claim.is_constructed),
    )
