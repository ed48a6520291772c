"""Kinds of policies, and constants for their methods."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag


class Work(IntFlag):
    """Purpose of a transaction, or a set of purposes."""

    MAP_READ = 1
    """Read of a translation page, for map entries that transactions wait for."""
    MAP_PROGRAM = 2
    """Write-back of a translation page."""
    USER_READ = 4
    """Read of a page for a request."""
    USER_PROGRAM = 8
    """Program of a page for a request."""
    COLLECT_READ = 16
    """Read of a valid page of the victim block."""
    COLLECT_PROGRAM = 32
    """Program of a valid page of the victim block at its new location."""
    ERASE = 64
    """Erase of the victim block."""
    REPLICA_PROGRAM = 128
    """Program of a copy of a page on another die."""


REQUIRED = Work(127)
"""All purposes except programs of replicas, which run only when no other transaction waits."""
INTERNAL = Work.COLLECT_READ | Work.COLLECT_PROGRAM | Work.ERASE
"""Purposes of garbage collection and wear levelling."""


class Port(IntFlag):
    """A port of a router of Venice or NoSSD towards a neighbouring router, or a set of such ports."""

    NORTH = 1
    """Port to the row above."""
    EAST = 2
    """Port to the next column, away from the controllers."""
    SOUTH = 4
    """Port to the row below."""
    WEST = 8
    """Port to the previous column."""


class Phase(IntEnum):
    """Kind of message for which a die requests a channel or a controller."""

    COMMAND = 0
    """A command to the die, with the data of a write."""
    DATA_OUT = 1
    """Data of a read, from the die to the controller."""
    COPY = 2
    """Data from the die to another chip, for a copy without the controller."""


class DataOf(IntEnum):
    """Purpose of the data that leaves a die."""

    MAPPING = 0
    """Translation pages of the page map."""
    REQUEST = 1
    """Data that a host request reads."""
    COLLECTION = 2
    """Pages that garbage collection or wear levelling moves."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of policy: a decision of the drive, and the methods of a class that takes it."""

    name: str
    """Name of the argument, and of the key below `policy`."""
    method: str
    """Method by which a class of this kind is recognised."""
    arguments: tuple[str, ...]
    """Names of the arguments of the method."""
    others: dict[str, int]
    """Optional methods of a class of this kind, with their numbers of arguments."""

    @property
    def key(self) -> str:
        """Configuration key of the policy."""
        return f"policy.{self.name}"

    @property
    def call(self) -> str:
        """Signature of the method, as text."""
        return f"{self.method}({', '.join(('self', *self.arguments))})"


KINDS = {
    kind.name: kind
    for kind in (
        Kind("victim", "select", ("blocks",), {}),
        Kind("allocator", "place", ("write", "drive"), {"committed": 2, "withdrawn": 2, "stays": 3, "read": 2}),
        Kind("home", "choose", ("lpn", "original", "replica"), {}),
        Kind("placement", "place_write", ("plane", "stream", "planes"), {}),
        Kind("scheduler", "decide", ("waiting",), {"next_die": 1}),
        Kind("routing", "candidates", ("nearer", "open"), {}),
        Kind("hops", "next_hop", ("at", "to", "open"), {}),
        Kind("arbiter", "grant", ("resource", "last", "waiting"), {}),
    )
}
"""Kinds of policies, by name."""
BEGIN = "begin"
"""Optional method of every policy, called with the `Geometry` of the drive before the run."""


def kinds_of(policy: object) -> list[str]:
    """Returns the names of the kinds whose method an object or a class has."""
    return [kind.name for kind in KINDS.values() if hasattr(policy, kind.method)]
