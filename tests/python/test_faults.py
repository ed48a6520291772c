"""System errors at every byte of a written file, and kills at random moments.

Existing files stay as they were or are replaced by complete ones, nothing else is left, and a rerun succeeds.
FLASHMESH_KILLS is the number of killed processes; `make faults` kills a thousand.
"""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import flashmesh
from conftest import COMMAND, TIMEOUT_S, environment, run_in
from flashmesh.importers.mqsim import import_mqsim
from forker import Forker
from long_cases import in_part
from mqsim_files import SYNTHETIC, device_text, workload_text

KILLS = int(os.environ.get("FLASHMESH_KILLS", "20"))
DRIVE: dict[str, Any] = {"preset": "venice-z-nand", "workload": {"requests": 3_000, "read-share": 0.5}}
EPOCHS = DRIVE | {"measure": {"epoch": "100us"}}
OLDER = b"the older file"


def run_with_log(path: Path) -> None:
    flashmesh.run(DRIVE, requests_file=path)


def run_with_epochs(path: Path) -> None:
    flashmesh.run(EPOCHS, epochs_file=path)


def convert(path: Path) -> None:
    flashmesh.convert_trace(path.with_name("trace.ascii"), path)


def fit(path: Path) -> None:
    flashmesh.fit_trace(path.with_name("trace.ascii"), path)


def import_xml(path: Path) -> None:
    import_mqsim(path.with_name("ssd.xml"), path.with_name("work.xml"), path.parent)


