"""Verdicts on measured values, computed only from measured and published values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from statistics import correlation, fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.reproduce.registry.paper import Judged

ROUNDING = 1e-9
"""Relative error of arithmetic: a smaller excess over the tolerance is ignored."""
EFFECT = 0.25
"""Smallest measured effect in the published direction that counts as one, as a share of the published effect.

An effect is the distance of a number from its neutral value. It counts only if each seed reaches the share.
"""
REVERSE = 0.05
"""Smallest measured effect in the opposite direction that counts as one, as a share of the published effect."""
ALIKE = 0.5
"""Smallest rank correlation of a measured and a published curve that counts as the right direction."""


class Verdict(StrEnum):
    """Relation of a measured value to a published value."""

    MET = "met"
    """Within the tolerance. Unless the published value is a bound, a number with a neutral value must also have at
    least a quarter of the published effect with every seed."""
    DIRECTION = "direction"
    """Outside the tolerance, but at least a quarter of the published effect with every seed."""
    MISSED = "missed"
    """No other verdict applies: outside the tolerance, or below a quarter of the published effect with at least one
    seed."""
    OPPOSITE = "opposite"
    """An effect in the opposite direction with every seed, at least a twentieth of the published effect."""
    UNMEASURED = "unmeasured"
    """No verdict, since a required run has no value."""


ORDER = (
    Verdict.MET,
    Verdict.DIRECTION,
    Verdict.MISSED,
    Verdict.OPPOSITE,
    Verdict.UNMEASURED,
)
"""Verdicts in order, from the best to the worst."""


Curve = tuple[tuple[float, ...], ...]
"""Measured values along an axis: a tuple of values for each seed."""


@dataclass(frozen=True)
class Spread:
    """Values of one quantity, one for each seed."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The arithmetic mean."""
        return fmean(self.values)

    @property
    def half_range(self) -> float:
        """Half of the distance between the minimum and the maximum."""
        return (max(self.values) - min(self.values)) / 2


def means(curve: Curve) -> tuple[float, ...]:
    """Returns the means over seeds of a curve, one for each point of its axis."""
    return tuple(map(fmean, zip(*curve, strict=True)))


def allowance(judged: Judged, share: float | None = None) -> float:
    """Returns the allowed distance of a measured number from the published one.

    Args:
        judged: The published number and its tolerance.
        share: A tolerance as a share of the published effect; counts if it is wider than that of the claim.
    """
    effect = abs(judged.published - (judged.neutral or 0.0))
    own = judged.within if judged.within is not None else judged.tolerance * effect
    return own if share is None else max(own, share * effect)


