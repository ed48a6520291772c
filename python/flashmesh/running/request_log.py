"""Log of all requests of a run: a Parquet file with a row for each, written during the run in constant memory."""

from __future__ import annotations

import os
import threading
from array import array
from contextlib import contextmanager, suppress
from itertools import accumulate
from typing import TYPE_CHECKING

from flashmesh._native import OutputError
from flashmesh._results import REQUEST_COLUMNS
from flashmesh.files import reason, refuse_pipe, whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from flashmesh._results import RequestColumn


@contextmanager
def request_log(
    path: str | Path, streams: Sequence[str], on_trouble: Callable[[str], None] | None = None
) -> Iterator[Callable[[int, dict[str, bytes]], None]]:
    """Yields a function that takes batches of completed requests; the file is complete after the block.

    A run calls the function in a separate thread, which imports Arrow. A write error does not stop the run:
    `on_trouble` is called at once in that thread, the file is truncated to free disk space, and the error is raised at
    the end of the block.

    Args:
        path: The file. Its columns are `REQUEST_COLUMNS`, described in docs/results.md.
        streams: The names in the column `stream_name`.
        on_trouble: Called once if the file can no longer be written.

    Raises:
        OutputError: If the file cannot be written.
    """
    refuse_pipe(path)
    with whole_file(path) as file:
        failed: list[OSError] = []
        table: Table | None = None
        is_over = False
        # After an interrupt, the `with` block may exit while the run still writes to the file.
        lock = threading.Lock()

        def take(rows: int, columns: dict[str, bytes]) -> None:
            nonlocal table
            with lock:
                if failed or is_over:
                    return
                try:
                    table = table or Table(file, streams)
                    table.write(rows, columns)
                    return
                except OSError as error:
                    failed.append(error)
                    with suppress(OSError):
                        os.truncate(file, 0)
            if on_trouble is not None:
                on_trouble(f"{path}: cannot be written: {reason(failed[0])}; the run goes on without it")

        try:
            yield take
        finally:
            with lock:
                is_over = True
                try:
                    # A run without requests leaves a log without rows.
                    if table is not None or not failed:
                        (table or Table(file, streams)).close()
                except OSError as error:
                    failed.append(error)
        if failed:
            raise OutputError(f"{path}: cannot be written: {reason(failed[0])}") from failed[0]


class Table:
    """Writer of the Parquet file: its schema, and the batches of rows."""

    def __init__(self, file: Path, streams: Sequence[str]) -> None:
        """Creates a file without rows.

        Raises:
            OSError: If the file cannot be written.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        plain = {"uint64": pa.uint64(), "uint32": pa.uint32(), "bool": pa.bool_()}
        named = pa.dictionary(pa.int8(), pa.string())
        self.types = {column.name: plain.get(column.type, named) for column in REQUEST_COLUMNS}
        self.schema = pa.schema([pa.field(name, type_, nullable=False) for name, type_ in self.types.items()])
        self.names = {
            column.name: text(streams if column.type == "stream" else column.names)
            for column in REQUEST_COLUMNS
            if column.type in ("name", "stream")
        }
        wide = [column.name for column in REQUEST_COLUMNS if column.type == "uint64"]
        # Delta encoding takes half the space and time of a dictionary, since the numbers rarely repeat.
        self.writer = pq.ParquetWriter(
            file,
            self.schema,
            compression="zstd",
            use_dictionary=[name for name in self.types if name not in wide],
            column_encoding=dict.fromkeys(wide, "DELTA_BINARY_PACKED"),
            # Statistics let readers skip parts of a file. For all columns they would take a fifth of the time.
            write_statistics=["id", "offset_bytes", "arrival_ps", "submitted_ps", "completed_ps"],
        )

    def write(self, rows: int, columns: dict[str, bytes]) -> None:
        """Adds rows.

        Raises:
            OSError: If the file cannot be written.
        """
        import pyarrow as pa

        arrays = [self.column(each, rows, columns[each.name]) for each in REQUEST_COLUMNS]
        self.writer.write_batch(pa.record_batch(arrays, schema=self.schema))

    def column(self, column: RequestColumn, rows: int, values: bytes) -> pa.Array:
        """Returns the values of a column as an Arrow array; `values` has the bytes of `rows` values."""
        import pyarrow as pa

        def numbers(type_: pa.DataType) -> pa.Array:
            return pa.Array.from_buffers(type_, rows, [None, pa.py_buffer(values)])

        match column.type:
            case "name" | "stream":
                return pa.DictionaryArray.from_arrays(numbers(pa.int8()), self.names[column.name])
            case "bool":
                return numbers(pa.uint8()).cast(pa.bool_())
            case _:
                return numbers(self.types[column.name])

    def close(self) -> None:
        """Writes the remaining rows and the end of the file.

        Raises:
            OSError: If the file cannot be written.
        """
        self.writer.close()


def text(values: Sequence[str]) -> pa.Array:
    """Returns names as an Arrow array, built from bytes: for a list Arrow would import pandas, which is slow."""
    import pyarrow as pa

    encoded = [value.encode() for value in values]
    ends = array("i", [0, *accumulate(map(len, encoded))])
    return pa.StringArray.from_buffers(len(encoded), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))
