"""Recorded volumes: trace files in a folder whose names match the workloads of a paper."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flashmesh import _native
from flashmesh._native import WorkloadError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from flashmesh.reproduce.registry.paper import Paper


BEGINNING = 1000
"""Number of requests at the start of a volume that are read to check that it can be replayed."""


@dataclass(frozen=True)
class Volumes:
    """Trace files in a folder for the workloads of a paper."""

    found: dict[str, Path] = field(default_factory=dict)
    """Trace file of each workload; workloads without a file are absent."""
    missing: tuple[str, ...] = ()
    """Workloads without a file, which run from their profiles."""
    reading: Mapping[str, str] = field(default_factory=dict)
    """Configuration keys that determine how the files are read."""

    def settings(self, workload: str) -> dict[str, str] | None:
        """Returns the configuration keys that replay the file of a workload; None if the workload has no file."""
        path = self.found.get(workload)
        return None if path is None else {"workload.trace": str(path), "workload.beyond": "wrap", **self.reading}


def files_in(folder: Path) -> list[Path]:
    """Returns the files of a folder, sorted by name.

    Raises:
        WorkloadError: If the folder cannot be read.
    """
    try:
        return sorted(path for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise WorkloadError(f"{folder}: no folder of traces can be read there: {error.strerror or error}") from error


def volumes_of(
    paper: Paper, workloads: Iterable[str], files: list[Path], reading: Mapping[str, str] | None = None
) -> Volumes:
    """Returns the files that match some workloads of a paper.

    Args:
        paper: The paper.
        workloads: The wanted workloads of the paper.
        files: The available files.
        reading: Keys that configure how the files are read.
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
    """Refuses a volume that cannot be replayed, such as one whose time stamps have no unit.

    Raises:
        ConfigError: If a key in `reading` is invalid.
        WorkloadError: If the beginning of a volume cannot be replayed.
    """
    from flashmesh import configuration

    for workload, path in volumes.found.items():
        configuration.load_trace(path, overrides=volumes.reading)
        settings = {**(volumes.settings(workload) or {}), "workload.requests": str(BEGINNING), "replay.mode": "open"}
        _native.Simulation(configuration.load({}, overrides=settings))


def pattern_of(volume: str) -> re.Pattern[str]:
    """Returns a pattern for file names that contain the name of a volume.

    `HM1`, `hm_1` and `hm-1` match the same files.
    """
    characters = [character for character in volume.lower() if character.isalnum()]
    parts: list[str] = []
    for before, character in zip(["", *characters], characters, strict=False):
        is_border = character.isdigit() or before.isdigit()
        parts.append(("[-_]?" if before and is_border else "") + character)
    return re.compile(rf"(?<![a-z0-9]){''.join(parts)}(?![a-z0-9])", re.IGNORECASE)


def refuse_nothing(folder: Path, matched: Iterable[Volumes]) -> None:
    """Refuses a folder that has no volume of any workload.

    Raises:
        WorkloadError: If no file matches; the message lists the wanted names.
    """
    listed = list(matched)
    names = [name for volumes in listed for name in volumes.missing]
    if any(volumes.found for volumes in listed) or not names:
        return
    shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    raise WorkloadError(f"{folder}: no file is named after a volume that is wanted: {shown}")
