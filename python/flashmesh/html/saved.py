"""Reader of saved results for reports: JSON files of runs and comparisons, Parquet files, folders of sweeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashmesh._native import FlashmeshError
from flashmesh.asking.answer import Answer, is_answer
from flashmesh.html.documents import DocumentRuns
from flashmesh.html.study import Shown, Study, points_in, unique
from flashmesh.plots.runs import label, labelled
from flashmesh.results import Result
from flashmesh.results.schema import MalformedError, check_comparison, check_result
from flashmesh.saved import open_runs, other_versions, read_json, unknown
from flashmesh.sweeps.results.store import MANIFEST
from flashmesh.validation.judging.outcome import from_dict, is_validation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.comparison import Comparison
    from flashmesh.html.search import Found
    from flashmesh.validation.judging.outcome import Validation


class SavedError(FlashmeshError):
    """Error of a file that holds no results for a report."""


def read(paths: Sequence[str | Path]) -> Study:
    """Reads saved results: JSON and Parquet files of runs and comparisons, folders of sweeps.

    Raises:
        FlashmeshError: If a file cannot be read, or holds no results.
    """
    if not paths:
        raise SavedError("a report needs at least one result: name a file that `--json` has written")
    points: list[Shown] = []
    tables: list[RunTable] = []
    notes: list[str] = []
    searches: list[Found] = []
    several = len(paths) > 1
    answers: list[Answer] = []
    validations: list[Validation] = []
    for path in map(Path, paths):
        document = _document(path) if is_json(path) else None
        if is_answer(document):
            answers.append(_answer(path, document))
            continue
        if is_validation(document):
            validations += _validations(path, document)
            continue
        table, said = _opened(path, document)
        if not len(table):
            raise SavedError(f"{path}: no run has finished yet")
        found = points_in(
            table, f"{path.stem}: " if several and table.axes else "", path.stem if not table.axes else ""
        )
        asked = _searches(path)
        for search in asked:
            # Only the first points of a search have charts of their own, so points of the Pareto front come first.
            order = {settings: number for number, settings in enumerate(search.order())}
            names = search.names()
            read = search.read_settings()
            found = [
                replace(
                    point,
                    name=names.get(labelled(point.settings), point.name),
                    read=read.get(labelled(point.settings)),
                )
                for point in found
            ]
            found.sort(key=lambda point: order.get(labelled(point.settings), len(order)))
        (versions,) = table.columns(["version"])
        if (told := other_versions(versions)) is not None:
            said = [told, *said]
        notes += [f"{path}: {note}" if several else note for note in said]
        points += found
        tables.append(table)
        searches += asked
    title = ", ".join(Path(path).stem for path in paths[:3]) + (" and more" if len(paths) > 3 else "")
    return Study(
        title,
        unique(points),
        tuple(tables),
        tuple(notes),
        tuple(searches),
        answers=tuple(answers),
        validations=tuple(validations),
    )


def is_json(path: Path) -> bool:
    """Returns whether a path is to be read as JSON: any path but a folder or a Parquet file."""
    return not path.is_dir() and path.suffix.lower() != ".parquet"


def _answer(path: Path, document: Any) -> Answer:
    """Reads an answer that `flashmesh ask` has written."""
    try:
        return Answer.from_dict(document)
    except (AttributeError, KeyError, TypeError) as error:
        raise SavedError(
            f"{path}: is not an answer of this version of flashmesh: it lacks {error}: run flashmesh ask again"
        ) from error


def _validations(path: Path, document: Any) -> list[Validation]:
    """Reads validations that `flashmesh validate` has written."""
    try:
        return from_dict(document)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        told = f"{path}: is not a validation of this version of flashmesh: it lacks {error}: validate again"
        raise SavedError(told) from error


def study_of(results: Iterable[Result | Comparison], title: str = "flashmesh") -> Study:
    """Returns the content of a report from results in memory."""
    points: list[Shown] = []
    tables: list[RunTable] = []
    for result in results:
        if not isinstance(result, Result) and not hasattr(result, "runs"):
            raise TypeError(f"expected results and comparisons, each as an argument, not {type(result).__name__}")
        table, name = _of(result)
        points += points_in(table, name=name)
        tables.append(table)
    if not points:
        raise SavedError("a report needs at least one result")
    return Study(title, unique(points), tuple(tables))


def _of(result: Result | Comparison) -> tuple[RunTable, str]:
    """Returns the runs of a result as a table, and the name of the result in the report."""
    if isinstance(result, Result):
        return DocumentRuns([{}], [result.document]), str(result.parameters["fabric"]["kind"])
    table = DocumentRuns([run.settings for run in result.runs], [run.result.document for run in result.runs])
    table.until_steady = result.until_steady
    return table, ""


def _opened(path: Path, document: dict[str, Any] | None) -> tuple[RunTable, list[str]]:
    """Returns the runs of a file or folder as a table, and notes on failed and missing runs."""
    if document is None:
        return _folder(path) if path.is_dir() else (open_runs(path), [])
    try:
        if "runs" not in document:
            check_result(document)
            return DocumentRuns([{}], [document]), []
        check_comparison(document)
    except MalformedError as error:
        raise SavedError(f"{path}: {unknown(document, error)}") from error
    table = DocumentRuns([part["settings"] for part in document["runs"]], [part["result"] for part in document["runs"]])
    table.until_steady = document["until_steady"]
    notes = [f"{label(failed['settings'])} failed: {failed['error']}" for failed in document["failures"]]
    if not document["complete"]:
        notes.append("The comparison was ended before all of its runs had finished.")
    return table, notes


def _folder(path: Path) -> tuple[RunTable, list[str]]:
    if not (path / MANIFEST).is_file():
        raise SavedError(f"{path}: is a folder without the results of a sweep; name files that `--json` has written")
    table = open_runs(path)
    notes = [f"{label(failed.settings)} failed: {failed.error}" for failed in table.failures]
    if not table.complete:
        of = f" of {table.planned:,}" if table.planned is not None else ""
        notes.append(f"{len(table):,}{of} runs have finished; --resume runs the others")
    return table, notes


def _searches(path: Path) -> list[Found]:
    """Returns the search whose folder this is, as a list; empty if the path is not the folder of a search."""
    from flashmesh.html.search import read_search

    if not path.is_dir():
        return []
    try:
        found = read_search(path)
    except (OSError, ValueError, KeyError, RecursionError) as error:
        raise SavedError(f"{path}: the results of the search cannot be read: {error}") from error
    return [found] if found is not None else []


def _document(path: Path) -> dict[str, Any]:
    try:
        document = read_json(path)
    except OSError as error:
        raise SavedError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SavedError(f"{path}: is not JSON: name a file that `flashmesh run --json` has written") from error
    if not isinstance(document, dict):
        raise SavedError(f"{path}: is not a result: name a file that `flashmesh run --json` has written")
    return document
