"""Contradictions between data-sheet rows: figures of the same load that no drive can have together."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from flashmesh.validation.judging.verdict import DATA_SHEET
from flashmesh.validation.tables.sheets import BANDWIDTHS, LATENCY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.validation.tables.sheets import SheetRow

LITTLE_MAX = 0.20
"""Maximum difference between a request rate and outstanding requests / mean latency, as a share of the smaller one."""
US_PER_S = 1e6


def contradictions(rows: Sequence[SheetRow]) -> list[str]:
    """Returns a warning for each two rows with figures of the same load that no drive can have together.

    These are two values of the same statistic that differ by more than the tolerance of data sheets, and a mean latency
    that does not fit the request rate: a closed loop completes outstanding requests / mean latency (Little's law).
    """
    found: list[str] = []
    for one, other in itertools.combinations(rows, 2):
        if (one.drive, one.load) != (other.drive, other.load):
            continue
        if one.statistic == other.statistic:
            if apart(figure(one), figure(other)) > DATA_SHEET.share:
                found.append(f"{told(one)} and {told(other)} are the same figure: no drive can meet both")
        elif {one.statistic, other.statistic} == {"rate", "mean"}:
            rate, mean = (one, other) if other.unit == LATENCY else (other, one)
            expected = mean.load.outstanding * US_PER_S / mean.value
            if apart(figure(rate), expected) > LITTLE_MAX:
                found.append(
                    f"{told(one)} and {told(other)}: with {mean.load.outstanding} outstanding, "
                    f"a mean of {mean.value:g} us is {expected:,.0f} IOPS: no drive can meet both"
                )
    return found


def figure(row: SheetRow) -> float:
    """Returns the value of a row; a bandwidth as a request rate."""
    if row.unit == LATENCY:
        return row.value
    return row.value * BANDWIDTHS.get(row.unit, row.load.request_bytes) / row.load.request_bytes


def apart(one: float, other: float) -> float:
    """Returns the difference of two positive numbers as a share of the smaller one."""
    return max(one, other) / min(one, other) - 1.0


def told(row: SheetRow) -> str:
    """Returns the place, description and value of a row, for warnings."""
    place = f"{row.place}: " if row.place else ""
    return f"{place}{row.what!r} of {row.value:g} {row.unit}"
