"""Requests written by an import are those of MQSim."""

from __future__ import annotations

import tomllib
from itertools import islice, pairwise
from pathlib import Path
from typing import TypeAlias

import pytest

import flashmesh
from conftest import Import
from flashmesh.importers.mqsim import import_mqsim
from flashmesh.importers.mqsim.random_numbers import uniform
from flashmesh.importers.mqsim.requests import Space
from mqsim_files import SYNTHETIC, TRACE, TRACE_TEXT, device_text, workload_text

Line: TypeAlias = tuple[int, int, int, bool]


def replay(tmp_path: Path, *flows: dict[str, str], directory: str = "out", **device: str) -> list[list[Line]]:
    """Returns the requests that an import writes for each flow."""
    (tmp_path / "ssd.xml").write_text(device_text(device=device))
    (tmp_path / "work.xml").write_text(workload_text(list(flows)))
    done = import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path / directory)
    lines = [[tuple(map(int, line.split())) for line in path.read_text().splitlines()] for path in done.traces]
    return [[(time, sector, sectors, bool(kind)) for time, _, sector, sectors, kind in flow] for flow in lines]


def test_the_compatible_configuration_replays_the_requests_of_mqsim(tables: Import, tmp_path: Path) -> None:
    found = tables(requests_max=5_000_000)
    assert found["workload"] == {
        "kind": "trace",
        "trace": "work-1.trace",
        "format": "ascii",
        "time-unit": "ns",
        "polarity": "read-is-1",
        "beyond": "wrap",
    }
    assert found["replay"] == {"mode": "stress", "outstanding": 64}
    lines = (tmp_path / "out" / "work-1.trace").read_text().splitlines()
    assert len(lines) == 200_000
    # The random numbers of MQSim wrap around. With requests that start like this, a run has the latencies of MQSim.
    assert lines[:3] == ["0 0 8932832 8 0", "0 0 35243976 8 1", "0 0 30520136 8 1"]
    physical = tables(requests_max=5_000_000, physical=True)
    assert physical["workload"]["kind"] == "synthetic"


def test_random_numbers_are_those_of_mqsim() -> None:
    first = {0: 0.555880716, 199: 0.788404031, 12344: 0.844741519, 12345: 0.238548400}
    assert {seed: round(next(uniform(seed)), 9) for seed in first} == first
    numbers = list(islice(uniform(7), 10_000))
    assert all(0 < number < 1 for number in numbers)
    assert sum(numbers) / len(numbers) == pytest.approx(0.5, abs=0.02)


def test_an_import_draws_the_same_requests_every_time(tmp_path: Path) -> None:
    flow = SYNTHETIC | {"Total_Requests_To_Generate": "500"}
    first, again = replay(tmp_path, flow), replay(tmp_path, flow, directory="again")
    assert first == again
    assert first != replay(tmp_path, flow | {"Seed": "12345"}, directory="other")


