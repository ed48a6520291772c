"""fio results: rates and latencies of the real fio, merged bins of several jobs, and a drive fitted to them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, TIMEOUT_S
from flashmesh import ConfigError
from flashmesh.calibration.engine import calibrate, read_problem
from flashmesh.calibration.inputs.fio_results import document_of, figures_of, quantile, read_fio
from flashmesh.calibration.inputs.points import Length, target_of_jobs
from flashmesh.importers.fio import read_jobs
from flashmesh.sweeps.executors.local import LocalThreads
from flashmesh.sweeps.executors.session import Session
from flashmesh.sweeps.inputs.ranges import quantity
from flashmesh.sweeps.tasks import Task
from flashmesh.validation.figures import Figures, simulated
from flashmesh.validation.loads.workload import Extent, drive_tables
from made_up_drive import DRIVE
from test_calibration import FACTS

EXAMPLES = ROOT / "examples" / "calibrate"
LOADS = ("read-1", "write-max", "load-20k", "load-40k", "load-60k")
REQUESTS = 16_000
"""Requests of a load. With fewer, a few collections of this small drive would dominate."""
FIO = shutil.which("fio")
JOB = """[global]
ioengine=psync
bs=4k
size=1m
filename=data
number_ios=2000
lat_percentiles=1

[reader]
rw=randread

[mixed]
rw=randrw
rwmixread=25
"""


def part(mean_us: float, count: int, **more: Any) -> dict[str, Any]:
    latency = {"mean": mean_us * 1e3, "N": count, **more}
    return {"total_ios": count, "iops": float(count), "clat_ns": latency, "lat_ns": {"mean": mean_us * 1e3}}


def written(path: Path, figures: Figures) -> None:
    """Writes figures in fio's format."""
    job: dict[str, Any] = {"jobname": "job", "error": 0}
    for kind in ("read", "write"):
        iops = figures.value(f"{kind}_iops") or 0.0
        known = {name: figures.value(f"{kind}_{name}_us") for name in ("mean", "p50", "p99", "p999")}
        if not iops:
            job[kind] = {"total_ios": 0, "iops": 0.0}
            continue
        names = {"p50": "50.000000", "p99": "99.000000", "p999": "99.900000"}
        percentile = {names[name]: value * 1e3 for name, value in known.items() if name != "mean" and value is not None}
        latency = {"mean": (known["mean"] or 0.0) * 1e3, "percentile": percentile}
        job[kind] = {"total_ios": 100_000, "iops": iops, "clat_ns": latency, "lat_ns": latency}
    path.write_text(json.dumps({"fio version": "fio-3.33", "jobs": [job]}))


