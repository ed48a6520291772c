"""Random pairs of MQSim files: a drive, and a scenario of one to three flows. Each seed determines one pair."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

Tags: TypeAlias = dict[str, str]

SECTOR = 512
WRITTEN_MAX = 0.3
"""Maximum share of a plane's pages that a case writes, so that garbage collection never begins."""
ORDERS = ["".join(order) for order in permutations("CWDP")]
TIMES = {"SLC": ((3_000, 25_000), (100_000, 300_000)), "MLC": ((40_000, 75_000), (500_000, 1_500_000))}
TIMES["TLC"] = TIMES["MLC"]
"""Bounds of read and program times by technology, in ns."""


@dataclass(frozen=True, slots=True)
class Case:
    """Tags of a device file and of a workload file of MQSim."""

    host: Tags
    drive: Tags
    flash: Tags
    flows: list[Tags]

    @property
    def device(self) -> str:
        """Text of the device file."""
        device = element("Device_Parameter_Set", self.drive, element("Flash_Parameter_Set", self.flash))
        return element("Execution_Parameter_Set", {}, element("Host_Parameter_Set", self.host) + device)

    @property
    def workload(self) -> str:
        """Text of the workload file."""
        flows = "".join(element("IO_Flow_Parameter_Set_Synthetic", tags) for tags in self.flows)
        return element("MQSim_IO_Scenarios", {}, element("IO_Scenario", {}, flows))


def element(name: str, tags: Tags, inside: str = "") -> str:
    """Returns an XML element that contains tags, followed by other elements."""
    lines = "".join(f"<{tag}>{text}</{tag}>\n" for tag, text in tags.items())
    return f"<{name}>\n{lines}{inside}</{name}>\n"


def drawn(seed: int) -> Case:
    """Draws the case that a seed determines."""
    chance = random.Random(seed)
    host = {
        "PCIe_Lane_Bandwidth": chance.choice(["0.5", "1.0", "2.0"]),
        "PCIe_Lane_Count": chance.choice(["1", "2", "4", "8"]),
        "SATA_Processing_Delay": "400000",
        "Enable_ResponseTime_Logging": "false",
        "ResponseTime_Logging_Period_Length": "1000000",
    }
    device, flash = drive(chance)
    flows = [flow(chance, device, flash) for _ in range(chance.choice([1, 2, 2, 3]))]
    limit_writes(flows, device, flash)
    return Case(host, device, flash, flows)


def drive(chance: random.Random) -> tuple[Tags, Tags]:
    """Draws a drive: the tags of the device and of the flash."""
    technology = chance.choice(["SLC", "MLC", "TLC"])
    reads, programs = TIMES[technology]
    read_ns = [str(chance.randrange(*reads)) for _ in range(3)]
    program_ns = [str(chance.randrange(*programs)) for _ in range(3)]
    device = {
        "Seed": str(chance.randrange(1, 1000)),
        "Enabled_Preconditioning": "false",
        "Memory_Type": "FLASH",
        "HostInterface_Type": "NVME",
        "IO_Queue_Depth": chance.choice(["256", "1024", "65535"]),
        "Queue_Fetch_Size": chance.choice(["8", "64", "512"]),
        "Caching_Mechanism": "ADVANCED",
        "Data_Cache_Sharing_Mode": chance.choice(["SHARED", "SHARED", "EQUAL_PARTITIONING"]),
        "Data_Cache_Capacity": str(chance.choice([16, 64, 256]) * 2**20),
        "Data_Cache_DRAM_Row_Size": chance.choice(["2048", "8192"]),
        "Data_Cache_DRAM_Data_Rate": chance.choice(["800", "1600"]),
        "Data_Cache_DRAM_Data_Busrt_Size": chance.choice(["1", "4"]),
        "Data_Cache_DRAM_tRCD": "13",
        "Data_Cache_DRAM_tCL": "13",
        "Data_Cache_DRAM_tRP": "13",
        "Address_Mapping": "PAGE_LEVEL",
        "Ideal_Mapping_Table": chance.choice(["true", "true", "false"]),
        "CMT_Capacity": chance.choice(["65536", "262144", "2097152"]),
        "CMT_Sharing_Mode": chance.choice(["SHARED", "EQUAL_PARTITIONING"]),
        "Plane_Allocation_Scheme": chance.choice(ORDERS),
        "Transaction_Scheduling_Policy": chance.choice(["OUT_OF_ORDER", "PRIORITY_OUT_OF_ORDER"]),
        "Overprovisioning_Ratio": chance.choice(["0.07", "0.127", "0.25"]),
        "GC_Exec_Threshold": "0.05",
        "GC_Block_Selection_Policy": chance.choice(["GREEDY", "RGA", "FIFO"]),
        "Use_Copyback_for_GC": "false",
        "Preemptible_GC_Enabled": "true",
        "GC_Hard_Threshold": "0.005",
        "Dynamic_Wearleveling_Enabled": "true",
        "Static_Wearleveling_Enabled": "false",
        "Static_Wearleveling_Threshold": "100",
        "Prefered_suspend_erase_time_for_read": "700000",
        "Preferred_suspend_erase_time_for_write": "700000",
        "Preferred_suspend_write_time_for_read": "100000",
        "Flash_Channel_Count": str(chance.choice([1, 2, 4, 8])),
        "Flash_Channel_Width": chance.choice(["1", "2"]),
        "Channel_Transfer_Rate": chance.choice(["200", "333", "533", "1000"]),
        "Chip_No_Per_Channel": str(chance.choice([1, 2, 4])),
        "Flash_Comm_Protocol": "NVDDR2",
    }
    flash = {
        "Flash_Technology": technology,
        "CMD_Suspension_Support": "NONE",
        **{f"Page_Read_Latency_{kind}": ns for kind, ns in zip(("LSB", "CSB", "MSB"), read_ns, strict=True)},
        **{f"Page_Program_Latency_{kind}": ns for kind, ns in zip(("LSB", "CSB", "MSB"), program_ns, strict=True)},
        "Block_Erase_Latency": "3800000",
        "Block_PE_Cycles_Limit": "10000",
        "Suspend_Erase_Time": "700000",
        "Suspend_Program_Time": "100000",
        "Die_No_Per_Chip": str(chance.choice([1, 2])),
        "Plane_No_Per_Die": str(chance.choice([1, 2, 4])),
        "Block_No_Per_Plane": str(chance.choice([128, 256, 512])),
        "Page_No_Per_Block": str(chance.choice([64, 128, 256])),
        "Page_Capacity": str(chance.choice([4096, 8192, 16384])),
        "Page_Metadat_Capacity": "448",
    }
    return device, flash


