"""Sweeps on a real Dask cluster: a scheduler and workers as processes of their own, one of which is killed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import COMMAND, TIMEOUT_S, Cli, environment
from sweep_files import kept, sweep_file

pytest.importorskip("distributed")
__all__ = ["sweep_file"]
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts programs of Dask, which end with the test."""
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
    """Starts a scheduler; gives the file that tells where it is."""
    path = tmp_path / "scheduler.json"
    start("scheduler", "--scheduler-file", str(path), "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    wait_for(lambda: path.exists() and path.stat().st_size > 0, "no scheduler appears")
    return str(path)


def address_of(path: str) -> str:
    import json

    address: str = json.loads(Path(path).read_text())["address"]
    return address


def test_lost_worker_costs_no_run(start: Start, cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    # Short runs first: long ones are left however late this process is to look.
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
    # What a cluster gives is what this machine gives.
    again = cli("sweep", sweep_file, "--out", "here")
    assert again.returncode == 0, again.stderr
    assert kept(tmp_path / "here").keys() == found.keys()
    assert measures(tmp_path / "here") == measures(tmp_path / "out")


def measures(folder: Path) -> Any:
    import pandas as pd

    table = pd.read_parquet(folder / "results.parquet").sort_values("run")
    return table[["run", "makespan_ps", "iops", "latency_ps.all.p99", "config_hash"]].to_dict("records")


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
    interface: lo
    walltime: '00:10:00'
    python: {python}
"""


def run_with_slurm(tmp_path: Path, sweep_file: Path, **programs: str) -> subprocess.CompletedProcess[str]:
    """Runs a sweep with these programs in the place of those of Slurm."""
    pytest.importorskip("dask_jobqueue")
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in {"scancel": "#!/bin/sh\n", **programs}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(stat.S_IRWXU)
    (tmp_path / "jobqueue.yaml").write_text(JOBQUEUE.format(python=sys.executable))
    extra = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "DASK_CONFIG": str(tmp_path),
        "JOBS": str(tmp_path / "jobs"),
    }
    return subprocess.run(
        [COMMAND, "sweep", sweep_file, "--out", "out", "--dask", "slurm", "--workers", "2"],
        cwd=tmp_path,
        env=environment() | extra,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def test_slurm_is_asked_for_workers(sweep_file: Path, tmp_path: Path) -> None:
    done = run_with_slurm(tmp_path, sweep_file, sbatch=SBATCH)
    assert done.returncode == 0, done.stderr
    assert len(kept(tmp_path / "out")) == 6
    assert len((tmp_path / "jobs").read_text().split()) == 2


def test_sweep_whose_jobs_die_says_so_and_ends(sweep_file: Path, tmp_path: Path) -> None:
    done = run_with_slurm(tmp_path, sweep_file, sbatch="#!/bin/sh\necho $$\n", squeue="#!/bin/sh\n")
    assert done.returncode == 2
    assert "no worker of Slurm is there: 0 of 2 jobs are left\n" in done.stderr
    assert "none of the 2 jobs is in the queue any more" in done.stderr
    assert "--resume goes on" in done.stderr
    assert "Traceback" not in done.stderr
