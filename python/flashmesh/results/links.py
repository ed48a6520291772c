"""The interconnect at work: conflicts, scouts, how busy everything was, and what that bounds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CauseOfConflicts:
    """Path conflicts with one thing in the way."""

    transfers: int
    """Transfers that waited."""
    requests: int
    """Requests with such a transfer."""
    wait_ps: int
    """Time waited, summed over the transfers."""


@dataclass(frozen=True, slots=True)
class CausesOfConflicts:
    """Path conflicts by what was in the way; a request counts under each cause that one of its transfers met."""

    channel: CauseOfConflicts
    """The channel, or the pins of the chip, carried something else."""
    controller: CauseOfConflicts
    """No controller that may serve the chip was free."""
    link: CauseOfConflicts
    """A link between routers carried something else."""


@dataclass(frozen=True, slots=True)
class PathConflict:
    """Shares that found their path free at the first try; None where nothing was transferred."""

    requests_free_share: float | None
    """Of requests: none of their transfers had to wait."""
    transfers_free_share: float | None
    """Of transfers."""
    transfers: int
    """Transfers, of requests and of garbage collection."""
    wait_ps: int
    """Time that transfers waited for a path, summed."""
    causes: CausesOfConflicts
    """The same by what was in the way."""


@dataclass(frozen=True, slots=True)
class Scouts:
    """What the scouts of Venice did."""

    sent: int
    """Scouts sent."""
    failed: int
    """Of these, came back without a path."""
    steps: int
    """Links that scouts crossed in search of a path, forward and back."""
    misroutes: int
    """Of these, forward over a link that does not lead nearer to the chip."""
    backtracks: int
    """Of these, back to the router or controller that the scout came from."""
    circuit_lengths: tuple[int, ...]
    """Circuits set up, by their number of links from 0 on, those of the controller and the chip included."""


@dataclass(frozen=True, slots=True)
class Utilisation:
    """Shares of the simulated time, from 0 to 1, that resources were busy."""

    link_to_drive: float
    """The link, host to drive; of a link that carries one direction at a time, in either."""
    link_to_host: float
    """The link, drive to host."""
    adapter: float | None
    """In the host, for SATA: the busier of its two ways."""
    links: tuple[float, ...]
    """Each link of the fabric, in the order of `Links.names`: bytes on the move."""
    controllers: tuple[float, ...]
    """Each flash controller: with a transfer, or setting up its path."""
    dies: tuple[float, ...]
    """Each die, by row of chips, busy with anything."""
    links_mean: float
    """Mean of `links`."""
    controllers_mean: float
    """Mean of `controllers`."""
    dies_mean: float
    """Mean of `dies`."""
    dies_gc_mean: float
    """With garbage collection and wear levelling."""


@dataclass(frozen=True, slots=True)
class Links:
    """What each link of the fabric carried."""

    names: tuple[str, ...]
    """What each is called."""
    kinds: tuple[str, ...]
    """What it connects: channel, controller, mesh or chip."""
    busy_ps: tuple[int, ...]
    """How long it had bytes on the move."""
    bytes_to_chips: tuple[int, ...]
    """Data and metadata it carried towards the chips."""
    bytes_from_chips: tuple[int, ...]
    """Data and metadata it carried from the chips to controllers."""
    bytes_between_chips: tuple[int, ...]
    """Data and metadata it carried from chip to chip."""
    hops: int
    """Links crossed, summed over the transfers."""
    hops_mean: float | None
    """Links that a transfer crossed, on average; None without transfers."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What bounds the run."""

    resource: str
    """The resource, as docs/results.md names them."""
    share: float
    """The share of time it was busy."""
    sentence: str
    """A sentence that says so."""


@dataclass(frozen=True, slots=True)
class LowerBound:
    """The least time that the work of the run takes, by the part that needs it; None where a part is no resource."""

    makespan_ps: int
    """The largest of the following."""
    limit: str
    """The part that needs that time."""
    distance: float | None
    """How much longer the run took, as a share of the bound."""
    dies_ps: int
    """The busiest die."""
    chips_ps: int | None
    """The pins of the busiest chip, where they are a link of their own."""
    rows_ps: int | None
    """The channel of the busiest row, where a row shares one."""
    controllers_ps: int | None
    """The controllers, with the transfers evenly among them."""
    link_to_drive_ps: int
    """What crossed the link, host to drive."""
    link_to_host_ps: int
    """What crossed the link, drive to host."""
    adapter_ps: int | None
    """The adapter in the host, for SATA: the busier of its two ways."""
    dram_ps: int | None
    """The DRAM of the device cache, at work."""
    arrivals_ps: int | None
    """The last arrival, where requests do not wait for others to complete."""
