"""Writes to the plane of their die with the fewest waiting: --policy examples/policies/shortest_queue.py:ShortestQueue.

The allocator says on which die a page goes. Beside it, this one takes another plane of the same die where fewer writes
wait, so that planes have as much to do and more of them join in a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashmesh.policies import Geometry, Planes


class ShortestQueue:
    """The plane that the allocator chose wins a tie."""

    def begin(self, geometry: Geometry) -> None:
        """Takes the number of planes of a die."""
        self.planes_per_die = geometry.planes_per_die

    def place_write(self, plane: int, stream: int | None, planes: Planes) -> int:
        """A plane of the die of `plane`."""
        first = plane // self.planes_per_die * self.planes_per_die
        twins = range(first, first + self.planes_per_die)
        return min(twins, key=lambda twin: (planes.writes_waiting_of(twin), twin != plane))
