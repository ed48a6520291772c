"""Number of blocks of a plane, with the spare blocks that a drive needs in addition to MQSim's; also GC thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashmesh.importers.mqsim.device import Drive
    from flashmesh.importers.mqsim.ledger import Ledger

SPARE_BLOCKS = 4
"""Spare blocks that the drive always needs in each plane."""
TRANSLATION_BLOCKS = 2
"""Further spare blocks in each plane if the page map is on flash."""
BOUND_BLOCKS = 1
"""Further spare blocks in each plane with early binding of writes to physical pages."""
COLLECTIONS_PER_PLANE = 10
"""Maximum number of concurrent collections of a plane in MQSim, and minimum of its GC threshold in free blocks."""


@dataclass(frozen=True, slots=True)
class Room:
    """Size of a plane in blocks, and its share of spare pages."""

    blocks: int
    """Blocks of a plane: the number in the files, plus added spare blocks."""
    spare: float
    """Share of the pages of the fullest plane that hold no data."""

    @staticmethod
    def of(drive: Drive, pages: int, open_blocks: int) -> Room:
        """Returns the size of a plane that holds `pages` pages and has `open_blocks` additional open blocks.

        `pages` is the number of pages of the fullest plane.
        """
        needed = SPARE_BLOCKS + open_blocks
        if drive.stored_entry_bytes is not None:
            needed += TRANSLATION_BLOCKS
        blocks = max(drive.blocks, -(-pages // drive.pages_per_block) + needed)
        return Room(blocks, 1 - pages / (blocks * drive.pages_per_block))


def settle(ledger: Ledger, drive: Drive, pages: int, writers: int) -> bool:
    """Sets the keys for the blocks of a plane and for the thresholds of garbage collection.

    Args:
        ledger: The record of the import.
        drive: The drive.
        pages: The pages that the fullest plane holds.
        writers: The maximum number of open blocks for host writes in a plane.

    Returns:
        Whether the physical configuration has exactly the blocks of the file.
    """
    compatible, physical = Room.of(drive, pages, BOUND_BLOCKS + writers - 1), Room.of(drive, pages, 0)
    if compatible.blocks > drive.blocks:
        ledger.warn(
            f"Block_No_Per_Plane {drive.blocks} leaves too few spare blocks, which MQSim does not check: "
            f"the drive has {compatible.blocks}, or {physical.blocks} with --physical, and the same capacity"
        )
    enough = f"a full drive needs {BOUND_BLOCKS} more spare block to go on, since writes have their pages early"
    if writers > 1:
        enough += f", and one for each of {writers - 1} more open blocks"
    drive.flash.set(
        "geometry.blocks-per-plane",
        None,
        "Block_No_Per_Plane",
        compatible=compatible.blocks,
        physical=physical.blocks,
        reason=enough,
    )
    asked = float(drive.device.number("GC_Exec_Threshold"))
    meant = min(asked, round(physical.spare / 2, 9)) if asked >= physical.spare else asked
    if meant != asked:
        ledger.warn(f"GC_Exec_Threshold {asked:g} is more than the spare space: {meant:g} is used")
    free = max(int(asked * drive.blocks), COLLECTIONS_PER_PLANE)
    least = free / compatible.blocks
    if least >= compatible.spare:
        ledger.warn(
            f"MQSim collects below {free} free blocks of a plane, which is more than are spare: it would collect a "
            f"full drive for ever; the threshold is {meant:g} of the plane"
        )
        least = meant
    reason = f"MQSim collects below {COLLECTIONS_PER_PLANE} free blocks of a plane at the latest"
    drive.device.set(
        "gc.threshold", None, "GC_Exec_Threshold", compatible=round(least, 9), physical=meant, reason=reason
    )
    hard = float(drive.device.number("GC_Hard_Threshold"))
    if hard > min(least, meant):
        ledger.warn(f"GC_Hard_Threshold {hard:g} is above the threshold of collection: {min(least, meant):g} is used")
    drive.device.set("gc.hard-threshold", min(hard, round(least, 9), meant), "GC_Hard_Threshold")
    return physical.blocks == drive.blocks
