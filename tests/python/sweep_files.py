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
"""Points of the space of `SEARCH`, each of which is tried once."""


def write_search(folder: Path, text: str = SEARCH) -> Path:
    """Writes a search on a small drive."""
    (folder / "drive.toml").write_text(DRIVE)
    path = folder / "best.toml"
    path.write_text(text)
    return path


@pytest.fixture
def search_file(tmp_path: Path) -> Path:
    """A search of 24 trials among nine drives."""
    return write_search(tmp_path)


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    """Six runs on a small drive."""
    (tmp_path / "drive.toml").write_text(DRIVE)
    path = tmp_path / "s.toml"
    path.write_text(SWEEP)
    return path


def kept(folder: Path) -> dict[str, tuple[int, int]]:
    """The results in a folder, each with what changes when it is written again."""
    files = folder.glob("runs/*/*.json")
    return {path.stem: (path.stat().st_ino, path.stat().st_mtime_ns) for path in files}


def documents(folder: Path) -> list[dict[str, Any]]:
    """The results in a folder."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("runs/*/*.json"))]


def remove_when_there(folder: Path, pattern: str) -> threading.Thread:
    """Removes a folder as soon as it holds a file."""

    def remove() -> None:
        end = time.monotonic() + TIMEOUT_S
        while not any(folder.glob(pattern)) and time.monotonic() < end:
            time.sleep(0.005)
        # Under another name at once: what is removed file by file, somebody still writes into.
        shutil.rmtree(folder.rename(folder.with_name("removed")))

    thread = threading.Thread(target=remove, daemon=True)
    thread.start()
    return thread
