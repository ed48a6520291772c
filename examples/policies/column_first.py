"""Packets of NoSSD along their column first: --policy examples/policies/column_first.py:ColumnFirst.

The built-in routing goes along the row first (XY). Where a controller sends commands to chips of other rows
(`nossd.injection = "round-robin"`), it has all of them leave the controllers over the links of their own row; this one
takes the links between the rows of the first column. Either order keeps the network free of deadlock. One that takes
all turns would not, and is refused before the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.policies import Port

if TYPE_CHECKING:
    from flashmesh.policies import Router


class ColumnFirst:
    """YX routing, for a mesh."""

    def next_hop(self, at: Router, to: Router, open: Port) -> Port:  # noqa: A002
        """The port by which a packet leaves the router `at`."""
        if at.row != to.row:
            return Port.SOUTH if to.row > at.row else Port.NORTH
        return Port.EAST if to.column > at.column else Port.WEST
