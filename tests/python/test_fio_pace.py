"""Pace and end of a fio job: its engine, rates and think time, its loops, bytes and run time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import flashmesh
from conftest import Read
from flashmesh.importers.fio.output import fio_json

END = "number_ios=100\n"
DEPTHS = ("outstanding-max", "outstanding")
"""Keys of the depth of an open and of a stress replay."""


def test_an_engine_that_waits_is_a_thread(one: Callable[[str], dict[str, Any]], jobs: Read) -> None:
    found = one(f"thinktime=50\n{END}")
    assert (found["replay.mode"], found["replay.threads"], found["replay.think-time"]) == ("closed", 1, "50us")
    assert any(note.startswith("iodepth 8: no effect") for note in jobs(f"[a]\niodepth=8\n{END}").notes)
    assert one(f"ioengine=io_uring\niodepth=8\n{END}")["replay.outstanding"] == 8


def test_a_job_thinks_with_nothing_in_flight(one: Callable[[str], dict[str, Any]]) -> None:
    def think(options: str) -> tuple[Any, ...]:
        found = one(f"{options}\nsize=1m\nthinktime=5\n")
        return tuple(found.get(f"replay.{key}") for key in ("mode", "threads", "think-time", "think-every"))

    assert think("") == ("closed", 1, "5us", None)
    assert think("ioengine=libaio\niodepth=8") == ("closed", 1, "5us", None)
    assert think("thinktime_blocks=4") == ("closed", 1, "5us", 4)
    assert think("ioengine=libaio\niodepth=8\nthinktime_blocks=16") == ("closed", 8, "5us", 2)


def test_rates_are_arrivals(one: Callable[[str], dict[str, Any]]) -> None:
    found = one(f"rate_iops=1000\n{END}")
    assert (found["replay.mode"], found["workload.arrivals"], found["workload.interarrival"]) == (
        "open",
        "constant",
        "1000000000ps",
    )
    assert (found["replay.outstanding-max"], found["replay.latency-start"]) == (1, "issue")
    assert one(f"rate_iops=1000\nioengine=libaio\niodepth=8\n{END}")["replay.outstanding-max"] == 8
    assert one(f"rate_iops=0\n{END}")["replay.mode"] == "closed"
    found = one(f"rate=4m\nrate_process=poisson\n{END}")
    assert (found["workload.arrivals"], found["workload.interarrival"]) == ("exponential", "976562500ps")


def test_the_slower_of_a_rate_and_a_think_time_sets_the_pace(one: Callable[[str], dict[str, Any]]) -> None:
    """Like fio 3.33: at 200 per second, a think time of 1 ms has no effect, and one of 20 ms replaces the rate."""
    assert one(f"rate_iops=200\nthinktime=1ms\n{END}") == one(f"rate_iops=200\n{END}")
    assert one(f"rate_iops=200\nthinktime=20ms\n{END}") == one(f"thinktime=20ms\n{END}")
    assert one(f"rate_iops=200\nthinktime=20ms\nthinktime_blocks=8\n{END}")["replay.mode"] == "open"
    found = one(f"rate_iops=200\nthinktime=20ms\nrate_ignore_thinktime=1\n{END}")
    assert (found["replay.mode"], found["replay.think-time"]) == ("closed", "20000us")


@pytest.mark.parametrize(
    ("rate", "interarrival", "reads"),
    [
        ("rate_iops=500", "1000000000ps", 0.5),
        ("rate_iops=400,600", "1000000000ps", 0.4),
        ("rate=4m,12m", "244140625ps", 0.25),
    ],
)
def test_reads_and_writes_have_a_rate_each(jobs: Read, rate: str, interarrival: str, reads: float) -> None:
    """Like fio 3.33: `--rw=randrw --rwmixread=90 --rate_iops=500` issues 500 reads and 500 writes per second."""
    found = jobs(f"[job]\nrw=randrw\nrwmixread=90\n{rate}\n{END}")
    assert (found.settings["workload.interarrival"], found.settings["workload.read-share"]) == (interarrival, reads)
    (note,) = (note for note in found.notes if "fio paces reads and writes each by its own rate" in note)
    assert note.endswith(f"the share of reads: {100 * reads:g} %, not 90 % (rwmixread)")


@pytest.mark.parametrize(("rates", "paced"), [("rate_iops=4000,", 0), ("rate=,16000k", 1), ("rate_iops=4000,0", 0)])
def test_one_kind_of_a_mix_has_a_rate_and_the_other_runs_free(jobs: Read, rates: str, paced: int) -> None:
    """Like fio 3.33: `--rw=randrw --rate_iops=1000,` issues 1,000 reads per second, and writes without a limit."""
    found = jobs(
        f"[job]\nioengine=libaio\niodepth=4\nrw=randrw\nsize=64m\nruntime=50ms\ntime_based\n{rates}\n[other]\nsize=4k\n"
    )
    settings = found.settings
    assert [settings[f"stream.job-{name}.workload.read-share"] for name in ("reads", "writes")] == [1.0, 0.0]
    names = ("job-reads", "job-writes") if paced == 0 else ("job-writes", "job-reads")
    assert [settings[f"stream.{name}.replay.mode"] for name in names] == ["open", "stress"]
    assert [settings[f"stream.{name}.replay.{key}"] for name, key in zip(names, DEPTHS, strict=True)] == [4, 4]
    result = flashmesh.run({"preset": "venice-z-nand"}, fio=found)
    by_name = {stream.name: stream for stream in result.streams}
    assert by_name[names[0]].requests == pytest.approx(200, abs=3)
    assert by_name[names[1]].requests > 1_000
    document = json.loads(fio_json(result, found))
    assert [job["jobname"] for job in document["jobs"]] == ["job", "job", "other"]
    assert any("reads and writes are a stream each" in note or "writes and reads" in note for note in found.notes)


def test_both_kinds_of_a_mix_with_a_rate_are_one_stream(jobs: Read) -> None:
    end = "runtime=1\ntime_based\nsize=1m\n"
    for line in (
        "rw=randrw\nrate_iops=5",
        "rw=randrw\nrate_iops=0",
        "rw=randread\nrate_iops=5,",
        "rw=rw\nrwmixread=0\nrate=,4m",
    ):
        assert "workload.read-share" in jobs(f"[a]\n{line}\n{end}").settings


def test_a_think_time_after_a_time_is_taken_where_it_never_comes(
    one: Callable[[str], dict[str, Any]], jobs: Read
) -> None:
    """The first pause would come after `thinktime_iotime` plus `thinktime`, which is the end of the run or later."""
    plain = one(f"runtime=6\n{END}")
    assert one(f"runtime=6\nthinktime_iotime=5\n{END}") == plain
    assert one(f"runtime=6\nthinktime=1s\nthinktime_iotime=5\n{END}") == plain
    rated = one(f"rate_iops=100\n{END}")
    assert one(f"rate_iops=100\nthinktime=1s\nthinktime_iotime=5\n{END}") == rated
    blocks = one(f"thinktime=5\nthinktime_blocks=4\nthinktime_iotime=5\n{END}")
    assert (blocks["replay.think-time"], blocks["replay.think-every"]) == ("5us", 4)
    with pytest.raises(flashmesh.ConfigError, match="`thinktime_iotime` is not modelled"):
        jobs(f"[a]\nruntime=7\nthinktime=1s\nthinktime_iotime=5\n{END}")


def test_bytes_and_passes_end_a_job(one: Callable[[str], dict[str, Any]]) -> None:
    def end(options: str) -> tuple[Any, ...]:
        found = one(options)
        return tuple(found.get(f"workload.{key}") for key in ("pass-size", "passes", "same-passes", "requests"))

    assert end("size=1m") == ("1MiB", None, None, None)
    assert end("size=1m\nloops=3") == ("1MiB", 3, True, None)
    assert end("size=1m\nloops=3\nrandrepeat=0") == ("1MiB", 3, None, None)
    assert end("size=1m\nloops=3\nrandseed=5") == ("1MiB", 3, None, None)
    assert end("size=1m\nio_size=16k") == ("16KiB", None, None, None)
    assert end("size=1m\nio_size=4m") == ("4MiB", None, True, None)
    assert end("size=1m\nnumber_ios=7\nloops=2") == ("1MiB", 2, True, 14)
    assert end("size=4m\nfilesize=1m") == ("1MiB", None, None, None)
    assert end("size=50%\nfilesize=2m") == ("1MiB", None, None, None)
    assert end("size=1m\nnrfiles=3") == ("1023KiB", None, None, None)
    # With a synchronous engine, only jobs that cover their files have loops; others make one long pass.
    assert end("rw=randread\nsize=1m\nloops=3") == ("1MiB", 3, True, None)
    for line in ("rw=randread\nnorandommap", "rw=rw", "rw=randread:4", "rw=randread\nrandom_distribution=zipf"):
        assert end(f"{line}\nsize=1m\nloops=3") == ("3MiB", None, True, None)
        for engine in ("libaio", "io_uring", "null\niodepth=2"):
            assert end(f"ioengine={engine}\n{line}\nsize=1m\nloops=3") == ("1MiB", 3, True, None)
        assert end(f"ioengine=null\n{line}\nsize=1m\nloops=3") == ("3MiB", None, True, None)
    # Only a single request size turns the end of the last pass into a number of requests (last value).
    cut = "ioengine=libaio\nrw=randread\nnorandommap\nsize=64k\nio_size=160k"
    assert end(cut) == ("64KiB", 3, True, 40)
    assert end(f"{cut}\nbsrange=4k-8k") == ("64KiB", 3, True, None)
    assert end("rw=trimwrite\nsize=1m\nnumber_ios=7") == ("1MiB", None, None, 14)
    assert end("size=1m\nnumber_ios=0") == ("1MiB", None, None, None)


def test_time_ends_a_job(one: Callable[[str], dict[str, Any]]) -> None:
    found = one("runtime=2\ntime_based\nsize=1m")
    assert (found["replay.stop-time"], found["workload.requests"]) == ("2000000us", 10**12)
    assert "workload.pass-size" not in found
    found = one("runtime=5ms\nsize=1m")
    assert (found["replay.stop-time"], found["workload.pass-size"]) == ("5000us", "1MiB")


def test_ramp_time_is_left_out_of_the_job_and_of_the_window(one: Callable[[str], dict[str, Any]]) -> None:
    found = one("runtime=2\nramp_time=3\ntime_based\nsize=1m")
    assert (found["replay.stop-time"], found["replay.ramp-time"]) == ("5000000us", "3000000us")
    assert (found["measure.warm-up"], found["measure.warm-up-time"]) == ("time", "3000000us")


def test_results_of_fio_leave_out_a_ramp_that_is_no_whole_millisecond(jobs: Read) -> None:
    options = "direct=1\nfilename=/dev/nvme0n1\nrw=randread\nruntime=2ms\ntime_based\nramp_time=1500us\n"
    read = jobs(f"[a]\n{options}")
    result = flashmesh.run({"preset": "venice-z-nand"}, fio=read)
    (found,) = json.loads(fio_json(result, read))["jobs"]
    assert found["read"]["runtime"] == 2
    bins = found["read"]["clat_ns"]["bins"]
    assert sum(bins.values()) == found["read"]["total_ios"]


@pytest.mark.parametrize(
    "second",
    ["stonewall\nramp_time=3\n", "", "ramp_time=4\n", "ramp_time=3\nstartdelay=1\n"],
    ids=["later", "no ramp", "longer ramp", "delayed"],
)
def test_the_window_begins_with_the_run_unless_all_ramps_end_together(jobs: Read, second: str) -> None:
    each = "direct=1\nfilename=/dev/nvme0n1\nrw=randread\nruntime=2\ntime_based\n"
    found = jobs(f"[a]\n{each}ramp_time=3\n[b]\n{each}{second}").settings
    assert found["stream.a.replay.ramp-time"] == "3000000us"
    assert "measure.warm-up" not in found
