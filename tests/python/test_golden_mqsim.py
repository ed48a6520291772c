"""flashmesh computes the figures of MQSim, from XML files through the importer to the results of a run.

`../shared/golden/mqsim` holds the files and, in `expected.csv`, the figures of MQSim in nanoseconds. The compatible
configuration replays MQSim's own requests, so any difference is due to the drive.
"""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import flashmesh
from flashmesh.importers.mqsim import import_mqsim
from mqsim_files import SYNTHETIC, device_text, workload_text

SHARED = Path(__file__).parents[2].parent / "shared"
GOLDEN = SHARED / "golden" / "mqsim"
TOLERANCE_PERCENT = {"mean": 1.0, "iops": 1.0, "p50": 3.0, "p99": 3.0}
OF_TWO_PRIORITIES = TOLERANCE_PERCENT | {"p99": 3.5}
"""Tolerances for two priorities: MQSim skips turns of the class LOW, in which one of the two flows is."""
SHORT_CASES = 4
"""Number of cases, one flow each, that `make test` runs."""


def cases() -> list[object]:
    """Returns the rows of MQSim's figures, one per case."""
    table = GOLDEN / "expected.csv"
    if not table.is_file():
        return [pytest.param({}, id="none", marks=pytest.mark.skip(f"{table} is not there"))]
    with table.open(newline="") as file:
        return [
            pytest.param(row, id=row["case"], marks=pytest.mark.long if number >= SHORT_CASES else ())
            for number, row in enumerate(csv.DictReader(file))
        ]


@dataclass(frozen=True, slots=True)
class Figures:
    """The compared figures; times in nanoseconds."""

    mean: float
    iops: float
    p50: float
    p99: float


def figures_of(row: dict[str, str]) -> Figures:
    return Figures(*(float(row[column]) for column in ("mean_ns", "iops", "p50_ns", "p99_ns")))


def deviations(found: Figures, expected: Figures) -> dict[str, float]:
    """Returns the deviation of each figure, in percent."""
    return {name: 100 * (getattr(found, name) / getattr(expected, name) - 1) for name in TOLERANCE_PERCENT}


@pytest.mark.parametrize("row", cases())
def test_a_golden_case_agrees(row: dict[str, str], tmp_path: Path) -> None:
    # The path of a trace is relative to the folder of the workload file.
    (tmp_path / "traces").symlink_to(SHARED / "traces")
    for name in (row["device"], row["workload"]):
        (tmp_path / name).symlink_to(GOLDEN / name)
    done = import_mqsim(tmp_path / row["device"], tmp_path / row["workload"], tmp_path / "out")
    result = flashmesh.run(done.files[0])

    latency = result.latency_ps.all
    assert latency is not None
    assert latency.count == int(row["requests"])
    # MQSim counts time from zero, a replay from the first arrival, which is added to the makespan.
    with done.traces[0].open() as trace:
        begin_ns = int(trace.readline().split()[0])
    found = Figures(
        mean=latency.mean / 1000,
        iops=latency.count / (begin_ns + result.makespan_ps / 1000) * 1e9,
        # The histogram has three digits: a resolution of 0.1 %.
        p50=latency.p50 / 1000,
        p99=latency.p99 / 1000,
    )
    off = deviations(found, figures_of(row))
    told = ", ".join(f"{name} {percent:+.3f} %" for name, percent in off.items())
    tolerances = OF_TWO_PRIORITIES if row["case"] == "g_prio_2prio" else TOLERANCE_PERCENT
    assert all(abs(off[name]) <= most for name, most in tolerances.items()), told


MEANS_NS = {
    "mqsim-write-frontier": [1_623_631, 2_855_292],
    "mqsim-flow2-misaligned": [104_941, 104_935],
    "mqsim-trailing-comma": [88_905],
}
"""Mean latencies of MQSim by flow, truncated to nanoseconds."""


@pytest.mark.parametrize("case", MEANS_NS)
def test_means_of_several_flows_agree_to_the_nanosecond(case: str, tmp_path: Path) -> None:
    folder = SHARED / "cases" / "mqsim" / case
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    result = flashmesh.run(import_mqsim(folder / "ssd.xml", folder / "wl.xml", tmp_path).files[0])
    by_name = {stream.name: stream.latency_ps.all for stream in result.streams}
    means = [latency.mean for _, latency in sorted(by_name.items()) if latency is not None]
    assert [int(mean / 1000) for mean in means] == MEANS_NS[case]


ONE_CHIP = {"Flash_Channel_Count": "1", "Chip_No_Per_Channel": "1"}
ONE_AT_A_TIME = {
    "Average_No_of_Reqs_in_Queue": "1",
    "Total_Requests_To_Generate": "20",
    "Channel_IDs": "0",
    "Chip_IDs": "0",
}


@pytest.mark.parametrize(
    ("read_percent", "sectors", "expected_ns"),
    [("100", 8, 8_061), ("0", 8, 105_116), ("100", 16, 13_431), ("0", 128, 884_971)],
    ids=["4 KiB read", "4 KiB write", "8 KiB read over two planes", "64 KiB write on one chip"],
)
def test_a_single_request_takes_as_long_to_the_nanosecond(
    read_percent: str, sectors: int, expected_ns: int, tmp_path: Path
) -> None:
    flow = SYNTHETIC | ONE_AT_A_TIME
    flow |= {"Read_Percentage": read_percent, "Average_Request_Size": str(sectors)}
    flow |= {"Address_Alignment_Unit": str(sectors)}
    (tmp_path / "ssd.xml").write_text(device_text(device=ONE_CHIP))
    (tmp_path / "work.xml").write_text(workload_text([flow]))
    done = import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path)
    flashmesh.run(done.files[0], check=True, requests_file=tmp_path / "log.parquet")
    table = pq.read_table(tmp_path / "log.parquet", columns=["arrival_ps", "completed_ps"])
    latencies = sorted(pc.subtract(table["completed_ps"], table["arrival_ps"]).to_pylist())
    # Only the first request need not wait 4 ns for the doorbell of a completion before it.
    assert latencies == [1000 * (expected_ns - 4), *[1000 * expected_ns] * 19]


def test_the_drive_that_is_measured_for_speed_is_what_the_importer_writes(tmp_path: Path) -> None:
    if not GOLDEN.is_dir():
        pytest.skip(f"{GOLDEN} is not there")
    done = import_mqsim(GOLDEN / "g_1000.xml", GOLDEN / "g_rr4k_q64.xml", tmp_path, requests_max=0)
    root = Path(__file__).parents[2]
    files = [root / "bench" / "drives" / "mqsim.toml", done.files[0]]
    measured, imported = (tomllib.loads(flashmesh.configuration.load(file).to_toml()) for file in files)
    # Compare only the drives: the benchmark has its own workloads.
    for drive in (measured, imported):
        for section in ("workload", "replay", "stream"):
            drive.pop(section, None)
    assert measured == imported
