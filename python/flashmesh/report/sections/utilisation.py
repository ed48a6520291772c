"""Utilisation of the parts of a drive: a table with bars, and a grid of the dies and links by row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.text import Text

from flashmesh.report import quantities as q
from flashmesh.report.sections import interconnect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from flashmesh.report.terminal import Terminal
    from flashmesh.results import Result

BAR = 10
"""Width of a bar of a table in characters."""
HEAT = 48
"""Maximum number of dies in a line of the grid."""
ROWS_SHOWN = 64
"""Maximum number of rows of a drive whose grid is shown."""


def utilisation(result: Result, terminal: Terminal) -> Iterator[RenderableType]:
    """Yields a table of the utilisation of the host link, the links of the fabric, the controllers and the dies."""
    use = result.utilisation
    table = terminal.table("busy", "mean", "", "least", "most", left=1)
    table.columns[2].justify = "left"
    table.columns[2].width = BAR
    single = {
        "link to the host": use.link_to_host,
        "link to the drive": use.link_to_drive,
        "SATA adapter": use.adapter,
        "firmware cores": use.firmware,
        "cache DRAM": result.cache.dram_share if result.cache else None,
    }
    for name, busy in single.items():
        if busy is not None:
            table.add_row(name, q.share(busy), terminal.bar(busy, BAR), "", "")
    groups = [(name, shares) for name, shares in interconnect.busy_by_kind(result).items() if shares]
    for name, shares in (*groups, ("controllers", use.controllers), ("dies occupied", use.dies)):
        if not shares:
            continue
        mean = math.fsum(shares) / len(shares)
        ends = q.share(min(shares)), q.share(max(shares))
        table.add_row(f"{name} ({len(shares)})", q.share(mean), terminal.bar(mean, BAR), *ends)
    yield table
    rows = result.parameters["geometry"]["channels"]
    if 0 < rows <= ROWS_SHOWN and len(use.dies) % rows == 0:
        yield Text()
        yield grid(result, rows, terminal)


def belong_to_rows(result: Result) -> bool:
    """Returns whether each link serves a single row of chips, and links are numbered row by row."""
    bound = result.lower_bound
    return len(set(result.links.kinds)) == 1 and (bound.rows_ps is not None or bound.chips_ps is not None)


def grid(result: Result, rows: int, terminal: Terminal) -> RenderableType:
    """Returns a table of the utilisation of each row of chips: of its dies, and of links that serve only this row."""
    scale = "" if terminal.blocks else " (0: under 10 %, 9: 90 % or more)"
    use = result.utilisation
    own = belong_to_rows(result)
    table = terminal.table("row", "its links" if own else "its dies", "", f"each of its dies{scale}")
    for index in (2, 3):
        table.columns[index].justify = "left"
    table.columns[2].width = BAR
    dies_by_row = by_row(use.dies, rows)
    # A row of the ideal fabric has a link for each chip.
    shares_by_row = by_row(use.links, rows) if own else dies_by_row
    for row, (shares, dies) in enumerate(zip(shares_by_row, dies_by_row, strict=True)):
        mean = math.fsum(shares) / len(shares) if shares else 0.0
        heat = Text("\n").join(Text(terminal.heat(dies[at : at + HEAT])) for at in range(0, len(dies), HEAT))
        table.add_row(str(row), q.share(mean), terminal.bar(mean, BAR), heat)
    return table


def by_row(shares: Sequence[float], rows: int) -> list[list[float]]:
    """Returns `shares` split into rows of equal length; parts of the drive are numbered row by row."""
    each = len(shares) // rows
    return [list(shares[row * each : (row + 1) * each]) for row in range(rows)]
