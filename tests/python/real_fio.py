"""Requests of the real fio, and those of flashmesh for the same options."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TypeAlias

import flashmesh
from conftest import TIMEOUT_S

FIO = shutil.which("fio")
KIB = 1024
DRIVE = {"preset": "venice-z-nand"}
KINDS = {"read": "read", "write": "write", "trim": "deallocate", "sync": "flush", "datasync": "flush"}
"""Kinds of requests in flashmesh by their name in fio's logs."""
Requests: TypeAlias = "list[tuple[str, int, int]]"
"""Kind, offset and size of each request; offsets are on the drive."""


def run_fio(folder: Path, text: str) -> None:
    """Runs the text of a job file in a folder."""
    (folder / "fio.fio").write_text(text)
    done = subprocess.run(
        [str(FIO), "fio.fio"], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert done.returncode == 0, done.stderr


def of_fio(folder: Path, options: str, length: int, engine: str = "null") -> Requests:
    """Returns the requests of fio, in the order of its log.

    Its files of `length` bytes follow each other on the drive.
    """
    (folder / "fio.log").unlink(missing_ok=True)
    run_fio(folder, f"[job]\nioengine={engine}\nwrite_iolog=fio.log\n{options}")
    return [
        (kind, 0 if kind == "flush" else file * length + offset, size)
        for _, kind, file, offset, size in logged(folder / "fio.log")
    ]


def logged(path: Path) -> list[tuple[str, str, int, int, int]]:
    """Returns the file, the kind, the number of the file in the log, the offset and the size of each logged request."""
    found = []
    files: list[str] = []
    for _, name, action, *place in (line.split() for line in path.read_text().splitlines()[1:]):
        if action == "add" and name not in files:
            files.append(name)
        if action in KINDS:
            kind = KINDS[action]
            offset, size = (0, 0) if kind == "flush" else (int(place[0]), int(place[1]))
            found.append((name, kind, files.index(name), offset, size))
    return found


def of_flashmesh(folder: Path, options: str, seed: int = 0) -> Requests:
    """Returns the simulated requests in the order of issue."""
    (folder / "job.fio").write_text(f"[job]\n{options}")
    return next(iter(simulated(folder, "job.fio", seed).values()), [])


def simulated(folder: Path, name: str, seed: int = 0) -> dict[str, Requests]:
    """Returns the simulated requests of each stream of a job file, in the order of issue."""
    import pyarrow.parquet as pq

    flashmesh.run(DRIVE | {"seed": seed}, fio=folder / name, requests_file=folder / "log.parquet")
    names = ["id", "stream_name", "kind", "offset_bytes", "size_bytes"]
    rows = pq.read_table(folder / "log.parquet", columns=names).to_pydict()
    found: dict[str, Requests] = {}
    for _, stream, kind, offset, size in sorted(zip(*(rows[name] for name in names), strict=True)):
        found.setdefault(str(stream), []).append((str(kind), int(offset), int(size)))
    return found
