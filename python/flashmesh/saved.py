"""Reader of saved results: of a run, a comparison, a sweep or a search."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashmesh._native import OutputError, __version__
from flashmesh.comparison import ComparedRun, Comparison
from flashmesh.results import Result
from flashmesh.results.schema import MalformedError, check_result
from flashmesh.sweeps.results.kept import open_kept, read_kept
from flashmesh.sweeps.results.store import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.asking.answer import Answer
    from flashmesh.comparing.axes import Value

PARQUET = b"PAR1"
ANSWER_MAX = 1 << 20
"""Maximum size in bytes of an answer of `flashmesh ask`; larger files are not examined for one."""
AROUND = 20
"""Number of characters that an error shows before and after an error in JSON."""
JSON_START = 1 << 16
"""Number of characters at the start of a file by which JSON is recognised."""


def load(path: str | Path) -> Result | Comparison:
    """Returns the results in a file or a folder, without simulating anything.

    Args:
        path: JSON of a run or a comparison, Parquet of a comparison or a sweep, or the folder of a sweep or a search.

    Raises:
        OutputError: If the path has no such results, or results of an incompatible version.
    """
    path = Path(path)
    try:
        if path.is_dir():
            return of_folder(path)
        with path.open("rb") as file:
            if file.read(len(PARQUET)) == PARQUET:
                return of_parquet(path)
        document = read_json(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise OutputError(f"{path}: is neither JSON nor Parquet: {error}") from error
    try:
        if isinstance(document, dict) and "runs" in document:
            return Comparison.from_dict(document)
        return Result.from_document(document)
    except MalformedError as error:
        raise OutputError(f"{path}: {unknown(document, error)}") from error


def open_runs(path: str | Path) -> RunTable:
    """Opens the runs in a file or a folder of results; Parquet files and folders are read on demand.

    Args:
        path: A path, as in `load`.

    Raises:
        OutputError: If the path has no results.
    """
    from flashmesh.aggregate.table import ComparedRuns, SavedRuns

    path = Path(path)
    if path.is_dir():
        refuse_other_folder(path)
        return open_kept(path)
    try:
        with path.open("rb") as file:
            if file.read(len(PARQUET)) == PARQUET:
                return SavedRuns(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror or error}") from error
    found = load(path)
    return ComparedRuns(found if isinstance(found, Comparison) else Comparison({}, (ComparedRun({}, found),)))


def read_answer(path: Path) -> Answer | None:
    """Reads a file written by `flashmesh ask --json`; None for any other path.

    Raises:
        OutputError: If the file is such an answer, but cannot be read.
    """
    from flashmesh.asking.answer import Answer, is_answer

    try:
        if not path.is_file() or path.stat().st_size > ANSWER_MAX:
            return None
        document = read_json(path)
    except (OSError, OutputError, RecursionError, ValueError):
        # The caller then reads the path in another way, which reports the error.
        return None
    if not is_answer(document):
        return None
    try:
        return Answer.from_dict(document)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise OutputError(f"{path}: is not an answer of this version of flashmesh: it lacks {error}") from error


def read_json(path: Path) -> Any:
    """Reads the JSON object or array in a file.

    Reads only the beginning of a file that does not begin like JSON, since a special file (a device) may be endless.

    Raises:
        OSError: If the file cannot be read.
        OutputError: If the file begins like JSON, but is invalid further on.
        ValueError: If the file does not begin like JSON.
    """
    with path.open(encoding="utf-8") as file:
        start = file.read(JSON_START)
        if not start.lstrip().startswith(("{", "[")):
            raise ValueError("it begins with neither { nor [")
        text = start + file.read()
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise OutputError(broken(path, error)) from None


def broken(path: Path, error: json.JSONDecodeError) -> str:
    """Returns the error message for invalid JSON, with the position and the text around it."""
    said = f"{path}:{error.lineno}:{error.colno}: is not valid JSON: {error.msg}"
    left = len(error.doc.rstrip()) - error.pos
    if left <= 0 or error.msg.startswith("Unterminated string"):
        return f"{said}; the file ends there, so it was cut off: write it again"
    begin = max(error.pos - AROUND, 0)
    return f"{said}, at {error.doc[begin : error.pos + AROUND]!r}"


def other_versions(versions: Iterable[str]) -> str | None:
    """Returns a sentence on results of other versions of flashmesh; None if all are of this version."""
    others = sorted({version for version in versions if version != __version__})
    if not others:
        return None
    told = ", ".join(others)
    return f"results of flashmesh {told}: this is {__version__}, which may simulate the same drive differently"


def unknown(document: Any, error: MalformedError) -> str:
    """Returns the reason why a document is not a result."""
    if not isinstance(document, dict):
        return "is not a result of flashmesh"
    version = document.get("version")
    if isinstance(version, str) and version != __version__:
        return f"is a result of flashmesh {version}, which {__version__} cannot read: {error}"
    return f"is not a result of flashmesh: {error}"


def read_document(path: Path, text: str) -> dict[str, Any]:
    """Returns the JSON result that a text contains. `path` is the file or table of the text, for errors.

    Raises:
        OutputError: If the text is not the document of a result.
    """
    try:
        document = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise OutputError(f"{path}: the document of a run in it is not JSON: {error}") from error
    try:
        check_result(document)
    except MalformedError as error:
        raise OutputError(f"{path}: {unknown(document, error)}") from error
    found: dict[str, Any] = document
    return found


def of_folder(folder: Path) -> Comparison:
    """Returns the complete results in the folder of a sweep or search, even if the process was killed before its end.

    Raises:
        OutputError: If the folder has no results.
    """
    refuse_other_folder(folder)
    kept = read_kept(folder)
    return replace(comparison_of(folder, kept.settings, kept.documents), complete=kept.is_whole)


def refuse_other_folder(folder: Path) -> None:
    """Refuses a folder without a manifest, since it does not hold results.

    Raises:
        OutputError: If the folder has no manifest.
    """
    if not (folder / MANIFEST).is_file():
        raise OutputError(f"{folder}: holds no results: there is no {MANIFEST} in it")


def of_parquet(path: Path) -> Comparison:
    """Returns the runs in a Parquet file as a comparison.

    Raises:
        OutputError: If the file has no runs.
    """
    from flashmesh.sweeps.results.table import read_parquet

    settings, documents = read_parquet(path)
    return comparison_of(path, settings, documents)


def comparison_of(path: Path, settings: Sequence[dict[str, Value]], documents: Sequence[str]) -> Comparison:
    """Returns a comparison of runs, from their varied keys and their results as JSON texts.

    Raises:
        OutputError: If one of the documents is not a result.
    """
    axes: dict[str, dict[Value, None]] = {}
    runs: list[ComparedRun] = []
    for setting, document in zip(settings, documents, strict=True):
        for key, value in setting.items():
            axes.setdefault(key, {})[value] = None
        runs.append(ComparedRun(setting, Result.of_checked(read_document(path, document))))
    return Comparison({key: tuple(values) for key, values in axes.items()}, tuple(runs))
