"""YX routing of the packets of NoSSD: along the column first, then along the row.

    flashmesh run CONFIG --policy examples/policies/column_first.py:ColumnFirst

The built-in routing is XY: along the row first. The routes differ if controllers send commands to chips of other rows,
as with `nossd.injection = "round-robin"`. With XY, all commands leave a controller over the links of its own row. With
YX, commands to other rows leave it over the links between the rows of the first column.

Neither order can deadlock. flashmesh refuses, before the run, a routing in which links can wait for one another in a
cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.policies import Port

if TYPE_CHECKING:
    from flashmesh.policies import Router


class ColumnFirst:
    """YX routing in a mesh of routers."""

    def next_hop(self, at: Router, to: Router, open: Port) -> Port:  # noqa: A002
        """Returns the port through which a packet leaves a router.

        flashmesh calls it before the run, for every router and every other router as the destination.

        Args:
            at: The router of the packet.
            to: The router of the destination.
            open: The ports of `at` with a link; not needed here.
        """
        if at.row != to.row:
            return Port.SOUTH if to.row > at.row else Port.NORTH
        return Port.EAST if to.column > at.column else Port.WEST
