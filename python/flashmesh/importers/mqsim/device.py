"""Translation of the drive: the tags of ssdconfig.xml, and peculiarities of MQSim that have no tag.

docs/mqsim.md describes the computations of MQSim. Each peculiarity of MQSim is set by an ordinary key. If the file
means another value of this key, both are recorded: `compatible` reproduces MQSim, `physical` is what the file means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flashmesh.importers.mqsim import dram, flash_array
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
VICTIMS = {
    "GREEDY": "greedy",
    "RGA": "d-choices",
    "RANDOM": "random",
    "RANDOM_P": "random-p",
    "RANDOM_PP": "random-pp",
    "FIFO": "fifo",
}


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
    """Host-visible sectors of a plane; a fraction, since over-provisioning may leave no whole number of them."""
    is_sata: bool
    priorities: bool
    stored_entry_bytes: int | None
    """Bytes of an entry of the page map on flash; None if the whole map is in DRAM."""
    device: Section
    flash: Section

    def all_planes(self) -> int:
        """Returns the number of planes of the drive."""
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
        """Sets all keys that describe the drive. Returns the properties that the translation of flows needs.

        Raises:
            ConfigError: If a tag has an invalid value.
        """
        self.seed()
        drive = self.geometry()
        flash_array.times_and_rules(self.device, self.flash)
        flash_array.suspension(self.device, self.flash)
        flash_array.channel(self.device)
        self.scheduling()
        self.mapping(drive)
        self.collection()
        self.interface(drive)
        return drive

    def seed(self) -> None:
        """Sets the key `seed` to the tag `Seed`, modulo 2^31."""
        self.device.set("seed", self.device.whole("Seed") % 2**31, "Seed")

    def geometry(self) -> Drive:
        """Sets the keys of `[geometry]`. Returns the properties of the drive for the translation of flows."""
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

    def scheduling(self) -> None:
        """Sets the keys for the order in which transactions are issued to the dies."""
        device = self.device
        policy = device.word("Transaction_Scheduling_Policy")
        if policy == "FLIN":
            raise device.problem(
                "Transaction_Scheduling_Policy",
                "FLIN is not built into MQSim",
                'take OUT_OF_ORDER or PRIORITY_OUT_OF_ORDER; schedule.policy = "fair" is based on it',
            )
        device.set(
            "fabric.arbitration",
            compatible="data-first-together",
            physical="data-first-round-robin",
            reason="MQSim queues all pages of a request before it looks for a chip to serve",
        )
        device.set("schedule.policy", "out-of-order", "Transaction_Scheduling_Policy")
        device.set("schedule.lookahead", 65_535)
        # 1000 s means no bound on the waiting time, so reads always precede writes.
        device.set("schedule.age-bound", "1000s")
        priorities = "weighted" if policy == "PRIORITY_OUT_OF_ORDER" else "off"
        device.set("schedule.priorities", priorities, "Transaction_Scheduling_Policy")

    def mapping(self, drive: Drive) -> None:
        """Sets the keys for the placement of pages, and for the size and transfers of map entries."""
        device = self.device
        device.set("ftl.allocation", device.word("Plane_Allocation_Scheme"), "Plane_Allocation_Scheme")
        device.set(
            "ftl.write-binding",
            compatible="early",
            reason="MQSim assigns the page of a write before it queues the write",
        )
        device.set(
            "ftl.first-touch",
            compatible="write-block",
            reason="MQSim maps a page that is read before it was written to where the next write would go",
        )
        if device.word("Address_Mapping") == "HYBRID":
            raise device.problem("Address_Mapping", "HYBRID is not built into MQSim, nor here", "take PAGE_LEVEL")
        device.unused("Address_Mapping", "the map is always one of pages")
        dram.entries(drive)

    def collection(self) -> None:
        """Sets the keys for garbage collection and wear levelling."""
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
        """Sets the keys for the host link and the queues."""
        device, host = self.device, self.host
        lane = host.number("PCIe_Lane_Bandwidth")
        host.set("host.interface", "sata" if drive.is_sata else "nvme")
        device.fates["HostInterface_Type"].keys.append("host.interface")
        host.set("host.link-rate", rate(int(lane * 10**9)), "PCIe_Lane_Bandwidth")
        host.set("host.lanes", host.whole("PCIe_Lane_Count"), "PCIe_Lane_Count")
        host.set("host.packet-payload", "128B")
        host.set("host.packet-overhead", "28B")
        padded = "MQSim uses the size of its own structure, with padding"
        host.set("host.submission-size", compatible="72B", physical="64B", reason=padded)
        host.set("host.completion-size", "16B")
        host.set("nvme.doorbell-size", compatible="2B", physical="4B", reason="MQSim writes half of the register")
        host.set(
            "nvme.read-request-size",
            compatible="4B",
            physical="16B",
            reason="MQSim counts 4 B in addition to the packet overhead",
        )
        host.set(
            "host.read-data",
            compatible="request",
            physical="page",
            reason="MQSim sends the data of a read once all its pages are available",
        )
        depth = device.whole("IO_Queue_Depth")
        # A ring buffer with head and tail pointers keeps one entry free.
        if drive.is_sata:
            device.set("host.queue-depth", depth - 1, "IO_Queue_Depth")
            if depth > 33:
                self.ledger.warn(
                    f"IO_Queue_Depth {depth}: MQSim keeps that many commands in the SATA queue, which has 32 entries"
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
                reason="in MQSim the fetch of a command frees its place in the queue",
            )
            device.set("nvme.fetch-size", fetched, "Queue_Fetch_Size")
            device.set("nvme.arbitration", "round-robin")
            host.unused("SATA_Processing_Delay", "the interface is NVMe")
        instead = "`flashmesh run --request-log FILE` logs every request"
        host.unused("Enable_ResponseTime_Logging", instead)
        host.unused("ResponseTime_Logging_Period_Length", instead)
