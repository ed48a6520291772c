"""A folder of results: each run's document in a file of its own, which appears whole or not at all."""

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
"""Changes when the layout of the folder does."""
MANIFEST = "sweep.json"
PLAN = "plan.json"
RUNS = "runs"
LOG = "log.txt"
TABLE = "results.parquet"
SUFFIX = ".json"


class Store:
    """The results of a sweep, by the names of their runs."""

    def __init__(self, folder: Path) -> None:
        """Of a folder that is there."""
        self.folder = folder
        self.names = set(self._names())
        self.whole: set[str] = set()
        """The names whose documents this process has written, or has seen the end of."""
        self.log: IO[str] | None = None

    @classmethod
    def open(cls, folder: Path, *, resume: bool, kind: str, described: dict[str, Any]) -> Store:
        """Makes the folder, or goes on with one that is there.

        Args:
            folder: The folder.
            resume: Whether it may hold results already.
            kind: What they are results of: a sweep, a comparison or a search.
            described: What the manifest says of it.

        Raises:
            OutputError: When it cannot be written, holds something else, or results of another version.
        """
        manifest = folder / MANIFEST
        try:
            is_there = manifest.is_file()
            if not is_there and folder.is_dir() and any(folder.iterdir()):
                raise OutputError(f"{folder}: is a folder with other files: name one that is empty or not there")
            if is_there and not resume:
                raise OutputError(f"{folder}: holds results already: go on with --resume, or name another folder")
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
        """Takes notice of results that other processes have added."""
        self.names.update(self._names())

    def path(self, name: str) -> Path:
        """Where the document of a run is."""
        # Sixteen folders: making one costs as much as several results, and some file systems are slow with large ones.
        return Path(f"{self.folder}/{RUNS}/{name[0]}/{name}{SUFFIX}")

    def __contains__(self, name: str) -> bool:
        """Whether the run of this name has a whole document."""
        if name in self.whole:
            return True
        if name not in self.names:
            return False
        # A machine that lost its power may keep a name without its content.
        with suppress(OSError), self.path(name).open("rb") as file:
            file.seek(-1, os.SEEK_END)
            if file.read(1) == b"}":
                self.whole.add(name)
                return True
        self.names.discard(name)
        return False

    def write(self, name: str, document: str) -> None:
        """Keeps a document.

        Raises:
            OutputError: When it cannot be written; those that are kept stay.
        """
        path = self.path(name)
        try:
            try:
                replace_text(path, document)
            except FileNotFoundError:
                # Not its parents: a folder of results that somebody has removed is not begun anew without its manifest.
                path.parent.mkdir(exist_ok=True)
                replace_text(path, document)
        except OSError as error:
            is_there = (self.folder / MANIFEST).exists()
            kept = f"the {len(self.names)} results so far are kept, and --resume goes on from them"
            raise OutputError(
                f"{self.folder}: cannot be written: {error.strerror or error}; "
                + (kept if is_there else "the folder was removed while the runs went on")
            ) from error
        self.names.add(name)
        self.whole.add(name)

    def read(self, name: str) -> str:
        """The document of a run.

        Raises:
            OutputError: When it is not there any more.
        """
        try:
            return self.path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            raise OutputError(f"{self.path(name)}: cannot be read: {error}") from error

    def write_plan(self, runs: Sequence[tuple[str, Mapping[str, str]]]) -> None:
        """Keeps which runs there will be: their names, and the varied keys of each with their values.

        Raises:
            OutputError: When it cannot be written.
        """
        path = self.folder / PLAN
        try:
            replace_text(path, json.dumps([[name, dict(settings)] for name, settings in runs]) + "\n")
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from error

    def tell(self, line: str) -> None:
        """Writes a line to the log.

        Raises:
            OutputError: When it cannot be written.
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
    """The runs that a folder is to hold: their names, and the varied keys of each; none where nothing says.

    Raises:
        OutputError: When it holds something else.
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
        raise OutputError(f"{path}: is no plan that flashmesh wrote") from error


def read_manifest(folder: Path) -> dict[str, Any]:
    """What a folder says of itself.

    Raises:
        OutputError: When it says nothing that can be understood.
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
    """Refuses to go on with a folder of another version, or of something else.

    Raises:
        OutputError: When it is one.
    """
    manifest = read_manifest(folder)
    if manifest.get("version") != __version__:
        raise OutputError(
            f"{folder}: holds results of flashmesh {manifest.get('version')}, and this is {__version__}: "
            "name another folder, or go on with that version"
        )
    if manifest.get("kind") != kind:
        raise OutputError(f"{folder}: holds the results of a {manifest.get('kind')}, not of a {kind}")
