"""Makes shop.csv.xz, the trace of the examples: the requests of shop.toml, in the format of MSR Cambridge.

python examples/traces/make_shop.py [FILE]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

import flashmesh

HERE = Path(__file__).parent
PICOSECONDS_PER_NANOSECOND = 1000
SECTOR_BYTES = 512


def make(file: Path) -> None:
    """Runs shop.toml, and writes its requests to a file, as a trace in the format of MSR Cambridge."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "requests.parquet")
        flashmesh.run(HERE / "shop.toml", requests_file=log)
        requests = sorted(pq.read_table(log).to_pylist(), key=lambda request: request["id"])
        text = Path(folder, "requests.ascii")
        text.write_text("".join(map(line, requests)))
        flashmesh.convert_trace(text, file, "msr", overrides={"workload.time-unit": "ns"})


def line(request: dict[str, int | str]) -> str:
    """Returns a row of the request log as a line of an ASCII trace.

    The fields are the arrival time in nanoseconds, the index of the stream, the first sector, the number of sectors,
    and 1 for a read or 0 for a write.
    """
    names = ("orders", "reports", "log")
    time = int(request["arrival_ps"]) // PICOSECONDS_PER_NANOSECOND
    sector, sectors = (int(request[name]) // SECTOR_BYTES for name in ("offset_bytes", "size_bytes"))
    return f"{time} {names.index(str(request['stream_name']))} {sector} {sectors} {int(request['kind'] == 'read')}\n"


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "shop.csv.xz")
