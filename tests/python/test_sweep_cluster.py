"""Sweeps on a real Dask cluster: a scheduler and workers as separate processes, one of which is killed."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from conftest import COMMAND, TIMEOUT_S, Cli, environment
from flashmesh.sweeps.executors import cluster, slurm
from sweep_files import kept, sweep_file

pytest.importorskip("distributed")
__all__ = ["sweep_file"]
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Returns a function that starts Dask programs, which end with the test."""
    processes: list[subprocess.Popen[bytes]] = []

    def call(*arguments: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        processes.append(process)
        return process

    yield call
    for process in processes:
        process.kill()
        process.wait(timeout=TIMEOUT_S)


def wait_for(what: Callable[[], bool], words: str) -> None:
    end = time.monotonic() + TIMEOUT_S
    while not what():
        assert time.monotonic() < end, words
        time.sleep(0.02)


def scheduler(start: Start, tmp_path: Path) -> str:
    """Starts a scheduler. Returns the file with its address."""
    path = tmp_path / "scheduler.json"
    start("scheduler", "--scheduler-file", str(path), "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    wait_for(lambda: path.exists() and path.stat().st_size > 0, "no scheduler appears")
    return str(path)


def address_of(path: str) -> str:
    import json

    address: str = json.loads(Path(path).read_text())["address"]
    return address


@pytest.mark.long
def test_lost_worker_costs_no_run(start: Start, cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    # Long runs come last, so even a slow test can interrupt them.
    axis = '[axes]\n"workload.requests" = [2_000, 300_000]\n'
    sweep_file.write_text("seeds = 2\n" + sweep_file.read_text().replace("[axes]\n", axis))
    path = scheduler(start, tmp_path)
    worker = ("worker", "--scheduler-file", path, "--nthreads", "1", "--no-nanny", "--no-dashboard")
    workers = [start(*worker) for _ in range(2)]
    with subprocess.Popen(
        [COMMAND, "sweep", sweep_file, "--out", "out", "--dask", address_of(path)],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        wait_for(lambda: len(kept(tmp_path / "out")) >= 2, "no result appears")
        workers[0].kill()
        early = kept(tmp_path / "out")
        _, stderr = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0, stderr
    found = kept(tmp_path / "out")
    assert len(early) < 24 == len(found)
    assert early.items() <= found.items()
    assert "failed" not in stderr
    assert "Traceback" not in stderr
    # The same sweep on this machine has the same results as on the cluster.
    again = cli("sweep", sweep_file, "--out", "here")
    assert again.returncode == 0, again.stderr
    assert kept(tmp_path / "here").keys() == found.keys()
    assert measures(tmp_path / "here") == measures(tmp_path / "out")


def measures(folder: Path) -> Any:
    import pandas as pd

    table = pd.read_parquet(folder / "results.parquet").sort_values("run")
    return table[["run", "makespan_ps", "iops", "latency_ps.all.p99", "config_hash"]].to_dict("records")


@pytest.mark.long
def test_cluster_that_is_not_there_is_one_sentence(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    done = cli("sweep", sweep_file, "--out", "out", "--dask", "tcp://127.0.0.1:9")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--dask tcp://127.0.0.1:9: no Dask scheduler answers there" in done.stderr
    assert not (tmp_path / "out").exists()


SBATCH = """#!/bin/sh
# Stands for the batch system: keeps the script, which is removed once this returns, and runs the job here,
# in the background.
job="$JOBS.$$"
cp "$1" "$job"
sh "$job" > "$job.log" 2>&1 &
echo $! >> "$JOBS"
echo 1
"""
JOBQUEUE = """jobqueue:
  slurm:
    name: dask-worker
    cores: 1
    processes: 1
    memory: 1GB
    {interface}
    walltime: '00:10:00'
    python: {python}
"""


def run_with_slurm(
    tmp_path: Path, sweep_file: Path, *options: str, interface: str = "interface: lo", **programs: str
) -> subprocess.CompletedProcess[str]:
    """Runs a sweep with replacements for the programs of Slurm."""
    pytest.importorskip("dask_jobqueue")
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in {"scancel": "#!/bin/sh\n", **programs}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(stat.S_IRWXU)
    (tmp_path / "jobqueue.yaml").write_text(JOBQUEUE.format(python=sys.executable, interface=interface))
    extra = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "DASK_CONFIG": str(tmp_path),
        "JOBS": str(tmp_path / "jobs"),
    }
    return subprocess.run(
        [COMMAND, "sweep", sweep_file, "--out", "out", "--dask", "slurm", "--workers", "2", *options],
        cwd=tmp_path,
        env=environment() | extra,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


@pytest.mark.long
def test_slurm_is_asked_for_workers(sweep_file: Path, tmp_path: Path) -> None:
    done = run_with_slurm(tmp_path, sweep_file, sbatch=SBATCH)
    assert done.returncode == 0, done.stderr
    assert len(kept(tmp_path / "out")) == 6
    assert len((tmp_path / "jobs").read_text().split()) == 2


@pytest.mark.long
def test_sweep_whose_jobs_die_says_so_and_ends(sweep_file: Path, tmp_path: Path) -> None:
    done = run_with_slurm(tmp_path, sweep_file, sbatch="#!/bin/sh\necho $$\n", squeue="#!/bin/sh\n")
    assert done.returncode == 2
    assert "no Slurm worker has connected: 0 of 2 jobs are left\n" in done.stderr
    assert "none of the 2 jobs is in the queue any more" in done.stderr
    assert "continue with --resume" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_jobs_that_die_at_once_are_told_with_what_the_last_one_wrote(sweep_file: Path, tmp_path: Path) -> None:
    # Each job ends at once, so neither Slurm nor Dask lists it.
    sbatch = '#!/bin/sh\necho $$\necho "no such partition" > slurm-$$.out\n'
    done = run_with_slurm(tmp_path, sweep_file, sbatch=sbatch, squeue="#!/bin/sh\n")
    assert done.returncode == 2
    assert re.search(r"the last one wrote to slurm-\d+\.out: no such partition", done.stderr), done.stderr


@pytest.mark.long
def test_jobs_that_cannot_be_submitted_are_not_waited_for(sweep_file: Path, tmp_path: Path) -> None:
    done = run_with_slurm(tmp_path, sweep_file, sbatch="#!/bin/sh\nexit 1\n", squeue="#!/bin/sh\n")
    assert done.returncode == 2
    assert "none of the 2 jobs is in the queue" in done.stderr


def test_jobs_that_the_cluster_has_forgotten_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    class Job:
        job_id = "12"

    class Cluster:
        workers: ClassVar[dict[int, Job]] = {0: Job()}

    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, stdout="12\n"))
    watch = slurm.JobWatch(Cluster(), 1, lambda _: None)
    assert watch.left() == 1
    Cluster.workers.clear()
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, stdout=""))
    assert watch.left() == 0


def test_scheduler_that_would_listen_everywhere_is_not_started(sweep_file: Path, tmp_path: Path) -> None:
    done = run_with_slurm(tmp_path, sweep_file, interface="", sbatch=SBATCH)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "without TLS the scheduler listens on one network only" in done.stderr
    assert not (tmp_path / "jobs").exists()


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """Writes a self-signed certificate. Returns the folder."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl")
    folder = tmp_path / "tls"
    folder.mkdir()
    made = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=flashmesh -keyout key.pem -out cert.pem"
    subprocess.run(made.split(), cwd=folder, check=True, capture_output=True, timeout=TIMEOUT_S)
    shutil.copy(folder / "cert.pem", folder / "ca.pem")
    return folder


@pytest.mark.long
def test_slurm_is_asked_for_workers_that_speak_tls(sweep_file: Path, tmp_path: Path, certificates: Path) -> None:
    done = run_with_slurm(tmp_path, sweep_file, "--dask-tls", str(certificates), interface="", sbatch=SBATCH)
    assert done.returncode == 0, done.stderr
    assert len(kept(tmp_path / "out")) == 6
    scripts = [path.read_text() for path in tmp_path.glob("jobs.*") if path.suffix != ".log"]
    logs = [path.read_text() for path in tmp_path.glob("jobs.*.log")]
    assert any("tls://" in text for text in [*scripts, *logs])


@pytest.mark.long
def test_certificates_that_are_not_there_or_not_used_are_told(
    cli: Cli, sweep_file: Path, tmp_path: Path, certificates: Path
) -> None:
    (tmp_path / "none").mkdir()
    for options, told in (
        (("--dask", "tcp://127.0.0.1:9", "--dask-tls", "tls"), "with --dask-tls an address begins with tls://"),
        (("--dask", "tls://127.0.0.1:9", "--dask-tls", "none"), "ca.pem is not there"),
        (("--dask-tls", "tls"), "--dask-tls is for a cluster"),
    ):
        done = cli("sweep", sweep_file, "--out", "out", *options)
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr


class Page(BaseHTTPRequestHandler):
    """The status page of a scheduler, with or without drawing libraries."""

    text = b""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.text)

    def log_message(self, *arguments: Any) -> None:
        """Suppresses the log."""


def test_dashboard_is_named_where_there_is_one() -> None:
    class Client:
        dashboard_link = ""

    assert cluster.dashboard(Client()) is None
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        Client.dashboard_link = f"http://127.0.0.1:{server.server_port}/status"
        Page.text = b"<p>Dask needs bokeh>=3.1.0 for the dashboard.</p>"
        assert cluster.dashboard(Client()) is None
        Page.text = b"<title>Dask: Status</title>"
        assert cluster.dashboard(Client()) == Client.dashboard_link
        server.shutdown()
    assert cluster.dashboard(Client()) is None