@pytest.mark.parametrize("distribution", ["RANDOM_UNIFORM", "RANDOM_HOTCOLD", "STREAMING"])
@pytest.mark.parametrize("sizes", ["FIXED", "NORMAL"])
def test_requests_keep_to_what_their_flow_says(tmp_path: Path, distribution: str, sizes: str) -> None:
    flow = SYNTHETIC | {
        "Address_Distribution": distribution,
        "Percentage_of_Hot_Region": "20",
        "Request_Size_Distribution": sizes,
        "Variance_Request_Size": "2",
        "Synthetic_Generator_Type": "BANDWIDTH",
        "Bandwidth": "1500000000",
        "Total_Requests_To_Generate": "20000",
        "Address_Alignment_Unit": "16",
    }
    (requests,) = replay(tmp_path, flow)
    assert len(requests) == 20_000
    assert sum(reads for *_, reads in requests) / 20_000 == pytest.approx(0.7, abs=0.02)
    assert all(sector % 16 == 0 for _, sector, _, _ in requests)
    working_set = 365_690 * 128 * 8 // 10
    assert all(0 <= sector <= working_set for _, sector, _, _ in requests)
    times = [time for time, *_ in requests]
    # The mean interarrival time in ns is 10^9 / (1500000000 / 512 / 8), in integer arithmetic.
    assert times[-1] / 20_000 == pytest.approx(2730, rel=0.03)
    mean = sum(sectors for _, _, sectors, _ in requests) / 20_000
    assert mean == pytest.approx(8 if sizes == "FIXED" else 8.5, rel=0.01)
    hot = sum(sector < working_set // 5 for _, sector, _, _ in requests) / 20_000
    if distribution == "RANDOM_HOTCOLD":
        assert hot == pytest.approx(0.8, abs=0.02)
    elif distribution == "RANDOM_UNIFORM":
        assert hot == pytest.approx(0.2, abs=0.02)
    elif sizes == "FIXED":
        assert all(b - a == 16 for (_, a, *_), (_, b, *_) in pairwise(requests))


def test_every_flow_has_its_own_requests_in_its_own_space(tmp_path: Path) -> None:
    few = SYNTHETIC | {"Total_Requests_To_Generate": "1000"}
    first, second = replay(tmp_path, few, few | {"Seed": "9"})
    for flow in (first, second):
        assert max(sector for _, sector, _, _ in flow) < 182_845 * 128
    assert first != second
    tables = tomllib.loads((tmp_path / "out" / "work-1.toml").read_text())
    traces = [tables["stream"][name]["workload"]["trace"] for name in ("flow-1", "flow-2")]
    assert traces == ["work-1-flow-1.trace", "work-1-flow-2.trace"]


def test_requests_are_cut_by_sectors_of_the_drive_and_numbered_by_those_of_the_flow() -> None:
    # A page has 16 sectors, and the flow begins 14 sectors into a page of the drive.
    space = Space(first=1_006, last=9_999, page_sectors=16, stream_first=1_006, stream_last=9_999)
    # Whole pages of the drive map to whole pages of the flow.
    assert [space.offset(sector, 16) for sector in (1_008, 1_024)] == [0, 16]
    assert space.offset(1_008, 32) == 0
    # A part of a page stays in the page of the flow where it begins.
    assert space.offset(1_006, 2) == 14
    assert [space.offset(sector, 8) for sector in (1_008, 1_016, 1_024)] == [0, 8, 16]


def test_a_request_that_begins_before_its_flow_is_folded_onto_the_working_set(tmp_path: Path) -> None:
    flow = SYNTHETIC | {
        "Working_Set_Percentage": "1",
        "Generated_Aligned_Addresses": "true",
        "Address_Alignment_Unit": "4096",
        "Total_Requests_To_Generate": "5000",
    }
    # The second flow starts at an unaligned sector, so aligning its first requests moves them before that start.
    _, second = replay(tmp_path, flow, flow, Overprovisioning_Ratio="0.0701")
    space = 365_647 * 64
    assert sum(sector % 4096 != second[0][1] % 4096 for _, sector, _, _ in second) > 0
    assert max(sector for _, sector, _, _ in second) <= space // 100


def test_requests_of_a_flow_that_begins_with_a_page_stay() -> None:
    space = Space(first=1_024, last=9_999, page_sectors=16, stream_first=1_024, stream_last=9_999)
    assert [space.offset(sector, 20) for sector in (1_024, 1_030, 1_100)] == [0, 6, 76]


def test_a_size_below_zero_becomes_the_largest_one(tmp_path: Path) -> None:
    flow = SYNTHETIC | {
        "Request_Size_Distribution": "NORMAL",
        "Average_Request_Size": "2",
        "Variance_Request_Size": "2",
        "Total_Requests_To_Generate": "1000",
    }
    (requests,) = replay(tmp_path, flow)
    wrapped = [(sector, sectors) for _, sector, sectors, _ in requests if sectors > 100]
    assert 0 < len(wrapped) < 200
    # In MQSim, requests of such sizes begin at the start of the space, like all requests that would exceed its end.
    assert all(sector == 0 and sectors > 65_000 for sector, sectors in wrapped)


def test_a_trace_is_folded_onto_the_space_and_repeated_as_mqsim_does(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    space = 365_690 * 128
    text = f"1000 0 {space - 1} 8 0\n2000 7 {space} 8 1\n2500 0 0x10 65537 2\n2600 0 0\n3000 0 0 8 1\n"
    (tmp_path / "traces" / "oltp.trace").write_text(text)
    flow = TRACE | {"Relay_Count": "2", "Time_Unit": "MICROSECOND"}
    (requests,) = replay(tmp_path, flow)
    # A sector beyond the space is taken modulo the size of the space minus one sector. The line `2600 0 0`, with only
    # three fields, ends the trace.
    once = [(1000, space - 1, 8, False), (2000, 1, 8, True), (2500, 16, 1, True)]
    assert requests == [*once, *((2500 + time, *rest) for time, *rest in once)]


def test_a_flow_of_too_many_requests_or_with_a_stop_time_is_described(tables: Import, tmp_path: Path) -> None:
    for flow, words in (
        (SYNTHETIC, "200000 requests are more than the 199999 of --requests-max"),
        (SYNTHETIC | {"Stop_Time": "1000"}, "Stop_Time 1000: the number of requests"),
    ):
        assert tables(flow, requests_max=199_999)["workload"]["kind"] == "synthetic"
        assert words in (tmp_path / "out" / "work-import.txt").read_text()
        assert not list((tmp_path / "out").glob("*.trace"))


def test_a_trace_that_is_read_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "ssd.xml").write_text(device_text())
    (tmp_path / "work-1.trace").write_text(TRACE_TEXT)
    (tmp_path / "work.xml").write_text(workload_text([TRACE | {"File_Path": "work-1.trace"}]))
    with pytest.raises(flashmesh.ConfigError, match="is an input file"):
        import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path)
    assert (tmp_path / "work-1.trace").read_text() == TRACE_TEXT
    assert not (tmp_path / "work-1.toml").exists()


@pytest.mark.parametrize(
    "line", ["now 0 8 8 1", "-1 0 8 8 1", "9000 0 eight 8 1", "9000 0 8 0x 1", "9000 0 8 09 1", "9000 0 1_0 8 1"]
)
def test_a_field_that_is_no_number_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "ssd.xml").write_text(device_text())
    (tmp_path / "bad.trace").write_text(f"{TRACE_TEXT}{line}\n")
    (tmp_path / "work.xml").write_text(workload_text([TRACE | {"File_Path": "bad.trace"}]))
    with pytest.raises(flashmesh.ConfigError, match=r"bad\.trace:11: .* which is no whole number") as error:
        import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path / "out")
    assert "literal" not in str(error.value)


def test_flows_beside_others_begin_at_their_first_arrivals(tables: Import, tmp_path: Path) -> None:
    few = SYNTHETIC | {"Total_Requests_To_Generate": "10"}
    paced = few | {"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": "1500000"}
    paced_as = {"mode": "open", "latency-start": "issue"}
    found = tables(few, paced, requests_max=100)["stream"]
    first = int((tmp_path / "out" / "work-1-flow-2.trace").read_text().split()[0])
    assert found["flow-2"]["replay"] == paced_as | {"start-time": f"{first - 1}ns"}
    assert found["flow-1"]["replay"] == {"mode": "stress", "outstanding": 64}
    assert tables(paced, requests_max=100)["replay"] == paced_as