def subset(chance: random.Random, count: int) -> str:
    """Draws a list of indices below `count`; most often all of them."""
    numbers = range(count)
    some = numbers if chance.random() < 0.6 else chance.sample(numbers, chance.randint(1, count))
    return ",".join(map(str, sorted(some)))


def flow(chance: random.Random, device: Tags, flash: Tags) -> Tags:
    """Draws a flow."""
    page_sectors = int(flash["Page_Capacity"]) // SECTOR
    mean = chance.choice([1, page_sectors // 2, page_sectors, page_sectors, 2 * page_sectors, 4 * page_sectors])
    is_paced = chance.random() < 0.3
    return {
        "Priority_Class": chance.choice(["URGENT", "HIGH", "MEDIUM", "LOW"]),
        "Device_Level_Data_Caching_Mode": chance.choice(["TURNED_OFF"] * 4 + ["WRITE_CACHE", "WRITE_READ_CACHE"]),
        "Channel_IDs": subset(chance, int(device["Flash_Channel_Count"])),
        "Chip_IDs": subset(chance, int(device["Chip_No_Per_Channel"])),
        "Die_IDs": subset(chance, int(flash["Die_No_Per_Chip"])),
        "Plane_IDs": subset(chance, int(flash["Plane_No_Per_Die"])),
        "Initial_Occupancy_Percentage": "0",
        "Working_Set_Percentage": str(chance.choice([1, 5, 20, 50, 85, 100])),
        "Synthetic_Generator_Type": "BANDWIDTH" if is_paced else "QUEUE_DEPTH",
        "Read_Percentage": str(chance.choice([0, 0, 30, 50, 70, 100, 100])),
        "Address_Distribution": chance.choice(["RANDOM_UNIFORM", "RANDOM_UNIFORM", "RANDOM_HOTCOLD", "STREAMING"]),
        "Percentage_of_Hot_Region": str(chance.choice([5, 20, 50])),
        "Generated_Aligned_Addresses": chance.choice(["true"] * 9 + ["false"]),
        "Address_Alignment_Unit": str(chance.choice([page_sectors] * 5 + [8])),
        "Request_Size_Distribution": chance.choice(["FIXED", "FIXED", "FIXED", "NORMAL"]),
        "Average_Request_Size": str(mean),
        "Variance_Request_Size": str(chance.choice([1, max(mean // 4, 1)])),
        "Seed": str(chance.randrange(1, 10_000)),
        "Average_No_of_Reqs_in_Queue": str(chance.choice([1, 1, 2, 4, 8, 16, 32])),
        "Bandwidth": str(mean * SECTOR * chance.choice([1_000, 5_000, 20_000])),
        "Stop_Time": "0",
        "Total_Requests_To_Generate": str(chance.choice([200, 500, 1000, 2000])),
    }


def limit_writes(flows: list[Tags], device: Tags, flash: Tags) -> None:
    """Lowers the number of requests of flows so that their writes fill at most `WRITTEN_MAX` of each plane."""
    pages = int(flash["Block_No_Per_Plane"]) * int(flash["Page_No_Per_Block"])
    page_sectors = int(flash["Page_Capacity"]) // SECTOR
    for tags in flows:
        levels = (tags[name] for name in ("Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs"))
        planes = 1
        for level in levels:
            planes *= len(level.split(","))
        # Three more pages per request: an unaligned request spans one page more, and random placement is uneven.
        per_request = int(tags["Average_Request_Size"]) // page_sectors + 3
        most = int(pages * planes * WRITTEN_MAX / len(flows) / per_request)
        tags["Total_Requests_To_Generate"] = str(min(int(tags["Total_Requests_To_Generate"]), max(most, 10)))
        depth = int(tags["Average_No_of_Reqs_in_Queue"])
        # MQSim aborts on a flow of fewer requests than its depth.
        tags["Average_No_of_Reqs_in_Queue"] = str(min(depth, int(tags["Total_Requests_To_Generate"])))