WRITERS: dict[str, Callable[[Path], None]] = {
    "log.parquet": run_with_log,
    "epochs.csv": run_with_epochs,
    "epochs.parquet": run_with_epochs,
    "converted.ascii": convert,
    "converted.ascii.gz": convert,
    "converted.ascii.zst": convert,
    "converted.ascii.xz": convert,
    "fitted.toml": fit,
    "work-1.toml": import_xml,
}


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Makes every write beyond `size` bytes of a file fail, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with the input of the writers."""
    lines = (f"{1000 * request} 0 {8 * (request * 7 % 512)} 8 {request % 2}\n" for request in range(5_000))
    (tmp_path / "trace.ascii").write_text("".join(lines))
    (tmp_path / "ssd.xml").write_text(device_text())
    (tmp_path / "work.xml").write_text(workload_text([SYNTHETIC]))
    return tmp_path


@pytest.mark.parametrize("name", in_part(4, WRITERS))
def test_write_that_fails_at_any_byte_leaves_what_was_there(folder: Path, name: str) -> None:
    path, writer = folder / name, WRITERS[name]
    writer(path)
    whole = path.read_bytes()
    size = len(whole)
    listing = sorted(folder.iterdir())
    for limit in {0, 1, size // 3, size // 2, size - 1}:
        path.write_bytes(OLDER)
        with file_size_limit(limit), pytest.raises(flashmesh.OutputError) as caught:
            writer(path)
        assert str(folder) in str(caught.value)
        assert "cannot be written: " in str(caught.value)
        assert path.read_bytes() == OLDER
        assert sorted(folder.iterdir()) == listing
    writer(path)
    if not name.startswith("log"):  # Parquet may store equal logs in different ways
        assert path.read_bytes() == whole


def test_failed_log_keeps_the_result_and_the_other_file(folder: Path) -> None:
    epochs = folder / "epochs.csv"
    flashmesh.run(EPOCHS, epochs_file=epochs)
    told: list[str] = []
    with file_size_limit(epochs.stat().st_size), pytest.raises(flashmesh.Unwritten) as caught:
        flashmesh.run(
            EPOCHS,
            overrides={"workload.requests": 200_000, "measure.epoch": "100ms"},
            requests_file=folder / "log.parquet",
            epochs_file=epochs,
            on_trouble=told.append,
        )
    assert caught.value.result.requests == 200_000
    assert not caught.value.result.interrupted
    reason = f"{folder}/log.parquet: cannot be written: File too large"
    assert str(caught.value) == reason
    assert told == [f"{reason}; the run goes on without it"]
    assert len(pd.read_csv(epochs)) == len(caught.value.result.epochs)
    assert not (folder / "log.parquet").exists()


def test_summary_of_a_run_is_printed_though_no_file_can_be_written(config: Path, tmp_path: Path) -> None:
    done = run_in(
        tmp_path,
        COMMAND,
        "run",
        config,
        "--json",
        "result.json",
        "--request-log",
        "log.parquet",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
    )
    assert done.returncode == 2
    assert "completion latency" in done.stdout
    assert "error: log.parquet: cannot be written: File too large" in done.stderr
    assert "result.json: cannot be written: File too large" in done.stderr
    assert ".flashmesh-" not in done.stderr
    assert "/proc/" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["drive.toml"]


def is_whole(path: Path) -> bool:
    """Returns whether a file was written completely."""
    if path.suffix == ".json":
        return "makespan_ps" in json.loads(path.read_text())
    return len(pd.read_parquet(path)) == 20_000


OUTPUTS = ("result.json", "log.parquet")
ARGUMENTS = ("run", "drive.toml", "--json", OUTPUTS[0], "--request-log", OUTPUTS[1])
GROUPS = 3
"""Number of concurrent runs."""


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Starts the command in a fresh process, with its own group, since batch systems kill groups."""
    return subprocess.Popen(
        [COMMAND, *ARGUMENTS],
        cwd=folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@pytest.fixture
def forkers() -> Iterator[list[Forker]]:
    """Yields processes that fork runs after all imports."""
    processes = [Forker(*ARGUMENTS) for _ in range(GROUPS)]
    yield processes
    for process in processes:
        process.close()


class Victim:
    """A folder in which runs are killed."""

    def __init__(self, folder: Path, config: Path) -> None:
        """Creates the folder with only a configuration in it."""
        self.folder = folder
        self.kills = 0
        self.outputs = [folder / name for name in OUTPUTS]
        self.existed: list[bool] = []
        folder.mkdir()
        (folder / "drive.toml").write_text(config.read_text())

    def prepare(self) -> None:
        """Removes none, one or both of the files before a run."""
        for path in self.outputs[: self.kills % 3]:
            path.unlink(missing_ok=True)
        self.existed = [path.exists() for path in self.outputs]

    def check(self) -> None:
        """Checks the files that a killed run left."""
        self.kills += 1
        for path, before in zip(self.outputs, self.existed, strict=True):
            assert path.exists() or not before
            assert not path.exists() or is_whole(path)
        left = {path.name for path in self.folder.iterdir()} - {"drive.toml", *OUTPUTS}
        # A kill may leave one file: a complete file has a temporary name until it is renamed.
        assert len(left) <= self.kills
        assert all(name.startswith(".flashmesh-") for name in left)


def kill_group(process: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


@pytest.mark.long
def test_kill_at_any_moment_leaves_whole_files_and_a_rerun_succeeds(config: Path, tmp_path: Path) -> None:
    moments = random.Random(KILLS)
    victim = Victim(tmp_path / "killed", config)
    begun = time.monotonic()
    assert start(victim.folder).wait(timeout=TIMEOUT_S) == 0
    took_s = time.monotonic() - begun
    for _ in range(max(KILLS // 20, 3)):
        victim.prepare()
        with start(victim.folder) as process:
            time.sleep(took_s * moments.uniform(0.0, 1.1))
            kill_group(process.pid)
        victim.check()
    assert start(victim.folder).wait(timeout=TIMEOUT_S) == 0
    assert all(map(is_whole, victim.outputs))


@pytest.mark.long
def test_kill_while_a_run_works_or_writes_leaves_whole_files_and_a_rerun_succeeds(
    config: Path, tmp_path: Path, forkers: list[Forker]
) -> None:
    moments = random.Random(KILLS)
    victims = [Victim(tmp_path / f"killed-{number}", config) for number in range(GROUPS)]

    def run_all() -> None:
        for forker, victim in zip(forkers, victims, strict=True):
            forker.start(victim.folder)
        assert [forker.wait() for forker in forkers] == [0] * GROUPS

    run_all()
    begun = time.monotonic()
    run_all()
    took_s = time.monotonic() - begun
    killed = 0
    while sum(victim.kills for victim in victims) < KILLS:
        # Half of the moments are near the end, where files are written.
        waits_s = sorted(took_s * moments.uniform(moments.choice([0.0, 0.6]), 1.1) for _ in victims)
        begun = time.monotonic()
        processes = []
        for forker, victim in zip(forkers, victims, strict=True):
            victim.prepare()
            processes.append(forker.start(victim.folder))
        for process, wait_s in zip(processes, waits_s, strict=True):
            time.sleep(max(begun + wait_s - time.monotonic(), 0.0))
            kill_group(process)
        codes = [forker.wait() for forker in forkers]
        assert set(codes) <= {0, -signal.SIGKILL}
        killed += codes.count(-signal.SIGKILL)
        for victim in victims:
            victim.check()
    # A kill after the end of a run proves nothing.
    assert killed > KILLS // 4
    run_all()
    assert all(is_whole(path) for victim in victims for path in victim.outputs)
