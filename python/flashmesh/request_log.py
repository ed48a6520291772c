"""The per-request log: a Parquet file, written while the run goes on, in constant memory."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from flashmesh._native import OutputError
from flashmesh.files import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

DICTIONARIES = {
    "kind": ("read", "write", "deallocate", "flush", "write_zeroes"),
    "status": ("success", "invalid_opcode", "invalid_field", "invalid_namespace", "lba_out_of_range"),
}
CONFLICTS = ("path_conflict", "channel_conflict", "controller_conflict", "link_conflict")


@contextmanager
def request_log(path: str | Path, streams: Sequence[str]) -> Iterator[Callable[[int, dict[str, bytes]], None]]:
    """Gives the function that takes batches of completed requests; the file is there when the block ends well.

    Columns: `id`, `kind` (read, write, ...), `stream_name` (one of `streams`, in the order of their numbers),
    `stream`, `offset_bytes`, `size_bytes`, `status` (success, ...); `arrival_ps`, `submitted_ps` and `completed_ps`
    on the clock of the run; the parts of the latency `host_ps`, `cache_ps`, `map_wait_ps`, `die_wait_ps`,
    `path_wait_ps`, `array_ps`, `transfer_ps` and `behind_gc_ps`; `path_conflict`, and by what was in the way
    `channel_conflict`, `controller_conflict` and `link_conflict`.

    Raises:
        OutputError: When the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    dictionaries = DICTIONARIES | {"stream_name": tuple(streams)}
    wide, named = pa.uint64(), pa.dictionary(pa.int8(), pa.string())
    types = {"stream": pa.uint32()} | dict.fromkeys(dictionaries, named) | dict.fromkeys(CONFLICTS, pa.bool_())
    names = ["id", "kind", "stream_name", "stream", "offset_bytes", "size_bytes", "status"]
    names += ["arrival_ps", "submitted_ps", "completed_ps"]
    parts = ["host", "cache", "map_wait", "die_wait", "path_wait", "array", "transfer", "behind_gc"]
    names += [*(f"{part}_ps" for part in parts), *CONFLICTS]
    schema = pa.schema([pa.field(name, types.get(name, wide), nullable=False) for name in names])

    def column(name: str, rows: int, values: bytes) -> pa.Array:
        def array(type_: pa.DataType) -> pa.Array:
            return pa.Array.from_buffers(type_, rows, [None, pa.py_buffer(values)])

        match name:
            case _ if name in dictionaries:
                return pa.DictionaryArray.from_arrays(array(pa.int8()), pa.array(dictionaries[name]))
            case _ if name in CONFLICTS:
                return array(pa.uint8()).cast(pa.bool_())
            case _:
                return array(types.get(name, wide))

    with whole_file(path) as file:
        try:
            # Numbers that hardly repeat: differences take half the space and time of a dictionary.
            with pq.ParquetWriter(
                file,
                schema,
                compression="zstd",
                use_dictionary=list(types),
                column_encoding={name: "DELTA_BINARY_PACKED" for name in names if name not in types},
            ) as writer:

                def take(rows: int, columns: dict[str, bytes]) -> None:
                    arrays = [column(name, rows, columns[name]) for name in names]
                    try:
                        writer.write_batch(pa.record_batch(arrays, schema=schema))
                    except OSError as error:
                        raise OutputError(f"{path}: cannot be written: {error}") from error

                yield take
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error}") from error
