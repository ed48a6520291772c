"""MQSim's files become configurations, and nothing in them is lost silently."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import flashmesh
from conftest import COMMAND, Cli, Import, cpu_s
from flashmesh import configuration
from flashmesh.importers.mqsim import Mode, import_mqsim, translate
from flashmesh.importers.mqsim.flows import normal_sizes
from mqsim_files import FEW, SYNTHETIC, TRACE, TRACE_TEXT, device_text, workload_text

GOLDEN = Path(__file__).parents[2].parent / "shared" / "golden" / "mqsim"


def refusal(tmp_path: Path, device: str, workload: str) -> str:
    """Returns the error message of a refused import."""
    (tmp_path / "ssd.xml").write_text(device)
    (tmp_path / "work.xml").write_text(workload)
    with pytest.raises(flashmesh.ConfigError) as error:
        import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    return str(error.value)


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
    # 365690 sectors in each of 128 planes, truncated like in MQSim.
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
    # The host and the map fill 60 of 64 blocks, and six more are needed.
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
    # 4 B for each of 128 x 64 x 768 pages.
    assert found["write-back-buffer"] == "24MiB"
    assert "mapping" not in tables()


def test_the_cache_is_off_unless_a_flow_uses_it(tables: Import) -> None:
    assert tables()["cache"] == {"capacity": "0B"}
    cached = tables(SYNTHETIC | {"Device_Level_Data_Caching_Mode": "WRITE_CACHE"})
    assert cached["queue"]["caching"] == "writes"
    cache = cached["cache"]
    assert (cache["capacity"], cache["destage"], cache["keep-destaged"]) == ("512MiB", "first-write", False)
    assert (cache["data-rate"], cache["destage-limit"], cache["destages-max"]) == ("6400MB/s", "512KiB", 1)


def test_a_flow_of_a_queue_depth_is_a_stress_replay(tables: Import) -> None:
    found = tables()
    assert found["replay"] == {"mode": "stress", "outstanding": 64}
    workload = found["workload"]
    assert workload["footprint"] == f"{((365_690 * 128 - 1) * 80 // 100 + 1) // 2}KiB"
    assert (workload["pattern"], workload["read-share"], workload["requests"]) == ("random", 0.7, 200_000)
    assert (workload["request-size"], workload["alignment"]) == ("4KiB", "4KiB")


def test_a_flow_of_a_bandwidth_arrives_as_mqsim_divides(tables: Import) -> None:
    flow = SYNTHETIC | {"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": "1500000000"}
    found = tables(flow)
    assert found["replay"]["mode"] == "open"
    assert found["workload"]["interarrival"] == "2730ns"
    assert tables(flow, physical=True)["workload"]["interarrival"] == "2730667ps"


def test_addresses_and_sizes_have_their_distributions(tables: Import) -> None:
    hot = tables(SYNTHETIC | {"Address_Distribution": "RANDOM_HOTCOLD", "Percentage_of_Hot_Region": "10"})["workload"]
    assert (hot["pattern"], hot["hot-footprint"], hot["hot-traffic"]) == ("hot-cold", 0.1, 0.9)
    assert tables(SYNTHETIC | {"Address_Distribution": "STREAMING"})["workload"]["pattern"] == "sequential"
    normal = SYNTHETIC | {"Request_Size_Distribution": "NORMAL", "Variance_Request_Size": "2"}
    sizes = tables(normal)["workload"]["request-size"]
    assert ["4KiB", pytest.approx(0.191462, abs=1e-6)] in sizes


@pytest.mark.parametrize(("mean", "deviation"), [(8, 0), (8, 2), (2, 3), (1, 1), (5000, 4000)])
def test_sizes_of_a_normal_distribution_are_all_of_it(mean: int, deviation: int) -> None:
    sizes = normal_sizes(mean, deviation)
    assert sum(weight for _, weight in sizes) == pytest.approx(1, abs=1e-6)
    assert len(sizes) <= 1024
    assert min(size for size, _ in sizes) >= 1
    if mean > 4 * deviation:
        # Rounding up adds half a sector on average.
        assert sum(size * weight for size, weight in sizes) == pytest.approx(mean + (0.5 if deviation else 0), rel=0.01)


def test_a_stop_time_ends_a_flow_instead_of_a_number_of_requests(tables: Import) -> None:
    found = tables(SYNTHETIC | {"Stop_Time": "10000000000", "Total_Requests_To_Generate": "0"})
    assert found["replay"]["stop-time"] == "10s"


def test_several_flows_are_streams_with_namespaces_of_their_own(tables: Import) -> None:
    first = SYNTHETIC | {"Channel_IDs": "0,1,2,3", "Priority_Class": "URGENT"}
    second = SYNTHETIC | {"Channel_IDs": "2,3,4,5,6,7", "Priority_Class": "low"}
    found = tables(first, second, device={"Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER"})
    # Streams begin in the order of the file; in MQSim the last flow is the first to issue.
    assert list(found["stream"]) == ["flow-2", "flow-1"]
    assert list(found["namespace"]) == ["flow-1", "flow-2"]
    assert found["stream"]["flow-1"]["queue"] == {"priority": "urgent", "caching": "none", "namespace": "flow-1"}
    assert found["schedule"]["priorities"] == "weighted"
    assert found["namespace"]["flow-1"]["channels"] == "0,1,2,3"
    assert "ways" not in found["namespace"]["flow-1"]
    # Each flow has half of channels 2 and 3, in whole sectors of each plane.
    whole, half = 365_690, 182_845
    sectors = 16 * (2 * whole + 2 * half), 16 * (2 * half + 4 * whole)
    assert [found["namespace"][name]["capacity"] for name in ("flow-1", "flow-2")] == [f"{n // 2}KiB" for n in sectors]
    assert found["geometry"]["capacity"] == f"{sum(sectors) // 2}KiB"


def test_flows_that_share_planes_write_to_open_blocks_of_their_own(tables: Import) -> None:
    habit = {"write-binding": "early", "first-touch": "write-block", "allocation": "CWDP"}
    own = {"write-streams": "per-stream-destaged", "first-touch": "reader-block"}
    assert tables(SYNTHETIC, SYNTHETIC)["ftl"] == habit | own
    assert tables(SYNTHETIC)["ftl"] == habit
    apart = SYNTHETIC | {"Channel_IDs": "0,1"}, SYNTHETIC | {"Channel_IDs": "2,3"}
    assert tables(*apart)["ftl"] == habit
    assert tables(SYNTHETIC, SYNTHETIC, device={"HostInterface_Type": "SATA"})["ftl"] == habit
    assert "write-streams" not in tables(SYNTHETIC, SYNTHETIC, physical=True)["ftl"]


def test_each_open_block_beyond_the_first_of_a_plane_takes_a_spare_block(tables: Import) -> None:
    full = {"Overprovisioning_Ratio": "0.03"}
    blocks = [tables(*[SYNTHETIC] * flows, device=full)["geometry"]["blocks-per-plane"] for flows in (1, 2, 3)]
    assert blocks == [blocks[0], blocks[0] + 1, blocks[0] + 2]


def test_flows_that_share_all_planes_begin_their_order_of_planes_anew(tables: Import) -> None:
    found = tables(SYNTHETIC, SYNTHETIC)["namespace"]
    # 182,845 sectors in each of 128 planes, rounded to stripes of 512 KiB.
    assert [found[name]["capacity"] for name in ("flow-1", "flow-2")] == ["11428MiB", "11428MiB"]


def test_the_map_on_flash_begins_with_the_first_plane(tables: Import) -> None:
    on_flash = {"Ideal_Mapping_Table": "false"}
    # 365,690 sectors in each of 128 planes are 22855.625 MiB, rounded to stripes of 512 KiB.
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


def test_a_configuration_that_does_not_load_ends_the_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ssd.xml").write_text(device_text())
    (tmp_path / "work.xml").write_text(workload_text([FEW]))
    monkeypatch.setattr("flashmesh.importers.mqsim.flash_array.READY_NS", -5000)
    with pytest.raises(flashmesh.ConfigError, match="read-time"):
        import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path / "out")


def test_a_trailing_comma_after_numbers_of_parts_is_passed_over(tables: Import) -> None:
    found = tables(SYNTHETIC | {"Channel_IDs": "0,1,2,3,", "Chip_IDs": ",0, 1,,"})
    assert found["namespace"]["flow-1"].items() >= {"channels": "0,1,2,3", "ways": "0,1"}.items()


def test_no_number_of_a_part_is_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, device_text(), workload_text([SYNTHETIC | {"Channel_IDs": ","}]))
    assert "<Channel_IDs>" in message


def test_urgent_collection_begins_no_earlier_than_collection(tables: Import, tmp_path: Path) -> None:
    found = tables(device={"GC_Hard_Threshold": "0.3"})["gc"]
    assert found["hard-threshold"] == found["threshold"]
    assert "GC_Hard_Threshold 0.3 is above" in (tmp_path / "out" / "work-import.txt").read_text()


def test_flows_behind_sata_keep_their_place_on_the_drive(tables: Import) -> None:
    flow = SYNTHETIC | {"Working_Set_Percentage": "100"}
    found = tables(flow, flow, device={"HostInterface_Type": "SATA"})
    half_kib = 182_845 * 128 // 2
    starts = [found["stream"][name]["workload"].get("footprint-start") for name in ("flow-1", "flow-2")]
    assert starts == [None, f"{half_kib}KiB"]
    assert "namespace" not in found
    assert "namespace" not in found["stream"]["flow-1"]["queue"]


def test_behind_sata_all_flows_share_one_queue_and_all_planes(tables: Import) -> None:
    sata = {"HostInterface_Type": "SATA", "IO_Queue_Depth": "32"}
    found = tables(SYNTHETIC | {"Channel_IDs": "0"}, device=sata, host={"SATA_Processing_Delay": "400000"})
    assert found["host"]["interface"] == "sata"
    assert found["sata"] == {"ncq-depth": 31, "processing-delay": "400us", "transport": "doorbells"}
    assert "namespace" not in found


def test_a_trace_is_found_beside_the_workload_file(tables: Import, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "oltp.trace").write_text(TRACE_TEXT)
    flow = TRACE | {"Percentage_To_Be_Executed": "50", "Time_Unit": "MICROSECOND"}
    found = tables(flow)["workload"]
    assert Path(found["trace"]) == tmp_path / "traces" / "oltp.trace"
    assert (found["requests"], found["time-unit"], found["format"]) == (5, "ns", "ascii")
    physical = tables(flow, physical=True)["workload"]
    assert (physical["requests"], physical["time-unit"]) == (5, "us")


@pytest.mark.parametrize("tag", [{}, {"Relay_Count": "2"}, {"Percentage_To_Be_Executed": "50"}])
def test_a_missing_trace_ends_the_import_with_the_places_looked_at(tmp_path: Path, tag: dict[str, str]) -> None:
    message = refusal(tmp_path, device_text(), workload_text([TRACE | tag]))
    assert "the trace `traces/oltp.trace` was not found" in message
    assert str(tmp_path / "traces" / "oltp.trace") in message
    assert "correct the path, or put the trace there" in message


def test_rounds_beyond_the_limit_of_requests_say_the_limit_that_suffices(tmp_path: Path) -> None:
    (tmp_path / "oltp.trace").write_text(TRACE_TEXT)
    (tmp_path / "ssd.xml").write_text(device_text())
    (tmp_path / "work.xml").write_text(workload_text([TRACE | {"File_Path": "oltp.trace", "Relay_Count": "3"}]))
    with pytest.raises(flashmesh.ConfigError, match="--requests-max to 30"):
        import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path / "out", requests_max=20)


def test_a_trace_behind_links_in_a_circle_is_no_fault_of_flashmesh(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    message = refusal(tmp_path, device_text(), workload_text([TRACE | {"File_Path": "circle"}]))
    assert "the trace `circle` was not found" in message


def test_a_file_that_is_no_trace_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "prose").write_text("It was a dark and stormy night\n")
    message = refusal(tmp_path, device_text(), workload_text([TRACE | {"File_Path": "prose"}]))
    assert "prose` does not begin with a line of a trace of MQSim" in message


def test_every_scenario_is_a_configuration_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "ssd.xml").write_text(device_text())
    (tmp_path / "work.xml").write_text(workload_text([SYNTHETIC], [SYNTHETIC | {"Read_Percentage": "5"}]))
    done = import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path, physical=True)
    shares = [tomllib.loads(file.read_text())["workload"]["read-share"] for file in done.files]
    assert shares == [0.7, 0.05]
    assert done.report_file.read_text() == done.report


VARIED = [
    (),
    ({}, {"Ideal_Mapping_Table": "false", "HostInterface_Type": "SATA"}, {"Flash_Technology": "TLC"}),
    ({}, {"Caching_Mechanism": "SIMPLE"}, {"CMD_Suspension_Support": "PROGRAM_ERASE", "Flash_Technology": "MLC"}),
    ({}, {"GC_Block_Selection_Policy": "RGA", "Static_Wearleveling_Enabled": "false"}, {}),
]


@pytest.mark.parametrize("parts", VARIED)
@pytest.mark.parametrize("mode", Mode)
def test_every_tag_is_accounted_for(tmp_path: Path, parts: tuple[dict[str, str], ...], mode: Mode) -> None:
    normal = {"Request_Size_Distribution": "NORMAL", "Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": "10000000"}
    cached = {"Device_Level_Data_Caching_Mode": "WRITE_READ_CACHE", "Stop_Time": "5"}
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "oltp.trace").write_text(TRACE_TEXT)
    (tmp_path / "ssd.xml").write_text(device_text(*parts))
    (tmp_path / "work.xml").write_text(workload_text([SYNTHETIC, TRACE], [SYNTHETIC | normal, SYNTHETIC | cached]))
    for scenario in translate(tmp_path / "ssd.xml", tmp_path / "work.xml", mode):
        for fate in scenario.ledger.fates:
            assert fate.keys or fate.reason, fate.name
            assert all(key in scenario.ledger.settings for key in fate.keys), fate.name


def test_unknown_tags_are_named_with_what_may_have_been_meant(tmp_path: Path) -> None:
    (tmp_path / "ssd.xml").write_text(device_text(device={"Queue_Fetch_Sise": "16"}))
    flow = {("Intensity" if name == "Bandwidth" else name): value for name, value in FEW.items()}
    (tmp_path / "work.xml").write_text(workload_text([flow]))
    done = import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path)
    assert [(tag.name, tag.near) for tag in done.unknown] == [
        ("Queue_Fetch_Sise", "Queue_Fetch_Size"),
        ("Intensity", ""),
    ]
    assert "<Queue_Fetch_Sise>  did you mean <Queue_Fetch_Size>?" in done.report
    assert "<Intensity>" in done.report


def test_the_spelling_that_mqsim_passes_over_counts_where_the_file_is_meant(tables: Import, tmp_path: Path) -> None:
    device = {"Preferred_suspend_erase_time_for_read": "1000"}
    found = tables(physical=True, device=device, flash={"CMD_Suspension_Support": "ERASE"})
    assert found["flash"]["suspend-remaining-min"] == "1us"
    assert "did you mean <Prefered_suspend_erase_time_for_read>?" in (tmp_path / "out" / "work-import.txt").read_text()


def test_the_report_shows_how_the_modes_differ(tmp_path: Path) -> None:
    (tmp_path / "ssd.xml").write_text(device_text(device={"Channel_Transfer_Rate": "333"}))
    (tmp_path / "work.xml").write_text(workload_text([FEW]))
    for physical in (False, True):
        done = import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path, physical=physical)
        row = next(line for line in done.report.splitlines() if line.lstrip().startswith("fabric.channel-rate  "))
        assert row.split()[1:3] == ['"333333334B/s"', '"333MB/s"']


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
    # 50 million pages are written until collection is in steady state. Measure processor time: other work may run.
    assert 0.5 < spent_s < 60
    assert result["peak_rss_bytes"] < 2**30


def test_a_trace_is_replayed_on_a_drive_that_was_written_before(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "oltp.trace").write_text(TRACE_TEXT)
    (tmp_path / "ssd.xml").write_text(device_text(device={"Enabled_Preconditioning": "true"}))
    (tmp_path / "work.xml").write_text(workload_text([TRACE]))
    assert cli("import-mqsim", "ssd.xml", "work.xml", "-o", "out").returncode == 0
    done = cli("run", "out/work-1.toml", "--check", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["requests"] == 10


GOOD = device_text()
WORK = workload_text([FEW])


@pytest.mark.parametrize(
    ("device", "workload", "words"),
    [
        ("", WORK, ["ssd.xml:1:1", "is empty"]),
        ("preset = 1\n", WORK, ["is no XML"]),
        (WORK, GOOD, ["expected <Execution_Parameter_Set>", "the order is"]),
        (GOOD[:300], WORK, ["the file ends inside <", "is it cut off?"]),
        (GOOD.replace("</Seed>", ""), WORK.replace("</Seed>", "</Sed>"), ["mismatched tag", "work.xml:"]),
        (f'<!DOCTYPE a [<!ENTITY b "c">]>\n{GOOD}', WORK, ["a document type is not taken", "ssd.xml:1"]),
        (GOOD.replace("Host_Parameter_Set>", "Hosts>"), WORK, ["<Host_Parameter_Set> is missing"]),
        (device_text(flash={"Page_Capacity": "5000"}), WORK, ["a page of 5000 B", "power of two"]),
        (device_text(flash={"Plane_No_Per_Die": "0"}), WORK, ["0 is not between 1 and 8"]),
        (device_text(flash={"Page_No_Per_Block": "many"}), WORK, ["`many` is not a whole number"]),
        (device_text(flash={"Page_No_Per_Block": "9" * 5000}), WORK, ["is not between"]),
        (device_text(device={"Overprovisioning_Ratio": "nan"}), WORK, ["is not a number"]),
        (device_text(device={"Ideal_Mapping_Table": "yes"}), WORK, ["neither true nor false"]),
        (device_text(device={"Plane_Allocation_Scheme": "CWDD"}), WORK, ["`CWDD` is not one of CWDP,"]),
        (device_text(device={"Transaction_Scheduling_Policy": "FLIN"}), WORK, ["FLIN is not built"]),
        (device_text(device={"Address_Mapping": "HYBRID"}), WORK, ["HYBRID is not built"]),
        (GOOD.replace("<Die_No", "<Die_No_Per_Chip>2</Die_No_Per_Chip>\n<Die_No", 1), WORK, ["is given twice", "line"]),
        (GOOD, "<MQSim_IO_Scenarios></MQSim_IO_Scenarios>", ["holds no <IO_Scenario>"]),
        (GOOD, workload_text([]), ["this one has 0"]),
        (GOOD, workload_text([SYNTHETIC] * 9), ["this one has 9"]),
        (GOOD, WORK.replace("_Synthetic", "_Syntetic"), ["<IO_Flow_Parameter_Set_Syntetic> is no flow"]),
        (
            GOOD,
            workload_text([{k: v for k, v in SYNTHETIC.items() if k != "Seed"} | {"Plane_IDs": "0,2"}]),
            ["names 2"],
        ),
        (GOOD, workload_text([SYNTHETIC | {"Chip_IDs": "0;1"}]), ["expected numbers between commas"]),
        (
            GOOD,
            workload_text([{k: v for k, v in SYNTHETIC.items() if k != "Bandwidth"} | {"Read_Percentage": "101"}]),
            [],
        ),
        (GOOD, workload_text([SYNTHETIC | {"Total_Requests_To_Generate": "0"}]), ["the flow has no request"]),
        (
            GOOD,
            workload_text([{k: v for k, v in SYNTHETIC.items() if k != "Average_Request_Size"}]),
            ["<Average_Request_Size> is missing"],
        ),
        (
            GOOD,
            workload_text([SYNTHETIC | {"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": "4095"}]),
            ["less than one request"],
        ),
        (GOOD, workload_text([TRACE | {"Time_Unit": "SECOND"}]), ["`SECOND` is not one of PICOSECOND"]),
        (GOOD, WORK.replace("<Seed>", "<Seed><Average>1</Average>", 1), ["<Average> lies inside <Seed>"]),
        (
            GOOD.replace("<PCIe_Lane_Count>", '<PCIe_Lane_Count x="1">', 1),
            WORK,
            ["<PCIe_Lane_Count> has an attribute `x`", "ssd.xml:"],
        ),
        (GOOD, WORK.replace("<IO_Scenario>", "<IO_Scenario name='a'>", 1), ["<IO_Scenario> has an attribute `name`"]),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(
    tmp_path: Path, device: str, workload: str, words: list[str]
) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "oltp.trace").write_text(TRACE_TEXT)
    message = refusal(tmp_path, device, workload)
    assert any(f"{name}.xml:" in message for name in ("ssd", "work"))
    for word in words:
        assert word in message


def test_entities_that_grow_are_not_expanded(tmp_path: Path) -> None:
    bomb = '<?xml version="1.0"?>\n<!DOCTYPE a [\n<!ENTITY a "aaaaaaaa">\n<!ENTITY b "&a;&a;&a;&a;">\n]>\n<a>&b;</a>\n'
    assert "a document type is not taken" in refusal(tmp_path, bomb, WORK)
    assert "deep" in refusal(tmp_path, "<Execution_Parameter_Set>" * 100, WORK)


def test_the_command_prints_the_report_and_names_what_it_wrote(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ssd.xml").write_text(GOOD)
    (tmp_path / "work.xml").write_text(WORK)
    done = cli("import-mqsim", "ssd.xml", "work.xml", "-o", "made/here")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (tmp_path / "made" / "here" / "work-import.txt").read_text()
    assert "work-1.toml" in done.stderr
    refused = cli("import-mqsim", "work.xml", "ssd.xml", "-o", "made")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("error: expected <Execution_Parameter_Set>")


@pytest.mark.parametrize("parts", VARIED)
@pytest.mark.parametrize("physical", [False, True])
def test_what_is_written_is_a_configuration(tmp_path: Path, parts: tuple[dict[str, str], ...], physical: bool) -> None:
    (tmp_path / "ssd.xml").write_text(device_text(*parts))
    cached = FEW | {"Device_Level_Data_Caching_Mode": "WRITE_READ_CACHE", "Channel_IDs": "1,2"}
    bandwidth = FEW | {"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": "10000000", "Stop_Time": "9"}
    (tmp_path / "work.xml").write_text(workload_text([FEW], [cached, bandwidth]))
    done = import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path, physical=physical)
    for file, scenario in zip(done.files, done.scenarios, strict=True):
        loaded = tomllib.loads(configuration.load(file).to_toml())
        for setting in scenario.settings():
            *tables, key = setting.key.split(".")
            place = loaded
            for name in tables:
                place = place[name]
            assert key in place, setting.key


@pytest.mark.parametrize("physical", [False, True])
def test_all_golden_files_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, physical: bool) -> None:
    if not GOLDEN.is_dir():
        pytest.skip(f"{GOLDEN} is not there")
    devices = ["g_1000.xml", "g_1000_cmt.xml", "g_1000_prio.xml", "g_333.xml"]
    workloads = [path for path in GOLDEN.glob("g_*.xml") if path.name not in devices]
    assert len(workloads) >= 10
    # The traces that the workload files name are missing in the folder.
    for name in {name for path in workloads for name in re.findall(r"<File_Path>(.*)</File_Path>", path.read_text())}:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(TRACE_TEXT)
    monkeypatch.chdir(tmp_path)
    for device in devices:
        for workload in workloads:
            done = import_mqsim(GOLDEN / device, workload, tmp_path, physical=physical, requests_max=0)
            assert [tag.name for tag in done.unknown] == ["Preferred_suspend_erase_time_for_read"]
            assert len(done.files) == 1
