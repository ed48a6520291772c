"""Saved results, read back: JSON files of runs and comparisons, Parquet files, folders of sweeps."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashmesh._native import FlashmeshError
from flashmesh.plots.runs import Run, label, labelled, run_of, runs_of
from flashmesh.results import Result
from flashmesh.saved import other_versions, read_json
from flashmesh.sweep.kept import read_kept
from flashmesh.sweep.store import MANIFEST
from flashmesh.sweep.table import read_parquet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flashmesh.comparison import Comparison
    from flashmesh.html.search import Found

NEEDED = ("configuration", "distribution", "latency_ps", "links", "path_conflict", "power", "utilisation", "version")
"""What a report is made of, beside single numbers."""


class SavedError(FlashmeshError):
    """A file holds no results that a report can be made of."""


@dataclass(frozen=True)
class Study:
    """The runs of a report."""

    title: str
    """What it is called."""
    runs: tuple[Run, ...]
    """The runs, each with a name of its own."""
    notes: tuple[str, ...] = ()
    """What is to be known about them first: runs that failed, or are missing."""
    searches: tuple[Found, ...] = ()
    """The searches among them."""


def read(paths: Sequence[str | Path]) -> Study:
    """Reads results that were saved: JSON and Parquet of runs and comparisons, folders of sweeps.

    Raises:
        FlashmeshError: When one cannot be read, or holds something else.
    """
    if not paths:
        raise SavedError("a report needs at least one result: name a file that `--json` has written")
    runs: list[Run] = []
    notes: list[str] = []
    searches: list[Found] = []
    for path in map(Path, paths):
        searches += _searches(path)
        found, said = _runs(path)
        versions = other_versions(str(run.document["version"]) for run in found)
        said = [versions, *said] if versions is not None else said
        several = len(paths) > 1
        runs += [replace(run, name=f"{path.stem}: {run.name}") if several and run.settings else run for run in found]
        notes += [f"{path}: {note}" if several else note for note in said]
    if not runs:
        raise SavedError(f"{', '.join(map(str, paths))}: no run has finished yet")
    title = ", ".join(Path(path).stem for path in paths[:3]) + (" and more" if len(paths) > 3 else "")
    return Study(title, unique(runs), tuple(notes), tuple(searches))


def study_of(results: Iterable[Result | Comparison], title: str = "flashmesh") -> Study:
    """Results of this session as a study."""
    runs: list[Run] = []
    for result in results:
        if not isinstance(result, Result) and not hasattr(result, "runs"):
            raise TypeError(f"a report is of results and comparisons, each an argument, not of {type(result).__name__}")
        runs += [run_of(result)] if isinstance(result, Result) else runs_of(result)
    if not runs:
        raise SavedError("a report needs at least one result")
    return Study(title, unique(runs))


def _runs(path: Path) -> tuple[list[Run], list[str]]:
    """The runs of a file or folder, and what is to be known about them."""
    if path.is_dir():
        return _sweep(path)
    if path.suffix.lower() == ".parquet":
        return _table(path), []
    document = _document(path)
    if not isinstance(document.get("runs"), list):
        return [_run(path, document, path.stem, {})], []
    runs = []
    for number, part in enumerate(document["runs"]):
        settings = part.get("settings", {})
        runs.append(_run(path, part.get("result"), label(settings) or f"run {number}", settings))
    notes = [f"{label(failed['settings'])} failed: {failed['error']}" for failed in document.get("failures", [])]
    if not document.get("complete", True):
        notes.append("The comparison was ended before all of its runs had finished.")
    return runs, notes


def _table(path: Path) -> list[Run]:
    settings, documents = read_parquet(path)
    return _numbered(path, settings, documents)


def _numbered(path: Path, settings: Sequence[Mapping[str, Any]], documents: Sequence[str]) -> list[Run]:
    pairs = enumerate(zip(settings, documents, strict=True))
    return [_run(path, json.loads(text), label(each) or f"run {number}", each) for number, (each, text) in pairs]


def _sweep(path: Path) -> tuple[list[Run], list[str]]:
    if not (path / MANIFEST).is_file():
        raise SavedError(f"{path}: is a folder, and not one of a sweep; name files that `--json` has written")
    kept = read_kept(path)
    runs = _numbered(path, kept.settings, kept.documents)
    for search in _searches(path):
        # Charts draw the first runs: those that were looked for.
        order = {label: number for number, label in enumerate(search.order())}
        runs.sort(key=lambda run: order.get(labelled(run.settings), len(order)))
    if kept.is_whole:
        return runs, []
    of = f" of {kept.planned:,}" if kept.planned is not None else ""
    return runs, [f"{len(runs):,}{of} runs have finished; --resume runs the others"]


def _searches(path: Path) -> list[Found]:
    """What the folder of a search holds; nothing of other results."""
    from flashmesh.html.search import read_search

    if not path.is_dir():
        return []
    try:
        found = read_search(path)
    except (OSError, ValueError, KeyError) as error:
        raise SavedError(f"{path}: what the search has found cannot be read: {error}") from error
    return [found] if found is not None else []


def _document(path: Path) -> dict[str, Any]:
    try:
        document = read_json(path)
    except OSError as error:
        raise SavedError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise SavedError(f"{path}: is no JSON: name a file that `flashmesh run --json` has written") from error
    if not isinstance(document, dict):
        raise SavedError(f"{path}: is no result: name a file that `flashmesh run --json` has written")
    return document


def _run(path: Path, document: Any, name: str, settings: Mapping[str, Any]) -> Run:
    if not isinstance(document, dict) or "requests" not in document or "makespan_ps" not in document:
        raise SavedError(f"{path}: is no result: name a file that `flashmesh run --json` has written")
    missing = [key for key in NEEDED if key not in document]
    if missing:
        version = document.get("version", "an unknown version")
        raise SavedError(f"{path}: flashmesh {version} has written it, without {', '.join(missing)}: run it again")
    return Run(name, settings, document, document["configuration"])


def unique(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The runs, with a number behind names that come again."""
    seen: dict[str, int] = {}
    found: list[Run] = []
    for run in runs:
        seen[run.name] = count = seen.get(run.name, 0) + 1
        found.append(run if count == 1 else replace(run, name=f"{run.name} ({count})"))
    return tuple(found)
