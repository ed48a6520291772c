"""Shards of a sweep, which are parts of its runs, and the record of the job array that runs them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from flashmesh.files import replace_text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FOLDER = "slurm"
"""Folder of job scripts, logs and the record of the array, inside the folder of results."""
RECORD = "array.json"
LAST = 0
"""Number that stands for the job that follows the array; array tasks have numbers from 1 on."""


def shares(names: Iterable[str], shards: int) -> list[list[str]]:
    """Returns the names of the runs of each of `shards` shards. Points that share a run count once, as in `Session`."""
    found: list[list[str]] = [[] for _ in range(shards)]
    for place, name in enumerate(dict.fromkeys(names)):
        found[place % shards].append(name)
    return found


@dataclass(frozen=True)
class Array:
    """Record of a job array: its shards, and its jobs in Slurm."""

    shards: int
    job: str | None = None
    """Number of the job of the array in Slurm; `None` unless flashmesh submitted it."""
    last: str | None = None
    """Number in Slurm of the job that follows the array; `None` unless flashmesh submitted it."""


def write_array(folder: Path, array: Array) -> None:
    """Writes the record into a folder of results.

    Raises:
        OSError: If the system refuses.
    """
    replace_text(folder / FOLDER / RECORD, json.dumps(asdict(array)) + "\n")


def read_array(folder: Path) -> Array | None:
    """Returns the record of the job array in a folder of results; `None` if there is none that can be read."""
    try:
        found = json.loads((folder / FOLDER / RECORD).read_text(encoding="utf-8"))
        jobs = [None if found[key] is None else str(found[key]) for key in ("job", "last")]
        shards = int(found["shards"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Array(shards, *jobs) if shards > 0 else None
