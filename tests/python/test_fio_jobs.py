"""fio job files become streams of a configuration, which runs on a drive."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Cli, Read
from flashmesh import configuration
from flashmesh.importers.fio import read_jobs

END = "number_ios=100\n"


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


def test_deallocations_have_a_remark(jobs: Read) -> None:
    assert any("a deallocation costs only its command" in note for note in jobs("[a]\nrw=randtrim\nsize=1m\n").notes)


def test_global_sections_hold_for_the_jobs_after_them(jobs: Read) -> None:
    text = "[global]\nbs=4k\nnumber_ios=5\n[a]\n[global]\nbs=8k\n[b]\n[c]\nbs=16k\n"
    found = jobs(text).settings
    sizes = [found[f"stream.{name}.workload.request-size"] for name in "abc"]
    assert sizes == ["4KiB", "8KiB", "16KiB"]


def test_clones_of_a_job_are_streams_of_their_own(jobs: Read) -> None:
    found = jobs(f"[a b]\nnumjobs=3\nsize=1m\noffset_increment=1g\n{END}").settings
    starts = [found[f"stream.a-b-{number}.workload.footprint-start"] for number in (1, 2, 3)]
    # Each clone has its own file, which ends 1 MiB after the offset of the clone. The files follow each other.
    assert starts == ["0B", "1025MiB", "3074MiB"]


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
