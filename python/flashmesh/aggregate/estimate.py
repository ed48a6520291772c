"""Mean of repeated runs with its 95 % confidence interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, Literal

from flashmesh._native import student_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95
RESAMPLES = 2000
SPREAD_MAX = 0.5
"""Half-width of Student's interval, as a share of the mean, above which the bootstrap interval replaces Student's."""
BIMODAL = 0.85
"""Sarle's coefficient above which a distribution counts as bimodal.

The coefficient is 1 for a distribution of only two values, and 0.56 for a uniform one. Samples of a normal distribution
exceed it in 11 % of the cases with 5 values, and in 1 % with 8. Samples of two modes that are ten standard deviations
apart exceed it in 85 % or more.
"""
BIMODAL_COUNT = 5
"""Minimum number of values for which Sarle's coefficient is computed; fewer values count as unimodal."""
BOOTSTRAP_COUNT = 5
"""Minimum number of values for a bootstrap interval.

A bootstrap interval never extends beyond the values. For normally distributed values it contains the true mean in 50 %
of the cases with two values, in 78 % with four, and in 83 % with five.
"""
BIMODAL_SPREAD = 0.02
"""Range of the values, as a share of their mean, up to which the values count as unimodal."""

LEAST = 0.01
"""Share of a figure at which the lower end of its interval counts in ratios, if it is lower, such as 0."""


@dataclass(frozen=True)
class Estimate:
    """Mean over seeds with its confidence interval."""

    mean: float
    low: float | None
    """Lower end of the interval; None for a single value without batch means."""
    high: float | None
    count: int
    method: Literal["single", "student", "bootstrap", "batches"]
    """Method of the interval; `single` stands for one value without interval, `batches` for batch means of one run."""

    @property
    def half_width(self) -> float | None:
        """Half of the width of the interval; None without an interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def contains(self, value: float) -> bool:
        """Returns whether a value is in the interval; False without an interval."""
        return self.low is not None and self.high is not None and self.low <= value <= self.high

    @property
    def spread_text(self) -> str:
        """The interval relative to the mean, for tables: `+-1.2 %`, half its width; `-40 % +70 %` if skewed.

        A bootstrap interval, and one that is cut at 0, has both ends too. Empty without an interval, or if its width or
        the mean is 0.
        """
        if self.low is None or self.high is None or not self.mean or self.low == self.high:
            return ""
        below, above = (self.mean - self.low) / abs(self.mean), (self.high - self.mean) / abs(self.mean)
        is_even = math.isclose(below, above, rel_tol=1e-6)
        if (self.method == "student" and is_even) or (self.method == "batches" and above < 2 * below < 4 * above):
            return f"+-{(below + above) / 2:.1%}".replace("%", " %")
        return f"-{below:.0%} +{above:.0%}".replace("%", " %")


def estimate(values: Sequence[float | None]) -> Estimate | None:
    """Returns the mean of the values with its 95 % confidence interval; None if all values are None.

    The interval is Student's for unimodal values, and for fewer values than `BOOTSTRAP_COUNT`; it is cut at zero if no
    value is below zero. It is the percentile bootstrap, which stays between the smallest and the largest value, if
    more values are bimodal (such as a percentile that some seeds push over a threshold), or if Student's interval would
    be wider than the mean, or reach below zero although no value does.
    """
    found = [float(value) for value in values if value is not None]
    if not found:
        return None
    count, mean = len(found), fmean(found)
    if count == 1:
        return Estimate(mean, None, None, 1, "single")
    half = student_quantile(count - 1, 0.5 + CONFIDENCE / 2) * stdev(found) / math.sqrt(count)
    reaches_below = min(found) >= 0 > mean - half
    if count >= BOOTSTRAP_COUNT and (reaches_below or half > SPREAD_MAX * abs(mean) or is_bimodal(found)):
        return Estimate(mean, *bootstrap(found), count, "bootstrap")
    return Estimate(mean, 0.0 if reaches_below else mean - half, mean + half, count, "student")


def ratio_of(value: Estimate, reference: Estimate) -> Estimate:
    """Returns the ratio of two independent estimates above zero; without interval if one of them has none.

    Each end of the interval combines, on a logarithmic scale, the ends of both intervals that lead to it. So a skewed
    interval, as of a p99 below a gap in the latencies, makes that of the ratio as skewed.
    """
    mean = value.mean / reference.mean
    if value.low is None or value.high is None or reference.low is None or reference.high is None:
        return Estimate(mean, None, None, 1, "single")
    below = math.hypot(fall(value), math.log(reference.high / reference.mean))
    above = math.hypot(math.log(value.high / value.mean), fall(reference))
    return Estimate(mean, mean * math.exp(-below), mean * math.exp(above), 1, "batches")


def fall(found: Estimate) -> float:
    """Returns the distance from the lower end of an interval to its mean on a logarithmic scale."""
    return math.log(found.mean / max(found.low or 0.0, LEAST * found.mean))


def is_bimodal(values: Sequence[float]) -> bool:
    """Returns whether values are bimodal, by Sarle's bimodality coefficient."""
    count, mean = len(values), fmean(values)
    if count < BIMODAL_COUNT or max(values) - min(values) <= BIMODAL_SPREAD * abs(mean):
        return False
    second, third, fourth = (fmean((value - mean) ** power for value in values) for power in (2, 3, 4))
    coefficient: float = (third**2 / second**3 + 1) / (fourth / second**2)
    return coefficient > BIMODAL


def bootstrap(values: Sequence[float]) -> tuple[float, float]:
    """Returns the lower and upper end of the 95 % bootstrap interval of the mean.

    All calls draw the same resamples, so equal values have equal intervals.
    """
    import numpy as np

    means = np.asarray(values, dtype=float)[resamples(len(values))].mean(axis=1)
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    # Rounding errors can put the mean of a resample slightly below the smallest or above the largest value.
    return max(float(low), min(values)), min(float(high), max(values))


@lru_cache(maxsize=64)
def resamples(count: int) -> Any:
    """Returns the drawn indices of all bootstrap resamples: an array with a row of `count` indices for each."""
    import numpy as np

    return np.random.default_rng(count).integers(count, size=(RESAMPLES, count))
