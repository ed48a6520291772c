"""Provenance of a result: its complete configuration, its command, and its input files."""

from __future__ import annotations

import json
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashmesh._native import WorkloadError

if TYPE_CHECKING:
    from flashmesh._native import Config

command: list[str] | None = None
"""Command line of this process; None in a program that uses the library."""


def set_command() -> None:
    """Records the arguments of this process as its command line."""
    global command
    command = ["flashmesh", *sys.argv[1:]]


def workload_files(config: Config) -> list[dict[str, Any]]:
    """Returns stream or policy key, path, size and SHA-256 of each workload and policy file of a configuration.

    Raises:
        WorkloadError: If a file cannot be read.
    """
    files = [*config.workload_files(), *policy_files(config)]
    return [{"stream": stream, "path": path, **content(path)} for stream, path in files]


def policy_files(config: Config) -> list[tuple[str, str]]:
    """Returns (configuration key, file) for each policy whose code is in a file."""
    named = config.policies()
    if not named:
        return []
    from flashmesh.policies.names import source_of

    return [(key, file) for key, name in named if (file := source_of(name)) is not None]


def content(path: str) -> dict[str, Any]:
    """Returns size and SHA-256 of a file; zeros for a special file such as a pipe, which can be read only once."""
    try:
        found = Path(path).stat()
        if not Path(path).is_file():
            return {"size_bytes": 0, "sha256": "0" * 64}
        return {"size_bytes": found.st_size, "sha256": digest(path, found.st_size, found.st_mtime_ns)}
    except OSError as error:
        raise WorkloadError(f"{path}: cannot be read: {error.strerror}") from error


@lru_cache(maxsize=1024)
def digest(path: str, size: int, changed_ns: int) -> str:
    """Returns the SHA-256 of a file; cached while its size and modification time are unchanged."""
    import hashlib

    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def with_provenance(report: str, config: Config, fairness: str = "null") -> str:
    """Returns the JSON document of a run: its report with fairness, configuration and provenance."""
    provenance = json.dumps({"command": command, "files": workload_files(config)})
    # The report is a JSON object: insert members before its closing brace.
    return f'{report[:-1]},"fairness":{fairness},"configuration":{config.to_json()},"provenance":{provenance}}}'
