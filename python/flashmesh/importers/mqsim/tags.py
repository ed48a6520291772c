"""Tags of MQSim's files: their formats, units and defaults.

The table follows MQSim's own readers (src/exec/*_Parameter_Set.cpp of github.com/CMU-SAFARI/MQSim). The bounds of a tag
are those of the key that it sets, so that errors show the line of the tag.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations
from typing import TYPE_CHECKING

from flashmesh.importers.mqsim.forms import Choice, Flag, Indices, Number, Whole, Words

if TYPE_CHECKING:
    from flashmesh.importers.mqsim.forms import Form


@dataclass(frozen=True, slots=True)
class Tag:
    """Name, format, unit and default of a tag."""

    name: str
    form: Form
    default: str | None = None
    """Text of MQSim's default; None if the tag must be given when it has an effect."""
    alias: str = ""
    """Further accepted spelling, which MQSim does not know."""


NS = Whole(0, 10**13)
"""Times in nanoseconds, up to almost three hours."""
SECTOR = 512
"""Bytes of a sector."""
SHARE = Number(Decimal(0), Decimal("0.5"))
PERCENT = Whole(0, 100)
SECTORS = Whole(1, 65_535)
"""Sizes of requests: MQSim keeps the size of a command in 16 bits."""
ORDERS = tuple("".join(order) for order in permutations("CWDP"))

HOST = (
    Tag("PCIe_Lane_Bandwidth", Number(Decimal("0.000001"), Decimal(1_000_000)), "0.4"),
    Tag("PCIe_Lane_Count", Whole(1, 32), "4"),
    Tag("SATA_Processing_Delay", Whole(0, 10**9), "0"),
    Tag("Enable_ResponseTime_Logging", Flag(), "false"),
    Tag("ResponseTime_Logging_Period_Length", NS, "400000"),
)

DEVICE = (
    Tag("Seed", Whole(-(2**31), 2**31 - 1), "123"),
    Tag("Enabled_Preconditioning", Flag(), "true"),
    Tag("Memory_Type", Choice(("FLASH",)), "FLASH"),
    Tag("HostInterface_Type", Choice(("NVME", "SATA")), "NVME"),
    Tag("IO_Queue_Depth", Whole(2, 65_535), "1024"),
    Tag("Queue_Fetch_Size", Whole(1, 65_535), "512"),
    Tag("Caching_Mechanism", Choice(("ADVANCED", "SIMPLE")), "ADVANCED"),
    Tag("Data_Cache_Sharing_Mode", Choice(("SHARED", "EQUAL_PARTITIONING")), "SHARED"),
    Tag("Data_Cache_Capacity", Whole(0, 2**32 - 1), "536870912"),
    Tag("Data_Cache_DRAM_Row_Size", Whole(64, 2**20), "8192"),
    Tag("Data_Cache_DRAM_Data_Rate", Whole(1, 1_000_000), "800"),
    Tag("Data_Cache_DRAM_Data_Busrt_Size", Whole(1, 2048), "4"),
    Tag("Data_Cache_DRAM_tRCD", Whole(0, 10**6), "13"),
    Tag("Data_Cache_DRAM_tCL", Whole(0, 10**6), "13"),
    Tag("Data_Cache_DRAM_tRP", Whole(0, 10**6), "13"),
    Tag("Address_Mapping", Choice(("PAGE_LEVEL", "HYBRID")), "PAGE_LEVEL"),
    Tag("Ideal_Mapping_Table", Flag(), "false"),
    Tag("CMT_Capacity", Whole(1, 2**32 - 1), "2097152"),
    Tag("CMT_Sharing_Mode", Choice(("SHARED", "EQUAL_PARTITIONING")), "SHARED"),
    Tag("Plane_Allocation_Scheme", Choice(ORDERS), "CWDP"),
    Tag(
        "Transaction_Scheduling_Policy",
        Choice(("OUT_OF_ORDER", "PRIORITY_OUT_OF_ORDER", "FLIN")),
        "OUT_OF_ORDER",
    ),
    Tag("Overprovisioning_Ratio", Number(Decimal("0.01"), Decimal("0.9")), "0.07"),
    Tag("GC_Exec_Threshold", SHARE, "0.05"),
    Tag("GC_Block_Selection_Policy", Choice(("GREEDY", "RGA", "RANDOM", "RANDOM_P", "RANDOM_PP", "FIFO")), "RGA"),
    Tag("Use_Copyback_for_GC", Flag(), "false"),
    Tag("Preemptible_GC_Enabled", Flag(), "true"),
    Tag("GC_Hard_Threshold", SHARE, "0.005"),
    Tag("Dynamic_Wearleveling_Enabled", Flag(), "true"),
    Tag("Static_Wearleveling_Enabled", Flag(), "true"),
    Tag("Static_Wearleveling_Threshold", Whole(1, 1_000_000), "100"),
    # MQSim's reader requires this spelling, but MQSim's own files have the correct one, which the reader skips.
    Tag("Prefered_suspend_erase_time_for_read", NS, "700000", alias="Preferred_suspend_erase_time_for_read"),
    Tag("Preferred_suspend_erase_time_for_write", NS, "700000"),
    Tag("Preferred_suspend_write_time_for_read", NS, "100000"),
    Tag("Flash_Channel_Count", Whole(1, 1024), "8"),
    Tag("Flash_Channel_Width", Whole(1, 64), "1"),
    Tag("Channel_Transfer_Rate", Whole(1, 1_000_000), "300"),
    Tag("Chip_No_Per_Channel", Whole(1, 1024), "4"),
    Tag("Flash_Comm_Protocol", Choice(("NVDDR2",)), "NVDDR2"),
)

