"""Job arrays on the real Slurm. Without Slurm these tests fail in CI and are skipped elsewhere."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pyarrow.parquet as pq
import pytest

from conftest import COMMAND, ENDLESS, run_in
from slurm_cluster import Cluster, missing, wait_for
from sweep_files import kept, sweep_file

__all__ = ["sweep_file"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Starts a Slurm cluster of one node."""
    if missing():
        assert os.environ.get("FLASHMESH_CI") != "1", f"{missing()[0]} is missing: apt-get install slurm-wlm munge"
        pytest.skip("Slurm is not installed")
    folder = tmp_path / "cluster"
    folder.mkdir()
    running = Cluster(folder)
    yield running
    running.close()


@pytest.mark.long
def test_array_runs_is_watched_is_cancelled_and_is_resumed(cluster: Cluster, sweep_file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "my 50% #1"
    folder.mkdir()
    sweep_file.rename(folder / "s.toml")
    (tmp_path / "drive.toml").rename(folder / "drive.toml")

    def sweep(*words: str) -> CompletedProcess[str]:
        return run_in(folder, COMMAND, "sweep", *words, beside=cluster.environment)

    array = ("s.toml", "--slurm-array", "3", "--slurm-memory", "100M", "--submit", "--out")
    assert "arrays have at most 4 tasks here (MaxArraySize = 5)" in sweep(*array[:2], "6", *array[3:], "out").stderr

    endless = sweep(*array, "endless", "--set", ENDLESS)
    assert endless.returncode == 0, endless.stderr
    jobs = re.findall(r"^job (\d+)", endless.stdout, re.M)
    assert len(jobs) == 2
    wait_for(
        lambda: sweep("--watch", "endless").stdout.count(", 1 running (") == 2,
        lambda: sweep("--watch", "endless").stdout + cluster.logs(),
    )
    assert "  shard 3: 0 of 2 runs done, pending in Slurm's queue\n" in sweep("--watch", "endless").stdout
    early = sweep(*array, "endless", "--set", ENDLESS, "--resume")
    assert f"Slurm's queue still has 4 of the tasks of job {jobs[0]}" in early.stderr
    cluster.ask("scancel", *jobs)
    cluster.wait_for_jobs()
    seen = sweep("--watch", "endless").stdout
    assert "no process is running: --resume runs the rest\n0 of 3 shards done\n" in seen
    assert "  shard 3: 0 of 2 runs done, its task has ended: --resume runs the rest\n" in seen

    done = sweep(*array, "out")
    assert done.returncode == 0, done.stderr
    first, last = re.findall(r"^job (\d+)", done.stdout, re.M)
    cluster.wait_for_jobs()
    logs = {path.name: path.read_text() for path in (folder / "out/slurm").glob("*.out")}
    assert set(logs) == {f"{first}_1.out", f"{first}_2.out", f"{first}_3.out", f"{last}.out"}
    assert logs[f"{last}.out"].startswith("6 runs, 6 of them finished already; 1 at a time"), logs
    assert len(kept(folder / "out")) == 6
    assert pq.read_metadata(folder / "out/results.parquet").num_rows == 6
    # Remove the results of one shard: the next array has only that shard, and nothing else is repeated.
    lost = sorted((folder / "out").glob("runs/*/*.json"))[0]
    lost.unlink()
    before = kept(folder / "out")
    again = sweep(*array, "out", "--resume")
    assert "1 task of at most 1 run; the other 2 shards are finished" in again.stdout, again.stderr
    wait_for(lost.exists, cluster.logs)
    assert before.items() <= kept(folder / "out").items()
