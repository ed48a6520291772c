"""Mean latencies of imported traces, as MQSim computes them for the same files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import flashmesh
from flashmesh.importers.mqsim import import_mqsim
from mqsim_files import TRACE, device_text, workload_text

if TYPE_CHECKING:
    from pathlib import Path

DRIVE = {"Flash_Channel_Count": "2", "Chip_No_Per_Channel": "2"}
FLOW = TRACE | {"File_Path": "t", "Channel_IDs": "0,1", "Chip_IDs": "0,1", "Plane_IDs": "0"}


def mean_ns(folder: Path, device: dict[str, str], flow: dict[str, str], requests: list[tuple[int, int, int]]) -> float:
    """Returns the mean latency of requests of 4 KiB, each with its arrival in ns, its page, and 1 for a read."""
    (folder / "t").write_text("".join(f"{at} 0 {8 * page} 8 {kind}\n" for at, page, kind in requests))
    (folder / "ssd.xml").write_text(device_text(device=DRIVE | device, flash={"Plane_No_Per_Die": "1"}))
    (folder / "work.xml").write_text(workload_text([FLOW | flow]))
    latency = flashmesh.run(
        import_mqsim(folder / "ssd.xml", folder / "work.xml", folder / "out").files[0]
    ).latency_ps.all
    assert latency is not None
    return latency.mean / 1000


def test_what_waits_for_a_translation_page_goes_on_together(tmp_path: Path) -> None:
    # The write arrives first, for the second chip of a channel. Round robin serves the first chip next, so the read
    # precedes the write.
    requests = [(1000, 3, 0), (2500, 1, 1)]
    assert round(mean_ns(tmp_path, {"Ideal_Mapping_Table": "false"}, {}, requests)) == 60_834


def test_a_full_cache_writes_many_pages_at_a_time_to_make_space(tmp_path: Path) -> None:
    # Four of the eight pages fit the cache and become dirty again by later writes. MQSim without its faults has this
    # mean.
    requests = [(1000 + 100 * number, number % 8, 0) for number in range(64)]
    cached = {"Device_Level_Data_Caching_Mode": "WRITE_CACHE"}
    assert round(mean_ns(tmp_path, {"Data_Cache_Capacity": "16384"}, cached, requests)) == 791_934
