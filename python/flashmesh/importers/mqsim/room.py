"""Spare blocks: what MQSim's files leave of them, what the drive here needs, and when collection begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flashmesh.importers.mqsim.device import Drive
    from flashmesh.importers.mqsim.ledger import Ledger

SPARE_BLOCKS = 4
"""Spare blocks of a plane that the drive cannot do without."""
TRANSLATION_BLOCKS = 2
"""As many more when the map lies on flash."""
BOUND_BLOCKS = 1
"""And when writes get their pages early."""
COLLECTIONS_PER_PLANE = 10
"""Collections MQSim lets run in a plane at once, and the least number of free blocks at which it begins."""


@dataclass(frozen=True, slots=True)
class Room:
    """What a plane has beside the pages of the host."""

    blocks: int
    """Blocks of a plane, those included that the files lack."""
    spare: float
    """The share of a plane that is spare."""

    @staticmethod
    def of(drive: Drive, pages: int, open_blocks: int) -> Room:
        """The room where the fullest plane holds so many pages, and needs so many blocks more for open ones."""
        needed = SPARE_BLOCKS + open_blocks
        if drive.stored_entry_bytes is not None:
            needed += TRANSLATION_BLOCKS
        blocks = max(drive.blocks, -(-pages // drive.pages_per_block) + needed)
        return Room(blocks, 1 - pages / (blocks * drive.pages_per_block))


def settle(ledger: Ledger, drive: Drive, pages: int, writers: int) -> bool:
    """Sets the blocks of a plane and the threshold of collection.

    Args:
        ledger: Where everything is kept.
        drive: The drive.
        pages: Pages that the fullest plane holds.
        writers: The most open blocks for writes of the host that a plane has.

    Returns:
        Whether the drive has as many blocks as its file says, where it is described as it was meant.
    """
    compatible, physical = Room.of(drive, pages, BOUND_BLOCKS + writers - 1), Room.of(drive, pages, 0)
    if compatible.blocks > drive.blocks:
        ledger.warn(
            f"Block_No_Per_Plane {drive.blocks} leaves too few spare blocks, which MQSim does not look at: "
            f"the drive has {compatible.blocks}, or {physical.blocks} with --physical, and the same capacity"
        )
    enough = f"a drive that is written full works on with {BOUND_BLOCKS} more spare block, for writes with early pages"
    if writers > 1:
        enough += f", and with one for each of {writers - 1} more open blocks"
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
        ledger.warn(f"GC_Exec_Threshold {asked:g} is more than the spare space: {meant:g} is taken")
    least = max(int(asked * drive.blocks), COLLECTIONS_PER_PLANE) / compatible.blocks
    if least >= compatible.spare:
        ledger.warn(
            f"MQSim collects below {COLLECTIONS_PER_PLANE} free blocks of a plane, which is more than are spare: "
            f"it would collect a full drive for ever; {meant:g} of the plane is taken"
        )
        least = meant
    reason = f"MQSim collects below {COLLECTIONS_PER_PLANE} free blocks of a plane at the latest"
    drive.device.set(
        "gc.threshold", None, "GC_Exec_Threshold", compatible=round(least, 9), physical=meant, reason=reason
    )
    hard = float(drive.device.number("GC_Hard_Threshold"))
    if hard > min(least, meant):
        ledger.warn(f"GC_Hard_Threshold {hard:g} is above the threshold of collection: {min(least, meant):g} is taken")
    drive.device.set("gc.hard-threshold", min(hard, round(least, 9), meant), "GC_Hard_Threshold")
    return physical.blocks == drive.blocks
