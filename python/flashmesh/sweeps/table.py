"""The results of many runs as one table with the same columns whatever the runs are."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flashmesh._native import OutputError, __version__
from flashmesh.configuration import value_text
from flashmesh.files import refuse_pipe, unwritable, whole_file
from flashmesh.spreadsheet import cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

    from flashmesh.axes import Value

DOCUMENT = "document"
CONFIGURATION = "configuration"
ROWS_OF_GROUP = 1024
"""Rows that are read together: so that some documents can be read without all others."""
UNPACKED_BASE = 64 << 20
UNPACKED_PER_BYTE = 32
"""What a file of results may unpack to, in bytes: so much, and so much for each of its own. That of a sweep has 7."""
BATCH_ROWS = 256
"""Runs that are unpacked at once."""
TEXT_MAX = 1 << 30
"""Bytes of text that one piece of a column holds, give or take one text."""


def quantity_types() -> dict[str, type]:
    """The type of each single value of a result, by its dotted key."""
    from flashmesh.results import Result
    from flashmesh.results.build import column_types

    return column_types(Result)


def arrow_type(kind: type) -> pa.DataType:
    """How a Parquet file holds values of a type."""
    import pyarrow as pa

    return {int: pa.int64(), float: pa.float64(), bool: pa.bool_(), str: pa.string()}[kind]


def nested(types: Mapping[str, type]) -> pa.Schema:
    """Dotted keys as a schema of JSON objects."""
    import pyarrow as pa

    tree: dict[str, Any] = {}
    for key, kind in types.items():
        *path, last = key.split(".")
        place = tree
        for part in path:
            place = place.setdefault(part, {})
        place[last] = arrow_type(kind)

    def fields(level: dict[str, Any]) -> list[pa.Field]:
        return [
            pa.field(name, pa.struct(fields(inner)) if isinstance(inner, dict) else inner)
            for name, inner in level.items()
        ]

    return pa.schema(fields(tree))


def quantities(documents: Sequence[str]) -> pa.Table:
    """The single values of documents: a column for each dotted key, in the order of their declaration."""
    import pyarrow as pa
    import pyarrow.json as pj

    types = quantity_types()
    schema = nested(types)
    if not documents:
        return pa.table({key: column([], kind) for key, kind in types.items()})
    lines = "\n".join(document.strip().replace("\n", " ") for document in documents).encode()
    options = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    # Blocks hold whole documents: the largest must fit.
    largest = max(map(len, documents)) * 4 + 4096
    table = pj.read_json(
        io.BytesIO(lines), read_options=pj.ReadOptions(block_size=max(largest, 1 << 22)), parse_options=options
    )
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return table.select(list(types))


def axis_column(values: Sequence[Value]) -> pa.ChunkedArray:
    """The values of an axis in one column: numbers where all are numbers, otherwise texts."""
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        return column(values, float)
    if len(kinds) > 1:
        return column([value_text(value) for value in values], str)
    return column(values, kinds.pop())


def column(values: Sequence[Any], kind: type) -> pa.ChunkedArray:
    """Values of one type as a column.

    They are handed over as buffers: `pa.array` imports pandas where it is installed, which takes longer than all else
    that a sweep of some hundred points does beside its runs.
    """
    import numpy as np
    import pyarrow as pa

    count, of = len(values), arrow_type(kind)
    if kind is not str:
        content: np.ndarray[Any, Any] = np.array(values, dtype=kind)
        if kind is bool:
            content = np.packbits(content, bitorder="little")
        return pa.chunked_array([pa.Array.from_buffers(of, count, [None, pa.py_buffer(content)])])
    texts = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, texts)])
    # Offsets have 32 bits: longer columns are made of several pieces.
    bounds = [0, *(np.flatnonzero(np.diff(ends[1:] // TEXT_MAX)) + 1).tolist(), count]
    pieces = []
    for first, end in itertools.pairwise(bounds):
        offsets = (ends[first : end + 1] - ends[first]).astype(np.int32)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts[first:end]))]
        pieces.append(pa.Array.from_buffers(of, end - first, buffers))
    return pa.chunked_array(pieces, of)


def digest(names: Sequence[str]) -> str:
    """What tells tables of other runs apart."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()


