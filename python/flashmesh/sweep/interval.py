"""Means over repeated seeds, with their confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist, fmean, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95
SERIES_MAX = 60
"""Degrees of freedom up to which the distribution is summed exactly."""


@dataclass(frozen=True)
class Interval:
    """A mean, and how far from it the true one may be."""

    mean: float
    half_width: float | None
    """Half of the confidence interval; None where one value says nothing about the spread."""
    count: int


def interval(values: Sequence[float]) -> Interval | None:
    """The mean of values with its 95 % confidence interval, by Student's t distribution; None without values."""
    if not values:
        return None
    count, mean = len(values), fmean(values)
    if count == 1:
        return Interval(mean, None, 1)
    return Interval(mean, quantile(count - 1) * stdev(values) / math.sqrt(count), count)


@cache
def quantile(degrees: int) -> float:
    """How many standard errors the mean lies from the true one at most, with the probability `CONFIDENCE`.

    Student's t distribution, by formulae 26.7.3 to 26.7.5 of Abramowitz and Stegun, Handbook of Mathematical Functions.

    Args:
        degrees: The degrees of freedom.
    """
    if degrees > SERIES_MAX:
        return expansion(NormalDist().inv_cdf(0.5 + CONFIDENCE / 2), degrees)
    low, high = 0.0, math.pi / 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if within(middle, degrees) < CONFIDENCE else (low, middle)
    return math.tan(low) * math.sqrt(degrees)


def within(angle: float, degrees: int) -> float:
    """The probability that |t| is below the tangent of an angle times the root of the degrees of freedom."""
    sine, cosine = math.sin(angle), math.cos(angle)
    is_odd = degrees % 2 == 1
    term, total = (cosine if is_odd else 1.0), 0.0
    for power in range(1 if is_odd else 0, degrees - 1, 2):
        total += term
        term *= cosine * cosine * (power + 1) / (power + 2)
    return 2 / math.pi * (angle + sine * total) if is_odd else sine * total


def expansion(normal: float, degrees: int) -> float:
    """A quantile of the t distribution near that of the normal distribution, with an error below one in 10^9."""
    x = normal
    terms = (
        (x**3 + x) / 4,
        (5 * x**5 + 16 * x**3 + 3 * x) / 96,
        (3 * x**7 + 19 * x**5 + 17 * x**3 - 15 * x) / 384,
        (79 * x**9 + 776 * x**7 + 1482 * x**5 - 1920 * x**3 - 945 * x) / 92160,
    )
    return x + math.fsum(term / float(degrees) ** (power + 1) for power, term in enumerate(terms))
