"""What the flash, the maps and the caches of the drive did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GarbageCollection:
    """What garbage collection and wear levelling did."""

    collections: int
    """Blocks emptied, those of wear levelling included."""
    wear_moves: int
    """Of these, by static wear levelling."""
    translation_collections: int
    """Of all, blocks of translation pages."""
    pages_moved: int
    """Valid pages of these blocks, written elsewhere."""
    pages_copied: int
    """Of these, sent from chip to chip without a controller."""
    erases: int
    """Blocks erased."""


@dataclass(frozen=True, slots=True)
class FlashOperations:
    """What the flash array did for requests, in pages."""

    pages_written: int
    """Those that requests wrote, wherever they went first."""
    user_reads: int
    """Pages read for requests."""
    user_programs: int
    """Pages programmed for requests, and by the device cache for those that wrote them."""
    partial_write_reads: int
    """Pages read to complete writes of a part of them."""
    map_reads: int
    """Translation pages read."""
    map_programs: int
    """Translation pages programmed."""
    multi_plane_operations: int
    """Operations that more than one plane joined."""
    suspensions: int
    """Programs and erases set aside for reads."""


@dataclass(frozen=True, slots=True)
class MappingCache:
    """What the cache of the map did."""

    entries: int
    """Entries it can hold."""
    hit_share: float | None
    """Share of the entries wanted that it had; None when none was wanted."""
    hits: int
    """Entries wanted, one a page of a request, and found."""
    misses: int
    """Entries for which a translation page was read."""
    joined_misses: int
    """Entries not found whose translation page was being read, or written back, already."""
    waits_for_room: int
    """Misses that waited for a write-back to make room."""
    evictions: int
    """Entries that made way for others."""
    write_backs: int
    """Translation pages that were to be written back."""
    write_backs_without_read: int
    """Of these, without reading them, since all of their entries were in DRAM."""


@dataclass(frozen=True, slots=True)
class CacheLookups:
    """Pages looked up in the device cache: all of a page was there, some of it, or nothing."""

    hits: int
    """All that was wanted of the page was there."""
    partial_hits: int
    """Some of it was."""
    misses: int
    """Nothing of it was."""


@dataclass(frozen=True, slots=True)
class DeviceCache:
    """What the device cache did, in pages."""

    capacity_pages: int
    """What it can hold."""
    reads: CacheLookups
    """Of all streams."""
    writes: CacheLookups
    """Of streams whose writes it takes."""
    fills: int
    """Brought from flash by reads, and kept."""
    destages: int
    """Written to flash."""
    evictions: int
    """Forgotten to make room for others."""
    waits: int
    """Written pages that waited for room, or behind others that did."""
    wait_ps: int
    """How long those waited that went on, summed."""
    dirty_pages_max: int
    """The most that flash lacked sectors of at once."""
    dirty_pages_end: int
    """Those it lacked sectors of at the end."""
    dram_share: float
    """Busy share of the DRAM."""


@dataclass(frozen=True, slots=True)
class PowerCut:
    """What a cut of the power did."""

    at_ps: int
    """When it came."""
    capacitors: bool
    """Whether capacitors kept the drive alive."""
    requests_lost: int
    """In flight, and never completed."""
    dirty_pages: int
    """In the cache, with sectors that flash lacked."""
    dirty_bytes: int
    """What it lacked of them."""
    pages_programmed: int
    """From then on, with capacitors."""
    duration_ps: int
    """How long that took."""
    energy_j: float
    """What the drive drew for it."""
    pages_lost: int
    """Acknowledged to the host and lost, in whole or in part, without capacitors."""
    bytes_lost: int
    """What was lost of them."""
    programs_lost: int
    """Pages that were being programmed."""