@pytest.mark.parametrize("output", ["json", "json+"])
def test_what_fio_writes_is_read(output: str, tmp_path: Path) -> None:
    if FIO is None:
        assert os.environ.get("FLASHMESH_CI") != "1", "fio is missing: apt-get install fio"
        pytest.skip("fio is not installed")
    (tmp_path / "job.fio").write_text(JOB)
    done = subprocess.run(
        [FIO, "job.fio", f"--output-format={output}", "--output=job.json"],
        cwd=tmp_path,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    jobs = json.loads((tmp_path / "job.json").read_text())["jobs"]
    if output == "json":
        with pytest.raises(ConfigError, match="2 jobs have reads, and their percentiles cannot be merged"):
            read_fio(tmp_path / "job.json")
        return
    figures, streams, depth = read_fio(tmp_path / "job.json")
    assert depth == 1
    assert "stream.mixed.workload.read-share" in streams.settings
    reads = [job["read"] for job in jobs]
    assert figures.read_iops == pytest.approx(sum(each["iops"] for each in reads))
    assert figures.write_iops == pytest.approx(jobs[1]["write"]["iops"])
    mean = sum(each["lat_ns"]["mean"] * each["total_ios"] for each in reads) / sum(each["total_ios"] for each in reads)
    assert figures.read_mean_us == pytest.approx(mean / 1e3)
    # Only one job writes, so the percentile is the one that fio computed.
    assert figures.write_p99_us == pytest.approx(jobs[1]["write"]["lat_ns"]["percentile"]["99.000000"] / 1e3)
    ends = [each["lat_ns"]["percentile"]["99.000000"] / 1e3 for each in reads]
    assert figures.read_p99_us is not None
    assert min(ends) * 0.98 <= figures.read_p99_us <= max(ends) * 1.02


def test_bins_of_several_jobs_are_added_up() -> None:
    bins = {"1000": 98, "5000": 1, "9000": 1}
    assert [quantile({int(key): value for key, value in bins.items()}, at) for at in (0.5, 0.98, 0.99, 1.0)] == [
        1000.0,
        1000.0,
        5000.0,
        9000.0,
    ]
    jobs = [{"read": part(10.0, 100, bins={"10000": 100})}, {"read": part(40.0, 300, bins={"40000": 300})}]
    figures = figures_of(Path("x.json"), jobs)
    assert (figures.read_iops, figures.write_iops) == (400.0, 0.0)
    assert figures.read_mean_us == pytest.approx(32.5)
    assert (figures.read_p50_us, figures.read_p99_us) == (40.0, 40.0)
    assert figures.read_p999_us is None, "400 requests have no p99.9"


@pytest.mark.long
def test_a_drive_is_fitted_to_jobs_of_fio(tmp_path: Path) -> None:
    hidden = DRIVE.replace('"40us"', '"47us"').replace('"100us"', '"130us"')
    (tmp_path / "drive.toml").write_text(hidden)
    (tmp_path / "facts.toml").write_text(FACTS)
    length = Length(Extent(REQUESTS))
    tables = drive_tables(tmp_path / "drive.toml", {})
    rates = {"read-1": 15_000.0, "write-max": 40_000.0}
    for name, iops in rates.items():
        shutil.copy(EXAMPLES / f"{name}.fio", tmp_path)
        jobs = read_jobs(tmp_path / f"{name}.fio")
        asked = Figures(iops, 0.0) if name == "read-1" else Figures(0.0, iops)
        for _ in range(2):
            # The load is simulated for a number of requests that depends on the measured rate, so repeat with that
            # rate.
            target = target_of_jobs(name, asked, jobs, 64 if name == "write-max" else 1, tables, length)
            session = Session([Task(0, {}, target.config({}, 0.0))])
            session.run(LocalThreads(1))
            text = session.document(session.outcomes[0])
            assert text is not None, session.outcomes[0].error
            asked = simulated(json.loads(text), 0.0)
        written(tmp_path / f"{name}.json", asked)
    paths = [tmp_path / f"{name}.json" for name in rates]
    found = calibrate(read_problem(paths, tmp_path / "facts.toml", None, REQUESTS), LocalThreads(2), budget_min=60.0)
    values = {key.key: float(quantity(key.key, key.value).value) / 1e6 for key in found.keys}
    assert values == pytest.approx({"flash.read-time": 47.0, "flash.program-time": 130.0}, rel=0.05)
    assert [point.target.name for point in found.points] == list(rates)


def test_the_job_files_of_the_how_to_are_streams_of_a_drive(tmp_path: Path) -> None:
    (tmp_path / "drive.toml").write_text(DRIVE)
    tables = drive_tables(tmp_path / "drive.toml", {})
    for name in LOADS:
        jobs = read_jobs(EXAMPLES / f"{name}.fio")
        config = target_of_jobs(name, Figures(5_000.0, 20_000.0), jobs, 64, tables, Length(Extent(1_000))).config(
            {}, 0.0
        )
        assert len(config.stream_names()) == {"read-1": 1, "write-max": 6}.get(name, 8), name


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ("no json", "is not JSON: run fio with --output-format=json"),
        ({"jobs": []}, "is not a fio result"),
        ({"fio version": "fio-3.33", "jobs": []}, "is not a fio result"),
        ({"fio version": "x", "jobs": [{"jobname": "a", "error": 5}]}, "the job a ended with an error"),
        ({"fio version": "x", "jobs": [{"jobname": "a"}]}, "no job read or wrote anything"),
        (
            {"fio version": "x", "jobs": [{"read": {"total_ios": 5, "iops": 5.0, "clat": {"mean": 3.0}}}]},
            "has no latencies in nanoseconds: measure with fio 3 or newer",
        ),
        (
            {
                "fio version": "x",
                "jobs": [{"read": part(5.0, 5, percentile={"50.000000": 9000, "99.000000": 8000})}],
            },
            "read_p99_us is 8 and read_p50_us is 9: percentiles must not decrease",
        ),
    ],
)
def test_what_is_no_result_of_fio_is_refused(document: Any, told: str, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES / "read-1.fio", tmp_path)
    text = document if isinstance(document, str) else json.dumps(document)
    (tmp_path / "read-1.json").write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_fio(tmp_path / "read-1.json")
    assert told in str(caught.value)