def table_of(settings: Sequence[Mapping[str, Value]], documents: Sequence[str], names: Sequence[str]) -> pa.Table:
    """A row for each run: its varied keys, every single value, and the document itself.

    Args:
        settings: The varied keys of each run; all have the same.
        documents: The JSON of each run.
        names: What identifies each run; empty where nothing does.
    """
    import pyarrow as pa

    keys = list(settings[0]) if settings else []
    columns: dict[str, pa.ChunkedArray] = {key: axis_column([each[key] for each in settings]) for key in keys}
    found = quantities(documents)
    for key in found.column_names:
        # A key that varies and a quantity may have the same name, such as seed: they have the same value.
        columns.setdefault(key, found[key])
    columns["run"] = column(names, str)
    columns[CONFIGURATION] = column([configuration_text(document) for document in documents], str)
    columns[DOCUMENT] = column(documents, str)
    metadata = {"flashmesh": json.dumps({"version": __version__, "axes": keys, "runs": digest(names)})}
    return pa.table(columns).replace_schema_metadata(metadata)


def configuration_text(document: str) -> str:
    """The configuration in a document, as JSON."""
    start = document.rfind('"configuration":')
    end = document.rfind(',"provenance":')
    if 0 <= start < end:
        return document[start + len('"configuration":') : end].strip()
    return json.dumps(json.loads(document).get(CONFIGURATION))


def write_parquet(table: pa.Table, path: Path) -> None:
    """Writes a table, whole or not at all.

    Raises:
        OutputError: When it cannot be written.
    """
    refuse_pipe(path)
    with whole_file(path) as file:
        fill_parquet(table, file)


def fill_parquet(table: pa.Table, file: Path) -> None:
    """Writes a table into a file that is open for it, such as one of `whole_file`.

    Raises:
        OutputError: When it cannot be written.
    """
    import pyarrow.parquet as pq

    try:
        pq.write_table(table, file, compression="zstd", row_group_size=ROWS_OF_GROUP)
    except OSError as error:
        raise unwritable(file, error) from error


