"""Verdicts: whether measured values give a published one. Computed from the values alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from statistics import correlation, fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.reproduce.paper import Judged

ROUNDING = 1e-9
"""Relative error of arithmetic that is no difference."""
EFFECT = 0.25
"""Share of the published effect that a measured one exceeds to have its direction."""
REVERSE = 0.05
"""Share of the published effect from which on a measured one the other way is opposite."""
ALIKE = 0.5
"""Correlation of ranks from which on two curves have the same direction."""


class Verdict(StrEnum):
    """How a measured value stands to a published one."""

    MET = "met"
    """Within the tolerance, and with every seed an effect in the published direction where there is one."""
    DIRECTION = "direction"
    """Outside the tolerance, with such an effect, of a quarter of the published one or more."""
    MISSED = "missed"
    """Outside the tolerance, with no such effect or one whose direction depends on the seed."""
    OPPOSITE = "opposite"
    """With every seed an effect in the other direction, of a twentieth of the published one or more."""
    UNMEASURED = "unmeasured"
    """A run that it needs gave no value."""


ORDER = (
    Verdict.MET,
    Verdict.DIRECTION,
    Verdict.MISSED,
    Verdict.OPPOSITE,
    Verdict.UNMEASURED,
)
"""From the best to the worst."""


Curve = tuple[tuple[float, ...], ...]
"""Values along an axis, once with each seed."""


@dataclass(frozen=True)
class Spread:
    """Values over seeds."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Their arithmetic mean."""
        return fmean(self.values)

    @property
    def half_range(self) -> float:
        """Half of the distance from the least to the most."""
        return (max(self.values) - min(self.values)) / 2


def means(curve: Curve) -> tuple[float, ...]:
    """The means over seeds along the axis of a curve."""
    return tuple(map(fmean, zip(*curve, strict=True)))


def allowance(judged: Judged, share: float | None = None) -> float:
    """How far a number may be from the published one: a share of the effect, which is the way from the neutral value.

    Args:
        judged: What was published, and how near is near.
        share: A share of the effect that is allowed where it is more than the claim's own tolerance.
    """
    effect = abs(judged.published - (judged.neutral or 0.0))
    own = judged.within if judged.within is not None else judged.tolerance * effect
    return own if share is None else max(own, share * effect)


def number(values: Spread, judged: Judged, beside: Spread | None = None, share: float | None = None) -> Verdict:
    """The verdict on a number.

    Args:
        values: What was measured, a value for each seed.
        judged: What was published, and how near is near.
        beside: What was measured of no effect, a value for each seed; None where it is as published.
        share: A share of the effect that it may be off, where that is more than the claim allows.
    """
    published = judged.published
    allowed = allowance(judged, share) + ROUNDING * max(abs(published), abs(values.mean))
    error = values.mean - published
    if judged.limit == "at-most":
        return Verdict.MET if error <= allowed else Verdict.MISSED
    if judged.limit == "at-least":
        return Verdict.MET if error >= -allowed else Verdict.MISSED
    is_near = abs(error) <= allowed
    if judged.neutral is None or published == judged.neutral:
        return Verdict.MET if is_near else Verdict.MISSED
    neutral = beside.values if beside is not None else (judged.neutral,) * len(values.values)
    whole = published - judged.neutral
    effects = [(value - none) / whole for value, none in zip(values.values, neutral, strict=True)]
    if min(effects) >= EFFECT:
        return Verdict.MET if is_near else Verdict.DIRECTION
    return Verdict.OPPOSITE if max(effects) <= -REVERSE else Verdict.MISSED


def trend(values: Sequence[float], relation: str, margin: float, at: int = 0) -> Verdict:
    """The verdict on a relation between values along an axis.

    Args:
        values: The values in the order of their labels.
        relation: One of `claims.RELATIONS`.
        margin: The least effect, as a share of the larger of two values: what differs by less is equal.
        at: For `levels-off`, `peaks` and `highest-at` the place of the knee or the peak.
    """
    match relation:
        case "rises":
            return monotone(values, margin)
        case "falls":
            return monotone([-value for value in values], margin)
        case "flat":
            return Verdict.MET if is_flat(values, margin) else Verdict.MISSED
        case "levels-off":
            return levelled(values, margin, at)
        case "peaks":
            return peaked(values, margin, at)
        case "highest-at":
            return highest_at(values, at)
        case "first-highest":
            return first_highest(values, margin)
        case "first-lowest":
            return first_highest([-value for value in values], margin)
    raise ValueError(relation)


