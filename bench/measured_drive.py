"""`python -m bench.measured_drive MQSIM`: MQSim as a Samsung PM9A3, under the loads at which the drive was measured.

Flash times and geometry are those of the preset `samsung-pm9a3`, except for a much smaller number of blocks. MQSim maps
and programs whole pages. So there are two models: with the 16 KiB pages of the flash, and with the 4 KiB pages that the
drive maps. A page of either model takes its share of the 2.3 ms in which the drive programs three pages of 16 KiB.
Reads and writes form one flow each, at the rates of the measurement.

The measured drive was full and in its steady state. MQSim runs empty at every load, since its requests never complete
once they wait for garbage collection. One run of each model on a full drive shows this.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import click

from bench.against_mqsim import CASES, FILE

ROOT = Path(__file__).parents[1]
MEASURED = ROOT / "docs" / "validation" / "samsung-pm9a3.json"
STORED = Path(__file__).parent / "stored" / "measured-drive.csv"
FLOW = re.compile(r"\t\t<IO_Flow_Parameter_Set_Synthetic>.*?</IO_Flow_Parameter_Set_Synthetic>\n", re.S)
PAGES = {16_384: (384, 767_000), 4_096: (1_536, 192_000)}
"""Pages per block and program time of a page in ns, by page size in bytes."""
FULL_PAGES = 768
"""Maximum number of pages of a block on a full drive: MQSim fills no larger blocks."""
SERVED = re.compile(r"generated: (\d+) total requests serviced:(\d+)")
SEED = 11
FULL_REQUESTS = 20_000
"""Number of requests to a full drive, none of which complete."""


@dataclass(frozen=True, slots=True)
class Point:
    """Results of MQSim at one load."""

    offered_iops: int
    page_bytes: int
    state: str
    requests: int
    served: int
    """Completed requests that MQSim printed; 0 if it did not end in time."""
    read_mean_us: float | None
    write_mean_us: float | None


def replaced(text: str, tags: dict[str, object]) -> str:
    """Returns a file of MQSim with new values of some tags."""
    for tag, value in tags.items():
        text, count = re.subn(rf"<{tag}>[^<]*<", f"<{tag}>{value}<", text)
        if count == 0:
            raise ValueError(f"{tag} is no tag of the file")
    return text


def device(page_bytes: int, full: bool) -> str:
    """Returns the device file. A full drive is smaller, since MQSim prepares each page and refuses some sizes."""
    pages, program_ns = PAGES[page_bytes]
    pages = min(pages, FULL_PAGES) if full else pages
    programs = {f"Page_Program_Latency_{kind}": program_ns for kind in ("LSB", "CSB", "MSB")}
    tags = {
        "Enabled_Preconditioning": str(full).lower(),
        "IO_Queue_Depth": 384,
        "Data_Cache_Capacity": 32 << 20,
        "Overprovisioning_Ratio": 0.177,
        "Preemptible_GC_Enabled": "true",
        "Chip_No_Per_Channel": 2,
        "Flash_Technology": "TLC",
        "Page_Read_Latency_LSB": 28_000,
        "Page_Read_Latency_CSB": 37_000,
        "Page_Read_Latency_MSB": 56_000,
        "Block_Erase_Latency": 3_500_000,
        "Plane_No_Per_Die": 4,
        "Block_No_Per_Plane": 64 if full else 128,
        "Page_No_Per_Block": pages,
        "Page_Capacity": page_bytes,
    }
    return replaced((CASES / "device.xml").read_text(encoding="utf-8"), tags | programs)


def workload(reads: int, writes: int, requests: int, full: bool) -> str:
    """Returns a workload file with a flow of reads and a flow of writes; a full drive gets a single flow.

    MQSim cannot fill a drive whose space is divided between flows.
    """
    text = (CASES / "mix.xml").read_text(encoding="utf-8")
    found = FLOW.search(text)
    if found is None:
        raise ValueError("mix.xml has no flow")
    flows = ""
    together = reads + writes
    parts = ((together, round(100 * reads / together)),) if full else ((reads, 100), (writes, 0))
    for number, (rate, share) in enumerate(parts):
        flows += replaced(
            found[0],
            {
                "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
                "Chip_IDs": "0,1",
                "Plane_IDs": "0,1,2,3",
                "Initial_Occupancy_Percentage": 100 if full else 50,
                "Working_Set_Percentage": 100 if full else 80,
                "Read_Percentage": share,
                "Synthetic_Generator_Type": "BANDWIDTH",
                "Bandwidth": rate * 4096,
                "Total_Requests_To_Generate": round(requests * rate / together),
                "Seed": SEED + number,
            },
        )
    return text.replace(found[0], flows)


def rates(offered: int) -> tuple[int, int]:
    """Returns reads and writes per second at a load of `offered`, which excludes the reads of the first stream.

    The first stream has 10,000 requests per second, half of them reads. The other streams have the remaining load, with
    1 % reads.
    """
    reads = 5_000 + round((offered - 5_000) / 100)
    return reads, offered + 5_000 - reads


def point(mqsim: Path, offered: int, page_bytes: int, full: bool, requests: int, patience_s: float) -> Point:
    """Runs MQSim at a load. The means are None if MQSim fails, or completes less than 99 % of the requests."""
    state = "full" if full else "empty"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "device.xml").write_text(device(page_bytes, full), encoding="utf-8")
        scenario = workload(*rates(offered), requests, full)
        (folder / "workload.xml").write_text(scenario, encoding="utf-8")
        command = [str(mqsim), "-i", "device.xml", "-w", "workload.xml"]
        try:
            done = subprocess.run(
                command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=patience_s
            )
        except subprocess.TimeoutExpired:
            return Point(offered, page_bytes, state, requests, 0, None, None)
        served = sum(int(count) for _, count in SERVED.findall(done.stdout))
        if done.returncode != 0 or served < requests * 0.99:
            return Point(offered, page_bytes, state, requests, served, None, None)
        flows = ET.parse(folder / "workload_scenario_1.xml").iter("Host.IO_Flow")
        read_us, write_us = (float(flow.findtext("Device_Response_Time", "")) for flow in flows)
    return Point(offered, page_bytes, state, requests, served, read_us, write_us)


def save(file: Path, points: list[Point]) -> None:
    """Writes points as CSV."""
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, [field.name for field in fields(Point)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(found) for found in points)


@click.command()
@click.argument("mqsim", type=FILE)
@click.option("--csv", "file", type=click.Path(path_type=Path, dir_okay=False), default=STORED, show_default=True)
@click.option("--requests", default=100_000, show_default=True, type=click.IntRange(min=1_000))
@click.option("--patience", default=900.0, show_default=True, help="Seconds after which a run is given up.")
def main(mqsim: Path, file: Path, requests: int, patience: float) -> None:
    """Run MQSim, which you have built, as the drive that was measured, and keep its latencies."""
    offered = [round(one["offered_iops"]) for one in json.loads(MEASURED.read_text(encoding="utf-8"))["points"]]
    cases = [(load, page, False) for page in PAGES for load in sorted(set(offered))]
    cases += [(40_000, page, True) for page in PAGES]
    points = []
    for load, page, full in cases:
        count = min(requests, FULL_REQUESTS) if full else requests
        points.append(point(mqsim, load, page, full, count, patience))
        click.echo(points[-1])
    save(file, points)


if __name__ == "__main__":
    main()
