"""Means over repeated seeds, with their confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from flashmesh._native import student_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95


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
    quantile = student_quantile(count - 1, 0.5 + CONFIDENCE / 2)
    return Interval(mean, quantile * stdev(values) / math.sqrt(count), count)
