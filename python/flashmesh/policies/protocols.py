"""What a policy is: the protocols of the decisions that it can take.

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
from flashmesh.policies.kinds import Port  # noqa: TC001 - protocols are looked at by programs

Decision: TypeAlias = Transaction | tuple[Transaction, Sequence[Transaction]] | None
"""The transaction that leads the next operation; or with those of other planes that join it; or nothing."""


class VictimSelector(Protocol):
    """Chooses the block of a plane that is collected (`victim`)."""

    def select(self, blocks: Blocks) -> int | None:
        """The position of a candidate: a full block, of which `blocks.filled` is not 0; None for none."""
        ...


class Allocator(Protocol):
    """Chooses the plane of each page that is written (`allocator`).

    It may have four methods more: `committed(self, lpn: int, plane: int) -> None` and `withdrawn`, with the same
    arguments, tell that a page has been programmed, or will not be; `stays(self, write: Write, plane: int, drive:
    DriveState) -> bool` is asked whether a write that waited is programmed on its plane after all; `read(self,
    read: Write, plane: int) -> None` tells of a page that a request reads.
    """

    def place(self, write: Write, drive: DriveState) -> int:
        """A plane of the drive. One that is full, or of another namespace, stands for that of the static order."""
        ...


class WritePlacer(Protocol):
    """Chooses the plane of each page that the allocator has placed, as a firmware policy does (`placement`).

    Everything else of the firmware policy stays as `ftl.policy` says.
    """

    def place_write(self, plane: int, stream: int | None, planes: Planes) -> int:
        """A plane of the drive; one without room stands for `plane`.

        Where planes use the same blocks (`ftl.policy = "tbm"` or `"superblock"`), one of these.

        Args:
            plane: The plane that the allocator chose.
            stream: The stream in whose open block the page is written; None for a page of the map.
            planes: How full the planes are, and what waits for them.
        """
        ...


class HomeSelector(Protocol):
    """Chooses which copy of a replicated page serves a read (`home`)."""

    def choose(self, lpn: int, original: Home, replica: Home) -> Home:
        """One of the two."""
        ...


class Scheduler(Protocol):
    """Chooses which transaction a die runs next, and which join it (`scheduler`).

    With the method `next_die` of `Dispatcher` it also says which die asks for a path; without it a die asks as soon as
    it may begin something.
    """

    def decide(self, waiting: Waiting) -> Decision:
        """A transaction that may run, by itself or with those that join it; None to leave the die idle for now."""
        ...


class Dispatcher(Scheduler, Protocol):
    """A scheduler that names the dies which ask for a path."""

    def next_die(self, dispatch: DispatchState) -> int | None:
        """One of `dispatch.candidates`; None to let them wait for the next event.

        Asked after an event through which a die became a candidate or got its path, until it answers None. It must not
        answer None while nothing goes on in the drive.
        """
        ...


class PacketRouting(Protocol):
    """Says which link a packet of NoSSD takes next (`hops`), in place of XY routing."""

    def next_hop(self, at: Router, to: Router, open: Port) -> Port:  # noqa: A002 - the word of the field
        """One port out of `open`. Asked for every router and every other one that is a destination, before the run.

        Packets have to arrive, and links must not wait for each other in a circle: else the network could deadlock, and
        the answers are refused.

        Args:
            at: Where the packet is.
            to: Where it goes.
            open: The ports with a link.
        """
        ...


class RoutingAlgorithm(Protocol):
    """Says where a scout of Venice may go next (`routing`)."""

    def candidates(self, nearer: Port, open: Port) -> Port:  # noqa: A002 - the word of the field
        """Ports out of `open`, of which one is drawn; `Port(0)` to turn back. Asked for every pair before the run.

        Args:
            nearer: Those that lead nearer to the destination.
            open: Those that are free and not tried yet.
        """
        ...


class Arbiter(Protocol):
    """Chooses who is served next of those that wait for a channel or a controller (`arbiter`)."""

    def grant(self, resource: int, last: int, waiting: list[Contender]) -> Contender:
        """One of those that wait, which are in the order of asking.

        Args:
            resource: The number of the channel or controller.
            last: The position of the die that it served last.
            waiting: Two or more.
        """
        ...
