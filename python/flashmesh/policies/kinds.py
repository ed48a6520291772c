"""The kinds of policies, and the constants that they compare with."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag


class Work(IntFlag):
    """What a transaction does; several together say which ones are asked for."""

    MAP_READ = 1
    """A translation page, for entries of the map that transactions wait for."""
    MAP_PROGRAM = 2
    """A translation page is written back."""
    USER_READ = 4
    """A page a request wants."""
    USER_PROGRAM = 8
    """A page a request writes."""
    COLLECT_READ = 16
    """A valid page leaves the block that is collected."""
    COLLECT_PROGRAM = 32
    """It is programmed into its new place."""
    ERASE = 64
    """The collected block is erased."""
    REPLICA_PROGRAM = 128
    """A copy of a page is programmed on another die."""


REQUIRED = Work(127)
"""All but replicas, which go by themselves when nothing else waits."""
INTERNAL = Work.COLLECT_READ | Work.COLLECT_PROGRAM | Work.ERASE
"""The work of collection and wear levelling."""


class Port(IntFlag):
    """A port of a router of Venice or NoSSD towards another router; several together are a set."""

    NORTH = 1
    """To the row above."""
    EAST = 2
    """To the next column, away from the controllers."""
    SOUTH = 4
    """To the row below."""
    WEST = 8
    """To the column before."""


class Phase(IntEnum):
    """What a die wants to send over a channel."""

    COMMAND = 0
    """A command, with the data of a write."""
    DATA_OUT = 1
    """Data that was read."""
    COPY = 2
    """Data that goes to another chip."""


class DataOf(IntEnum):
    """Whose data leaves a die."""

    MAPPING = 0
    """Pages of the mapping table."""
    REQUEST = 1
    """A request."""
    COLLECTION = 2
    """Garbage collection or wear levelling."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A decision that a policy can take."""

    name: str
    """That of the argument, and of the key below `policy`."""
    method: str
    """The method by which a class is known to take it."""
    arguments: tuple[str, ...]
    """What the method gets."""
    others: dict[str, int]
    """Methods that it may have as well, each with how many arguments it gets."""

    @property
    def key(self) -> str:
        """The key of a configuration."""
        return f"policy.{self.name}"

    @property
    def call(self) -> str:
        """The method as it is declared."""
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
"""By their names."""
BEGIN = "begin"
"""The method that every policy may have: it gets the `Geometry` of the drive before the run."""


def kinds_of(policy: object) -> list[str]:
    """Returns the names of the kinds whose method an object or a class has."""
    return [kind.name for kind in KINDS.values() if hasattr(policy, kind.method)]