@pytest.fixture
def of_fio(tmp_path: Path) -> Callable[..., Figures]:
    """Returns a function that reads results of the real fio, for jobs without a device."""
    if FIO is None:
        assert os.environ.get("FLASHMESH_CI") != "1", "fio is missing: apt-get install fio"
        pytest.skip("fio is not installed")

    def call(text: str, *options: str) -> Figures:
        (tmp_path / "null.fio").write_text("[global]\nioengine=null\nsize=4m\n" + text)
        done = subprocess.run(
            [str(FIO), "null.fio", "--output-format=json", "--output=null.json", *options],
            cwd=tmp_path,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return figures_of(tmp_path / "null.json", document_of(tmp_path / "null.json"))

    return call


def test_results_that_put_all_kinds_together_are_read(of_fio: Callable[..., Figures]) -> None:
    reads = of_fio("unified_rw_reporting=1\n[a]\nrw=randread\n")
    assert reads.read_iops > 0
    assert (reads.write_iops, reads.read_p99_us is None) == (0, False)
    writes = of_fio("unified_rw_reporting=1\nreadwrite=write\n[a]\n")
    assert (writes.read_iops, writes.write_iops > 0, writes.write_mean_us is None) == (0, True, False)
    mixed = of_fio("unified_rw_reporting=1\n[a]\nrw=randrw\nrwmixwrite=25\n")
    assert mixed.read_iops == pytest.approx(3 * mixed.write_iops)
    assert mixed.read_mean_us is None, "fio has not told the latencies of both apart"
    both = of_fio("unified_rw_reporting=both\n[a]\nrw=randrw\n")
    assert both.read_mean_us is not None


def test_a_mix_that_is_no_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mixed.json"
    job = {"job options": {"rw": "randrw", "rwmixread": "${MIX}"}, "mixed": {"iops": 5.0, "total_ios": 10}}
    path.write_text(json.dumps({"fio version": "fio-3.33", "jobs": [job]}))
    with pytest.raises(ConfigError, match=r"mixed\.json: job options: rwmixread is `\$\{MIX\}`"):
        document_of(path)


def test_the_last_of_several_documents_is_read(of_fio: Callable[..., Figures], tmp_path: Path) -> None:
    figures = of_fio("[a]\nrw=randread\nrate_iops=200\nnumber_ios=300\n", "--status-interval=1")
    text = (tmp_path / "null.json").read_text()
    starts = [found.start() for found in re.finditer(r'^{\n *"fio version"', text, re.MULTILINE)]
    assert len(starts) > 1
    reads = [json.JSONDecoder().raw_decode(text, start)[0]["jobs"][0]["read"] for start in starts]
    assert reads[0]["total_ios"] < reads[-1]["total_ios"] == 300
    # Compare with the rate in the last result of the file: the rate that fio reaches depends on the load of the
    # machine.
    assert figures.read_iops == pytest.approx(reads[-1]["iops"], rel=1e-3)
    (tmp_path / "null.json").write_text("note: a message of fio\n" + text)
    assert figures_of(tmp_path / "null.json", document_of(tmp_path / "null.json")) == figures


@pytest.mark.parametrize(
    ("options", "output", "known"),
    [
        ("", "normal,json", ("mean", "p50", "p99", "p999")),
        ("", "json,terse", ("mean", "p50", "p99", "p999")),
        ("disable_clat=1\n", "json", ("mean",)),
        ("disable_lat=1\n", "json", ("mean", "p50", "p99", "p999")),
        ("gtod_reduce=1\n", "json", ()),
        ("percentile_list=10:20\n", "json", ("mean",)),
    ],
)
def test_what_fio_was_asked_to_measure_is_read(
    options: str, output: str, known: tuple[str, ...], tmp_path: Path
) -> None:
    if FIO is None:
        assert os.environ.get("FLASHMESH_CI") != "1", "fio is missing: apt-get install fio"
        pytest.skip("fio is not installed")
    (tmp_path / "job.fio").write_text(f"[a]\nioengine=null\nrw=randread\nsize=8m\n{options}")
    subprocess.run(
        [FIO, "job.fio", f"--output-format={output}", "--output=job.json"],
        cwd=tmp_path,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=True,
    )
    figures = figures_of(tmp_path / "job.json", document_of(tmp_path / "job.json"))
    names = ("mean", "p50", "p99", "p999")
    assert tuple(name for name in names if figures.value(f"read_{name}_us")) == known
    assert (figures.value("read_iops") or 0) > 0
