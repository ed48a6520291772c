"""fio job files become streams. Options that would change the result but have no model are refused by line."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import flashmesh
from conftest import Cli
from flashmesh import configuration
from flashmesh.importers.fio import FioJobs, read_jobs
from flashmesh.importers.fio.options import ALIASES, DIFFERENT, MEANINGLESS, REFUSED, TAKEN

Read: TypeAlias = Callable[[str], FioJobs]
END = "number_ios=100\n"


@pytest.fixture
def jobs(tmp_path: Path) -> Read:
    """Returns a function that reads the text of a job file."""

    def call(text: str) -> FioJobs:
        (tmp_path / "job.fio").write_text(text)
        return read_jobs(tmp_path / "job.fio")

    return call


@pytest.fixture
def one(jobs: Read) -> Callable[[str], dict[str, Any]]:
    """Returns a function from the options of a single job to the keys that they set."""
    return lambda options: jobs(f"[job]\n{options}").settings


def test_a_job_is_a_workload_and_a_replay(one: Callable[[str], dict[str, Any]]) -> None:
    assert one("rw=randrw\nrwmixread=70\nbs=8k\nsize=1g\noffset=2g\nnumber_ios=1000\nioengine=libaio\niodepth=32") == {
        "workload.kind": "job",
        "workload.read-share": 0.7,
        "workload.deallocate-share": 0.0,
        "workload.pattern": "random",
        "workload.random-map": True,
        "workload.request-size": "8KiB",
        "workload.footprint-start": "2GiB",
        "workload.footprint": "1GiB",
        "workload.requests": 1000,
        "workload.pass-size": "1GiB",
        "replay.mode": "stress",
        "replay.outstanding": 32,
    }


@pytest.mark.parametrize(
    ("rw", "pattern", "reads", "deallocates"),
    [
        ("read", "sequential", 1.0, 0.0),
        ("write", "sequential", 0.0, 0.0),
        ("randread", "random", 1.0, 0.0),
        ("randwrite", "random", 0.0, 0.0),
        ("rw", "sequential", 0.5, 0.0),
        ("randtrim", "random", 0.0, 1.0),
    ],
)
def test_rw_selects_pattern_and_shares(
    one: Callable[[str], dict[str, Any]], rw: str, pattern: str, reads: float, deallocates: float
) -> None:
    found = one(f"rw={rw}\n{END}")
    keys = ("pattern", "read-share", "deallocate-share")
    assert tuple(found[f"workload.{key}"] for key in keys) == (pattern, reads, deallocates)


def test_an_engine_that_waits_is_a_thread(one: Callable[[str], dict[str, Any]], jobs: Read) -> None:
    found = one(f"thinktime=50\n{END}")
    assert (found["replay.mode"], found["replay.threads"], found["replay.think-time"]) == ("closed", 1, "50us")
    assert any(note.startswith("iodepth 8: no effect") for note in jobs(f"[a]\niodepth=8\n{END}").notes)
    assert one(f"ioengine=io_uring\niodepth=8\n{END}")["replay.outstanding"] == 8


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
    # Only a job that covers its files ends a loop early, and begins anew.
    assert end("rw=randread\nsize=1m\nloops=3") == ("1MiB", 3, True, None)
    for line in ("rw=randread\nnorandommap", "rw=rw", "rw=randread:4", "rw=randread\nrandom_distribution=zipf"):
        assert end(f"{line}\nsize=1m\nloops=3") == ("3MiB", None, None, None)


def test_time_ends_a_job(one: Callable[[str], dict[str, Any]]) -> None:
    found = one("runtime=2\ntime_based\nsize=1m")
    assert (found["replay.stop-time"], found["workload.requests"]) == ("2000000us", 10**12)
    assert "workload.pass-size" not in found
    found = one("runtime=5ms\nsize=1m")
    assert (found["replay.stop-time"], found["workload.pass-size"]) == ("5000us", "1MiB")


def test_ramp_time_is_left_out_of_the_window(one: Callable[[str], dict[str, Any]]) -> None:
    found = one("runtime=2\nramp_time=3\ntime_based\nsize=1m")
    assert found["replay.stop-time"] == "5000000us"
    assert (found["measure.warm-up"], found["measure.warm-up-time"]) == ("time", "3000000us")


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
    """As fio 3.33 does: at 200 per second, a think time of 1 ms changes nothing, and one of 20 ms alone counts."""
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
    """As fio 3.33 does: `--rw=randrw --rwmixread=90 --rate_iops=500` does 500 of each."""
    found = jobs(f"[job]\nrw=randrw\nrwmixread=90\n{rate}\n{END}")
    assert (found.settings["workload.interarrival"], found.settings["workload.read-share"]) == (interarrival, reads)
    assert any("fio paces reads and writes each by its own rate" in note for note in found.notes)


def test_sizes_may_be_several(one: Callable[[str], dict[str, Any]]) -> None:
    assert one(f"bssplit=4k/60:64k/\n{END}")["workload.request-size"] == [["4KiB", 60.0], ["64KiB", 40.0]]
    assert one(f"bssplit=4k/50:8k/30\n{END}")["workload.request-size"] == [["4KiB", 70.0], ["8KiB", 30.0]]
    assert one(f"bsrange=4k-16k\n{END}")["workload.request-size"] == [[f"{n}KiB", 0.25] for n in (4, 8, 12, 16)]
    assert one(f"bssplit=4k/10:8k/10\n{END}")["workload.request-size"] == [["4KiB", 10.0], ["8KiB", 90.0]]
    assert one(f"bssplit=4k:8k:16k\n{END}")["workload.request-size"] == [
        ["4KiB", 33.0],
        ["8KiB", 33.0],
        ["16KiB", 34.0],
    ]
    assert one(f"bssplit=4k/60:8k/60\n{END}")["workload.request-size"] == [["4KiB", 60.0], ["8KiB", 40.0]]
    assert one(f"bssplit=8k/50:12k/50\n{END}")["workload.request-size"] == "8KiB"
    unaligned = one(f"bssplit=8k/50:12k/50\nbs_unaligned=1\n{END}")["workload.request-size"]
    assert unaligned == [["8KiB", 50.0], ["12KiB", 50.0]]
    assert one(f"bsrange=4k:8k\nbs=64k\n{END}")["workload.request-size"] == [["4KiB", 0.5], ["8KiB", 0.5]]
    found = one(f"rw=randwrite\nbs=4k,64k\nba=1m\n{END}")
    assert (found["workload.request-size"], found["workload.alignment"]) == ("64KiB", "1MiB")


def test_a_range_of_sizes_is_drawn_as_fio_draws_it(one: Callable[[str], dict[str, Any]]) -> None:
    sizes = one(f"bsrange=4k-10k\n{END}")["workload.request-size"]
    assert sizes == [["4KiB", 0.4], ["8KiB", 0.4], ["10KiB", 0.2]]
    assert sum(int(size.removesuffix("KiB")) * weight for size, weight in sizes) == pytest.approx(6.8)


def test_each_direction_has_its_own_sizes(one: Callable[[str], dict[str, Any]]) -> None:
    found = one(f"rw=randrw\nbs=4k,8k\n{END}")
    assert (found["workload.request-size"], found["workload.write-size"]) == ("4KiB", "8KiB")
    found = one(f"rw=rw\nbssplit=64k/40:1m/60,1m/100\n{END}")
    assert found["workload.request-size"] == [["64KiB", 40.0], ["1MiB", 60.0]]
    assert found["workload.write-size"] == "1MiB"
    assert one(f"rw=randrw\nbs=8k,\n{END}")["workload.write-size"] == "4KiB"
    assert one(f"rw=randread\nbs=4k,8k\nbs_is_seq_rand=1\n{END}")["workload.request-size"] == "8KiB"


@pytest.mark.parametrize(
    ("word", "pattern", "key", "value"),
    [
        ("zipf:0.8", "zipf", "zipf-theta", 0.8),
        ("zipf", "zipf", "zipf-theta", 1.1),
        ("pareto:0.3", "pareto", "pareto-share", 0.3),
        ("normal:20", "normal", "normal-deviation", 0.2),
        ("zoned:50/5:30/15:20/", "zoned", "zones", "50/5:30/15:20/80"),
        ("zoned:60/10:/", "zoned", "zones", "60/10:40/90"),
        ("zoned_abs:50/256k:50/", "zoned", "zones", "50/25:50/75"),
    ],
)
def test_distributions_become_patterns(
    one: Callable[[str], dict[str, Any]], word: str, pattern: str, key: str, value: object
) -> None:
    found = one(f"rw=randread\nsize=1m\nrandom_distribution={word}\n")
    assert (found["workload.pattern"], found[f"workload.{key}"]) == (pattern, value)
    assert "workload.random-map" not in found, "only uniform draws have a map"


def test_blocks_come_once_a_pass_unless_the_job_says_otherwise(one: Callable[[str], dict[str, Any]]) -> None:
    has_map = [
        "workload.random-map" in one(f"rw=randread\nsize=1m\n{more}")
        for more in ("", "norandommap=0\n", "ba=4k\n", "norandommap\n", "ba=8k\n", "rw=read\n")
    ]
    assert has_map == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        ("rw=randread:8", {"run-length": 8}),
        ("rw=randread:8\nrw_sequencer=identical", {"run-length": 8, "run-kind": "identical"}),
        ("rw=randread\npercentage_random=30", {"random-share": 0.3}),
        ("rw=read:8k", {"skip": "8KiB", "skip-back": False}),
        ("rw=read:-8k", {"skip": "8KiB", "skip-back": True}),
        ("rw=read\nzonemode=strided\nzonesize=256k\nzoneskip=1m", {"skip": "1MiB", "skip-after": "256KiB"}),
        ("rw=randtrimwrite", {"deallocate-first": True}),
        ("rw=write\nfsync=3", {"flush-every": 3}),
        ("rw=write\nfsync=8\nfdatasync=2", {"flush-every": 2}),
        ("rw=write\nsync=dsync", {"flush-every": 1}),
        ("rw=read\nfsync=3", {}),
        ("rw=write\nend_fsync=1", {"flush-last": True}),
        ("rw=randrw\nfsync_on_close=1", {"flush-last": True}),
        ("rw=read\nend_fsync=1", {}),
        ("rw=randrw\npercentage_random=100,0", {"write-random-share": 0.0}),
        ("rw=randrw\npercentage_random=20,60", {"random-share": 0.2, "write-random-share": 0.6}),
        ("rw=randtrimwrite\npercentage_random=100,100,40", {"deallocate-first": True, "random-share": 0.4}),
        (
            "rw=read\nzonemode=strided\nzonesize=64k\nzonerange=128k\nzoneskip=64k",
            {"skip": "128KiB", "skip-after": "64KiB"},
        ),
    ],
)
def test_the_order_of_requests_is_that_of_the_job(
    one: Callable[[str], dict[str, Any]], options: str, keys: dict[str, Any]
) -> None:
    found = one(f"size=64m\n{options}\n")
    order = ("run-length", "run-kind", "random-share", "write-random-share", "skip", "skip-back", "skip-after")
    order_keys = (*order, "deallocate-first", "flush-every", "flush-last")
    assert {key: found[f"workload.{key}"] for key in order_keys if f"workload.{key}" in found} == keys


def test_a_job_thinks_with_nothing_in_flight(one: Callable[[str], dict[str, Any]]) -> None:
    def think(options: str) -> tuple[Any, ...]:
        found = one(f"{options}\nsize=1m\nthinktime=5\n")
        return tuple(found.get(f"replay.{key}") for key in ("mode", "threads", "think-time", "think-every"))

    assert think("") == ("closed", 1, "5us", None)
    assert think("ioengine=libaio\niodepth=8") == ("closed", 1, "5us", None)
    assert think("thinktime_blocks=4") == ("closed", 1, "5us", 4)
    assert think("ioengine=libaio\niodepth=8\nthinktime_blocks=16") == ("closed", 8, "5us", 2)


def test_deallocations_have_a_remark(jobs: Read) -> None:
    assert any("a deallocation costs its command" in note for note in jobs("[a]\nrw=randtrim\nsize=1m\n").notes)


def test_global_sections_hold_for_the_jobs_after_them(jobs: Read) -> None:
    text = "[global]\nbs=4k\nnumber_ios=5\n[a]\n[global]\nbs=8k\n[b]\n[c]\nbs=16k\n"
    found = jobs(text).settings
    sizes = [found[f"stream.{name}.workload.request-size"] for name in "abc"]
    assert sizes == ["4KiB", "8KiB", "16KiB"]


def test_kinds_of_several_sizes_have_no_map(jobs: Read) -> None:
    """fio keeps one map for blocks of all sizes, which covers none of them once."""
    for options, has_map, is_said in (
        ("rw=randrw\nbs=4k", True, False),
        ("rw=randrw\nbs=4k,16k", False, True),
        ("rw=randrw\nbssplit=4k/50:8k/50,4k/10:64k/90", True, False),
        ("rw=randread\nbs=4k,64k", True, False),
        ("rw=randwrite\nbs=4k,64k", True, True),
        ("rw=randrw\nbs=4k,16k\nnorandommap", False, False),
    ):
        found = jobs(f"[a]\nsize=1m\n{options}\n")
        assert ("workload.random-map" in found.settings) is has_map, options
        assert any("fio 3.33 mixes their blocks up" in note for note in found.notes) is is_said, options


def test_an_offset_of_no_percent_is_the_start(one: Callable[[str], dict[str, Any]]) -> None:
    assert one("filename=/dev/nvme0n1\noffset=0%\nsize=1m")["workload.footprint-start"] == "0B"


@pytest.mark.parametrize(
    ("order", "keys"),
    [
        ("", {"file-order": "round-robin"}),
        ("roundrobin:4", {"file-order": "round-robin", "file-run": 4}),
        ("random:8", {"file-order": "random", "file-run": 8}),
        ("sequential:8", {"file-order": "sequential"}),
        ("zipf:1.2", {"file-order": "random", "file-weights": True}),
        ("gauss", {"file-order": "random", "file-weights": True}),
    ],
)
def test_the_order_of_files_is_that_of_the_job(
    one: Callable[[str], dict[str, Any]], order: str, keys: dict[str, Any]
) -> None:
    found = one(f"size=4m\nnrfiles=4\n{f'file_service_type={order}' if order else ''}\n")
    names = ("file-order", "file-run", "file-weights")
    of_files = {name: found[f"workload.{name}"] for name in names if f"workload.{name}" in found}
    assert of_files == {name: of_files["file-weights"] if value is True else value for name, value in keys.items()}


def test_clones_of_a_job_are_streams_of_their_own(jobs: Read) -> None:
    found = jobs(f"[a b]\nnumjobs=3\nsize=1m\noffset_increment=1g\n{END}").settings
    starts = [found[f"stream.a-b-{number}.workload.footprint-start"] for number in (1, 2, 3)]
    # Each job has its own file, 1 MiB longer than its offset.
    assert starts == ["0B", "1025MiB", "3074MiB"]


def test_a_log_is_found_beside_the_job_file(jobs: Read, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("fio version 3 iolog\n0 /a add\n1 /a read 0 4096\n2 /a write 4096 4096\n")
    found = jobs("[a]\nread_iolog=log.txt\nreplay_time_scale=50\n").settings
    assert found["workload.trace"] == str(tmp_path / "log.txt")
    assert (found["replay.mode"], found["replay.time-scale"]) == ("open", 2.0)
    stalled = jobs("[a]\nread_iolog=log.txt\nreplay_no_stall=1\nioengine=libaio\niodepth=4\n").settings
    assert (stalled["replay.mode"], stalled["replay.outstanding"]) == ("stress", 4)


def test_flushes_of_a_log_are_requests(jobs: Read, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("fio version 3 iolog\n0 /a add\n1 /a write 0 4096\n2 /a sync 0 0\n")
    result = flashmesh.run({"preset": "venice-z-nand"}, fio=jobs("[a]\nread_iolog=log.txt\n"))
    assert result.latency_ps.flush is not None
    assert (result.requests, result.latency_ps.flush.count) == (2, 1)


def test_clones_take_the_logs_of_a_list_in_turn(jobs: Read, tmp_path: Path) -> None:
    for name in ("one.log", "two.log"):
        (tmp_path / name).write_text("fio version 3 iolog\n0 /a add\n1 /a read 0 4096\n")
    found = jobs("[a]\nread_iolog=one.log:two.log\nnumjobs=3\n").settings
    traces = [found[f"stream.a-{number}.workload.trace"] for number in (1, 2, 3)]
    assert [Path(str(trace)).name for trace in traces] == ["one.log", "two.log", "one.log"]


def test_waits_of_a_log_are_not_scaled(jobs: Read, tmp_path: Path) -> None:
    """As in fio 3.33, where replay_time_scale is about time stamps."""
    (tmp_path / "log.txt").write_text("fio version 2 iolog\n/a add\n/a read 0 4096\n/a wait 10\n/a read 0 4096\n")
    found = jobs("[a]\nread_iolog=log.txt\nreplay_time_scale=50\n")
    assert found.settings["replay.time-scale"] == 1.0
    assert "replay_time_scale: no effect on waits, as in fio 3.33" in found.notes


def test_a_log_without_times_is_replayed_at_the_depth_of_its_job(jobs: Read, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("fio version 2 iolog\n/a add\n/a open\n/a read 0 4096\n/a write 4096 4096\n")
    found = jobs("[a]\nread_iolog=log.txt\nioengine=libaio\niodepth=8\n")
    assert (found.settings["replay.mode"], found.settings["replay.outstanding"]) == ("stress", 8)
    assert any("as replay_no_stall=1 asks for" in note for note in found.notes)


def test_the_reading_of_waits_is_said_and_the_other_one_offered(jobs: Read, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("fio version 2 iolog\n/a add\n/a read 0 4096\n/a wait 1000\n/a read 0 4096\n")
    found = jobs("[a]\nread_iolog=log.txt\nioengine=libaio\niodepth=8\n")
    assert (found.settings["replay.mode"], found.settings["replay.outstanding-max"]) == ("open", 8)
    assert found.settings["workload.iolog-wait"] == "since-start-ms"
    assert any("--set workload.iolog-wait=after-previous-us" in note for note in found.notes)


def test_options_without_effect_are_named_with_the_reason(jobs: Read) -> None:
    notes = jobs(f"[a]\nfilename=/dev/nvme0n1\ndirect=1\ngroup_reporting\nstonewall=0\n{END}").notes
    assert [note.split(":")[0] for note in notes] == ["direct", "group_reporting"]


def test_what_is_done_otherwise_is_said(jobs: Read) -> None:
    notes = jobs(f"[a]\nioengine=libaio\niodepth_batch_submit=8\nexitall\ndirect=0\nexitall_on_error=0\n{END}").notes
    assert (
        "iodepth_batch_submit: not followed, each request is issued as soon as fewer than iodepth are in flight"
        in notes
    )
    assert "exitall: not followed, each job ends by itself" in notes
    assert any(note.startswith("direct=0, buffered=1: no effect, there is no page cache") for note in notes)


@pytest.mark.parametrize(
    "line",
    [
        "verify=md5",
        "create_only=1",
        "fill_device=1",
        "fill_fs=1",
        "file_append=1",
        "sg_write_mode=verify",
        "trim_percentage=5",
        "thinktime_iotime=5",
        "replay_scale=2",
    ],
)
def test_what_changes_requests_or_the_drive_is_refused(jobs: Read, line: str) -> None:
    name = line.partition("=")[0].replace("fill_fs", "fill_device")
    with pytest.raises(flashmesh.ConfigError, match=f"`{name}` is not modelled") as error:
        jobs(f"[a]\n{line}\n{END}")
    assert "job.fio:2:1" in str(error.value)


def test_values_that_ask_for_what_is_done_anyway_are_taken(jobs: Read) -> None:
    neutral = {name: value for name, refusal in REFUSED.items() for value in refusal.neutral}
    assert {"create_only": "0", "fill_device": "0", "file_append": "0"}.items() <= neutral.items()
    text = "".join(f"{name}={value}\n" for name, value in neutral.items())
    assert jobs(f"[a]\n{text}{END}") == jobs(f"[a]\n{END}")
    assert jobs(f"[a]\nsync=none\nfsync=0\nexitall=0\n{END}") == jobs(f"[a]\n{END}")


def test_a_log_leaves_nothing_to_say_about_its_requests(jobs: Read, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("fio version 3 iolog\n0 /a add\n1 /a read 0 4096\n")
    log = "[a]\nread_iolog=log.txt\n"
    plain = jobs(log).settings
    for line in (
        "loops=2",
        "io_size=1m",
        "rwmixread=70",
        "ba=8k",
        "time_based",
        "number_ios=1",
        "rate_iops=5",
        "fsync=1",
    ):
        found = jobs(log + line)
        assert found.settings == plain
        assert f"[a] {line.partition('=')[0]}: no effect, the log of read_iolog says it" in found.notes
    with pytest.raises(flashmesh.ConfigError, match="`thinktime` beside the times of a log is not modelled"):
        jobs(log + "thinktime=5")
    stalled = jobs(f"{log}replay_no_stall=1\nruntime=2").settings
    assert (stalled["replay.mode"], stalled["replay.stop-time"]) == ("closed", "2000000us")


def test_no_option_has_two_fates() -> None:
    fates = [TAKEN, MEANINGLESS.keys(), DIFFERENT.keys(), REFUSED.keys()]
    assert sum(map(len, fates)) == len(frozenset().union(*fates))
    assert set(ALIASES.values()) <= frozenset().union(*fates)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "there is no job"),
        ("[global]\nbs=4k\n", 1, "there is no job"),
        ("bs=4k\n[a]\n", 1, "before the first section"),
        ("[a\n", 1, "no heading of a section"),
        ("[]\n", 1, "no heading of a section"),
        ("[a]\n= 4\n", 2, "is no option"),
        ("[a]\nbs=4x\n", 2, "`4x` is not a size"),
        ("[a]\nbssplit=4k/50:8k/60:16k\n", 2, "nothing is left for the others"),
        ("[a]\nbssplit=:\n", 2, "has no size"),
        ("[a]\nbs_unaligned\nbsrange=4k-8k\n", 2, "a request of a block device has whole sectors"),
        ("[a]\nrw=randread:x\n", 2, "rw: `x` is not a whole number"),
        ("[a]\nrandom_distribution=sequence:1,2\nrw=randread\n", 2, "`sequence` is not modelled"),
        ("[a]\nrandom_distribution=zoned:50/5:30/15\nrw=randread\n", 2, "do not add up to 100"),
        ("[a]\nrandom_distribution=zoned:50/60:50/60\nrw=randread\n", 2, "add up to more than 100"),
        ("[a]\nsize=120%\n", 2, "is more than 100 %"),
        ("[a]\nverify=md5\n", 2, "no written data is read again and checked"),
        ("[a]\nioengine=http\nhttp_host=x\n", 2, "`http` goes to the network, not to a block device"),
        ("[a]\nzonemode=zbd\nsize=1z\n", 2, "`zbd` needs a zoned drive"),
        ("[a]\nwait_for=b\nsize=1m\n[b]\nsize=1m\n", 2, "no job `b` stands before this one"),
        ("[a]\nfile_service_type=zip\nnrfiles=2\nsize=1m\n", 2, "`zip` is not known"),
        ("[a]\nfile_service_type=zipf:1\nnrfiles=2\nsize=1m\n", 2, "1 is no parameter of zipf"),
        ("[a]\nzonemode=strided\nzonesize=8k\nrw=randread\nsize=1m\n", 3, "of sequential jobs alone"),
        ("[a]\nzonemode=strided\nzonesize=8k\nzonerange=4k\nsize=1m\n", 4, "less than zonesize"),
        ("[a]\nsync=maybe\nrw=write\nsize=1m\n", 2, "`maybe` is not known"),
        ("[a]\nbs=100\n", 2, "whole sectors"),
        ("[a]\nbs=\n", 2, "`bs` has no value"),
        ("[a]\nrw=rw\nrate_iops=,5\n" + END, 3, "leaves one kind of a mix without a rate"),
        ("[a]\nrw=randrw\nba=4k,8k\n" + END, 3, "differs between reads and writes"),
        ("[a]\nbsrange=8k-4k\n", 2, "expected the smaller first"),
        ("[a]\nsize=1g\nioengine=psinc\n", 3, "`psinc` is not modelled"),
        ("[a]\nsize=1k\n", 2, "less than one request"),
        ("[a]\niodeph=4\n", 2, "unknown option `iodeph`"),
        ("[a]\nrate_iops=5\nrate=4k\nsize=1m\n", 2, "exclude each other"),
        ("[a]\nnumjobs=257\n", 2, "is not between 1 and 256"),
        ("[a]\nnumjobs=200\nsize=1m\n[b]\nnumjobs=200\n", 4, "400 jobs"),
        ("[a]\nread_iolog=none.log\n", 2, "is not there"),
        (f"[a]\nread_iolog={'x' * 300}\n", 2, "the path cannot be used: File name too long"),
        ("[a]\nread_iolog=a\0b\n", 2, "the path cannot be used: embedded null byte"),
        ("[a]\nrandseed=1\nsize=1m\n[b]\nrandseed=2\nsize=1m\n", 5, "another job has another `randseed`"),
    ],
)
def test_what_is_not_modelled_is_refused_with_its_line(jobs: Read, text: str, line: int, words: str) -> None:
    with pytest.raises(flashmesh.ConfigError) as error:
        jobs(text)
    assert words in str(error.value)
    assert f"job.fio:{line}:" in str(error.value)


def test_a_misspelt_option_has_a_suggestion(jobs: Read) -> None:
    with pytest.raises(flashmesh.ConfigError, match="did you mean `iodepth`"):
        jobs("[a]\niodeph=4\n")


JOBS = "[global]\nioengine=libaio\nsize=64m\nnumber_ios=500\n[oltp]\nrw=randrw\niodepth=4\n[log]\nrw=write\nbs=64k\n"


def test_jobs_run_as_streams_of_one_drive(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(JOBS)
    done = cli("run", "--fio", "job.fio", "--json", "-")
    assert done.returncode == 0, done.stderr
    streams = json.loads(done.stdout)["streams"]
    assert [(stream["name"], stream["requests"]) for stream in streams] == [("oltp", 500), ("log", 500)]


def test_what_is_set_by_hand_comes_after_the_jobs(config: Path, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(JOBS)
    jobs = read_jobs(tmp_path / "job.fio")
    overrides = {"stream.log.replay.outstanding": 7, "fabric.kind": "ideal"}
    loaded = tomllib.loads(configuration.load(config, fio=jobs, overrides=overrides).to_toml())
    assert loaded["stream"]["log"]["replay"]["outstanding"] == 7
    assert loaded["stream"]["oltp"]["replay"]["outstanding"] == 4
    assert loaded["fabric"]["kind"] == "ideal"


@pytest.mark.parametrize(
    ("text", "setting", "words"),
    [
        (JOBS, "stream.olpt.replay.outstanding=3", "did you mean `oltp`?"),
        (JOBS, "stream.x.replay.outstanding=3", "the streams are `oltp`, `log`"),
        ("[a]\nnumber_ios=5\nioengine=libaio\n", "stream.a.replay.outstanding=3", "leave `stream.a.` away"),
        ("[a]\nnumber_ios=5\n", "replay.outstanding=3", "replay.outstanding has no effect: replay.mode is"),
        (
            "[a]\nnumber_ios=5\n[b]\nnumber_ios=5\n",
            "replay.outstanding=3",
            "replay.outstanding has no effect in any stream: stream.a.replay.mode is",
        ),
    ],
)
def test_a_setting_that_no_job_reads_is_refused(cli: Cli, tmp_path: Path, text: str, setting: str, words: str) -> None:
    (tmp_path / "job.fio").write_text(text)
    done = cli("run", "--fio", "job.fio", "--set", setting)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "--set #1" in done.stderr


def test_one_job_runs_without_streams(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[a]\nruntime=1ms\ntime_based\nioengine=libaio\n")
    done = cli("run", "--fio", "job.fio", "preset:venice-z-nand", "--json", "-")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    # The last request arrives before the stop time and takes at most the maximum latency.
    assert 1e9 <= result["makespan_ps"] <= 1e9 + result["latency_ps"]["all"]["max"]


ALONE = "[a]\nnumber_ios=50\nsize=1m\n"


@pytest.mark.parametrize("jobs", [ALONE, f"{ALONE}[trace]\nnumber_ios=50\n"])
def test_a_trace_runs_beside_the_jobs_as_a_stream(jobs: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(jobs)
    (tmp_path / "t.trace").write_text("".join(f"{1000 * i} 0 {8 * i} 8 1\n" for i in range(20)))
    own = "trace" if "[trace]" not in jobs else "trace-2"
    unit = ("--set", f"stream.{own}.workload.time-unit=ns")
    done = cli("run", "--fio", "job.fio", "--trace", "t.trace", *unit, "--json", "-")
    assert done.returncode == 0, done.stderr
    streams = {each["name"]: each["requests"] for each in json.loads(done.stdout)["streams"]}
    assert streams[own] == 20
    assert sum(streams.values()) == 20 + 50 * jobs.count("number_ios")


def test_misuse_of_jobs_is_bad_input(cli: Cli, config: Path, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(JOBS)
    (tmp_path / "streams.toml").write_text("[stream.a.workload]\nrequests = 5\n")
    for arguments, words in [
        (("run",), "Missing argument 'CONFIG'"),
        (("run", config, "--fio", "none.fio"), "cannot be read"),
        (("run", config, "--fio", "job.fio", "--profile", "tpc"), 'no profile is called "tpc"'),
        (("run", "streams.toml", "--fio", "job.fio"), "streams of its own, [stream.a]"),
        (("run", config, "--fio", "job.fio", "--set", "stream.oltp.replay.outstanding=none"), "--set #1"),
        (("run", config, "--fio", "job.fio", "--json", "job.fio"), "name the same file"),
    ]:
        done = cli(*arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert words in done.stderr


@pytest.mark.parametrize(
    ("text", "line", "marked"),
    [
        ("[global]\nioengine=libaio\nsize = 1024t\n[oltp]\nnumber_ios=5\n[log]\nnumber_ios=5\n", 3, "size = 1024t"),
        ("[a]\nrw=randread\nrandom_distribution=zipf:99\nsize=1m\n", 3, "random_distribution=zipf:99"),
        ("[a]\nsize=1m\noffset=1024t\n", 3, "offset=1024t"),
    ],
)
def test_what_the_drive_does_not_take_is_shown_in_the_job_file(
    config: Path, tmp_path: Path, text: str, line: int, marked: str
) -> None:
    (tmp_path / "job.fio").write_text(text)
    with pytest.raises(flashmesh.ConfigError) as error:
        configuration.load(config, fio=read_jobs(tmp_path / "job.fio"))
    shown = str(error.value).split("\n")
    assert f"--> {tmp_path / 'job.fio'}:{line}:1" in shown[1]
    assert shown[3:5] == [f"{line} | {marked}", f"  | {'^' * len(marked)}"]
    assert "--fio" not in str(error.value)


def test_a_long_list_of_sizes_is_shown_in_the_job_file(tmp_path: Path) -> None:
    sizes = "bssplit=512/10:1k/10:2k/10:4k/10:8k/10:16k/10:32k/10:64k/30"
    (tmp_path / "job.fio").write_text(f"[global]\nsize=1m\n{sizes}\n[first]\n[second]\n")
    with pytest.raises(flashmesh.ConfigError, match=r"not a multiple of geometry\.sector-size") as error:
        configuration.load("preset:samsung-pm9a3", fio=read_jobs(tmp_path / "job.fio"))
    assert f"job.fio:3:1\n  |\n3 | {sizes}" in str(error.value)
