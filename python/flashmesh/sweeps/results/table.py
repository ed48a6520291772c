"""Table of the results of many runs, with the same columns for all kinds of runs."""

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
from flashmesh.texts.spreadsheet import cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.parquet as pq

    from flashmesh.comparing.axes import Value

DOCUMENT = "document"
CONFIGURATION = "configuration"
ROWS_OF_GROUP = 1024
"""Rows of a Parquet row group, the unit of reading; few, so that single documents are cheap to read."""
UNPACKED_BASE = 64 << 20
UNPACKED_PER_BYTE = 32
"""Limits of the unpacked size of a Parquet file: a base in bytes, and a factor of the packed size. Files of sweeps
unpack by a factor of about 7."""
BATCH_ROWS = 256
"""Number of runs whose columns are unpacked at once."""
TEXT_MAX = 1 << 30
"""Bytes of text after which a new chunk of a column begins."""


def quantity_types() -> dict[str, type]:
    """Returns the type of each value of a result that has a column, by its dotted key."""
    from flashmesh.results import Result
    from flashmesh.results.build import column_types

    return column_types(Result)


def arrow_type(kind: type) -> pa.DataType:
    """Returns the Arrow type for values of a Python type."""
    import pyarrow as pa

    return {int: pa.int64(), float: pa.float64(), bool: pa.bool_(), str: pa.string()}[kind]


def nested(types: Mapping[str, type]) -> pa.Schema:
    """Returns the Arrow schema of nested JSON objects with these dotted keys."""
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
    """Returns the values of results as a table with a column for each dotted key, in the order of declaration."""
    import pyarrow as pa
    import pyarrow.json as pj

    types = quantity_types()
    schema = nested(types)
    if not documents:
        return pa.table({key: column([], kind) for key, kind in types.items()})
    lines = "\n".join(document.strip().replace("\n", " ") for document in documents).encode()
    options = pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    # A block of the reader must hold at least one whole document, with up to 4 bytes for each character.
    largest = max(map(len, documents)) * 4 + 4096
    table = pj.read_json(
        io.BytesIO(lines), read_options=pj.ReadOptions(block_size=max(largest, 1 << 22)), parse_options=options
    )
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return table.select(list(types))


def axis_column(values: Sequence[Value]) -> pa.ChunkedArray:
    """Returns the values of an axis as one column: numbers if all are numbers, else texts."""
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        return column(values, float)
    if len(kinds) > 1:
        return column([value_text(value) for value in values], str)
    return column(values, kinds.pop())


