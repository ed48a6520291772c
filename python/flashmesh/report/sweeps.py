"""A sweep as a table: a row for each point, and where it was repeated with other seeds the mean and its interval."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flashmesh.configuration import value_text
from flashmesh.report import quantities as q
from flashmesh.sweep.interval import interval
from flashmesh.sweep.plan import SEED

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from rich.table import Table

    from flashmesh.report.terminal import Terminal

SHOWN: dict[str, tuple[str, Callable[[float | None], str]]] = {
    "IOPS": ("iops", lambda value: q.scaled(value or 0.0)),
    "bandwidth": ("bandwidth_bytes_per_s", lambda value: q.bandwidth(value or 0.0)),
    "mean latency": ("latency_ps.all.mean", q.time),
    "p99 latency": ("latency_ps.all.p99", q.time),
}
"""The measures, the columns they are in, and how they are written."""
ROWS_MAX = 40
"""Points that are shown."""


def show(table: pa.Table, terminal: Terminal) -> None:
    """Prints the first points of a sweep.

    Args:
        table: As `flashmesh.sweep.table.table_of` makes it.
        terminal: Where to.
    """
    axes: list[str] = json.loads(table.schema.metadata[b"flashmesh"])["axes"]
    rows = table.select([*axes, *(column for column, _ in SHOWN.values())]).to_pylist()
    points: dict[tuple[str, ...], list[dict[str, float]]] = {}
    keys = [key for key in axes if key != SEED] or axes
    for row in rows:
        points.setdefault(tuple(value_text(row[key]) for key in keys), []).append(row)
    is_repeated = any(len(runs) > 1 for runs in points.values())
    names = list(SHOWN)
    while names:
        count = len(names)
        while count > 1 and not terminal.fits(rows_of(points, keys, names[:count], is_repeated, terminal)):
            count -= 1
        terminal.print(rows_of(points, keys, names[:count], is_repeated, terminal))
        names = names[count:]
        if names:
            terminal.print()
    if len(points) > ROWS_MAX:
        terminal.print(f"and {len(points) - ROWS_MAX:,} more points")


def rows_of(
    points: dict[tuple[str, ...], list[dict[str, float]]],
    keys: list[str],
    names: list[str],
    is_repeated: bool,
    terminal: Terminal,
) -> Table:
    """A row for each point, with some measures."""
    headings = [cell for name in names for cell in ((name, "95 %") if is_repeated else (name,))]
    shown = terminal.table(*keys, *(["runs"] if is_repeated else []), *headings, left=len(keys))
    for point, runs in list(points.items())[:ROWS_MAX]:
        cells = [*point, *([str(len(runs))] if is_repeated else [])]
        for column, text in (SHOWN[name] for name in names):
            found = interval([run[column] for run in runs if run[column] is not None])
            cells.append(q.NONE if found is None else text(found.mean))
            if is_repeated:
                width = None if found is None or not found.mean else found.half_width
                cells.append("" if width is None or found is None else f"+-{width / found.mean:.1%}".replace("%", " %"))
        shown.add_row(*cells)
    return shown