def is_above(value: float, other: float, margin: float) -> bool:
    """Whether a value is above another one by a share of the larger of them."""
    return value - other > ROUNDING and value - other >= margin * max(abs(value), abs(other)) - ROUNDING


def is_flat(values: Sequence[float], margin: float) -> bool:
    """Whether values differ by a share of their largest at most."""
    return max(values) - min(values) <= margin * max(map(abs, values)) + ROUNDING


def monotone(values: Sequence[float], margin: float) -> Verdict:
    """Whether values rise at every step, by the margin each; or, for the direction, from the first to the last."""
    if all(is_above(after, before, margin) for before, after in pairwise(values)):
        return Verdict.MET
    if all(is_above(before, after, margin) for before, after in pairwise(values)):
        return Verdict.OPPOSITE
    return Verdict.DIRECTION if is_above(values[-1], values[0], margin) else Verdict.MISSED


def levelled(values: Sequence[float], margin: float, at: int) -> Verdict:
    """Whether values rise up to a place and are level from there on."""
    if is_flat(values[at:], margin) and is_above(values[at], values[0], margin):
        return Verdict.MET
    # Level from another place on: the shape is there, and not its knee.
    for other in range(1, len(values) - 1):
        if is_flat(values[other:], margin) and is_above(values[other], values[0], margin):
            return Verdict.DIRECTION
    return Verdict.MISSED


def peaked(values: Sequence[float], margin: float, at: int) -> Verdict:
    """Whether values rise up to a place and no further: the highest is there, or within the margin of it."""
    if values[at] >= (1.0 - margin) * max(values) and is_above(values[at], values[0], margin):
        return Verdict.MET
    return Verdict.DIRECTION if 0 < values.index(max(values)) < len(values) - 1 else Verdict.MISSED


def highest_at(values: Sequence[float], at: int) -> Verdict:
    """Whether the highest value is at a place, however little it is above the others."""
    highest = values.index(max(values))
    if highest == at:
        return Verdict.MET
    return Verdict.DIRECTION if 0 < highest < len(values) - 1 else Verdict.MISSED


def first_highest(values: Sequence[float], margin: float) -> Verdict:
    """Whether the first value is above all others, by the margin."""
    if all(is_above(values[0], other, margin) for other in values[1:]):
        return Verdict.MET
    return Verdict.OPPOSITE if all(is_above(other, values[0], margin) for other in values[1:]) else Verdict.MISSED


def points(curve: Curve, published: Sequence[float], judged: Judged, share: float | None = None) -> Verdict:
    """The verdict on published numbers along an axis which have a value of no effect: each as a number of its own."""
    verdicts = [
        number(Spread(values), replace(judged, published=known), share=share)
        for values, known in zip(zip(*curve, strict=True), published, strict=True)
    ]
    return joined(verdicts)


def series(values: Sequence[float], published: Sequence[float], tolerance: float) -> Verdict:
    """The verdict on a curve: met point by point, or alike in the order of its points."""
    if all(abs(value - known) <= tolerance * abs(known) for value, known in zip(values, published, strict=True)):
        return Verdict.MET
    alike = rank_correlation(values, published)
    if alike >= ALIKE:
        return Verdict.DIRECTION
    return Verdict.OPPOSITE if alike <= -ALIKE else Verdict.MISSED


def rank_correlation(values: Sequence[float], others: Sequence[float]) -> float:
    """Spearman's correlation of the ranks of two lists; 0 where one of them is constant."""
    first, second = ranks(values), ranks(others)
    if len(set(first)) == 1 or len(set(second)) == 1:
        return 0.0
    return correlation(first, second)


def ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value, the mean of them where values are equal."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def over_seeds(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on a relation that is to hold with every seed."""
    found = set(verdicts)
    if len(found) == 1:
        return verdicts[0]
    return Verdict.DIRECTION if found == {Verdict.MET, Verdict.DIRECTION} else Verdict.MISSED


def joined(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict on a claim of several parts, all of which are to hold."""
    if len(set(verdicts)) == 1:
        return verdicts[0]
    if Verdict.UNMEASURED in verdicts:
        return Verdict.UNMEASURED
    if Verdict.MET in verdicts and Verdict.OPPOSITE not in verdicts:
        return Verdict.DIRECTION
    return Verdict.MISSED


def best(verdicts: Sequence[Verdict]) -> Verdict:
    """The best of the verdicts on a claim in several regimes."""
    return min(verdicts, key=ORDER.index)
