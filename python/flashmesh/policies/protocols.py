"""Protocols of policies: one for each decision that a policy can take.

Every policy may have a method `begin(self, geometry: Geometry) -> None`, called once before the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from flashmesh._native import (
    Blocks,
    Contender,
    DispatchState,
    DriveState,
    Home,
    Planes,
    Router,
    Transaction,
    Waiting,
    Write,
)
from flashmesh.policies.kinds import Port  # noqa: TC001 - programs inspect protocols

Decision: TypeAlias = Transaction | tuple[Transaction, Sequence[Transaction]] | None
"""Transaction that leads the next operation, alone or with joining transactions of other planes; None for none."""


class VictimSelector(Protocol):
    """Choice of the victim block in a plane, for garbage collection (`victim`)."""

    def select(self, blocks: Blocks) -> int | None:
        """Returns the position of the victim, which must be a candidate: a block with `blocks.filled` above 0.

        If the result is None, or collecting the block would gain too few pages, the block with the most invalid pages
        is collected, if it gains enough.
        """
        ...


class Allocator(Protocol):
    """Choice of the plane of each written page (`allocator`).

    An allocator may have four more methods. `committed(self, lpn: int, plane: int) -> None` is called when a page has
    been programmed, and `withdrawn`, with the same arguments, when it will not be programmed. `stays(self, write:
    Write, plane: int, drive: DriveState) -> bool` decides whether a write that waited is still programmed on its plane.
    `read(self, read: Write, plane: int) -> None` is called for each page that a request reads.
    """

    def place(self, write: Write, drive: DriveState) -> int:
        """Returns a plane of the drive. The static order decides if that plane is full or of another namespace."""
        ...


class WritePlacer(Protocol):
    """Choice of another plane for each page that the allocator has placed, as by a firmware policy (`placement`).

    All other behaviour still follows `ftl.policy`.
    """

    def place_write(self, plane: int, stream: int | None, planes: Planes) -> int:
        """Returns a plane of the drive; if it is full, `plane` is used.

        If planes share blocks (`ftl.policy = "tbm"` or `"superblock"`), the result must share the blocks of `plane`.

        Args:
            plane: The plane that the allocator chose, or if planes share blocks, `ftl.policy`.
            stream: The stream of the open block; None for a page of the map.
            planes: The fill level and the queues of the planes.
        """
        ...


class HomeSelector(Protocol):
    """Choice of the copy of a replicated page that serves a read (`home`)."""

    def choose(self, lpn: int, original: Home, replica: Home) -> Home:
        """Returns one of the two copies."""
        ...


class Scheduler(Protocol):
    """Choice of the next transaction of a die, and of the transactions that join it (`scheduler`).

    A scheduler with the method `next_die` of `Dispatcher` also chooses the die that requests a path; without that
    method a die requests a path as soon as the die can begin an operation.
    """

    def decide(self, waiting: Waiting) -> Decision:
        """Returns a waiting transaction, alone or with transactions that join it; None to leave the die idle."""
        ...


class Dispatcher(Scheduler, Protocol):
    """A scheduler that also chooses the dies that request a path."""

    def next_die(self, dispatch: DispatchState) -> int | None:
        """Returns one of `dispatch.candidates`; None to leave all of them waiting until the next event.

        Called after an event that made a die a candidate or granted its path, repeatedly until None is
        returned. The method must not return None while the drive is otherwise idle.
        """
        ...


class PacketRouting(Protocol):
    """Choice of the next link of a packet of NoSSD (`hops`), instead of XY routing."""

    def next_hop(self, at: Router, to: Router, open: Port) -> Port:  # noqa: A002 - the field's term
        """Returns one port of `open`. Called before the run for every router and every other destination router.

        Packets must arrive, and links must not wait for one another in a cycle; otherwise the network could deadlock,
        and the routing is refused.

        Args:
            at: The router of the packet.
            to: The destination.
            open: The ports with a link.
        """
        ...


class RoutingAlgorithm(Protocol):
    """Choice of the ports that a scout of Venice may take next (`routing`)."""

    def candidates(self, nearer: Port, open: Port) -> Port:  # noqa: A002 - the field's term
        """Returns ports of `open`, one of which is drawn; `Port(0)` to backtrack. Called for every pair before the run.

        Args:
            nearer: The ports nearer to the destination.
            open: The ports that are free and not tried yet.
        """
        ...


class Arbiter(Protocol):
    """Choice of the next die to be served by a channel or a controller (`arbiter`)."""

    def grant(self, resource: int, last: int, waiting: list[Contender]) -> Contender:
        """Returns one of the contenders, which are in the order of their requests.

        Args:
            resource: The index of the channel or controller.
            last: The position of the last served die.
            waiting: Two or more contenders.
        """
        ...
