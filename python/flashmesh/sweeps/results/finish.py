"""Last step of a sweep: gathers all available results in one table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flashmesh.sweeps.results.store import TABLE
from flashmesh.sweeps.results.table import digest, table_of, write_parquet
from flashmesh.sweeps.tasks import typed_settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa

    from flashmesh.sweeps.results.store import Store
    from flashmesh.sweeps.tasks import Task


def gather(tasks: Sequence[Task], store: Store) -> pa.Table:
    """Returns the table of all results of a sweep, and writes it into the folder.

    Other processes may add results at the same time; the last one to write the table includes all of them.

    Raises:
        OutputError: If the table cannot be written.
    """
    while True:
        # Each point has a row, in the order of the plan, even if points share a configuration.
        found = [task for task in tasks if task.name in store]
        names = [task.name for task in found]
        table = read_table(store.folder / TABLE, names)
        if table is not None:
            return table
        documents = [store.read(name) for name in names]
        table = table_of([typed_settings(task.settings) for task in found], documents, names)
        write_parquet(table, store.folder / TABLE)
        store.look_again()
        if sum(task.name in store for task in tasks) == len(found):
            return table


def read_table(path: Path, names: list[str]) -> pa.Table | None:
    """Returns the table in a file; None if the file does not hold exactly the runs with the identifiers `names`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            about = json.loads((file.schema_arrow.metadata or {})[b"flashmesh"])
            return file.read() if about["runs"] == digest(names) else None
    except (OSError, KeyError, ValueError, pa.ArrowInvalid):
        return None
