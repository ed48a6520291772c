"""Reader of a folder of results, whether its sweep ended or was killed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh._native import OutputError
from flashmesh.sweeps.results.store import TABLE, Store, read_manifest, read_plan
from flashmesh.sweeps.results.table import names_in, read_parquet
from flashmesh.sweeps.tasks import typed_settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from flashmesh.aggregate.table import RunTable
    from flashmesh.comparing.axes import Value


@dataclass(frozen=True)
class Kept:
    """Results in the folder of a sweep or search, in the order of its plan."""

    settings: Sequence[dict[str, Value]]
    """Varied keys of each run, with their values."""
    documents: Sequence[str]
    """JSON result of each run, as text."""
    planned: int | None
    """Number of planned runs; None for a search, which has no plan."""
    is_whole: bool
    """Whether all planned runs have results; for a search, whether the table has all results."""


def read_kept(folder: Path) -> Kept:
    """Reads the results in a folder: from the table if it has all results, else from the files of the runs.

    Raises:
        OutputError: If the folder holds no results, or cannot be read.
    """
    points = read_manifest(folder).get("points")
    planned = points if isinstance(points, int) else None
    store = Store(folder)
    plan = [(name, settings) for name, settings in read_plan(folder) if name in store]
    table = folder / TABLE
    # After a kill, the folder may have no table, or the table of an earlier session.
    is_in_table = table.is_file() and {name for name, _ in plan} <= set(names_in(table))
    if is_in_table:
        settings, documents = read_parquet(table)
    elif plan:
        settings = [typed_settings(each) for _, each in plan]
        documents = [store.read(name) for name, _ in plan]
    else:
        raise OutputError(f"{folder}: no run has finished yet: continue with --resume")
    return Kept(settings, documents, planned, is_in_table if planned is None else len(documents) >= planned)


def open_kept(folder: Path) -> RunTable:
    """Opens the results in a folder as a table that is read by column.

    If its Parquet file has all results, no files of runs are read.

    Raises:
        OutputError: If the folder holds no results, or cannot be read.
    """
    from flashmesh.aggregate.table import SavedRuns, TableOfRuns
    from flashmesh.sweeps.results.table import table_of

    points = read_manifest(folder).get("points")
    path = folder / TABLE
    plan = read_plan(folder)
    store: Store | None = None
    is_in_table = path.is_file()
    if is_in_table:
        missing = {name for name, _ in plan} - set(names_in(path))
        store = Store(folder) if missing else None
        # After a kill, the folder may have the table of an earlier session.
        is_in_table = store is None or missing.isdisjoint(store.names)
    if is_in_table:
        table: RunTable = SavedRuns(path)
    else:
        store = store if store is not None else Store(folder)
        there = [(name, typed_settings(settings)) for name, settings in plan if name in store]
        if not there:
            raise OutputError(f"{folder}: no run has finished yet: continue with --resume")
        names = [name for name, _ in there]
        table = TableOfRuns(table_of([each for _, each in there], [store.read(name) for name in names], names))
    table.planned = points if isinstance(points, int) else None
    table.complete = len(table) >= table.planned if table.planned is not None else is_in_table
    return table
