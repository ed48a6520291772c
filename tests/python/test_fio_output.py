"""Results in fio's JSON: its keys, its units, and figures that readers of fio's files find."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import flashmesh
from conftest import TIMEOUT_S, Cli
from flashmesh.calibration.inputs.fio_results import document_of, figures_of
from flashmesh.importers.fio import read_jobs
from flashmesh.importers.fio.output import fio_json

FIO = shutil.which("fio")
DRIVE = {"preset": "venice-z-nand"}
ONE = "[mix]\nioengine=libaio\ndirect=1\nrw=randrw\nsize=4m\niodepth=4\nfsync=16\n"
TWO = "[global]\nsize=1m\ndirect=1\n[a]\nrw=randread\n[b]\nstonewall\nrw=randtrim\n"


def written(folder: Path, text: str) -> tuple[flashmesh.Result, dict[str, Any]]:
    (folder / "job.fio").write_text(text)
    jobs = read_jobs(folder / "job.fio")
    result = flashmesh.run(DRIVE, fio=jobs)
    (folder / "job.json").write_text(fio_json(result, jobs))
    document: dict[str, Any] = json.loads((folder / "job.json").read_text())
    return result, document


def test_a_job_has_the_figures_of_its_stream(tmp_path: Path) -> None:
    result, document = written(tmp_path, ONE)
    (stream,), (job,) = result.streams, document["jobs"]
    assert (job["jobname"], job["error"], job["job options"]["iodepth"]) == ("mix", 0, "4")
    latency = stream.latency_ps
    assert latency.read is not None
    assert latency.write is not None
    assert latency.flush is not None
    read, write = job["read"], job["write"]
    assert (read["total_ios"], write["total_ios"]) == (latency.read.count, latency.write.count)
    assert (read["io_bytes"], write["io_bytes"]) == (stream.read_bytes, stream.written_bytes)
    assert read["io_bytes"] + write["io_bytes"] == 4 << 20
    assert read["iops"] + write["iops"] == pytest.approx(stream.iops * 1024 / stream.requests)
    assert read["bw_bytes"] + write["bw_bytes"] == pytest.approx(stream.bandwidth_bytes_per_s, abs=2)
    assert read["lat_ns"]["mean"] == pytest.approx(latency.read.mean / 1e3)
    assert read["clat_ns"]["percentile"]["99.000000"] == pytest.approx(latency.read.p99 / 1e3, rel=0.02)
    percentiles = list(read["clat_ns"]["percentile"].values())
    assert len(percentiles) == 17
    assert percentiles == sorted(percentiles)
    assert job["sync"]["total_ios"] == latency.flush.count
    assert job["iodepth_level"] == pytest.approx(
        {"1": 0.1, "2": 0.2, "4": 99.7, "8": 0, "16": 0, "32": 0, ">=64": 0}, abs=0.05
    )
    shares = [share for name in ("latency_ns", "latency_us", "latency_ms") for share in job[name].values()]
    assert sum(shares) == pytest.approx(100.0)


def test_jobs_in_phases_are_measured_from_their_start(tmp_path: Path) -> None:
    result, document = written(tmp_path, TWO)
    reads, trims = document["jobs"]
    assert result.streams[1].start_ps == result.streams[0].makespan_ps
    assert (reads["read"]["total_ios"], reads["trim"]["total_ios"]) == (256, 0)
    assert (trims["trim"]["total_ios"], trims["read"]["total_ios"]) == (256, 0)
    assert trims["trim"]["iops"] == pytest.approx(result.streams[1].iops)
    assert trims["trim"]["lat_ns"]["mean"] > 0
    # Two keys are missing: with several streams, the core keeps neither the minimum nor the distribution of the
    # latencies of each stream.
    assert "min" not in reads["read"]["lat_ns"]
    assert "latency_us" not in reads


def test_jobs_of_a_group_keep_their_entries(tmp_path: Path) -> None:
    text = "[global]\ngroup_reporting\nsize=1m\ndirect=1\nrw=randread\n[a]\nnumjobs=2\n[b]\nnew_group\n"
    result, document = written(tmp_path, text)
    assert [job["jobname"] for job in document["jobs"]] == ["a", "a", "b"]
    assert {job["groupid"] for job in document["jobs"]} == {0}
    counts = [job["read"]["total_ios"] for job in document["jobs"]]
    assert counts == [stream.requests for stream in result.streams]
    # The sums and means of a group follow from its entries, as the documentation says.
    means = [job["read"]["lat_ns"]["mean"] for job in document["jobs"]]
    assert result.latency_ps.read is not None
    mean = sum(count * each for count, each in zip(counts, means, strict=True)) / sum(counts)
    assert mean == pytest.approx(result.latency_ps.read.mean / 1e3)


def test_what_reads_results_of_fio_reads_these(tmp_path: Path) -> None:
    result, _ = written(tmp_path, ONE)
    figures = figures_of(tmp_path / "job.json", document_of(tmp_path / "job.json"))
    read = result.streams[0].latency_ps.read
    assert read is not None
    assert figures.read_mean_us == pytest.approx(read.mean / 1e6)
    assert figures.read_p99_us == pytest.approx(read.p99 / 1e6, rel=0.02)


def test_trims_have_their_bytes(tmp_path: Path) -> None:
    text = (
        "[a]\nrw=randtrim\nbs=8k\nsize=1m\n[b]\nrw=trimwrite\nsize=1m\n[c]\nrw=trim\nbsrange=4k-10k\nsize=1m\nloops=2\n"
    )
    result, document = written(tmp_path, text)
    assert [job["trim"]["io_bytes"] for job in document["jobs"]] == [1 << 20, 1 << 20, 2 << 20]
    trim, stream = document["jobs"][0]["trim"], result.streams[0]
    assert trim["bw_bytes"] == pytest.approx((1 << 20) * 1e12 / stream.makespan_ps, rel=1e-3)
    assert document["jobs"][0]["write"]["io_bytes"] == 0


@pytest.mark.usefixtures("real_fio")
@pytest.mark.parametrize(
    "options",
    [
        "ioengine=libaio\niodepth=16\nsize=64k\n",
        "ioengine=libaio\niodepth=16\nsize=40k\n",
        "ioengine=libaio\niodepth=64\nsize=64k\n",
        "ioengine=psync\niodepth=16\nsize=64k\n",
    ],
)
def test_depths_count_as_in_fio(tmp_path: Path, options: str) -> None:
    _, ours = written(tmp_path, f"[a]\nrw=randread\n{options}")
    fio = [str(FIO), "job.fio", "--output-format=json", "--output=fio.json"]
    subprocess.run(fio, cwd=tmp_path, capture_output=True, timeout=TIMEOUT_S, check=True)
    theirs = json.loads((tmp_path / "fio.json").read_text())["jobs"][0]["iodepth_level"]
    assert ours["jobs"][0]["iodepth_level"] == pytest.approx(theirs, abs=0.2)


def test_an_open_replay_counts_as_its_mean_depth(tmp_path: Path) -> None:
    for rate, level in ((2_000, "1"), (10**6, "4")):
        text = f"[a]\nrw=randread\nnorandommap\nioengine=libaio\niodepth=7\nsize=4m\nrate_iops={rate}\n"
        _, document = written(tmp_path, text)
        assert document["jobs"][0]["iodepth_level"][level] == 100.0, rate


def test_a_thinking_job_fills_up_again_behind_each_think_time(tmp_path: Path) -> None:
    text = "[a]\nioengine=libaio\niodepth=16\nthinktime=100\nthinktime_blocks=8\nsize=1m\n"
    _, document = written(tmp_path, text)
    level = document["jobs"][0]["iodepth_level"]
    assert (level["1"], level["2"], level["4"], level["8"], level["16"]) == (12.5, 25.0, 50.0, 12.5, 0.0)


def test_all_keys_of_fio_are_there(tmp_path: Path) -> None:
    if FIO is None:
        assert os.environ.get("FLASHMESH_CI") != "1", "fio is missing: apt-get install fio"
        pytest.skip("fio is not installed")
    _, ours = written(tmp_path, ONE)
    (tmp_path / "null.fio").write_text(ONE.replace("libaio", "null"))
    done = subprocess.run(
        [FIO, "null.fio", "--output-format=json", "--output=fio.json"],
        cwd=tmp_path,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    theirs = json.loads((tmp_path / "fio.json").read_text())

    def missing(expected: dict[str, Any], found: dict[str, Any], at: str) -> list[str]:
        lacking = [f"{at}/{key}" for key in expected if key not in found]
        for key, value in expected.items():
            if isinstance(value, dict) and key in found:
                lacking += missing(value, found[key], f"{at}/{key}")
        return lacking

    lacking = missing(theirs["jobs"][0], ours["jobs"][0], "")
    # fio has further keys only for percentiles of flushes and for the job options.
    assert not [key for key in lacking if "job options" not in key and not key.startswith("/sync")]


def test_options_of_global_sections_stand_apart(tmp_path: Path) -> None:
    _, document = written(tmp_path, TWO)
    assert document["global options"] == {"size": "1m", "direct": "1"}
    assert [job["job options"] for job in document["jobs"]] == [
        {"rw": "randread"},
        {"stonewall": "1", "rw": "randtrim"},
    ]
    _, document = written(tmp_path, ONE)
    assert "global options" not in document


def test_the_bins_of_a_job_hold_its_requests(tmp_path: Path) -> None:
    _, document = written(tmp_path, ONE)
    for kind in ("read", "write"):
        section = document["jobs"][0][kind]
        bins = {int(latency): count for latency, count in section["clat_ns"]["bins"].items()}
        assert sum(bins.values()) == section["total_ios"]
        assert min(bins) == section["clat_ns"]["min"]
        mean = sum(latency * count for latency, count in bins.items()) / section["total_ios"]
        assert mean == pytest.approx(section["clat_ns"]["mean"], rel=0.02)


def test_the_command_writes_them_for_jobs_alone(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[a]\nsize=64k\n")
    done = cli("run", "--fio", "job.fio", "--fio-json", "out.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["jobs"][0]["read"]["total_ios"] == 16
    for arguments, words in [
        (("run", "preset:venice-z-nand", "--fio-json", "out.json"), "give them with --fio FILE"),
        (("run", "--fio", "job.fio", "--fio-json", "job.fio"), "name the same file"),
        (("run", "--fio", "job.fio", "--fio-json", "-"), "cannot go to stdout"),
    ]:
        done = cli(*arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert words in done.stderr
