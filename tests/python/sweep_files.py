"""Sweeps small enough for tests."""

from __future__ import annotations

import json
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import TIMEOUT_S

DRIVE = """preset = "venice-z-nand"
[geometry]
channels = 2
chips-per-channel = 2
blocks-per-plane = 64
[workload]
requests = 500
"""
SWEEP = """config = "drive.toml"
[axes]
fabric.kind = ["bus", "ideal"]
"replay.outstanding" = "1..16 x4"
"""
SEARCH = """config = "drive.toml"
trials = 24
population = 8
[space]
fabric.kind = ["bus", "pssd", "ideal"]
"fabric.channel-rate" = "400MB/s..1200MB/s +400MB/s"
[objectives]
"latency_ps.all.p99" = "minimise"
"wires" = "minimise"
[constraints]
"latency_ps.all.p99" = "<= 400us"
"""

SEARCH_POINTS = 9
"""Number of points in the space of `SEARCH`; each is tried once."""


def write_search(folder: Path, text: str = SEARCH) -> Path:
    """Writes a search on a small drive. Returns the path."""
    (folder / "drive.toml").write_text(DRIVE)
    path = folder / "best.toml"
    path.write_text(text)
    return path


@pytest.fixture
def search_file(tmp_path: Path) -> Path:
    """Writes a search of 24 trials among nine drives. Returns the path."""
    return write_search(tmp_path)


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    """Writes a sweep of six runs on a small drive. Returns the path."""
    (tmp_path / "drive.toml").write_text(DRIVE)
    path = tmp_path / "s.toml"
    path.write_text(SWEEP)
    return path


def kept(folder: Path) -> dict[str, tuple[int, int]]:
    """Returns inode and modification time of each result in a folder, which change if it is rewritten."""
    files = folder.glob("runs/*/*.json")
    return {path.stem: (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}


def documents(folder: Path) -> list[dict[str, Any]]:
    """Returns the documents of the results in a folder."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("runs/*/*.json"))]


def remove_when_there(folder: Path, pattern: str) -> threading.Thread:
    """Starts a thread that removes a folder as soon as a file in it matches the pattern."""

    def remove() -> None:
        end = time.monotonic() + TIMEOUT_S
        while not any(folder.glob(pattern)) and time.monotonic() < end:
            time.sleep(0.005)
        # Rename the folder first: another process may still write into a folder that is being removed file by file.
        shutil.rmtree(folder.rename(folder.with_name("removed")))

    thread = threading.Thread(target=remove, daemon=True)
    thread.start()
    return thread
