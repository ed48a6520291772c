"""Ratios of the costs of two rows of the benchmark, for comparison with their upper bounds."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

from bench import measure
from bench.rows import LONG_ROWS, ROWS

if TYPE_CHECKING:
    from bench.build import Build
    from bench.rows import Bound
    from bench.table import Measured


def in_turns(bound: Bound, rows: dict[str, Measured], made: Build, runs: int) -> dict[str, Measured]:
    """Measures the two rows of a time bound again, alternately, since the load of a machine varies.

    Returns `rows` for a bound on memory, or if one of its rows was not measured.
    """
    if bound.of == "peak" or not {bound.row, bound.over} <= rows.keys():
        return rows
    compared = [row for row in ROWS + LONG_ROWS if row.name in (bound.row, bound.over)]
    cpu: dict[str, list[float]] = {row.name: [] for row in compared}
    for _ in range(runs):
        for row in compared:
            cpu[row.name].append(measure.run(row.command(made, row.requests), {"PYTHONPATH": str(made.python)}).cpu_s)
    return {name: replace(rows[name], cpu_s=statistics.median(times)) for name, times in cpu.items()}


def quotient(bound: Bound, rows: dict[str, Measured]) -> float | None:
    """Returns the ratio of the costs of a bound's two rows; None if a row was not measured."""
    row, over = rows.get(bound.row), rows.get(bound.over)
    if row is None or over is None:
        return None
    match bound.of:
        case "peak" if row.peak_bytes and over.peak_bytes:
            return row.peak_bytes / over.peak_bytes
        case "hop" if row.hops_mean and over.hops_mean:
            return row.cost_us / row.hops_mean / (over.cost_us / over.hops_mean)
        case _:
            return row.cost_us / over.cost_us