def column(values: Sequence[Any], kind: type) -> pa.ChunkedArray:
    """Returns values of one type as a column of a table; a column of numbers may have None.

    The values are passed as buffers: `pa.array` imports pandas if it is installed, which takes longer than all else in
    a sweep of some hundred points, apart from its runs.
    """
    import numpy as np
    import pyarrow as pa

    count, of = len(values), arrow_type(kind)
    if kind is not str:
        is_there = [value is not None for value in values]
        content: np.ndarray[Any, Any] = np.array([kind() if value is None else value for value in values], dtype=kind)
        if kind is bool:
            content = np.packbits(content, bitorder="little")
        valid = None if all(is_there) else pa.py_buffer(np.packbits(is_there, bitorder="little"))
        return pa.chunked_array([pa.Array.from_buffers(of, count, [valid, pa.py_buffer(content)])])
    texts = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, texts)])
    # Offsets have 32 bits, so longer columns need several chunks.
    bounds = [0, *(np.flatnonzero(np.diff(ends[1:] // TEXT_MAX)) + 1).tolist(), count]
    pieces = []
    for first, end in itertools.pairwise(bounds):
        offsets = (ends[first : end + 1] - ends[first]).astype(np.int32)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts[first:end]))]
        pieces.append(pa.Array.from_buffers(of, end - first, buffers))
    return pa.chunked_array(pieces, of)


def digest(names: Sequence[str]) -> str:
    """Returns a digest of the identifiers of the runs of a table."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()


def table_of(settings: Sequence[Mapping[str, Value]], documents: Sequence[str], names: Sequence[str]) -> pa.Table:
    """Returns a table with a row for each run: its varied keys, every single value, and the document.

    Runs with several streams add columns for the values of each stream.

    Args:
        settings: The varied keys of each run; all runs have the same keys.
        documents: The JSON document of each run.
        names: The identifier of each run; empty if it has none.
    """
    import pyarrow as pa

    keys = list(settings[0]) if settings else []
    columns: dict[str, pa.ChunkedArray] = {key: axis_column([each[key] for each in settings]) for key in keys}
    found = quantities(documents)
    for key in found.column_names:
        # If a varied key and a quantity have the same name, such as seed, both have the same value.
        columns.setdefault(key, found[key])
    configurations = [configuration_text(document) for document in documents]
    columns |= columns_of_streams(documents, configurations)
    columns["run"] = column(names, str)
    columns[CONFIGURATION] = column(configurations, str)
    columns[DOCUMENT] = column(documents, str)
    metadata = {"flashmesh": json.dumps({"version": __version__, "axes": keys, "runs": digest(names)})}
    return pa.table(columns).replace_schema_metadata(metadata)


def columns_of_streams(documents: Sequence[str], configurations: Sequence[str]) -> dict[str, pa.ChunkedArray]:
    """Returns the columns of the streams of some runs, as described in `stream_columns`.

    Parses only the documents of runs whose configuration has several streams.
    """
    from flashmesh.results.streams import stream_columns

    has_several = [len((json.loads(each) or {}).get("stream") or {}) > 1 for each in configurations]
    if not any(has_several):
        return {}
    parsed = [json.loads(text) if several else None for text, several in zip(documents, has_several, strict=True)]
    return {key: column(values, kind) for key, (kind, values) in stream_columns(parsed).items()}


def configuration_text(document: str) -> str:
    """Returns the configuration in a result as JSON, without parsing the result if possible."""
    start = document.rfind('"configuration":')
    end = document.rfind(',"provenance":')
    if 0 <= start < end:
        return document[start + len('"configuration":') : end].strip()
    return json.dumps(json.loads(document).get(CONFIGURATION))


def write_parquet(table: pa.Table, path: Path) -> None:
    """Writes a table atomically.

    Raises:
        OutputError: If the file cannot be written.
    """
    refuse_pipe(path)
    with whole_file(path) as file:
        fill_parquet(table, file)


def fill_parquet(table: pa.Table, file: Path) -> None:
    """Writes a table into a file that is open for writing, such as one of `whole_file`.

    Raises:
        OutputError: If the file cannot be written.
    """
    import pyarrow.parquet as pq

    try:
        pq.write_table(table, file, compression="zstd", row_group_size=ROWS_OF_GROUP)
    except OSError as error:
        raise unwritable(file, error) from error


def read_parquet(path: Path) -> tuple[list[dict[str, Value]], list[str]]:
    """Returns the settings and the documents of the runs in a table.

    Raises:
        OutputError: If the file is not a table of results.
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
        raise OutputError(f"{path}: is not a Parquet file of runs written by flashmesh") from error


def bounded(path: Path, file: pq.ParquetFile, columns: list[str], groups: Sequence[int] | None = None) -> pa.Table:
    """Reads columns of a Parquet file, of all or of some row groups, with a limit on the unpacked size.

    Raises:
        OutputError: If the columns exceed the limit.
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
        # The metadata counts a repeated text once, so the size of each unpacked batch is added up too.
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
    """Parquet file of runs; its columns are read on demand."""

    def __init__(self, path: Path) -> None:
        """Opens an existing file.

        Raises:
            OutputError: If the file is not a table of results.
        """
        import pyarrow.parquet as pq

        self.path = path
        with self.reading():
            # Cached, since parsing is slow: metadata has an entry for each column of each row group.
            self.metadata = pq.read_metadata(path)
            schema = self.metadata.schema.to_arrow_schema()
            self.names = set(schema.names)
            self.axes = [str(key) for key in json.loads((schema.metadata or {})[b"flashmesh"])["axes"]]
            if missing := {*self.axes, DOCUMENT} - self.names:
                raise KeyError(", ".join(sorted(missing)))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Converts errors of reading to errors of flashmesh."""
        import pyarrow as pa

        try:
            yield
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be read: {error.strerror or error}") from error
        except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
            raise OutputError(f"{self.path}: is not a Parquet file of runs written by flashmesh") from error

    def __len__(self) -> int:
        """Returns the number of runs."""
        rows: int = self.metadata.num_rows
        return rows

    def columns(self, keys: Sequence[str]) -> pa.Table:
        """Reads the columns of these keys, and the results of the runs if one of the keys has no column.

        Raises:
            OutputError: If the columns cannot be read.
        """
        import pyarrow.parquet as pq

        wanted = list(dict.fromkeys(key if key in self.names else DOCUMENT for key in keys))
        with self.reading(), pq.ParquetFile(self.path, metadata=self.metadata) as file:
            return bounded(self.path, file, wanted)

    def documents(self, numbers: Sequence[int]) -> list[str]:
        """Reads the JSON results in some rows as texts; reads only the row groups that contain these rows.

        Raises:
            OutputError: If the columns cannot be read.
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
    """Returns the values of dotted keys that have no column, such as lists, in each result. `read` parses a result."""
    from flashmesh.report.measures.measure import in_document

    found: dict[str, list[Any]] = {key: [] for key in keys}
    for document in documents:
        tables = read(document)
        for key, values in found.items():
            values.append(in_document(tables, key))
    return found


def names_in(path: Path) -> list[str]:
    """Returns the identifier of each run in a table.

    Raises:
        OutputError: If the file is not a table of results.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            names: list[str] = file.read(columns=["run"])["run"].to_pylist()
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (pa.ArrowInvalid, KeyError) as error:
        raise OutputError(f"{path}: is not a Parquet file of runs written by flashmesh") from error
    return names


def csv_text(table: pa.Table, long: bool) -> str:
    """Returns a table as CSV, without empty columns.

    Args:
        table: A table from `table_of`.
        long: Whether each value has a row of its own: the varied keys, the name of the quantity, and its value.
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
    """Returns a value in the spelling of a CSV cell."""
    return value_text(value) if isinstance(value, bool) else cell(value)
