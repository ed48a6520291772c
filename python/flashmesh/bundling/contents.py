"""Contents of a bundle: saved results, the configuration of each run, and the workload files by their hashes."""

from __future__ import annotations

import importlib.metadata
import json
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashmesh._native import OutputError
from flashmesh.installation.facts import facts
from flashmesh.results import Result
from flashmesh.saved import load, read_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RESULTS = "results"
CONFIGURATIONS = "configurations"
HASH_SHOWN = 16
"""Number of digits of a configuration hash in a file name."""
OF_PROCESSES = ("progress", "slurm")
"""Subfolders of the folder of a sweep with the state of its processes and jobs, not with results."""


@dataclass(slots=True)
class Run:
    """A run to repeat: its configuration and its workload files."""

    configuration: str
    """Name of the configuration file in the bundle."""
    text: str
    config_hash: str
    files: list[dict[str, Any]]
    """Workload and policy files: path, size, hash and configuration key of each, and the text that follows the path in
    the value of the key (`:CLASS` for a policy file)."""


@dataclass(slots=True)
class Contents:
    """Results and runs of a bundle."""

    members: dict[str, Path] = field(default_factory=dict)
    """Files to pack, by their names in the bundle."""
    results: list[str] = field(default_factory=list)
    """Names in the bundle of results with runs: files, and folders of sweeps."""
    others: list[str] = field(default_factory=list)
    """Names in the bundle of results without runs: answers of `flashmesh ask`, validations."""
    runs: dict[str, Run] = field(default_factory=dict)
    """Runs by the hash of their configuration; equal configurations share one run."""
    commands: dict[str, None] = field(default_factory=dict)

    def add(self, path: Path) -> None:
        """Adds a file or folder of results.

        Raises:
            OutputError: If the path has no results, or another path has the same name.
        """
        name = f"{RESULTS}/{path.resolve().name}"
        if name in [*self.results, *self.others]:
            raise OutputError(f"{path}: a result of this name is in the bundle already: rename one of them")
        if path.is_dir():
            self.members |= {f"{name}/{file.relative_to(path).as_posix()}": file for file in files_in(path)}
        else:
            self.members[name] = path
        if has_no_runs(path):
            self.others.append(name)
            return
        found = load(path)
        self.results.append(name)
        for result in [found] if isinstance(found, Result) else [run.result for run in found.runs]:
            self.add_run(result)

    def add_run(self, result: Result) -> None:
        """Adds the configuration, the workload files and the command of a result."""
        provenance = result.document["provenance"]
        if provenance["command"] is not None:
            self.commands[shlex.join(provenance["command"])] = None
        name = f"{CONFIGURATIONS}/{result.config_hash[:HASH_SHOWN]}.toml"
        tables = result.document["configuration"]
        files = [
            dict(file) | {"key": key_of(file, tables), "suffix": suffix(file, tables)} for file in provenance["files"]
        ]
        self.runs.setdefault(result.config_hash, Run(name, result.config, result.config_hash, files))

    def files(self) -> dict[str, dict[str, Any]]:
        """Returns the workload and policy files of all runs, by their SHA-256."""
        return {file["sha256"]: file for run in self.runs.values() for file in run.files}

    def described(self) -> dict[str, Any]:
        """Returns the content of `bundle.json`: versions, results, commands, and configuration and files of runs."""
        return {
            "versions": versions(),
            "results": self.results,
            "others": self.others,
            "commands": list(self.commands),
            "runs": [
                {"configuration": run.configuration, "config_hash": run.config_hash, "files": run.files}
                for run in self.runs.values()
            ],
        }


def files_in(folder: Path) -> Iterator[Path]:
    """Yields the files of a folder of results, sorted by name."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not set(OF_PROCESSES) & set(path.relative_to(folder).parts[:-1]):
            yield path


def has_no_runs(path: Path) -> bool:
    """Returns whether a file was written by `flashmesh ask` or `flashmesh validate`."""
    from flashmesh.asking.answer import is_answer
    from flashmesh.validation.judging.outcome import is_validation

    if not path.is_file() or path.suffix.lower() == ".parquet":
        return False
    try:
        document = read_json(path)
    except (OSError, ValueError, RecursionError, OutputError):
        return False  # the loader reports the error later
    return is_answer(document) or is_validation(document)


def key_of(file: dict[str, Any], tables: dict[str, Any]) -> str:
    """Returns the configuration key whose value is the path of a workload or policy file."""
    stream, path = file["stream"], file["path"]
    if stream.startswith("policy."):
        return str(stream)
    streams = tables.get("stream", {})
    section, prefix = (streams[stream], f"stream.{stream}.") if stream in streams else (tables, "")
    fitted = section.get("workload", {}).get("fitted", tables.get("workload", {}).get("fitted"))
    return f"{prefix}workload.{'fitted' if fitted is not None and Path(fitted).name == Path(path).name else 'trace'}"


def suffix(file: dict[str, Any], tables: dict[str, Any]) -> str:
    """Returns the text that follows the path in the configuration value: `:CLASS` for a policy file, else empty."""
    section, _, key = file["stream"].partition(".")
    return f":{str(tables[section][key]).rpartition('.py:')[2]}" if section == "policy" else ""


def versions() -> dict[str, str]:
    """Returns the versions of flashmesh, its runtime, and its required packages."""
    from flashmesh.installation.extras import requirements

    found = dict(facts())
    try:
        needed = [name for name, _, extra in requirements() if extra is None]
    except importlib.metadata.PackageNotFoundError:
        needed = []
    for name in needed:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def contents_of(paths: Sequence[Path]) -> Contents:
    """Returns the contents of a bundle of some results.

    Raises:
        OutputError: If a path has no results.
    """
    contents = Contents()
    for path in paths:
        contents.add(path)
    return contents


def json_text(document: dict[str, Any]) -> str:
    """Returns a document as JSON."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
