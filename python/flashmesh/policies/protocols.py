"""What a policy is: the protocols of the decisions that it can take.

Every policy may have a method `begin(self, geometry: Geometry) -> None`, called once before the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from flashmesh._native import Blocks, Contender, DriveState, Home, Transaction, Waiting, Write
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


class HomeSelector(Protocol):
    """Chooses which copy of a replicated page serves a read (`home`)."""

    def choose(self, lpn: int, original: Home, replica: Home) -> Home:
        """One of the two."""
        ...


class Scheduler(Protocol):
    """Chooses which transaction a die runs next, and which join it (`scheduler`)."""

    def decide(self, waiting: Waiting) -> Decision:
        """A transaction that may run, by itself or with those that join it; None to leave the die idle for now."""
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
