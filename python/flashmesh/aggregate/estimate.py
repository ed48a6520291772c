"""The mean of repeated runs with its 95 % confidence interval."""

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
"""Half width of Student's interval, as a share of the mean, from which on the values are taken to be no single hump."""
BIMODAL = 0.85
"""Sarle's coefficient from which on values have two humps.

Two points have 1, a uniform distribution 0.56. Of draws of a normal one 11 % of those with 5 values are above, 1 % of
those with 8; of draws from two humps ten deviations apart 85 % and more.
"""
BIMODAL_COUNT = 5
"""Values from which on Sarle's coefficient says something."""
BIMODAL_SPREAD = 0.02
"""Range of values, as a share of the mean, below which it does not matter how many humps they have."""


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds, and where the true one lies."""

    mean: float
    low: float | None
    """Lower end of the interval; None of a single value, which says nothing about the spread."""
    high: float | None
    count: int
    method: Literal["single", "student", "bootstrap", "batches"]
    """How the interval was found; `batches` is that of a single run, by batch means."""

    @property
    def half_width(self) -> float | None:
        """Half of the interval; None where there is none."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def spread_text(self) -> str:
        """The interval in relation to the mean, for tables: `+-1.2 %`, or `-40 % +70 %` where it is lopsided."""
        if self.low is None or self.high is None or not self.mean or self.low == self.high:
            return ""
        below, above = (self.mean - self.low) / abs(self.mean), (self.high - self.mean) / abs(self.mean)
        if self.method == "student" or (self.method == "batches" and above < 2 * below < 4 * above):
            return f"+-{above:.1%}".replace("%", " %")
        return f"-{below:.0%} +{above:.0%}".replace("%", " %")


def estimate(values: Sequence[float | None]) -> Estimate | None:
    """The mean of values with its 95 % confidence interval; None where there is no value.

    By Student's t distribution where the values form one hump. Where they form two, as a percentile does that some
    seeds push over a threshold, or where that interval would be wider than the mean or reach below zero without any
    value there, it is the percentile bootstrap, which stays between the smallest and the largest value.
    """
    found = [float(value) for value in values if value is not None]
    if not found:
        return None
    count, mean = len(found), fmean(found)
    if count == 1:
        return Estimate(mean, None, None, 1, "single")
    half = student_quantile(count - 1, 0.5 + CONFIDENCE / 2) * stdev(found) / math.sqrt(count)
    reaches_below = min(found) >= 0 > mean - half
    if reaches_below or half > SPREAD_MAX * abs(mean) or is_bimodal(found):
        return Estimate(mean, *bootstrap(found), count, "bootstrap")
    return Estimate(mean, mean - half, mean + half, count, "student")


def is_bimodal(values: Sequence[float]) -> bool:
    """Whether values look like two humps: by Sarle's bimodality coefficient."""
    count, mean = len(values), fmean(values)
    if count < BIMODAL_COUNT or max(values) - min(values) <= BIMODAL_SPREAD * abs(mean):
        return False
    second, third, fourth = (fmean((value - mean) ** power for value in values) for power in (2, 3, 4))
    coefficient: float = (third**2 / second**3 + 1) / (fourth / second**2)
    return coefficient > BIMODAL


def bootstrap(values: Sequence[float]) -> tuple[float, float]:
    """The percentile bootstrap of the mean: the same values give the same interval."""
    import numpy as np

    means = np.asarray(values, dtype=float)[resamples(len(values))].mean(axis=1)
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    # Rounding of the means may lead a little beyond what they are means of.
    return max(float(low), min(values)), min(float(high), max(values))


@lru_cache(maxsize=64)
def resamples(count: int) -> Any:
    """Which of so many values each resample has."""
    import numpy as np

    return np.random.default_rng(count).integers(count, size=(RESAMPLES, count))