def number(values: Spread, judged: Judged, beside: Spread | None = None, share: float | None = None) -> Verdict:
    """Returns the verdict on the measured number of a claim.

    Args:
        values: The measured value of each seed.
        judged: The published number and its tolerance.
        beside: The measured neutral value of each seed; None to use the published neutral value.
        share: A tolerance as a share of the published effect; counts if it is wider than that of the claim.
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


def trend(values: Sequence[float], relation: str, margin: float, at: int = 0, least: float = 0.0) -> Verdict:
    """Returns the verdict on a relation between the values along an axis.

    Args:
        values: The values in the order of their labels.
        relation: One of `claims.RELATIONS`.
        margin: The smallest difference that counts, as a share of the larger of two values.
        at: The index of the knee or the peak, for `levels-off`, `peaks` and `highest-at`.
        least: The minimum magnitude of the values; a curve with a smaller value is missed.
    """
    if min(map(abs, values)) < least:
        return Verdict.MISSED
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
            return highest_at(values, margin, at)
        case "first-highest":
            return first_highest(values, margin)
        case "first-lowest":
            return first_highest([-value for value in values], margin)
    raise ValueError(relation)


def is_above(value: float, other: float, margin: float) -> bool:
    """Returns whether `value` exceeds `other` by a share (`margin`) of the larger of both."""
    return value - other > ROUNDING and value - other >= margin * max(abs(value), abs(other)) - ROUNDING


def is_flat(values: Sequence[float], margin: float) -> bool:
    """Returns whether the range of the values is at most a share (`margin`) of the largest value."""
    return max(values) - min(values) <= margin * max(map(abs, values)) + ROUNDING


def monotone(values: Sequence[float], margin: float) -> Verdict:
    """Returns the verdict on a rise by the margin at every step; a rise only from first to last is `DIRECTION`."""
    if all(is_above(after, before, margin) for before, after in pairwise(values)):
        return Verdict.MET
    if all(is_above(before, after, margin) for before, after in pairwise(values)):
        return Verdict.OPPOSITE
    return Verdict.DIRECTION if is_above(values[-1], values[0], margin) else Verdict.MISSED


def levelled(values: Sequence[float], margin: float, at: int) -> Verdict:
    """Returns the verdict on values that rise up to index `at` and are flat from this index on, but not before.

    With a knee at another index, only the direction holds.
    """
    knee = next(index for index in range(len(values)) if is_flat(values[index:], margin))
    least = margin * max(map(abs, values)) + ROUNDING
    rises = all(after >= before - least for before, after in pairwise(values[: knee + 1]))
    if not rises or knee == len(values) - 1 or not is_above(values[knee], values[0], margin):
        return Verdict.MISSED
    return Verdict.MET if knee == at else Verdict.DIRECTION


def peaked(values: Sequence[float], margin: float, at: int) -> Verdict:
    """Returns the verdict on a peak at index `at`: by the margin above the first value, and near the maximum.

    Near is at most the margin below the maximum. Without such a peak, a maximum at any inner index is `DIRECTION`.
    """
    if values[at] >= (1.0 - margin) * max(values) and is_above(values[at], values[0], margin):
        return Verdict.MET
    return Verdict.DIRECTION if 0 < values.index(max(values)) < len(values) - 1 else Verdict.MISSED


def highest_at(values: Sequence[float], margin: float, at: int) -> Verdict:
    """Returns the verdict on a maximum at index `at`, which exceeds the first and the last value by the margin."""
    highest = values.index(max(values))
    if not all(is_above(values[highest], end, margin) for end in (values[0], values[-1])):
        return Verdict.MISSED
    return Verdict.MET if highest == at else Verdict.DIRECTION


def first_highest(values: Sequence[float], margin: float) -> Verdict:
    """Returns the verdict on a first value that exceeds each other value by the margin."""
    if all(is_above(values[0], other, margin) for other in values[1:]):
        return Verdict.MET
    return Verdict.OPPOSITE if all(is_above(other, values[0], margin) for other in values[1:]) else Verdict.MISSED


def points(curve: Curve, published: Sequence[float], judged: Judged, share: float | None = None) -> Verdict:
    """Returns the verdict on a curve with a neutral value, in which each published point is judged as a number."""
    verdicts = [
        number(Spread(values), replace(judged, published=known), share=share)
        for values, known in zip(zip(*curve, strict=True), published, strict=True)
    ]
    return joined(verdicts)


def series(values: Sequence[float], published: Sequence[float], tolerance: float) -> Verdict:
    """Returns the verdict on a curve: `MET` if each point is within the tolerance, else by rank correlation."""
    if all(abs(value - known) <= tolerance * abs(known) for value, known in zip(values, published, strict=True)):
        return Verdict.MET
    alike = rank_correlation(values, published)
    if alike >= ALIKE:
        return Verdict.DIRECTION
    return Verdict.OPPOSITE if alike <= -ALIKE else Verdict.MISSED


def rank_correlation(values: Sequence[float], others: Sequence[float]) -> float:
    """Returns Spearman's rank correlation of two lists of numbers, from -1 to 1; 0 if one list is constant."""
    first, second = ranks(values), ranks(others)
    if len(set(first)) == 1 or len(set(second)) == 1:
        return 0.0
    return correlation(first, second)


def ranks(values: Sequence[float]) -> list[float]:
    """Returns the rank of each value in ascending order; equal values share their mean rank."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def joined(verdicts: Sequence[Verdict]) -> Verdict:
    """Returns the verdict on a claim of several parts, or on a relation with several seeds.

    A claim is met if all parts are, and has a direction if each part has one or is met.
    """
    if len(set(verdicts)) == 1:
        return verdicts[0]
    if Verdict.UNMEASURED in verdicts:
        return Verdict.UNMEASURED
    return Verdict.DIRECTION if set(verdicts) == {Verdict.MET, Verdict.DIRECTION} else Verdict.MISSED


def best(verdicts: Sequence[Verdict]) -> Verdict:
    """Returns the best of the verdicts on a claim in several regimes (interpretations of the paper)."""
    return min(verdicts, key=ORDER.index)
