"""Positions of links and chips in drawings: chips in a grid of channels and ways, controllers to their left."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.runs import Run

ROUTER = re.compile(r"\((\d+), (\d+)\)")
NUMBERED = re.compile(r"(horizontal channel|vertical channel|channel|controller) (\d+)$")
LANE = 0.13
"""Offset of two opposite links from the straight line between their routers, in units of the distance between
neighbouring chips."""
CONTROLLER_AT = -1.0
"""Horizontal position of the controllers; chips of the first way are at 0."""


@dataclass(frozen=True)
class Place:
    """Positions of the two ends of a link.

    The centre of the first chip is (0, 0); x counts ways, y counts channels.
    """

    x: float
    y: float
    x2: float
    y2: float


@dataclass(frozen=True)
class Grid:
    """Dimensions of the grid of chips."""

    rows: int
    """Number of rows: the channels of the drive."""
    columns: int
    """Number of columns: the chips on each channel."""
    dies_per_chip: int

    @classmethod
    def of(cls, run: Run) -> Grid:
        """Returns the grid of the drive of a run."""
        table = run.configuration["geometry"]
        return cls(int(table["channels"]), int(table["chips-per-channel"]), int(table["dies-per-chip"]))

    def chip(self, chip: int) -> tuple[int, int]:
        """Returns the (column, row) of a chip."""
        return chip % self.columns, chip // self.columns

    def chip_of(self, die: int) -> int:
        """Returns the index of the chip that contains a die."""
        return die // self.dies_per_chip


def places(names: Sequence[str], kinds: Sequence[str], grid: Grid) -> list[Place | None]:
    """Returns the positions of each link, derived from its name; None for a link whose name contains no position."""
    directed = {_ends(name) for name in names}
    return [_place(name, kind, grid, directed) for name, kind in zip(names, kinds, strict=True)]


def _ends(name: str) -> tuple[tuple[float, float], ...]:
    """Returns the (x, y) of each router and controller in the name of a link, in the order of the name."""
    found: list[tuple[int, tuple[float, float]]] = []
    for match in ROUTER.finditer(name):
        found.append((match.start(), (float(match[2]), float(match[1]))))
    for match in re.finditer(r"controller (\d+)", name):
        found.append((match.start(), (CONTROLLER_AT, float(match[1]))))
    return tuple(end for _, end in sorted(found))


def _place(name: str, kind: str, grid: Grid, directed: set[tuple[tuple[float, float], ...]]) -> Place | None:
    ends = _ends(name)
    if len(ends) == 2:
        (x, y), (x2, y2) = ends
        if (ends[1], ends[0]) in directed:
            # For links in both directions, draw each to the right of its own direction.
            length = max(abs(x2 - x), abs(y2 - y)) or 1.0
            across, along = -(y2 - y) / length * LANE, (x2 - x) / length * LANE
            return Place(x + across, y + along, x2 + across, y2 + along)
        return Place(x, y, x2, y2)
    if pins := re.search(r"chip (\d+)", name):
        # Pins or private channel of a chip. If there are two opposite links, the one towards the chip is on the left.
        column, row = grid.chip(int(pins[1]))
        middle = column - 0.28 if name.startswith("router") else column + 0.28
        return Place(middle - 0.14, row + 0.42, middle + 0.14, row + 0.42)
    found = NUMBERED.match(name)
    if found is None:
        return None
    number = float(found[2])
    match found[1]:
        case "channel" | "horizontal channel":
            return Place(CONTROLLER_AT, number - 0.5, grid.columns - 0.5, number - 0.5)
        case "vertical channel":
            return Place(number - 0.5, -0.5, number - 0.5, grid.rows - 0.5)
        case _:
            return Place(CONTROLLER_AT, number, 0.0, number)
