"""A placement of each write on the plane of its die with the fewest waiting writes.

    flashmesh run CONFIG --policy examples/policies/shortest_queue.py:ShortestQueue

The allocator chooses a die and a plane for a page. This policy keeps the die, and moves the page to another plane if
fewer writes wait there. Queues of equal length let more planes join in a multi-plane program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashmesh.policies import Geometry, Planes


class ShortestQueue:
    """Choice of the plane with the fewest waiting writes; of equal planes, the one that the allocator chose."""

    def begin(self, geometry: Geometry) -> None:
        """Stores the number of planes of a die; flashmesh calls it once before the run."""
        self.planes_per_die = geometry.planes_per_die

    def place_write(self, plane: int, stream: int | None, planes: Planes) -> int:
        """Returns the plane for a page; flashmesh calls it for each page that the allocator has placed.

        Args:
            plane: The plane that the allocator chose, by its index in the drive.
            stream: The stream of the open block; None for a page of the map. Not needed here.
            planes: The fill level and the queues of all planes of the drive.
        """
        first = plane // self.planes_per_die * self.planes_per_die
        twins = range(first, first + self.planes_per_die)
        return min(twins, key=lambda twin: (planes.writes_waiting_of(twin), twin != plane))
