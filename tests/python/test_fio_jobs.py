"""Job files of fio become streams; what would change the result and is not modelled is refused by name and line."""

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
from flashmesh.importers.fio.options import ALIASES, MEANINGLESS, REFUSED, TAKEN
from flashmesh.importers.fio.values import Misfit, size, time_us

Read: TypeAlias = Callable[[str], FioJobs]
END = "number_ios=100\n"


@pytest.fixture
def jobs(tmp_path: Path) -> Read:
    """Reads the text of a job file."""

    def call(text: str) -> FioJobs:
        (tmp_path / "job.fio").write_text(text)
        return read_jobs(tmp_path / "job.fio")

    return call


@pytest.fixture
def one(jobs: Read) -> Callable[[str], dict[str, Any]]:
    """The keys that the options of a single job set."""
    return lambda options: jobs(f"[job]\n{options}").settings


def test_a_job_is_a_workload_and_a_replay(one: Callable[[str], dict[str, Any]]) -> None:
    assert one("rw=randrw\nrwmixread=70\nbs=8k\nsize=1g\noffset=2g\nnumber_ios=1000\nioengine=libaio\niodepth=32") == {
        "workload.kind": "synthetic",
        "workload.read-share": 0.7,
        "workload.deallocate-share": 0.0,
        "workload.pattern": "random",
        "workload.request-size": "8KiB",
        "workload.alignment": "8KiB",
        "workload.footprint-start": "2GiB",
        "workload.footprint": "1GiB",
        "workload.requests": 1000,
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
def test_what_is_asked_of_the_drive(
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


def test_the_number_of_requests_follows_from_the_bytes(one: Callable[[str], dict[str, Any]]) -> None:
    assert one("size=1m")["workload.requests"] == 256
    assert one("size=1m\nloops=3")["workload.requests"] == 768
    assert one("size=1m\nio_size=16k")["workload.requests"] == 4
    assert one("size=1m\nnumber_ios=7")["workload.requests"] == 7
    assert one("bssplit=4k/50:12k/50\nsize=1m")["workload.requests"] == 128


def test_time_ends_a_job(one: Callable[[str], dict[str, Any]]) -> None:
    found = one("runtime=2\ntime_based\nsize=1m")
    assert (found["replay.stop-time"], found["workload.requests"]) == ("2000000us", 10**12)
    found = one("runtime=5ms\nsize=1m")
    assert (found["replay.stop-time"], found["workload.requests"]) == ("5000us", 256)


def test_rates_are_arrivals(one: Callable[[str], dict[str, Any]]) -> None:
    found = one(f"rate_iops=1000\n{END}")
    assert (found["replay.mode"], found["workload.arrivals"], found["workload.interarrival"]) == (
        "open",
        "constant",
        "1000000000ps",
    )
    found = one(f"rate=4m\nrate_process=poisson\n{END}")
    assert (found["workload.arrivals"], found["workload.interarrival"]) == ("exponential", "976562500ps")


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
    assert one(f"bsrange=4k-16k\n{END}")["workload.request-size"] == [[f"{n}KiB", 1.0] for n in (4, 8, 12, 16)]
    found = one(f"rw=write\nbs=4k,64k\nba=1m\n{END}")
    assert (found["workload.request-size"], found["workload.alignment"]) == ("64KiB", "1MiB")


def test_zipf_is_zipf(one: Callable[[str], dict[str, Any]]) -> None:
    found = one(f"rw=randread\nrandom_distribution=zipf:0.8\n{END}")
    assert (found["workload.pattern"], found["workload.zipf-theta"]) == ("zipf", 0.8)


@pytest.mark.parametrize(
    ("text", "kb_base", "count"),
    [
        ("512", 1024, 512),
        ("4k", 1024, 4096),
        ("4kb", 1024, 4096),
        ("4ki", 1024, 4000),
        ("4KiB", 1000, 4096),
        ("4k", 1000, 4000),
        ("2G", 1024, 2 * 1024**3),
        ("0x1000", 1024, 4096),
        ("1t", 1000, 10**12),
    ],
)
def test_sizes_follow_the_rules_of_suffixes(text: str, kb_base: int, count: int) -> None:
    assert size(text, kb_base) == count


def test_times_have_units() -> None:
    assert [time_us(text, "s") for text in ("2", "2s", "3ms", "7us", "1m", "1h")] == [
        2_000_000,
        2_000_000,
        3_000,
        7,
        60_000_000,
        3_600_000_000,
    ]
    for text in ("", "1x", "-1", "1.5s"):
        with pytest.raises(Misfit):
            time_us(text, "s")


def test_global_sections_hold_for_the_jobs_after_them(jobs: Read) -> None:
    text = "[global]\nbs=4k\nnumber_ios=5\n[a]\n[global]\nbs=8k\n[b]\n[c]\nbs=16k\n"
    found = jobs(text).settings
    sizes = [found[f"stream.{name}.workload.request-size"] for name in "abc"]
    assert sizes == ["4KiB", "8KiB", "16KiB"]


def test_clones_of_a_job_are_streams_of_their_own(jobs: Read) -> None:
    found = jobs(f"[a b]\nnumjobs=3\nsize=1m\noffset_increment=1g\n{END}").settings
    starts = [found[f"stream.a-b-{number}.workload.footprint-start"] for number in (1, 2, 3)]
    assert starts == ["0B", "1GiB", "2GiB"]


def test_a_log_is_found_beside_the_job_file(jobs: Read, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("fio version 3 iolog\n0 /a add\n1 /a read 0 4096\n2 /a write 4096 4096\n")
    found = jobs("[a]\nread_iolog=log.txt\nreplay_time_scale=50\n").settings
    assert found["workload.trace"] == str(tmp_path / "log.txt")
    assert (found["replay.mode"], found["replay.time-scale"]) == ("open", 2.0)
    stalled = jobs("[a]\nread_iolog=log.txt\nreplay_no_stall=1\nioengine=libaio\niodepth=4\n").settings
    assert (stalled["replay.mode"], stalled["replay.outstanding"]) == ("stress", 4)


def test_options_without_effect_are_named_with_the_reason(jobs: Read) -> None:
    notes = jobs(f"[a]\nfilename=/dev/nvme0n1\ndirect=1\ngroup_reporting\nstonewall=0\n{END}").notes
    assert [note.split(":")[0] for note in notes] == ["filename", "direct", "group_reporting"]


@pytest.mark.parametrize(
    "line",
    [
        "exitall",
        "nrfiles=4",
        "file_service_type=random",
        "filesize=1m",
        "overwrite=1",
        "buffered=1",
        "direct=0",
        "continue_on_error=read",
        "pre_read=1",
        "create_only=1",
        "exec_prerun=blkdiscard",
        "lockfile=exclusive",
        "random_generator=lfsr",
    ],
)
def test_what_changes_requests_or_the_drive_is_refused(jobs: Read, line: str) -> None:
    name = line.partition("=")[0]
    with pytest.raises(flashmesh.ConfigError, match=f"`{name}(=0)?` is not modelled") as error:
        jobs(f"[a]\n{line}\n{END}")
    assert "job.fio:2:1" in str(error.value)


def test_values_that_ask_for_what_is_done_anyway_are_taken(jobs: Read) -> None:
    neutral = {name: value for name, refusal in REFUSED.items() for value in refusal.neutral}
    assert {"nrfiles": "1", "overwrite": "0", "buffered": "0", "fsync": "0"}.items() <= neutral.items()
    text = "".join(f"{name}={value}\n" for name, value in neutral.items())
    assert jobs(f"[a]\n{text}{END}") == jobs(f"[a]\nbuffered=0\n{END}")
    assert jobs(f"[a]\nsync=none\ncontinue_on_error=0\n{END}") == jobs(f"[a]\n{END}")


def test_random_jobs_are_told_that_blocks_come_again(jobs: Read) -> None:
    text = f"[global]\ndirect=1\nrw=randread\n{END}[a]\nnumjobs=3\n[b]\nnorandommap=0\n"
    others = "[c]\nnorandommap\n[d]\nrandom_distribution=zipf\n[e]\nrw=read\n[f]\nba=4k\n"
    notes = [note for note in jobs(text + others).notes if "visits every block once" in note]
    assert [note.split()[0] for note in notes] == ["[a]", "[b]"]


def test_a_log_leaves_nothing_to_say_about_its_requests(jobs: Read, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("fio version 3 iolog\n0 /a add\n1 /a read 0 4096\n")
    log = "[a]\nread_iolog=log.txt\n"
    for name, line in (
        ("loops", "loops=2"),
        ("io_size", "io_size=1m"),
        ("rwmixread", "rwmixread=70"),
        ("blockalign", "ba=8k"),
        ("time_based", "runtime=1\ntime_based"),
    ):
        with pytest.raises(flashmesh.ConfigError, match=f"`{name}` does not go with `read_iolog`"):
            jobs(log + line)
    stalled = jobs(f"{log}replay_no_stall=1\nruntime=2").settings
    assert (stalled["replay.mode"], stalled["replay.stop-time"]) == ("closed", "2000000us")


def test_no_option_has_two_fates() -> None:
    assert not TAKEN & MEANINGLESS.keys()
    assert not TAKEN & REFUSED.keys()
    assert not MEANINGLESS.keys() & REFUSED.keys()
    assert set(ALIASES.values()) <= TAKEN


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "there is no job"),
        ("[global]\nbs=4k\n", 1, "there is no job"),
        ("bs=4k\n[a]\n", 1, "before the first section"),
        ("[a\n", 1, "no heading of a section"),
        ("[]\n", 1, "no heading of a section"),
        ("[a]\nbs=4k\nbs=8k\n", 3, "given twice in one section, first in line 2"),
        ("[a]\nbs=4k\nblocksize=8k\n", 3, "says again what `bs` says"),
        ("[a]\ninclude other.fio\n", 2, "`include` is not taken"),
        ("[a]\nfilename=${DEVICE}\n", 2, "holds a variable"),
        ("[a]\n= 4\n", 2, "is no option"),
        ("[a]\nbs=4x\n", 2, "`4x` is not a size"),
        ("[a]\nbs=100\n", 2, "whole sectors"),
        ("[a]\nbs=\n", 2, "`bs` has no value"),
        ("[a]\nrw=rw\nrate_iops=,5\n" + END, 3, "says nothing of the requests of this job"),
        ("[a]\nrate_iops=,5\n" + END, 2, "says nothing of the requests of this job"),
        ("[a]\nrw=randrw\nba=4k,8k\n" + END, 3, "differs between reads and writes"),
        ("[a]\nbs=4k,8k\nrw=rw\n", 2, "differs between reads and writes"),
        ("[a]\nbssplit=4k/50:8k/30\n", 2, "do not add up to 100"),
        ("[a]\nbssplit=4k/50:4k/50\n", 2, "is there twice"),
        ("[a]\nbsrange=8k-4k\n", 2, "expected the smaller first"),
        ("[a]\nrw=randread:8\n", 2, "`randread:8` is not modelled"),
        ("[a]\nrandom_distribution=pareto:0.2\nrw=randread\n", 2, "`pareto:0.2` is not modelled"),
        ("[a]\nsize=1g\nioengine=rados\n", 3, "`rados` is not modelled"),
        ("[a]\nsize=1g\nioengine=libaio\nthinktime=5\n", 4, "not modelled with libaio"),
        ("[a]\nsize=50%\n", 2, "a share of the drive"),
        ("[a]\nsize=1k\n", 2, "less than one request"),
        ("[a]\nrw=read\n", 1, "nothing says when the job `a` ends"),
        ("[a]\ntime_based\n", 2, "`time_based` without `runtime`"),
        ("[a]\nramp_time=5\n", 2, "`ramp_time` is not modelled"),
        ("[a]\nstonewall\n", 2, "`stonewall` is not modelled: all jobs begin together"),
        ("[a]\nfsync=1\n", 2, "fsync=0 is taken"),
        ("[a]\niodeph=4\n", 2, "unknown option `iodeph`"),
        ("[a]\nfilename=/a:/b\n", 2, "several files"),
        ("[a]\nrate_iops=5\nrate=4k\nsize=1m\n", 2, "exclude each other"),
        ("[a]\nrate_iops=0\nsize=1m\n", 2, "is not between 1"),
        ("[a]\nnumjobs=257\n", 2, "is not between 1 and 256"),
        ("[a]\nnumjobs=200\nsize=1m\n[b]\nnumjobs=200\n", 4, "400 jobs"),
        ("[a]\nsize=1m\n[a]\nsize=1m\n", 3, "a job `a` is there already, in line 1"),
        ("[a]\nread_iolog=none.log\n", 2, "is not there"),
        (f"[a]\nread_iolog={'x' * 300}\n", 2, "the path cannot be used: File name too long"),
        ("[a]\nread_iolog=a\0b\n", 2, "the path cannot be used: embedded null byte"),
        ("[a]\nrandseed=1\nsize=1m\n[b]\nrandseed=2\nsize=1m\n", 5, "another job has another `randseed`"),
        ("[a]\nrwmixread=60\nrwmixwrite=40\nrw=rw\n", 3, "say the same"),
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
    # The last request arrives by the stop time and takes no longer than the slowest one.
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
        (("run", config, "--fio", "job.fio", "--profile", "tpc"), "tpc"),
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
