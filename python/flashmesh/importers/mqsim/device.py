"""Translation of the drive: the tags of ssdconfig.xml, and peculiarities of MQSim that have no tag.

docs/mqsim.md describes the computations of MQSim. Each peculiarity is an ordinary value here; where the file means
another value, both are recorded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flashmesh.importers.mqsim.ledger import Section
from flashmesh.importers.mqsim.tags import DEVICE, FLASH, HOST, SECTOR
from flashmesh.importers.toml_text import nanoseconds, rate, size

if TYPE_CHECKING:
    from decimal import Decimal

    from flashmesh.importers.mqsim.document import Element
    from flashmesh.importers.mqsim.ledger import Ledger
    from flashmesh.importers.problems import Source

SECTORS_PER_PAGE_MAX = 64
"""Maximum number of sectors of a page in MQSim, which stores a bit for each sector in a 64-bit number."""
READY_NS = 20
"""Delay from the end of a read in the array to the ready signal."""
SUSPEND_COMMAND_NS = 95
READ_COMMANDS = ("290ns", "940ns")
PROGRAM_COMMANDS = ("361ns", "1177ns")
ERASE_COMMANDS = ("220ns", "920ns")
"""Erase command times for one and for two planes; each further plane adds the difference, as for reads and programs."""
VICTIMS = {
    "GREEDY": "greedy",
    "RGA": "d-choices",
    "RANDOM": "random",
    "RANDOM_P": "random-p",
    "RANDOM_PP": "random-pp",
    "FIFO": "fifo",
}
SUSPENSIONS = {"NONE": "off", "PROGRAM": "program", "ERASE": "erase", "PROGRAM_ERASE": "both"}


@dataclass(frozen=True, slots=True)
class Drive:
    """Properties of the drive that the translation of flows needs."""

    channels: int
    chips: int
    dies: int
    planes: int
    blocks: int
    pages_per_block: int
    page_bytes: int
    plane_sectors: Decimal
    """Host-visible sectors of a plane."""
    is_sata: bool
    priorities: bool
    stored_entry_bytes: int | None
    """Size of an entry of the map on flash; None if the whole map is in DRAM."""
    device: Section
    flash: Section

    def all_planes(self) -> int:
        """Returns the number of planes."""
        return self.channels * self.chips * self.dies * self.planes


class DeviceTranslation:
    """Translator of one ssdconfig.xml."""

    def __init__(self, ledger: Ledger, source: Source, root: Element) -> None:
        """Sorts the tags of the file into sections.

        Raises:
            ConfigError: If a section is missing, or given twice.
        """
        self.ledger = ledger
        execution = Section(ledger, source, root, (), ("Host_Parameter_Set", "Device_Parameter_Set"))
        for name in ("Host_Parameter_Set", "Device_Parameter_Set"):
            if name not in execution.inner:
                raise source.problem(root.line, f"<{name}> is missing in <{root.name}>", mark=root.name)
        device = execution.inner["Device_Parameter_Set"]
        self.host = Section(ledger, source, execution.inner["Host_Parameter_Set"], HOST)
        self.device = Section(ledger, source, device, DEVICE, ("Flash_Parameter_Set",))
        flash = self.device.inner.get("Flash_Parameter_Set")
        if flash is None:
            raise source.problem(device.line, f"<Flash_Parameter_Set> is missing in <{device.name}>", mark=device.name)
        self.flash = Section(ledger, source, flash, FLASH)

    def translate(self) -> Drive:
        """Sets every key of the drive.

        Raises:
            ConfigError: If a tag has an invalid value.
        """
        self.seed()
        drive = self.geometry()
        self.array()
        self.suspension()
        self.channel()
        self.scheduling()
        self.mapping(drive)
        self.collection()
        self.interface(drive)
        return drive

    def seed(self) -> None:
        """Sets the seed."""
        self.device.set("seed", self.device.whole("Seed") % 2**31, "Seed")

    def geometry(self) -> Drive:
        """Sets the geometry, and returns the drive."""
        device, flash = self.device, self.flash
        page = flash.whole("Page_Capacity")
        if page & (page - 1) or page > SECTORS_PER_PAGE_MAX * SECTOR:
            most = size(SECTORS_PER_PAGE_MAX * SECTOR)
            raise flash.problem("Page_Capacity", f"a page of {page} B: expected a power of two, at most {most}")
        is_ideal = device.flag("Ideal_Mapping_Table")
        drive = Drive(
            channels=device.whole("Flash_Channel_Count"),
            chips=device.whole("Chip_No_Per_Channel"),
            dies=flash.whole("Die_No_Per_Chip"),
            planes=flash.whole("Plane_No_Per_Die"),
            blocks=flash.whole("Block_No_Per_Plane"),
            pages_per_block=flash.whole("Page_No_Per_Block"),
            page_bytes=page,
            plane_sectors=flash.whole("Block_No_Per_Plane")
            * flash.whole("Page_No_Per_Block")
            * (page // SECTOR)
            * (1 - device.number("Overprovisioning_Ratio")),
            is_sata=device.word("HostInterface_Type") == "SATA",
            priorities=device.word("Transaction_Scheduling_Policy") == "PRIORITY_OUT_OF_ORDER",
            stored_entry_bytes=None,
            device=device,
            flash=flash,
        )
        if not is_ideal:
            bits = math.log2(drive.all_planes() * drive.blocks * drive.pages_per_block) + page // SECTOR
            drive = replace(drive, stored_entry_bytes=math.ceil(bits / 8))
        device.set("geometry.channels", drive.channels, "Flash_Channel_Count")
        device.set("geometry.chips-per-channel", drive.chips, "Chip_No_Per_Channel")
        flash.set("geometry.dies-per-chip", drive.dies, "Die_No_Per_Chip")
        flash.set("geometry.planes-per-die", drive.planes, "Plane_No_Per_Die")
        flash.set("geometry.pages-per-block", flash.whole("Page_No_Per_Block"), "Page_No_Per_Block")
        flash.set("geometry.page-size", size(page), "Page_Capacity")
        flash.set(
            "geometry.page-spare",
            None,
            "Page_Metadat_Capacity",
            compatible="0B",
            physical=size(flash.whole("Page_Metadat_Capacity")),
            reason="MQSim moves no metadata",
        )
        device.set("geometry.sector-size", size(SECTOR))
        device.unused("Memory_Type", "there is no other kind")
        return drive

    def array(self) -> None:
        """Sets the times of the array and of commands, and the rules of multi-plane and partial programs."""
        flash = self.flash
        cells = flash.word("Flash_Technology")
        types = {"SLC": "one", "MLC": "mlc", "TLC": "tlc"}
        flash.set("flash.page-types", types[cells], "Flash_Technology")
        pages = {"LSB": "", "CSB": "middle-page-", "MSB": "upper-page-"}
        used = {"SLC": ("LSB",), "MLC": ("LSB", "MSB"), "TLC": ("LSB", "CSB", "MSB")}[cells]
        for page, prefix in pages.items():
            read, program = f"Page_Read_Latency_{page}", f"Page_Program_Latency_{page}"
            if page not in used:
                for tag in (read, program):
                    flash.unused(tag, f"{cells} has no such pages")
                continue
            time = flash.whole(read)
            flash.set(
                f"flash.{prefix}read-time",
                None,
                read,
                compatible=nanoseconds(time + READY_NS),
                physical=nanoseconds(time),
                reason=f"MQSim adds {READY_NS} ns until the chip says that it is ready",
            )
            flash.set(f"flash.{prefix}program-time", nanoseconds(flash.whole(program)), program)
        flash.set("flash.erase-time", nanoseconds(flash.whole("Block_Erase_Latency")), "Block_Erase_Latency")
        flash.unused("Block_PE_Cycles_Limit", "blocks do not wear out; MQSim does not use it either")
        device = self.device
        device.word("Flash_Comm_Protocol")
        device.set("flash.read-command-time", READ_COMMANDS, "Flash_Comm_Protocol")
        device.set("flash.program-command-time", PROGRAM_COMMANDS, "Flash_Comm_Protocol")
        device.set("flash.erase-command-time", ERASE_COMMANDS, "Flash_Comm_Protocol")
        device.set("flash.multi-plane", "same-offset")
        device.set(
            "flash.plane-order",
            compatible="arrival",
            reason="in MQSim the planes of a read send their data in the order in which the reads came",
        )
        flash.set(
            "flash.die-interleaving",
            compatible=False,
            physical=True,
            reason="in MQSim a chip takes no command while any of its dies works or holds data",
        )
        flash.set(
            "flash.partial-program",
            compatible=True,
            physical=False,
            reason="MQSim moves only the sectors written of a page that is programmed",
        )

        flash.set(
            "flash.program-order",
            compatible="any",
            reason="MQSim programs the pages of a block in the order in which their turns come",
        )

    def suspension(self) -> None:
        """Sets the operations that reads may suspend."""
        device, flash = self.device, self.flash
        asked = SUSPENSIONS[flash.word("CMD_Suspension_Support")]
        never = "MQSim never suspends: its test for it cannot be passed"
        flash.set("flash.suspension", None, "CMD_Suspension_Support", compatible="off", physical=asked, reason=never)
        times = {
            "program": ("Suspend_Program_Time", "Preferred_suspend_write_time_for_read"),
            "erase": ("Suspend_Erase_Time", "Prefered_suspend_erase_time_for_read"),
        }
        suspended = [kind for kind in times if asked in (kind, "both")]
        for kind, (taken, preferred) in times.items():
            if kind not in suspended:
                flash.unused(taken, f"{kind}s are not suspended")
                device.unused(preferred, f"{kind}s are not suspended")
        if suspended:
            durations = [times[kind][0] for kind in suspended]
            remainders = [times[kind][1] for kind in suspended]
            longest = max(flash.whole(tag) for tag in durations) + SUSPEND_COMMAND_NS
            least = max(device.whole(tag) for tag in remainders)
            flash.set("flash.suspend-time", None, *durations, physical=nanoseconds(longest), reason=never)
            device.set("flash.suspend-remaining-min", None, *remainders, physical=nanoseconds(least), reason=never)
            flash.set("flash.resume-time", physical="0ns", reason=never)
        device.unused("Preferred_suspend_erase_time_for_write", "a write suspends nothing")

    def channel(self) -> None:
        """Sets the data rate of the channels."""
        device = self.device
        width, transfers = device.whole("Flash_Channel_Width"), device.whole("Channel_Transfer_Rate")
        # MQSim rounds the time of one transfer to whole nanoseconds; two transfers move twice the channel width.
        pair_ns = 2 * (1000 // transfers)
        physical = rate(transfers * width * 10**6)
        compatible = rate(-(-2 * width * 10**9 // pair_ns)) if pair_ns else "unlimited"
        reason = "MQSim rounds the time of a transfer down to whole nanoseconds"
        tags = ("Flash_Channel_Width", "Channel_Transfer_Rate")
        device.set("fabric.kind", "bus")
        if compatible == physical:
            device.set("fabric.channel-rate", physical, *tags)
        else:
            device.set("fabric.channel-rate", None, *tags, compatible=compatible, physical=physical, reason=reason)
        if not pair_ns:
            self.ledger.warn(
                f"Channel_Transfer_Rate {transfers} is above 1000: MQSim moves data on the channels in no time; "
                f"--physical takes {physical}"
            )
        elif (acts := 1000 // (1000 // transfers)) != transfers:
            self.ledger.warn(f"Channel_Transfer_Rate {transfers} acts as {acts} in MQSim; --physical takes {transfers}")

    def scheduling(self) -> None:
        """Sets the scheduling of transactions."""
        device = self.device
        policy = device.word("Transaction_Scheduling_Policy")
        if policy == "FLIN":
            raise device.problem(
                "Transaction_Scheduling_Policy",
                "FLIN is not built into MQSim",
                'take OUT_OF_ORDER or PRIORITY_OUT_OF_ORDER; schedule.policy = "fair" is after its idea',
            )
        device.set(
            "fabric.arbitration",
            compatible="data-first-together",
            physical="data-first-round-robin",
            reason="MQSim queues all pages of a request before it looks for a chip to serve",
        )
        device.set("schedule.policy", "out-of-order", "Transaction_Scheduling_Policy")
        device.set("schedule.lookahead", 65_535)
        # With a bound this high, reads always go first.
        device.set("schedule.age-bound", "1000s")
        priorities = "weighted" if policy == "PRIORITY_OUT_OF_ORDER" else "off"
        device.set("schedule.priorities", priorities, "Transaction_Scheduling_Policy")

    def mapping(self, drive: Drive) -> None:
        """Sets the page allocation and the mapping cache."""
        device = self.device
        device.set("ftl.allocation", device.word("Plane_Allocation_Scheme"), "Plane_Allocation_Scheme")
        device.set(
            "ftl.write-binding",
            compatible="early",
            reason="in MQSim a write has its page before it waits for its turn",
        )
        device.set(
            "ftl.first-touch",
            compatible="write-block",
            reason="MQSim places what is read before it was written where the next write would go",
        )
        if device.word("Address_Mapping") == "HYBRID":
            raise device.problem("Address_Mapping", "HYBRID is not built into MQSim, nor here", "take PAGE_LEVEL")
        device.unused("Address_Mapping", "the map is always one of pages")
        if drive.stored_entry_bytes is None:
            device.unused("Ideal_Mapping_Table", "the whole map is in DRAM: mapping.cache-capacity stays unset")
            device.unused("CMT_Capacity", "the mapping table is ideal")
            device.unused("CMT_Sharing_Mode", "the mapping table is ideal")
            return
        page_bits = math.log2(drive.all_planes() * drive.blocks * drive.pages_per_block)
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
            reason="MQSim reads a translation page each time a changed entry of it makes way",
        )
        device.set(
            "mapping.write-back-read-size",
            compatible="0B",
            reason="MQSim moves only sectors of which it has entries that did not change: hardly any",
        )
        device.set(
            "mapping.write-back-is-use",
            compatible=True,
            reason="MQSim looks an entry up in order to write it back, and that counts as a use",
        )
        map_bytes = drive.all_planes() * drive.blocks * drive.pages_per_block * drive.stored_entry_bytes
        device.set(
            "mapping.write-back-buffer",
            compatible=size(map_bytes),
            reason="MQSim queues translation pages to be written, and never writes one",
        )

    def mapping_table(self, drive: Drive, flows: int) -> None:
        """Sets the mapping table that `flows` flows share."""
        if drive.stored_entry_bytes is None:
            return
        device = self.device
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
        device.set(
            "mapping.sharing", None, "CMT_Sharing_Mode", compatible="per-stream", physical=sharing, reason=reason
        )

    def collection(self) -> None:
        """Sets garbage collection and wear levelling."""
        device = self.device
        blocks = self.flash.whole("Block_No_Per_Plane")
        policy = device.word("GC_Block_Selection_Policy")
        device.set("gc.victim", VICTIMS[policy], "GC_Block_Selection_Policy")
        if policy == "RGA":
            device.set("gc.d", blocks.bit_length() - 1, "GC_Block_Selection_Policy")
        device.set("gc.preemptible", device.flag("Preemptible_GC_Enabled"), "Preemptible_GC_Enabled")
        device.set("gc.copyback", device.flag("Use_Copyback_for_GC"), "Use_Copyback_for_GC")
        device.set("wear.dynamic", device.flag("Dynamic_Wearleveling_Enabled"), "Dynamic_Wearleveling_Enabled")
        levels = device.flag("Static_Wearleveling_Enabled")
        device.set("wear.static-levelling", levels, "Static_Wearleveling_Enabled")
        if levels:
            threshold = device.whole("Static_Wearleveling_Threshold")
            device.set("wear.static-threshold", threshold, "Static_Wearleveling_Threshold")
        else:
            device.unused("Static_Wearleveling_Threshold", "there is no static wear levelling")

    def interface(self, drive: Drive) -> None:
        """Sets the host link and the queues."""
        device, host = self.device, self.host
        lane = host.number("PCIe_Lane_Bandwidth")
        host.set("host.interface", "sata" if drive.is_sata else "nvme")
        device.fates["HostInterface_Type"].keys.append("host.interface")
        host.set("host.link-rate", rate(int(lane * 10**9)), "PCIe_Lane_Bandwidth")
        host.set("host.lanes", host.whole("PCIe_Lane_Count"), "PCIe_Lane_Count")
        host.set("host.packet-payload", "128B")
        host.set("host.packet-overhead", "28B")
        padded = "MQSim takes the size of its own structure, with padding"
        host.set("host.submission-size", compatible="72B", physical="64B", reason=padded)
        host.set("host.completion-size", "16B")
        host.set("nvme.doorbell-size", compatible="2B", physical="4B", reason="MQSim writes half of the register")
        host.set(
            "nvme.read-request-size",
            compatible="4B",
            physical="16B",
            reason="MQSim counts 4 B beside what a packet costs",
        )
        host.set(
            "host.read-data",
            compatible="request",
            physical="page",
            reason="MQSim sends the data of a read when its last page is there",
        )
        depth = device.whole("IO_Queue_Depth")
        # A ring buffer with head and tail pointers keeps one entry free.
        if drive.is_sata:
            device.set("host.queue-depth", depth - 1, "IO_Queue_Depth")
            if depth > 33:
                self.ledger.warn(
                    f"IO_Queue_Depth {depth}: MQSim keeps as many commands in the queue of SATA, which has 32 entries"
                )
            device.set("sata.ncq-depth", min(depth - 1, 32), "IO_Queue_Depth")
            delay = nanoseconds(host.whole("SATA_Processing_Delay"))
            host.set("sata.processing-delay", delay, "SATA_Processing_Delay")
            host.set(
                "sata.transport",
                compatible="doorbells",
                physical="frames",
                reason="MQSim puts SATA on the PCIe link, with the messages of NVMe",
            )
            device.unused("Queue_Fetch_Size", "only NVMe fetches commands")
        else:
            fetched = device.whole("Queue_Fetch_Size")
            device.set(
                "host.queue-depth",
                None,
                "IO_Queue_Depth",
                compatible=min(depth - 1 + fetched, 65_535),
                physical=depth - 1,
                reason="in MQSim a command that the drive has fetched leaves its place in the queue",
            )
            device.set("nvme.fetch-size", fetched, "Queue_Fetch_Size")
            device.set("nvme.arbitration", "round-robin")
            host.unused("SATA_Processing_Delay", "the interface is NVMe")
        instead = "`flashmesh run --request-log FILE` logs every request"
        host.unused("Enable_ResponseTime_Logging", instead)
        host.unused("ResponseTime_Logging_Period_Length", instead)

    def cache(self, drive: Drive, is_used: bool) -> None:
        """Sets the DRAM cache; without a flow that uses it (`is_used`), its capacity is 0."""
        device = self.device
        names = ("Row_Size", "Data_Rate", "Data_Busrt_Size", "tRCD", "tCL", "tRP")
        dram = [f"Data_Cache_DRAM_{name}" for name in names]
        if not is_used:
            for tag in ("Caching_Mechanism", "Data_Cache_Sharing_Mode", *dram):
                device.unused(tag, "no flow uses the cache")
            device.whole("Data_Cache_Capacity")
            device.set("cache.capacity", "0B", "Data_Cache_Capacity")
            return
        if device.word("Caching_Mechanism") == "SIMPLE":
            self.ledger.warn("Caching_Mechanism SIMPLE: MQSim gives up when a flow uses it; ADVANCED is taken")
        device.unused("Caching_Mechanism", "there is one mechanism, that of ADVANCED")
        device.set("cache.capacity", size(device.whole("Data_Cache_Capacity")), "Data_Cache_Capacity")
        sharing = "shared" if device.word("Data_Cache_Sharing_Mode") == "SHARED" else "per-stream"
        device.set("cache.sharing", sharing, "Data_Cache_Sharing_Mode")
        device.set("cache.writes", "back")
        device.set(
            "cache.stall",
            compatible="cached-writes",
            reason="in MQSim writes past the cache do not wait behind writes that wait for room in it",
        )
        eager = "MQSim writes a page to flash at once when it is written for the first time within a second"
        device.set("cache.destage", compatible="first-write", physical="watermark", reason=eager)
        device.set("cache.destage-window", compatible="1s", reason=eager)
        device.set(
            "cache.destage-limit",
            compatible=size(drive.all_planes() * drive.page_bytes),
            reason="in MQSim writes wait while as much is on its way to flash as one page for each plane",
        )
        device.set(
            "cache.destages-max",
            compatible=1,
            reason="in MQSim a page that is written again stays in the cache, also while writes wait",
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
