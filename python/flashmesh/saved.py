"""Opens what was saved: the result of a run, a comparison, a sweep or a search."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashmesh._native import OutputError, __version__
from flashmesh.comparison import ComparedRun, Comparison
from flashmesh.results import Result
from flashmesh.sweep.kept import read_kept
from flashmesh.sweep.store import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashmesh.axes import Value

PARQUET = b"PAR1"
JSON_START = 1 << 16
"""Characters of a file in which it is to look like JSON."""


def load(path: str | Path) -> Result | Comparison:
    """What a file or a folder of results holds; nothing is simulated.

    Args:
        path: JSON of a run or a comparison, Parquet of a comparison or a sweep, or the folder of a sweep or a search.

    Raises:
        OutputError: When it holds none of them, or is of another version.
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
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise OutputError(f"{path}: {unknown(document, error)}") from error


def read_json(path: Path) -> Any:
    """The JSON object or array in a file. One that does not begin like that is not read to its end: it may have none.

    Raises:
        OSError: When it cannot be read.
        ValueError: When it is no such JSON.
    """
    with path.open(encoding="utf-8") as file:
        start = file.read(JSON_START)
        if not start.lstrip().startswith(("{", "[")):
            raise ValueError("it begins with neither { nor [")
        return json.loads(start + file.read())


def other_versions(versions: Iterable[str]) -> str | None:
    """A sentence on results that other versions have written; None where there are none."""
    others = sorted({version for version in versions if version != __version__})
    if not others:
        return None
    told = ", ".join(others)
    return f"results of flashmesh {told}: this is {__version__}, which may simulate the same drive differently"


def unknown(document: Any, error: Exception) -> str:
    """Why a document holds no result."""
    version = document.get("version") if isinstance(document, dict) else None
    if version is not None and version != __version__:
        return f"is a result of flashmesh {version}, which {__version__} cannot read"
    if isinstance(document, dict) and isinstance(error, KeyError):
        return f"is no result of this version of flashmesh: it lacks {error}"
    return "is no result of flashmesh"


def of_folder(folder: Path) -> Comparison:
    """The results in a folder that are whole, also of a sweep that was killed.

    Raises:
        OutputError: When it holds none.
    """
    if not (folder / MANIFEST).is_file():
        raise OutputError(f"{folder}: holds no results: there is no {MANIFEST} in it")
    kept = read_kept(folder)
    return replace(comparison_of(folder, kept.settings, kept.documents), complete=kept.is_whole)


def of_parquet(path: Path) -> Comparison:
    """The runs in a Parquet file.

    Raises:
        OutputError: When it holds none.
    """
    from flashmesh.sweep.table import read_parquet

    settings, documents = read_parquet(path)
    return comparison_of(path, settings, documents)


def comparison_of(path: Path, settings: Sequence[dict[str, Value]], documents: Sequence[str]) -> Comparison:
    """The comparison of some runs.

    Raises:
        OutputError: When one of the documents is no result.
    """
    axes: dict[str, dict[Value, None]] = {}
    runs: list[ComparedRun] = []
    for setting, document in zip(settings, documents, strict=True):
        for key, value in setting.items():
            axes.setdefault(key, {})[value] = None
        try:
            runs.append(ComparedRun(setting, Result.from_document(json.loads(document))))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise OutputError(f"{path}: {unknown(json.loads(document), error)}") from error
    return Comparison({key: tuple(values) for key, values in axes.items()}, tuple(runs))
