"""Data frames as traces: from pandas, polars, Arrow or any other library that exports Arrow."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from flashmesh._native import WorkloadError
from flashmesh.files import whole_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pyarrow as pa

READING = {"workload.format": "ascii", "workload.time-unit": "ns"}
"""Settings for reading the file that a data frame is written to."""
SECTOR = 512
"""Bytes of a sector of a trace."""
ARRIVALS = {"arrival_ps": 1e-3, "arrival_ns": 1.0, "arrival_us": 1e3, "arrival_ms": 1e6, "arrival_s": 1e9}
"""Columns of arrival times, with their units in nanoseconds."""
OFFSETS = ("offset_bytes", "offset")
SIZES = ("size_bytes", "size", "length")
KINDS = ("kind", "op", "is_read")
READS = ("read", "r")
WRITES = ("write", "w")
FORM = "a trace needs a column for arrivals (arrival_ns, arrival_us, ...), offset_bytes, size_bytes and kind"


DataFrame: TypeAlias = Any
"""Data frame of pandas, polars or Arrow. Libraries that export Arrow have no common type."""


def is_frame(trace: Any) -> bool:
    """Returns whether a trace is given as a data frame."""
    return hasattr(trace, "__arrow_c_stream__") or hasattr(trace, "to_pandas")


def trace_file(frame: Any) -> Path:
    """Writes a file with the requests of a data frame in the order of arrival, and returns its path.

    The name is a hash of the content. The file stays in the temporary folder, since the configuration of a result names
    it.

    Args:
        frame: A data frame with columns for arrivals (such as `arrival_us`), `offset_bytes` and `size_bytes` (multiples
            of 512), and `kind` with "read" or "write" (or `is_read` with truth values).

    Raises:
        WorkloadError: If a column is missing, or has invalid values.
        OutputError: If the file cannot be written.
    """
    import numpy as np

    table = as_arrow(frame)
    if not table.num_rows:
        raise WorkloadError("the trace has no request")
    arrival_name = one_of(table, tuple(ARRIVALS))
    arrivals = numbers(table, arrival_name) * ARRIVALS[arrival_name]
    offsets = sectors(table, one_of(table, OFFSETS))
    sizes = sectors(table, one_of(table, SIZES))
    if sizes.min() < 1:
        raise WorkloadError(f"row {int(sizes.argmin())} of the trace has a size of 0")
    reads = kinds(table, one_of(table, KINDS))
    if arrivals.min() < 0:
        raise WorkloadError(f"row {int(arrivals.argmin())} of the trace arrives before the time 0")
    order = np.argsort(arrivals, kind="stable")
    times = np.rint(arrivals[order]).astype(np.int64)
    columns = zip(times.tolist(), offsets[order].tolist(), sizes[order].tolist(), reads[order].tolist(), strict=True)
    text = "".join(f"{time} 0 {offset} {size} {int(read)}\n" for time, offset, size, read in columns)
    folder = Path(tempfile.gettempdir()) / f"flashmesh-traces-{os.getuid() if hasattr(os, 'getuid') else 0}"
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.trace"
    if not path.is_file():
        folder.mkdir(mode=0o700, exist_ok=True)
        with whole_file(path) as file:
            file.write_text(text, encoding="ascii")
    return path


def as_trace(trace: Any, overrides: Mapping[str, Any] | None) -> tuple[str | Path | None, Mapping[str, Any] | None]:
    """Returns (path of a trace, settings for its reading); a data frame is written to a file first.

    None and paths stay unchanged.

    Raises:
        WorkloadError: If a data frame is not a trace.
    """
    if not is_frame(trace):
        return trace, overrides
    return trace_file(trace), {**READING, **(overrides or {})}


def as_arrow(frame: Any) -> pa.Table:
    """Returns a data frame as an Arrow table."""
    import pyarrow as pa

    if hasattr(frame, "__arrow_c_stream__"):
        return pa.table(frame)
    return pa.Table.from_pandas(frame.to_pandas())


def one_of(table: pa.Table, names: Sequence[str]) -> str:
    """Returns the only name among `names` that is a column of a table.

    Raises:
        WorkloadError: If the table has none or several of the columns.
    """
    there = [name for name in names if name in table.column_names]
    if len(there) != 1:
        has = f"it has {' and '.join(there)}" if there else f"it has {', '.join(table.column_names) or 'none'}"
        raise WorkloadError(f"{FORM}; {has}")
    return there[0]


def numbers(table: pa.Table, name: str) -> np.ndarray[Any, Any]:
    """Returns the values of a column as an array of numbers.

    Raises:
        WorkloadError: If a value is missing, or not a number.
    """
    import numpy as np

    values = table[name].to_pandas().to_numpy()
    try:
        found: np.ndarray[Any, Any] = values.astype(float)
    except (TypeError, ValueError) as error:
        raise WorkloadError(f"the column {name} of the trace contains values that are not numbers: {error}") from error
    if not np.isfinite(found).all():
        raise WorkloadError(f"row {int((~np.isfinite(found)).argmax())} of the trace has no {name}")
    return found


def sectors(table: pa.Table, name: str) -> np.ndarray[Any, Any]:
    """Returns the values of a column in bytes as an array of numbers of sectors.

    Raises:
        WorkloadError: If a value is negative, or not a multiple of a sector.
    """
    import numpy as np

    values = numbers(table, name)
    bad = (values < 0) | (values % SECTOR != 0)
    if bad.any():
        row = int(bad.argmax())
        raise WorkloadError(f"row {row} of the trace: {name} is {values[row]:g}, not a multiple of {SECTOR} B")
    found: np.ndarray[Any, Any] = (values // SECTOR).astype(np.int64)
    return found


def kinds(table: pa.Table, name: str) -> np.ndarray[Any, Any]:
    """Returns an array with a truth value for each request: whether it is a read.

    Raises:
        WorkloadError: If a request is neither a read nor a write.
    """
    import numpy as np

    values = table[name].to_pylist()
    if all(isinstance(value, bool) for value in values):
        return np.array(values)
    texts = [str(value).lower() for value in values]
    for row, text in enumerate(texts):
        if text not in (*READS, *WRITES):
            raise WorkloadError(f"row {row} of the trace: {name} is {values[row]!r}, neither read nor write")
    return np.array([text in READS for text in texts])
