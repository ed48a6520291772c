"""The per-request log: a Parquet file, written while the run goes on, in constant memory."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from flashmesh._native import OutputError
from flashmesh._results import REQUEST_COLUMNS
from flashmesh.files import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from flashmesh._results import RequestColumn


@contextmanager
def request_log(path: str | Path, streams: Sequence[str]) -> Iterator[Callable[[int, dict[str, bytes]], None]]:
    """Gives the function that takes batches of completed requests; the file is there when the block ends well.

    The columns are `REQUEST_COLUMNS`, which docs/results.md describes; `streams` are the names in `stream_name`.

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

    wide = [column.name for column in REQUEST_COLUMNS if column.type == "uint64"]
    with whole_file(path) as file:
        try:
            # Numbers that hardly repeat: differences take half the space and time of a dictionary.
            with pq.ParquetWriter(
                file,
                schema,
                compression="zstd",
                use_dictionary=[name for name in types if name not in wide],
                column_encoding=dict.fromkeys(wide, "DELTA_BINARY_PACKED"),
            ) as writer:

                def take(rows: int, columns: dict[str, bytes]) -> None:
                    arrays = [column(each, rows, columns[each.name]) for each in REQUEST_COLUMNS]
                    try:
                        writer.write_batch(pa.record_batch(arrays, schema=schema))
                    except OSError as error:
                        raise OutputError(f"{path}: cannot be written: {error}") from error

                yield take
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error}") from error