FLASH = (
    Tag("Flash_Technology", Choice(("SLC", "MLC", "TLC")), "MLC"),
    Tag("CMD_Suspension_Support", Choice(("NONE", "PROGRAM", "ERASE", "PROGRAM_ERASE")), "ERASE"),
    Tag("Page_Read_Latency_LSB", Whole(1, 10**10 - 20), "75000"),
    Tag("Page_Read_Latency_CSB", Whole(1, 10**10 - 20), "75000"),
    Tag("Page_Read_Latency_MSB", Whole(1, 10**10 - 20), "75000"),
    Tag("Page_Program_Latency_LSB", Whole(1, 10**10), "750000"),
    Tag("Page_Program_Latency_CSB", Whole(1, 10**10), "750000"),
    Tag("Page_Program_Latency_MSB", Whole(1, 10**10), "750000"),
    Tag("Block_Erase_Latency", Whole(1, 10**10), "3800000"),
    Tag("Block_PE_Cycles_Limit", Whole(0, 2**32 - 1), "10000"),
    Tag("Suspend_Erase_Time", Whole(0, 10**9 - 95), "700000"),
    Tag("Suspend_Program_Time", Whole(0, 10**9 - 95), "100000"),
    Tag("Die_No_Per_Chip", Whole(1, 64), "2"),
    Tag("Plane_No_Per_Die", Whole(1, 8), "2"),
    Tag("Block_No_Per_Plane", Whole(4, 1_048_576), "2048"),
    Tag("Page_No_Per_Block", Whole(1, 65_535), "256"),
    Tag("Page_Capacity", Whole(512, 262_144), "8192"),
    Tag("Page_Metadat_Capacity", Whole(0, 65_536), "1872"),
)

FLOW = (
    Tag("Priority_Class", Choice(("URGENT", "HIGH", "MEDIUM", "LOW"))),
    Tag("Device_Level_Data_Caching_Mode", Choice(("TURNED_OFF", "WRITE_CACHE", "READ_CACHE", "WRITE_READ_CACHE"))),
    Tag("Channel_IDs", Indices()),
    Tag("Chip_IDs", Indices()),
    Tag("Die_IDs", Indices()),
    Tag("Plane_IDs", Indices()),
    Tag("Initial_Occupancy_Percentage", PERCENT),
)

SYNTHETIC = (
    *FLOW,
    Tag("Working_Set_Percentage", Whole(0, 2**32 - 1)),
    Tag("Synthetic_Generator_Type", Choice(("BANDWIDTH", "QUEUE_DEPTH"))),
    Tag("Read_Percentage", PERCENT),
    Tag("Address_Distribution", Choice(("STREAMING", "RANDOM_HOTCOLD", "RANDOM_UNIFORM"))),
    Tag("Percentage_of_Hot_Region", PERCENT),
    Tag("Generated_Aligned_Addresses", Flag()),
    Tag("Address_Alignment_Unit", Whole(1, 2**31)),
    Tag("Request_Size_Distribution", Choice(("FIXED", "NORMAL"))),
    Tag("Average_Request_Size", SECTORS),
    Tag("Variance_Request_Size", Whole(0, 65_535)),
    Tag("Seed", Whole(-(2**31), 2**31 - 1)),
    Tag("Average_No_of_Reqs_in_Queue", Whole(1, 65_535)),
    Tag("Bandwidth", Whole(0, 2**32 - 1)),
    Tag("Stop_Time", Whole(0, 9 * 10**15)),
    Tag("Total_Requests_To_Generate", Whole(0, 2**32 - 1)),
)

TRACE = (
    *FLOW,
    Tag("File_Path", Words()),
    Tag("Percentage_To_Be_Executed", Whole(1, 100)),
    Tag("Relay_Count", Whole(1, 2**31 - 1)),
    Tag("Time_Unit", Choice(("PICOSECOND", "NANOSECOND", "MICROSECOND"))),
)
