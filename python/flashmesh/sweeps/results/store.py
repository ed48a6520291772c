"""Store of results: a folder with one file for each run, written atomically."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from flashmesh._native import OutputError, __version__
from flashmesh.files import remove_old, replace_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FORMAT = 2
"""Version of the folder layout."""
MANIFEST = "sweep.json"
PLAN = "plan.json"
RUNS = "runs"
LOG = "log.txt"
TABLE = "results.parquet"
SUFFIX = ".json"


class Store:
    """Results of a sweep in a folder, by the names of their runs."""

    def __init__(self, folder: Path) -> None:
        """Opens a folder, and lists the names of its results."""
        self.folder = folder
        self.names = set(self._names())
        self.whole: set[str] = set()
        """Names of the results that this process has written or has found complete."""
        self.log: IO[str] | None = None

    @classmethod
    def open(cls, folder: Path, *, resume: bool, kind: str, described: dict[str, Any]) -> Store:
        """Creates the folder, or opens an existing one.

        Args:
            folder: The folder.
            resume: Whether the folder may hold results.
            kind: The kind of results: a sweep, a comparison or a search.
            described: Further entries of the manifest.

        Raises:
            OutputError: If the folder cannot be written, or holds other files or results of another version.
        """
        manifest = folder / MANIFEST
        try:
            is_there = manifest.is_file()
            if not is_there and folder.is_dir() and any(folder.iterdir()):
                raise OutputError(f"{folder}: contains other files: name an empty or a new folder")
            if is_there and not resume:
                raise OutputError(f"{folder}: contains results already: continue with --resume, or name another folder")
            if is_there:
                check_manifest(folder, kind)
            (folder / RUNS).mkdir(parents=True, exist_ok=True)
            document = {"format": FORMAT, "kind": kind, "version": __version__, **described}
            replace_text(manifest, json.dumps(document, indent=2) + "\n")
            remove_old(folder, f"{RUNS}/*")
            store = cls(folder)
            store.log = (folder / LOG).open("a", encoding="utf-8", buffering=1)
        except OSError as error:
            raise OutputError(f"{folder}: cannot be written: {error.strerror or error}") from error
        return store

    def _names(self) -> Iterator[str]:
        if not (self.folder / RUNS).is_dir():
            return
        for entry in os.scandir(self.folder / RUNS):
            if entry.is_dir():
                for file in os.scandir(entry.path):
                    if file.name.endswith(SUFFIX) and not file.name.startswith("."):
                        yield file.name.removesuffix(SUFFIX)

    def look_again(self) -> None:
        """Rereads the names of results, including results that other processes have written."""
        self.names.update(self._names())

    def path(self, name: str) -> Path:
        """Returns the path of the result of a run."""
        # Sixteen folders: large folders are slow on some systems, and creating a folder costs as much as several files.
        return Path(f"{self.folder}/{RUNS}/{name[0]}/{name}{SUFFIX}")

    def __contains__(self, name: str) -> bool:
        """Returns whether the run has a complete result in the folder."""
        if name in self.whole:
            return True
        if name not in self.names:
            return False
        # After a power failure, a file may exist without its content.
        with suppress(OSError), self.path(name).open("rb") as file:
            file.seek(-1, os.SEEK_END)
            if file.read(1) == b"}":
                self.whole.add(name)
                return True
        self.names.discard(name)
        return False

    def write(self, name: str, document: str) -> None:
        """Writes the result of a run.

        Raises:
            OutputError: If the document cannot be written; earlier documents stay.
        """
        path = self.path(name)
        try:
            try:
                replace_text(path, document)
            except FileNotFoundError:
                # Parents are not created: a removed folder of results must not reappear without its manifest.
                path.parent.mkdir(exist_ok=True)
                replace_text(path, document)
        except OSError as error:
            is_there = (self.folder / MANIFEST).exists()
            kept = f"the {len(self.names)} results so far are kept: continue with --resume"
            raise OutputError(
                f"{self.folder}: cannot be written: {error.strerror or error}; "
                + (kept if is_there else "the folder was removed during the runs")
            ) from error
        self.names.add(name)
        self.whole.add(name)

    def read(self, name: str) -> str:
        """Returns the JSON result of a run as text.

        Raises:
            OutputError: If the document can no longer be read.
        """
        try:
            return self.path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise OutputError(f"{self.path(name)}: cannot be read: {error}") from error

    def write_plan(self, runs: Sequence[tuple[str, Mapping[str, str]]]) -> None:
        """Writes the planned runs: their names, and the values of their varied keys.

        Raises:
            OutputError: If the file cannot be written.
        """
        path = self.folder / PLAN
        try:
            replace_text(path, json.dumps([[name, dict(settings)] for name, settings in runs]) + "\n")
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error

    def tell(self, line: str) -> None:
        """Writes a line to the log.

        Raises:
            OutputError: If the file cannot be written.
        """
        if self.log is None:
            return
        try:
            self.log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}\n")
        except OSError as error:
            raise OutputError(f"{self.folder / LOG}: cannot be written: {error.strerror or error}") from error

    def close(self) -> None:
        """Closes the log."""
        if self.log is not None:
            with suppress(OSError):
                self.log.close()
            self.log = None


def read_plan(folder: Path) -> list[tuple[str, dict[str, str]]]:
    """Returns the planned runs of a folder: their names, and the values of their varied keys; empty without a plan.

    Raises:
        OutputError: If the file is not a plan.
    """
    path = folder / PLAN
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return [(str(name), {str(key): str(value) for key, value in each.items()}) for name, each in found]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (AttributeError, TypeError, ValueError) as error:
        raise OutputError(f"{path}: is not a plan written by flashmesh") from error


def read_manifest(folder: Path) -> dict[str, Any]:
    """Returns the manifest of a folder.

    Raises:
        OutputError: If the manifest cannot be read, or has another layout.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise OutputError(f"{path}: is not JSON: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        version = (
            manifest.get("version", "of an unknown version") if isinstance(manifest, dict) else "of an unknown version"
        )
        raise OutputError(
            f"{path}: flashmesh {version} has written this folder in a layout that {__version__} cannot read: "
            "use that version, or name another folder"
        )
    return manifest


def check_manifest(folder: Path, kind: str) -> None:
    """Refuses a folder of another version, or of another kind of results.

    Raises:
        OutputError: If the version or the kind differs.
    """
    manifest = read_manifest(folder)
    if manifest.get("version") != __version__:
        raise OutputError(
            f"{folder}: holds results of flashmesh {manifest.get('version')}, and this is {__version__}: "
            "name another folder, or go on with that version"
        )
    if manifest.get("kind") != kind:
        raise OutputError(f"{folder}: holds the results of a {manifest.get('kind')}, not of a {kind}")
