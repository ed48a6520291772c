"""The per-request log: a Parquet file, written while the run goes on, in constant memory."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from flashmesh._native import OutputError
from flashmesh._results import REQUEST_COLUMNS
from flashmesh.files import reason, refuse_pipe, whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from flashmesh._results import RequestColumn


@contextmanager
def request_log(
    path: str | Path, streams: Sequence[str], on_trouble: Callable[[str], None] | None = None
) -> Iterator[Callable[[int, dict[str, bytes]], None]]:
    """Gives the function that takes batches of completed requests; the file is there when the block ends well.

    A log that can no longer be written stops no run: `on_trouble` gets a sentence at once, what is written is given up
    so that it takes no more room, and the error comes when the block ends.

    Args:
        path: The file. Its columns are `REQUEST_COLUMNS`, which docs/results.md describes.
        streams: The names in `stream_name`.
        on_trouble: Called once when the file can no longer be written.

    Raises:
        OutputError: When the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = {"uint64": pa.uint64(), "uint32": pa.uint32(), "bool": pa.bool_()}
    named = pa.dictionary(pa.int8(), pa.string())
    types = {column.name: plain.get(column.type, named) for column in REQUEST_COLUMNS}
    schema = pa.schema([pa.field(name, type_, nullable=False) for name, type_ in types.items()])

    def column(column: RequestColumn, rows: int, values: bytes) -> pa.Array:
        def array(type_: pa.DataType) -> pa.Array:
            return pa.Array.from_buffers(type_, rows, [None, pa.py_buffer(values)])

        match column.type:
            case "name" | "stream":
                names = streams if column.type == "stream" else column.names
                return pa.DictionaryArray.from_arrays(array(pa.int8()), pa.array(list(names)))
            case "bool":
                return array(pa.uint8()).cast(pa.bool_())
            case _:
                return array(types[column.name])

    refuse_pipe(path)
    wide = [column.name for column in REQUEST_COLUMNS if column.type == "uint64"]
    with whole_file(path) as file:
        failed: list[OSError] = []
        # Whoever is interrupted leaves the block while the run may still be writing.
        lock = threading.Lock()
        try:
            # Numbers that hardly repeat: differences take half the space and time of a dictionary.
            writer = pq.ParquetWriter(
                file,
                schema,
                compression="zstd",
                use_dictionary=[name for name in types if name not in wide],
                column_encoding=dict.fromkeys(wide, "DELTA_BINARY_PACKED"),
            )
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {reason(error)}") from error

        def take(rows: int, columns: dict[str, bytes]) -> None:
            with lock:
                if failed or not writer.is_open:
                    return
                arrays = [column(each, rows, columns[each.name]) for each in REQUEST_COLUMNS]
                try:
                    writer.write_batch(pa.record_batch(arrays, schema=schema))
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
                try:
                    writer.close()
                except OSError as error:
                    failed.append(error)
        if failed:
            raise OutputError(f"{path}: cannot be written: {reason(failed[0])}") from failed[0]
