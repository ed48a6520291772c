"""A drive of MQSim becomes a drive that behaves like MQSim, or the drive that the file describes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import flashmesh
from conftest import COMMAND, Cli, Import, cpu_s
from flashmesh.importers.mqsim import import_mqsim
from mqsim_files import FEW, SYNTHETIC, device_text, workload_text

if TYPE_CHECKING:
    from pathlib import Path


def test_the_drive_of_mqsim_has_its_habits_as_ordinary_values(tables: Import) -> None:
    found = tables()
    assert found["flash"]["read-time"] == "3020ns"
    assert found["flash"]["read-command-time"] == ["290ns", "940ns"]
    assert found["flash"]["program-command-time"] == ["361ns", "1177ns"]
    assert found["flash"]["erase-command-time"] == ["220ns", "920ns"]
    assert found["flash"]["die-interleaving"] is False
    assert found["flash"]["program-order"] == "any"
    assert (found["ftl"]["write-binding"], found["ftl"]["first-touch"]) == ("early", "write-block")
    assert found["flash"]["suspension"] == "off"
    assert found["geometry"]["page-spare"] == "0B"
    # The capacity is 365,690 sectors in each of 128 planes, truncated like in MQSim.
    assert found["geometry"]["capacity"] == f"{365_690 * 128 // 2}KiB"
    host = found["host"]
    assert (host["packet-payload"], host["packet-overhead"]) == ("128B", "28B")
    assert (host["submission-size"], host["completion-size"]) == ("72B", "16B")
    assert (host["link-rate"], host["lanes"], host["queue-depth"]) == ("1GB/s", 8, 1023 + 512)
    assert tables(device={"GC_Exec_Threshold": "0.001"}, flash={"Block_No_Per_Plane": "2048"})["gc"][
        "threshold"
    ] == round(10 / 2048, 9)


def test_a_drive_with_too_few_spare_blocks_gets_more_and_is_told(tables: Import, tmp_path: Path) -> None:
    found = tables(device={"Ideal_Mapping_Table": "false", "GC_Exec_Threshold": "0.3"}, physical=True)
    # The file describes 64 blocks per plane. The data of host and map fill 60, and the drive needs six spare blocks.
    assert found["geometry"]["blocks-per-plane"] == 66
    assert found["geometry"]["capacity"] == f"{365_690 * 128 // 2}KiB"
    assert 0.04 < found["gc"]["threshold"] < 0.06
    told = (tmp_path / "out" / "work-import.txt").read_text()
    assert "the drive has 67, or 66 with --physical" in told
    assert "GC_Exec_Threshold 0.3 is more than the spare space" in told
    assert "collect a full drive for ever" in told


def test_physical_describes_what_the_files_mean(tables: Import) -> None:
    found = tables(physical=True, device={"Channel_Transfer_Rate": "800"}, flash={"CMD_Suspension_Support": "PROGRAM"})
    assert found["flash"]["read-time"] == "3us"
    assert found["flash"]["die-interleaving"] is True
    assert "program-order" not in found["flash"]
    assert found["ftl"] == {"allocation": "CWDP"}
    assert found["flash"]["suspension"] == "program"
    assert found["flash"]["suspend-time"] == "100095ns"
    assert found["fabric"]["channel-rate"] == "800MB/s"
    assert found["geometry"]["page-spare"] == "448B"
    assert found["geometry"]["over-provisioning"] == 0.07
    assert "capacity" not in found["geometry"]
    assert found["gc"]["threshold"] == 0.05


@pytest.mark.parametrize(
    ("transfers", "width", "acts"),
    [
        ("1000", "1", "1GB/s"),
        ("501", "1", "1GB/s"),
        ("500", "1", "500MB/s"),
        ("334", "1", "500MB/s"),
        ("333", "1", "333333334B/s"),
        ("333", "2", "666666667B/s"),
        ("1001", "1", "unlimited"),
    ],
)
def test_rates_of_channels_are_rounded_as_mqsim_does(tables: Import, transfers: str, width: str, acts: str) -> None:
    found = tables(device={"Channel_Transfer_Rate": transfers, "Flash_Channel_Width": width})
    assert found["fabric"]["channel-rate"] == acts


def test_pages_differ_by_technology(tables: Import) -> None:
    times = {f"Page_Read_Latency_{page}": time for page, time in (("LSB", "10"), ("CSB", "20"), ("MSB", "30"))}
    read = "read-time"
    slc = tables(flash=times)["flash"]
    assert (slc["page-types"], slc[read]) == ("one", "30ns")
    mlc = tables(flash=times | {"Flash_Technology": "mlc"})["flash"]
    assert (mlc["page-types"], mlc[read], mlc[f"upper-page-{read}"]) == ("mlc", "30ns", "50ns")
    assert f"middle-page-{read}" not in mlc
    tlc = tables(flash=times | {"Flash_Technology": "TLC"})["flash"]
    assert (tlc["page-types"], tlc[f"middle-page-{read}"], tlc[f"upper-page-{read}"]) == ("tlc", "40ns", "50ns")


def test_a_limited_mapping_table_has_entries_of_the_size_mqsim_computes(tables: Import) -> None:
    found = tables(device={"Ideal_Mapping_Table": "false", "CMT_Capacity": "262144"})["mapping"]
    assert (found["cache-capacity"], found["entry-size"], found["stored-entry-size"]) == ("256KiB", "7B", "4B")
    assert (found["read-size"], found["write-back-read-size"]) == ("512B", "0B")
    assert (found["write-back-read"], found["write-back-is-use"]) == ("always", True)
    # The buffer has 4 B for each of the 128 x 64 x 768 pages of the drive.
    assert found["write-back-buffer"] == "24MiB"
    assert "mapping" not in tables()


def test_the_cache_is_off_unless_a_flow_uses_it(tables: Import) -> None:
    assert tables()["cache"] == {"capacity": "0B"}
    cached = tables(SYNTHETIC | {"Device_Level_Data_Caching_Mode": "WRITE_CACHE"})
    assert cached["queue"]["caching"] == "writes"
    cache = cached["cache"]
    assert (cache["capacity"], cache["destage"], cache["keep-destaged"]) == ("512MiB", "first-write", False)
    assert (cache["data-rate"], cache["destage-limit"]) == ("6400MB/s", "512KiB")


def test_each_open_block_beyond_the_first_of_a_plane_takes_a_spare_block(tables: Import) -> None:
    full = {"Overprovisioning_Ratio": "0.03"}
    blocks = [tables(*[SYNTHETIC] * flows, device=full)["geometry"]["blocks-per-plane"] for flows in (1, 2, 3)]
    assert blocks == [blocks[0], blocks[0] + 1, blocks[0] + 2]


def test_the_map_on_flash_begins_with_the_first_plane(tables: Import) -> None:
    on_flash = {"Ideal_Mapping_Table": "false"}
    # The capacity is 365,690 sectors in each of 128 planes, 22855.625 MiB, rounded to stripes of 512 KiB.
    assert tables(device=on_flash)["geometry"]["capacity"] == "22856MiB"
    assert tables()["geometry"]["capacity"] == f"{365_690 * 128 // 2}KiB"


@pytest.mark.parametrize("physical", [False, True])
def test_the_whole_space_of_a_drive_of_one_plane_runs(tmp_path: Path, physical: bool) -> None:
    one = {"Flash_Channel_Count": "1", "Chip_No_Per_Channel": "1"}
    flow = SYNTHETIC | {"Channel_IDs": "0", "Chip_IDs": "0", "Plane_IDs": "0", "Working_Set_Percentage": "100"}
    for blocks in ("64", "65", "67", "128"):
        flash = {"Plane_No_Per_Die": "1", "Block_No_Per_Plane": blocks, "Page_Capacity": "8192"}
        (tmp_path / "ssd.xml").write_text(device_text(device=one, flash=flash))
        (tmp_path / "work.xml").write_text(workload_text([flow | {"Stop_Time": "100000"}]))
        done = import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path / "out", physical=physical)
        assert flashmesh.run(done.files[0]).requests > 0


def test_urgent_collection_begins_no_earlier_than_collection(tables: Import, tmp_path: Path) -> None:
    found = tables(device={"GC_Hard_Threshold": "0.3"})["gc"]
    assert found["hard-threshold"] == found["threshold"]
    assert "GC_Hard_Threshold 0.3 is above" in (tmp_path / "out" / "work-import.txt").read_text()


def test_the_spelling_that_mqsim_passes_over_counts_where_the_file_is_meant(tables: Import, tmp_path: Path) -> None:
    device = {"Preferred_suspend_erase_time_for_read": "1000"}
    found = tables(physical=True, device=device, flash={"CMD_Suspension_Support": "ERASE"})
    assert found["flash"]["suspend-remaining-min"] == "1us"
    assert "did you mean <Prefered_suspend_erase_time_for_read>?" in (tmp_path / "out" / "work-import.txt").read_text()


@pytest.mark.long
def test_a_drive_of_412_gb_is_preconditioned_in_seconds(cli: Cli, tmp_path: Path) -> None:
    flash = {"Die_No_Per_Chip": "2", "Block_No_Per_Plane": "2048", "Page_No_Per_Block": "192", "Page_Capacity": "8192"}
    device = {"Enabled_Preconditioning": "true", "Chip_No_Per_Channel": "4"}
    flow = FEW | {"Chip_IDs": "0,1,2,3", "Die_IDs": "0,1", "Initial_Occupancy_Percentage": "100"}
    (tmp_path / "ssd.xml").write_text(device_text(device=device, flash=flash))
    (tmp_path / "work.xml").write_text(workload_text([flow]))
    assert cli("import-mqsim", "ssd.xml", "work.xml", "-o", "out").returncode == 0
    spent_s = cpu_s([COMMAND, "run", "out/work-1.toml", "--json", "out.json"], tmp_path)
    result = json.loads((tmp_path / "out.json").read_text())
    assert result["requests"] == 100
    # The run writes 50 million pages until collection is in steady state. Measure processor time, since other work may
    # run on the machine.
    assert 0.5 < spent_s < 60
    assert result["peak_rss_bytes"] < 2**30
