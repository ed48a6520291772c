"""Jobs and streams whose queue depth keeps them below the rate of their requests."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import flashmesh
from conftest import Cli
from flashmesh.aggregate.steadiness import REMEDY, REMEDY_BEHIND, unsteady_note
from flashmesh.report.streams import depth
from flashmesh.results import Result
from summary_text import shown

DRIVE = "preset:samsung-pm9a3"
LAT = "rw=randread\nbs=4k\nioengine=libaio\nnumber_ios=4000\n"
ISSUED = {"replay.mode": "open", "replay.latency-start": "issue", "measure.warm-up": "none"}
OPEN = {"replay.mode": "open", "workload.interarrival": "20us", "workload.requests": 4000, "measure.warm-up": "none"}
BEHIND = "requests arrive faster than the drive completes them"


def run(tmp_path: Path, text: str) -> Result:
    path = tmp_path / "job.fio"
    path.write_text(text)
    return flashmesh.run(DRIVE, fio=path)


def test_a_job_whose_depth_is_too_small_for_its_rate_is_told_the_depth_that_reaches_it(tmp_path: Path) -> None:
    result = run(tmp_path, f"[lat]\n{LAT}iodepth=1\nrate_iops=50000\n")
    (missed,) = depth.missed(result.document)
    # Little's law: a depth of 1 completes one request per latency.
    assert missed.reached == pytest.approx(10**12 / missed.latency_ps, rel=0.01)
    told = shown(result)
    assert "RATE NOT REACHED: the job cannot reach its rate of 50.00k IOPS with 1 request in flight" in told
    assert "take iodepth=3 at least (more as latency rises with the depth) with an asynchronous" in told
    assert "bound by the queue depth of the job" in told
    assert BEHIND not in told
    reached = run(tmp_path, f"[lat]\n{LAT}iodepth=4\nrate_iops=50000\n")
    assert reached.iops == pytest.approx(50_000, rel=0.01)
    assert not depth.missed(reached.document)
    assert "RATE NOT REACHED" not in shown(reached)


@pytest.mark.parametrize("start", ["arrival", "issue"])
def test_the_depth_that_reaches_a_rate_does_not_depend_on_where_latencies_begin(start: str) -> None:
    result = flashmesh.run(DRIVE, overrides=OPEN | {"replay.outstanding-max": 1, "replay.latency-start": start})
    (missed,) = depth.missed(result.document)
    assert missed.latency_ps == pytest.approx(10**12 / result.iops, rel=0.02)
    assert "take replay.outstanding-max = 3 at least" in shown(result)
    # Latencies from the arrival grow with the queue, so that such a run is not steady.
    assert (BEHIND in shown(result)) == (start == "arrival")


def test_a_rate_that_no_depth_reaches_is_told_without_a_depth() -> None:
    asked = {"replay.outstanding-max": 1, "workload.interarrival": "1ps", "replay.latency-start": "issue"}
    told = shown(flashmesh.run(DRIVE, overrides=OPEN | asked))
    assert "take a longer workload.interarrival" in told
    assert "replay.outstanding-max =" not in told


def test_a_stream_below_its_rate_does_not_hide_the_backlog_of_another() -> None:
    slow = {"workload": {"requests": 200, "interarrival": "20us"}, "replay": {"outstanding-max": 1}}
    flood = {"workload": {"requests": 20_000, "interarrival": "400ns"}}
    result = flashmesh.run({"preset": "samsung-pm9a3", "stream": {"slow": slow, "flood": flood}}, overrides=ISSUED)
    assert [missed.name for missed in depth.missed(result.document)] == ["slow"]
    told = shown(result)
    assert BEHIND in told
    assert "bound by the queue depth" not in told


def test_more_requests_are_advised_unless_all_unsteady_points_fall_behind() -> None:
    behind, short = ({"steadiness": {"reasons": reasons}} for reasons in (["backlog"], ["short"]))
    about = {"configuration": {"stream": {}, "workload": {}}, "streams": [{"workload": {"kind": "synthetic"}}]}
    notes = [unsteady_note(2, 4, [behind | about, other | about], REMEDY) for other in (behind, short)]
    assert notes == [f"2 of 4 points are not steady: {remedy}" for remedy in (REMEDY_BEHIND, REMEDY)]


def test_of_several_jobs_only_those_below_their_rate_are_named(tmp_path: Path) -> None:
    result = run(tmp_path, f"[slow]\n{LAT}rate_iops=100\n[fast]\n{LAT}rate_iops=30000\n")
    assert [missed.name for missed in depth.missed(result.document)] == ["fast"]
    assert "job fast cannot reach its rate" in shown(result)


def test_a_rate_missed_on_a_saturated_drive_is_not_blamed_on_the_depth(tmp_path: Path) -> None:
    job = "[w]\nrw=write\nbs=128k\nioengine=libaio\niodepth=64\nrate_iops=90000\nnumber_ios=4000\n"
    result = run(tmp_path, job)
    assert result.iops < 0.5 * 90_000
    assert result.bound.share > 0.9
    assert len(depth.missed(result.document)) == 1
    told = shown(result)
    assert "with 64 requests in flight, on a saturated drive (its dies: " in told
    assert "more in flight would only wait longer, so lower the rate." in told
    assert "iodepth=" not in told
    assert result.bound.sentence in told
    # At most 64 requests are in flight, so no queue grows.
    assert BEHIND not in told


def test_jobs_that_wait_for_a_full_cache_are_told_what_the_drive_sustains(tmp_path: Path) -> None:
    job = "rw=write\nbs=64k\nioengine=libaio\niodepth=4\nsize=1g\nruntime=40ms\ntime_based\n"
    read = "rw=randread\nbs=4k\nrate_iops=5000\nruntime=40ms\ntime_based\n"
    path = tmp_path / "job.fio"
    path.write_text(f"[a]\n{job}rate=2g\n[b]\n{job}offset=1g\nrate=2g\n[r]\n{read}")
    # A cache that writes few pages at a time to the flash stays full, while no part of the drive is busy.
    narrow = {"cache.capacity": "4MiB", "cache.destages-max": 4, "measure.warm-up": "none"}
    result = flashmesh.run(DRIVE, fio=path, overrides=narrow)
    assert result.bound.share < depth.SATURATED
    assert [missed.name for missed in depth.missed(result.document)] == ["a", "b"]
    told = shown(result)
    assert "the drive does not sustain the rates of the 3 jobs together, which reach" in told
    assert "of its latency is spent waiting for space in the device cache" in told
    assert "more in flight would only take from the others or wait longer, so lower the rates" in told
    assert "iodepth=" not in told
    assert BEHIND not in told
    assert "bound by the queue depth" not in told


def test_a_small_depth_is_told_although_another_job_fills_the_cache(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    path.write_text(
        "[w]\nrw=write\nbs=64k\nioengine=libaio\niodepth=4\nsize=1g\nruntime=40ms\ntime_based\nrate=2g\n"
        "[r]\nrw=randread\nbs=4k\nrate_iops=100000\nruntime=40ms\ntime_based\n"
    )
    narrow = {"cache.capacity": "4MiB", "cache.destages-max": 4, "measure.warm-up": "none"}
    by_drive, by_depth = depth.missed(flashmesh.run(DRIVE, fio=path, overrides=narrow).document)
    assert (by_drive.name, by_depth.name, by_depth.limit) == ("w", "r", "")
    assert "device cache" in by_drive.limit
    assert "job r cannot reach its rate" in depth.text([by_depth, by_drive]).split("lower the rates; ")[1]


def test_collection_is_the_limit_only_with_requests_for_every_die() -> None:
    document = flashmesh.run(DRIVE, overrides=OPEN | {"replay.outstanding-max": 1}).document
    mean = document["streams"][0]["breakdown_ps"]["mean"]
    mean["behind_gc"] = 2 * sum(time for key, time in mean.items() if key != "count")
    assert [missed.limit for missed in depth.missed(document)] == [""]
    document["host"]["queues"][0]["occupancy_mean"] = 1_000.0
    (missed,) = depth.missed(document)
    assert "of its latency is spent behind garbage collection" in missed.limit


def test_collection_is_the_limit_where_the_rate_takes_more_in_flight_than_there_are_dies() -> None:
    document = flashmesh.run(DRIVE, overrides=OPEN | {"replay.outstanding-max": 1}).document
    mean = document["streams"][0]["breakdown_ps"]["mean"]
    mean["behind_gc"] = 2 * sum(time for key, time in mean.items() if key != "count")
    (missed,) = depth.missed(document)
    needed = missed.rate * missed.latency_ps / 10**12
    for is_limit, dies in ((False, math.ceil(needed) + 1), (True, math.floor(needed))):
        document["configuration"]["geometry"] |= {"channels": dies, "chips-per-channel": 1, "dies-per-chip": 1}
        (missed,) = depth.missed(document)
        assert bool(missed.limit) == is_limit


def test_streams_without_a_rate_are_told_apart_from_the_one_that_misses_its_own() -> None:
    together = depth.Together(3, 1, are_jobs=True, iops=1_000.0, bandwidth_bytes_per_s=4e6)
    told = "the drive does not sustain this rate while 2 jobs without a rate run; all 3 jobs together reach 1.000k IOPS"
    assert together.told().startswith(told)


def test_a_stream_that_keeps_its_rate_does_not_bring_back_the_backlog_of_another(tmp_path: Path) -> None:
    slow = {"workload": {"requests": 2_000, "interarrival": "20us"}, "replay": {"outstanding-max": 1}}
    kept = {"workload": {"requests": 200, "interarrival": "400us"}, "replay": {"outstanding-max": 8}}
    result = flashmesh.run({"preset": "samsung-pm9a3", "stream": {"slow": slow, "kept": kept}}, overrides=ISSUED)
    assert [missed.name for missed in depth.missed(result.document)] == ["slow"]
    assert depth.explains_backlog(result.document)
    assert "backlog" in result.steadiness.reasons
    assert BEHIND not in shown(result)


def test_a_stream_of_a_configuration_is_told_its_keys() -> None:
    overrides: dict[str, Any] = {
        "replay.mode": "open",
        "replay.outstanding-max": 1,
        "replay.latency-start": "issue",
        "workload.interarrival": "20us",
        "workload.requests": 3_000,
    }
    told = shown(flashmesh.run(DRIVE, overrides=overrides))
    assert "the stream cannot reach its rate of 50.00k IOPS" in told
    asked = "take replay.outstanding-max = 3 at least (more as latency rises with the depth), or a longer"
    assert f"{asked} workload.interarrival" in told


def test_a_run_until_steady_stops_at_a_rate_that_more_requests_do_not_reach(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(f"[lat]\n{LAT}rate_iops=50000\n")
    done = cli("run", DRIVE, "--fio", "job.fio", "--until-steady", "--json", "r.json")
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["requests"] == 4_000
    assert "not steady after 4,000 requests, and with no more: they are due faster than they complete" in done.stderr


def test_the_page_and_the_comparison_name_the_depth(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(f"[lat]\n{LAT}rate_iops=50000\n")
    done = cli("compare", DRIVE, "--fio", "job.fio", "--vary", "fabric.kind=bus,ideal", "-o", "two.json")
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert told.count("bound by the queue depth of the job") == 2
    assert "requests are due faster than they complete, which a longer run does not change" in told
    assert cli("report", "two.json", "-o", "two.html").returncode == 0
    assert "bound by the queue depth of the job" in (tmp_path / "two.html").read_text()
