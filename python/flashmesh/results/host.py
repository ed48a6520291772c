"""What crossed between host and drive."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Queue:
    """What the queue of one stream held."""

    commands: int
    """Commands that went through it, from issue to completion."""
    occupancy_mean: float
    """Commands in it, on average over the run."""


@dataclass(frozen=True, slots=True)
class Statuses:
    """Commands by how they ended."""

    success: int
    """Did what they were asked to."""
    invalid_opcode: int
    """The drive does not know such a command (0x01)."""
    invalid_field: int
    """Of no sectors, or of more than `host.transfer-max` (0x02)."""
    invalid_namespace: int
    """Came through a queue that is attached to no namespace (0x0b)."""
    lba_out_of_range: int
    """Reach beyond their namespace (0x80)."""


@dataclass(frozen=True, slots=True)
class Host:
    """What crossed between host and drive."""

    interface: str
    """As `host.interface` names it."""
    queues: tuple[Queue, ...]
    """By stream."""
    submission_doorbells: int
    """Rung for commands issued; none where there are no doorbells."""
    completion_doorbells: int
    """Rung for completions taken."""
    bytes_to_drive: int
    """Sent over the link to the drive, those of packets included."""
    bytes_to_host: int
    """Sent over the link to the host, those of packets included."""
    statuses: Statuses
    """Commands by how they ended."""
