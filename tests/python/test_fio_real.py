"""Replay of logs that the real fio wrote. Without fio these tests fail in CI and are skipped elsewhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import TIMEOUT_S, Cli

REQUESTS = 64
FIO = shutil.which("fio")
JOB = """[global]
ioengine=psync
bs=4k
size=1m
filename=data

[mixed]
rw=randrw
rwmixread=50
number_ios={requests}
randseed=7
write_iolog=mixed.log
"""
REPLAY = """[replay]
ioengine=libaio
iodepth=4
read_iolog=mixed.log
"""


@pytest.fixture
def iolog(tmp_path: Path) -> list[tuple[str, int, int]]:
    """Runs fio. Returns the requests of its log; the log and a drive are in the folder."""
    if FIO is None:
        assert os.environ.get("FLASHMESH_CI") != "1", "fio is missing: apt-get install fio"
        pytest.skip("fio is not installed")
    (tmp_path / "job.fio").write_text(JOB.format(requests=REQUESTS))
    (tmp_path / "drive.toml").write_text('preset = "venice-z-nand"\n')
    done = subprocess.run(
        [FIO, "job.fio"], cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in (tmp_path / "mixed.log").read_text().splitlines()[1:]]
    return [(kind, int(at), int(size)) for _, _, kind, at, size in (line for line in lines if len(line) == 5)]


def result(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text())
    return loaded


def test_a_log_of_fio_is_replayed_as_a_trace(iolog: list[tuple[str, int, int]], cli: Cli, tmp_path: Path) -> None:
    assert len(iolog) == REQUESTS
    reads = sum(kind == "read" for kind, _, _ in iolog)
    assert 0 < reads < REQUESTS
    done = cli(
        "run", "drive.toml", "--trace", "mixed.log", "--check", "--json", "out.json", "--request-log", "log.parquet"
    )
    assert done.returncode == 0, done.stderr
    latency = result(tmp_path / "out.json")["latency_ps"]
    assert (latency["read"]["count"], latency["write"]["count"]) == (reads, REQUESTS - reads)
    import pyarrow.parquet as pq

    columns = pq.read_table(tmp_path / "log.parquet", columns=["kind", "offset_bytes", "size_bytes"]).to_pydict()
    found = zip(columns["kind"], columns["offset_bytes"], columns["size_bytes"], strict=True)
    assert sorted(found) == sorted(iolog)


def test_a_job_that_reads_a_log_of_fio_replays_it(iolog: list[tuple[str, int, int]], cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "replay.fio").write_text(REPLAY)
    done = cli("run", "--fio", "replay.fio", "drive.toml", "--check", "--json", "out.json")
    assert done.returncode == 0, done.stderr
    latency = result(tmp_path / "out.json")["latency_ps"]
    assert latency["all"]["count"] == REQUESTS
    assert latency["read"]["count"] == sum(kind == "read" for kind, _, _ in iolog)
