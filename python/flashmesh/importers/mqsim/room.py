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
    def of(drive: Drive, pages: int, bound: int) -> Room:
        """The room where the fullest plane holds so many pages, and so many blocks for writes with early pages."""
        needed = SPARE_BLOCKS + bound
        if drive.stored_entry_bytes is not None:
            needed += TRANSLATION_BLOCKS
        blocks = max(drive.blocks, -(-pages // drive.pages_per_block) + needed)
        return Room(blocks, 1 - pages / (blocks * drive.pages_per_block))


def settle(ledger: Ledger, drive: Drive, pages: int) -> bool:
    """Sets the blocks of a plane and the threshold of collection, where the fullest plane holds so many pages.

    Gives whether the drive has as many blocks as its file says, where it is described as it was meant.
    """
    compatible, physical = Room.of(drive, pages, BOUND_BLOCKS), Room.of(drive, pages, 0)
    if compatible.blocks > drive.blocks:
        ledger.warn(
            f"Block_No_Per_Plane {drive.blocks} leaves too few spare blocks, which MQSim does not look at: "
            f"the drive has {compatible.blocks}, or {physical.blocks} with --physical, and the same capacity"
        )
    enough = f"a drive that is written full works on with {BOUND_BLOCKS} more spare block, for writes with early pages"
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
    return physical.blocks == drive.blocks
