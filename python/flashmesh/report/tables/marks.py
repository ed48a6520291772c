"""Marks of ratios, the same in tables and charts: whether noise may explain a difference of two figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from flashmesh.aggregate.estimate import Estimate

WITHIN_NOISE = "~"
"""Mark of a ratio whose 95 % interval holds 1."""
UNKNOWN_NOISE = "?"
"""Mark of a ratio without interval, and in the place of an interval that other runs have."""
LEGENDS = {
    WITHIN_NOISE: "the 95 % interval of the ratio includes 1, so that noise may explain the difference; --precision "
    "narrows the interval. Runs of a ratio differ in the compared setting alone.",
    UNKNOWN_NOISE: "there is no 95 % interval, so that a difference may be noise; several seeds (--vary seed=1,2,3) "
    "give one, and so do more requests for IOPS and percentiles.",
}
"""Meaning of each mark."""


def mark_of(ratio: Estimate, text: str) -> str:
    """Returns the mark of a ratio that is shown as `text`; empty for a clear difference.

    A ratio without interval that is shown as 1 has no mark, since nobody takes it for a difference.
    """
    if ratio.low is None or ratio.high is None:
        return "" if text.strip("x") == "1.00" else UNKNOWN_NOISE
    return WITHIN_NOISE if ratio.low <= 1 <= ratio.high else ""


def legends(marks: Collection[str]) -> list[str]:
    """Returns a line with the meaning of each of the marks."""
    return [f"{mark}: {meaning}" for mark, meaning in LEGENDS.items() if mark in marks]
