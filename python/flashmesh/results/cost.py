"""What the drive drew, and the room its interconnect takes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Constant:
    """A figure that a result rests on, with where it comes from."""

    name: str
    value: float
    unit: str
    source: str


@dataclass(frozen=True, slots=True)
class Energy:
    """The energy of the events of the run by what took it, in joules."""

    total: float
    """All of the following together."""
    read: float
    """Arrays reading."""
    program: float
    """Arrays programming."""
    erase: float
    """Arrays erasing."""
    channels: float
    """Channels that several chips share."""
    links: float
    """Links with one driver at either end."""
    routers: float
    """Routers, always."""
    controllers: float
    """Flash controllers, always."""


@dataclass(frozen=True, slots=True)
class DrivePower:
    """What the drive drew, by two measures that are not to be mixed: of events, and nominal."""

    energy_j: Energy
    """The energy of events, by what took it."""
    average_w: float | None
    """The energy of events for each second of simulated time."""
    nominal_w: float
    """The power of the drive with all of its parts at work, however long the run took."""
    nominal_energy_j: float
    """The papers' own measure: nominal power times execution time."""
    constants: tuple[Constant, ...]
    """The powers behind it."""


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """How many links there are, by what they connect."""

    channel: int
    """Channels that several chips share."""
    controller: int
    """Between a controller and one chip, or one router."""
    mesh: int
    """Between routers."""
    chip: int
    """Between a router and its chip."""


@dataclass(frozen=True, slots=True)
class DriveArea:
    """What the interconnect is made of, and the room it takes."""

    links: LinkCounts
    """The links by what they connect."""
    wires: int
    """Wires that carry data, over all links."""
    controllers: int
    """Flash controllers."""
    routers: int
    """Routers."""
    links_saved_share: float | None
    """The share of the area of the bus's channels that the links save; None where nobody states their area."""
    chips_mm2: float
    """The chips, without what the interconnect adds to them, in square millimetres."""
    added_inside_mm2: float
    """What it adds inside the chips, in square millimetres."""
    added_beside_mm2: float
    """What it adds on the board beside them, without links, in square millimetres."""
    constants: tuple[Constant, ...]
    """The areas behind it."""