def read_parquet(path: Path) -> tuple[list[dict[str, Value]], list[str]]:
    """The settings and the documents of the runs in a table.

    Raises:
        OutputError: When it is no table of results.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            about = json.loads((file.schema_arrow.metadata or {})[b"flashmesh"])
            axes = [str(key) for key in about["axes"]]
            table = bounded(path, file, [*axes, DOCUMENT])
        return table.select(axes).to_pylist(), table[DOCUMENT].to_pylist()
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise OutputError(f"{path}: is no Parquet file of runs that flashmesh wrote") from error


def bounded(path: Path, file: pq.ParquetFile, columns: list[str], groups: Sequence[int] | None = None) -> pa.Table:
    """Columns of a table, or of some groups of its rows, which a small file may not make large.

    Raises:
        OutputError: When they are larger than such files are.
    """
    import pyarrow as pa

    most = UNPACKED_BASE + UNPACKED_PER_BYTE * path.stat().st_size
    packed = (file.metadata.row_group(group) for group in range(file.metadata.num_row_groups))
    unpacked = sum(
        group.column(index).total_uncompressed_size for group in packed for index in range(group.num_columns)
    )
    batches: list[pa.RecordBatch] = []
    if unpacked <= most:
        unpacked = 0
        # A text that comes again and again is there once in the file.
        for batch in file.iter_batches(BATCH_ROWS, row_groups=groups, columns=columns, use_threads=False):
            unpacked += batch.nbytes
            if unpacked > most:
                break
            batches.append(batch)
    if unpacked > most:
        raise OutputError(
            f"{path}: its runs take more than {most >> 20:,} MiB when they are unpacked, far more than such a file has"
        )
    return pa.Table.from_batches(batches) if batches else file.schema_arrow.empty_table().select(columns)


class TableFile:
    """A Parquet file of runs, whose columns are read as they are asked for."""

    def __init__(self, path: Path) -> None:
        """Of a file that is there.

        Raises:
            OutputError: When it is no table of results.
        """
        import pyarrow.parquet as pq

        self.path = path
        with self.reading():
            # Kept: there is a part of it for each column of each group of rows.
            self.metadata = pq.read_metadata(path)
            schema = self.metadata.schema.to_arrow_schema()
            self.names = set(schema.names)
            self.axes = [str(key) for key in json.loads((schema.metadata or {})[b"flashmesh"])["axes"]]
            if missing := {*self.axes, DOCUMENT} - self.names:
                raise KeyError(", ".join(sorted(missing)))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Makes errors of reading errors of ours."""
        import pyarrow as pa

        try:
            yield
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be read: {error.strerror or error}") from error
        except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
            raise OutputError(f"{self.path}: is no Parquet file of runs that flashmesh wrote") from error

    def __len__(self) -> int:
        """How many runs it holds."""
        rows: int = self.metadata.num_rows
        return rows

    def columns(self, keys: Sequence[str]) -> pa.Table:
        """Some columns, and the documents where one of the keys has no column.

        Raises:
            OutputError: When they cannot be read.
        """
        import pyarrow.parquet as pq

        wanted = list(dict.fromkeys(key if key in self.names else DOCUMENT for key in keys))
        with self.reading(), pq.ParquetFile(self.path, metadata=self.metadata) as file:
            return bounded(self.path, file, wanted)

    def documents(self, numbers: Sequence[int]) -> list[str]:
        """The documents of some rows, of which only the groups they are in are read.

        Raises:
            OutputError: When they cannot be read.
        """
        import pyarrow.parquet as pq

        found: dict[int, str] = {}
        first = 0
        with self.reading(), pq.ParquetFile(self.path, metadata=self.metadata) as file:
            for group in range(file.num_row_groups):
                end = first + self.metadata.row_group(group).num_rows
                here = [number for number in numbers if first <= number < end]
                if here:
                    column = bounded(self.path, file, [DOCUMENT], [group])[DOCUMENT]
                    found |= {number: column[number - first].as_py() for number in here}
                first = end
        return [found[number] for number in numbers]


def lists(
    documents: Sequence[str], keys: Sequence[str], read: Callable[[str], Mapping[str, Any]] = json.loads
) -> dict[str, list[Any]]:
    """Values of documents that have no column, such as lists, by their dotted keys."""
    from flashmesh.report.measures import in_document

    found: dict[str, list[Any]] = {key: [] for key in keys}
    for document in documents:
        tables = read(document)
        for key, values in found.items():
            values.append(in_document(tables, key))
    return found


def names_in(path: Path) -> list[str]:
    """What identifies each run in a table.

    Raises:
        OutputError: When it is no table of results.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            names: list[str] = file.read(columns=["run"])["run"].to_pylist()
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (pa.ArrowInvalid, KeyError) as error:
        raise OutputError(f"{path}: is no Parquet file of runs that flashmesh wrote") from error
    return names


def csv_text(table: pa.Table, long: bool) -> str:
    """A table as CSV, without columns that are empty.

    Args:
        table: As `table_of` makes it.
        long: Whether each value has a row of its own: the varied keys, the name of the quantity, its value.
    """
    import csv

    keys = json.loads(table.schema.metadata[b"flashmesh"])["axes"]
    hidden = {DOCUMENT, CONFIGURATION}
    if not any(table["run"].to_pylist()):
        hidden.add("run")
    names = [name for name in table.column_names if name not in hidden and table[name].null_count < table.num_rows]
    rows = table.select(names).to_pylist()
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if not long:
        writer.writerow([cell(name) for name in names])
        writer.writerows([spelled(row[name]) for name in names] for row in rows)
        return stream.getvalue()
    writer.writerow([*map(cell, keys), "quantity", "value"])
    for row in rows:
        for name in names:
            if name not in keys and row[name] is not None:
                writer.writerow([*(spelled(row[key]) for key in keys), name, spelled(row[name])])
    return stream.getvalue()


def spelled(value: Any) -> Any:
    """A value as CSV spells it."""
    return value_text(value) if isinstance(value, bool) else cell(value)
