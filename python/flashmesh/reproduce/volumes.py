"""Recorded volumes in a folder, matched with the workloads of a paper by their names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flashmesh import _native
from flashmesh._native import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from flashmesh.reproduce.paper import Paper


BEGINNING = 1000
"""Requests of a volume that are read to see whether it can be replayed."""


@dataclass(frozen=True)
class Volumes:
    """What a folder of traces has of the workloads of a paper."""

    found: dict[str, Path] = field(default_factory=dict)
    """The file of each workload that there is one of."""
    missing: tuple[str, ...] = ()
    """Workloads without one: their profiles take their place."""
    reading: Mapping[str, str] = field(default_factory=dict)
    """Keys that say how the files are read."""

    def settings(self, workload: str) -> dict[str, str] | None:
        """The overrides that replay the file of a workload; None without one."""
        path = self.found.get(workload)
        return None if path is None else {"workload.trace": str(path), "workload.beyond": "wrap", **self.reading}


def files_in(folder: Path) -> list[Path]:
    """The files of a folder, by name.

    Raises:
        WorkloadError: When it cannot be read.
    """
    try:
        return sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise WorkloadError(f"{folder}: no folder of traces can be read there: {error.strerror or error}") from error


def volumes_of(
    paper: Paper, workloads: Iterable[str], files: list[Path], reading: Mapping[str, str] | None = None
) -> Volumes:
    """The files of some workloads of a paper.

    Args:
        paper: The paper.
        workloads: Its workloads that are wanted.
        files: The files there are.
        reading: Keys that say how these are read.
    """
    found: dict[str, Path] = {}
    missing: list[str] = []
    for workload in dict.fromkeys(workloads):
        pattern = pattern_of(paper.volumes.get(workload, workload.rpartition("/")[2]))
        match = next((path for path in files if pattern.search(path.name)), None)
        if match is None:
            missing.append(workload)
        else:
            found[workload] = match
    return Volumes(found, tuple(missing), reading or {})


def require_readable(volumes: Volumes) -> None:
    """Refuses a volume that cannot be replayed as it is, such as one whose time stamps have no unit.

    Raises:
        ConfigError: When a key that says how volumes are read does not.
        WorkloadError: When the beginning of a volume cannot be replayed.
    """
    from flashmesh import configuration

    for workload, path in volumes.found.items():
        configuration.load_trace(path, overrides=volumes.reading)
        settings = {**(volumes.settings(workload) or {}), "workload.requests": str(BEGINNING), "replay.mode": "open"}
        _native.Simulation(configuration.load({}, overrides=settings))


def pattern_of(volume: str) -> re.Pattern[str]:
    """What the name of a file matches that has a volume: `HM1`, `hm_1` and `hm-1` are one name."""
    characters = [character for character in volume.lower() if character.isalnum()]
    parts: list[str] = []
    for before, character in zip(["", *characters], characters, strict=False):
        is_border = character.isdigit() or before.isdigit()
        parts.append(("[-_]?" if before and is_border else "") + character)
    return re.compile(rf"(?<![a-z0-9]){''.join(parts)}(?![a-z0-9])", re.IGNORECASE)


def refuse_nothing(folder: Path, matched: Iterable[Volumes]) -> None:
    """Refuses a folder that has no volume of any workload.

    Raises:
        WorkloadError: When it has none; the text has the names that were looked for.
    """
    listed = list(matched)
    names = [name for volumes in listed for name in volumes.missing]
    if any(volumes.found for volumes in listed) or not names:
        return
    shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    raise WorkloadError(f"{folder}: no file is named after a volume that is wanted: {shown}")
