"""Policies in Python for drawn drives, one for each decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.policies import REQUIRED, Phase, Port, Work

if TYPE_CHECKING:
    from flashmesh.policies import (
        Blocks,
        Contender,
        DriveState,
        Geometry,
        Home,
        Planes,
        Router,
        Transaction,
        Waiting,
        Write,
    )

INTERNAL = Work.COLLECT_READ | Work.COLLECT_PROGRAM | Work.ERASE


class RandomVictim:
    """Victim selector that draws any block with an invalid page."""

    def select(self, blocks: Blocks) -> int | None:
        """Returns a random candidate."""
        return blocks.draw(invalid_min=1)


class Scattered:
    """Allocator that places pages by their number and by how many dies are idle."""

    def begin(self, geometry: Geometry) -> None:
        """Stores the number of planes of the drive, which `place` needs."""
        self.planes = geometry.planes

    def place(self, write: Write, drive: DriveState) -> int:
        """Returns a plane of the drive."""
        return (5 * write.lpn + drive.idle_count) % self.planes


class BusierHome:
    """Home selector that prefers the copy on the die with more outstanding reads."""

    def choose(self, lpn: int, original: Home, replica: Home) -> Home:
        """Returns a copy; for odd pages always the replica."""
        return replica if replica.outstanding > original.outstanding or lpn % 2 else original


class ShortestQueue:
    """Write placer that selects the plane of the die with the fewest waiting writes."""

    def begin(self, geometry: Geometry) -> None:
        """Stores the number of planes of a die, which `place_write` needs."""
        self.planes_per_die = geometry.planes_per_die

    def place_write(self, plane: int, stream: int | None, planes: Planes) -> int:
        """Returns a plane of the die of `plane`."""
        first = plane // self.planes_per_die * self.planes_per_die
        twins = range(first, first + self.planes_per_die)
        return min(twins, key=lambda twin: (planes.writes_waiting_of(twin), twin != plane))


class NewestFirst:
    """Scheduler that runs the newest of the transactions at the heads of the queues, alone."""

    def decide(self, waiting: Waiting) -> Transaction | None:
        """Returns a transaction; collection precedes requests if the drive asks for that."""
        if waiting.collection_first and waiting.is_ready(INTERNAL):
            return waiting.oldest(INTERNAL)
        heads = waiting.heads(REQUIRED) or waiting.heads(Work.REPLICA_PROGRAM)
        return max(heads, key=lambda head: head.order, default=None)


class AnyNearer:
    """Routing of scouts over any open port nearer to the destination, else over any open port."""

    def candidates(self, nearer: Port, open: Port) -> Port:  # noqa: A002 - the field's term
        """Returns the open ports nearer to the destination; without any, all open ports."""
        return nearer & open or open


class ColumnFirst:
    """Routing of packets along the column first (YX)."""

    def next_hop(self, at: Router, to: Router, open: Port) -> Port:  # noqa: A002 - the field's term
        """Returns a port of the router `at`."""
        if at.row != to.row:
            return Port.SOUTH if to.row > at.row else Port.NORTH
        return Port.EAST if to.column > at.column else Port.WEST


class LastContender:
    """Arbiter that grants commands first, and the latest request among equals."""

    def grant(self, resource: int, last: int, waiting: list[Contender]) -> Contender:
        """Returns the latest contender with a command; without one, the latest of all."""
        commands = [each for each in waiting if each.phase == Phase.COMMAND]
        return (commands or waiting)[-1]


CLASSES = {
    "victim": RandomVictim,
    "allocator": Scattered,
    "home": BusierHome,
    "placement": ShortestQueue,
    "scheduler": NewestFirst,
    "routing": AnyNearer,
    "hops": ColumnFirst,
    "arbiter": LastContender,
}
"""Classes by the kind of their decision."""


def name_of(kind: str) -> str:
    """Returns the name of a policy, as the value of its key."""
    return f'"{__file__}:{CLASSES[kind].__name__}"'
