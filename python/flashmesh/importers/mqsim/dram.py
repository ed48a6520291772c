"""Translation of the contents of DRAM: the entries of the page map, and the data cache.

docs/mqsim.md describes the computations of MQSim.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashmesh.importers.mqsim.tags import SECTOR
from flashmesh.importers.toml_text import nanoseconds, rate, size

if TYPE_CHECKING:
    from flashmesh.importers.mqsim.device import Drive


def entries(drive: Drive) -> None:
    """Sets the keys for the size of map entries, and for their transfers between DRAM and flash."""
    device = drive.device
    if drive.stored_entry_bytes is None:
        device.unused("Ideal_Mapping_Table", "the whole map is in DRAM: mapping.cache-capacity stays unset")
        device.unused("CMT_Capacity", "the mapping table is ideal")
        device.unused("CMT_Sharing_Mode", "the mapping table is ideal")
        return
    pages = drive.all_planes() * drive.blocks * drive.pages_per_block
    page_bits = math.log2(pages)
    sectors = drive.page_bytes // SECTOR
    device.set("mapping.entry-size", f"{math.ceil((2 * page_bits + sectors) / 8)}B")
    device.set("mapping.stored-entry-size", f"{drive.stored_entry_bytes}B")
    device.set(
        "mapping.read-size",
        compatible=size(SECTOR),
        reason="MQSim moves one sector of a translation page",
    )
    device.set(
        "schedule.map-reads-take-others",
        compatible=True,
        reason="in MQSim reads of the map and of requests join in one operation",
    )
    device.set(
        "mapping.write-back-read",
        compatible="always",
        reason="MQSim reads a translation page each time it evicts a changed entry of that page",
    )
    device.set(
        "mapping.write-back-read-size",
        compatible="0B",
        reason="MQSim transfers only the sectors that have unchanged entries in the cache: hardly any",
    )
    device.set(
        "mapping.write-back-is-use",
        compatible=True,
        reason="MQSim looks up an entry to write it back, which counts as a use",
    )
    device.set(
        "mapping.write-back-buffer",
        compatible=size(pages * drive.stored_entry_bytes),
        reason="MQSim queues translation pages to be written, but never writes them",
    )


def mapping_table(drive: Drive, flows: int) -> None:
    """Sets the keys for the mapping cache in DRAM of `flows` flows, which share one cache or have one each."""
    if drive.stored_entry_bytes is None:
        return
    device = drive.device
    capacity, is_shared = device.whole("CMT_Capacity"), device.word("CMT_Sharing_Mode") == "SHARED"
    tables = 1 if drive.is_sata or not is_shared else flows
    sharing = "shared" if is_shared else "per-stream"
    if tables == 1:
        device.set("mapping.cache-capacity", size(capacity), "CMT_Capacity", "Ideal_Mapping_Table")
        device.set("mapping.sharing", sharing, "CMT_Sharing_Mode")
        return
    reason = "MQSim gives each flow a table of its own of the full size"
    device.set(
        "mapping.cache-capacity",
        None,
        "CMT_Capacity",
        "Ideal_Mapping_Table",
        compatible=size(capacity * tables),
        physical=size(capacity),
        reason=reason,
    )
    device.set("mapping.sharing", None, "CMT_Sharing_Mode", compatible="per-stream", physical=sharing, reason=reason)


def cache(drive: Drive, is_used: bool) -> None:
    """Sets the keys for the data cache in DRAM. Unless `is_used` (a flow uses the cache), its capacity is 0."""
    device = drive.device
    names = ("Row_Size", "Data_Rate", "Data_Busrt_Size", "tRCD", "tCL", "tRP")
    dram = [f"Data_Cache_DRAM_{name}" for name in names]
    if not is_used:
        for tag in ("Caching_Mechanism", "Data_Cache_Sharing_Mode", *dram):
            device.unused(tag, "no flow uses the cache")
        device.whole("Data_Cache_Capacity")
        device.set("cache.capacity", "0B", "Data_Cache_Capacity")
        return
    if device.word("Caching_Mechanism") == "SIMPLE":
        device.ledger.warn("Caching_Mechanism SIMPLE: MQSim aborts when a flow uses it; ADVANCED is used")
    device.unused("Caching_Mechanism", "there is one mechanism, that of ADVANCED")
    device.set("cache.capacity", size(device.whole("Data_Cache_Capacity")), "Data_Cache_Capacity")
    sharing = "shared" if device.word("Data_Cache_Sharing_Mode") == "SHARED" else "per-stream"
    device.set("cache.sharing", sharing, "Data_Cache_Sharing_Mode")
    device.set("cache.writes", "back")
    device.set(
        "cache.stall",
        compatible="cached-writes",
        reason="in MQSim writes that bypass the cache do not wait behind writes that wait for space in it",
    )
    eager = "MQSim writes a page to flash at once when it is written for the first time within a second"
    device.set("cache.destage", compatible="first-write", physical="watermark", reason=eager)
    device.set("cache.destage-window", compatible="1s", reason=eager)
    device.set(
        "cache.destage-limit",
        compatible=size(drive.all_planes() * drive.page_bytes),
        reason="in MQSim writes wait while one page for each plane is being written to flash",
    )
    device.set(
        "cache.keep-destaged",
        compatible=False,
        physical=True,
        reason="in MQSim a page leaves the cache when it is on flash",
    )
    device.set(
        "cache.keep-unwritten",
        compatible=False,
        physical=True,
        reason="MQSim files what it reads from pages that were never programmed under no page of their own",
    )
    burst, transfers = device.whole(dram[2]), device.whole(dram[1])
    device.set("cache.row-size", size(device.whole(dram[0])), dram[0])
    twice = "MQSim moves two bursts in the time of one transfer"
    device.set(
        "cache.data-rate",
        None,
        dram[1],
        dram[2],
        compatible=rate(2 * burst * transfers * 10**6),
        physical=rate(burst * transfers * 10**6),
        reason=twice,
    )
    device.set("cache.burst", None, dram[2], compatible=size(2 * burst), physical=size(burst), reason=twice)
    device.set(
        "cache.access-unit",
        compatible="request",
        reason="MQSim moves all pages of a request that are in the cache in one access",
    )
    device.set(
        "cache.access-time",
        compatible="mqsim",
        reason="MQSim counts every second row of an access of several rows, and divides where it should multiply",
    )
    device.set("cache.row-to-column-delay", nanoseconds(device.whole(dram[3])), dram[3])
    device.set("cache.column-latency", nanoseconds(device.whole(dram[4])), dram[4])
    device.set("cache.row-precharge", nanoseconds(device.whole(dram[5])), dram[5])
