"""Flows of MQSim become workloads, streams and namespaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Import
from flashmesh.importers.mqsim.flows import normal_sizes
from mqsim_files import SYNTHETIC, TRACE, TRACE_TEXT


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
    # Streams issue in the order of the configuration, but in MQSim the last flow issues first, so the importer reverses
    # the flows.
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


def test_flows_that_share_all_planes_begin_their_order_of_planes_anew(tables: Import) -> None:
    found = tables(SYNTHETIC, SYNTHETIC)["namespace"]
    # 182,845 sectors in each of 128 planes, rounded to stripes of 512 KiB.
    assert [found[name]["capacity"] for name in ("flow-1", "flow-2")] == ["11428MiB", "11428MiB"]


def test_a_trailing_comma_after_numbers_of_parts_is_passed_over(tables: Import) -> None:
    found = tables(SYNTHETIC | {"Channel_IDs": "0,1,2,3,", "Chip_IDs": ",0, 1,,"})
    assert found["namespace"]["flow-1"].items() >= {"channels": "0,1,2,3", "ways": "0,1"}.items()


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
