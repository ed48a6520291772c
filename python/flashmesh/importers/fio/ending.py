"""End of a job: its loops, bytes, requests and run time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh.importers.fio import values
from flashmesh.importers.fio.pace import counts_issued_bytes
from flashmesh.importers.toml_text import size as size_text

if TYPE_CHECKING:
    from flashmesh.importers.fio.requests import Requests
    from flashmesh.importers.fio.stream import Stream

ENDLESS = 10**12
SECTOR = 512
PATH_KEYS = ("run-length", "random-share", "write-random-share", "skip", "alignment")
"""Keys with which a pass may leave out blocks."""


@dataclass(frozen=True, slots=True)
class Passes:
    """Passes of a job over its files."""

    size: int
    """Bytes of a pass."""
    count: int
    total: int
    """Bytes of all passes; less than `size * count` if the last pass is cut short."""


def passes_of(loop: int, io_size: int, loops: int, restart: int | None, largest: int, is_at_end: bool) -> Passes:
    """Returns the passes of a job of `loops`, as fio 3.33 counts them.

    Args:
        loop: Bytes of the option `size`.
        io_size: Bytes of the option `io_size`; 0 without it.
        loops: Value of the option `loops`.
        restart: Bytes after which the job begins anew; None for a job that goes on.
        largest: Size of the largest request.
        is_at_end: Whether the job begins anew because its files are at their end.
    """
    limit = (io_size or loop) * loops
    if restart is None or limit <= restart:
        return Passes(limit, 1, limit)
    if loops > 1 and not 0 < io_size < loop:
        # Loops are whole. Others follow until `io_size`, unless less than a request is left.
        count = max(loops, -(-(io_size - largest + 1) // restart))
        return Passes(restart, count, restart * count)
    if is_at_end:
        return Passes(limit, 1, limit)
    return Passes(restart, -(-limit // restart), limit)


def set_stop(stream: Stream) -> bool:
    """Sets the stop time of the stream. Returns whether only the stop time ends the stream."""
    job = stream.job
    timed = job.get("time_based", values.flag, False)
    runtime = job.get("runtime", lambda text: values.time_us(text, "s"), 0)
    if timed and not runtime:
        job.found.note(f"[{job.name}] time_based: no effect without runtime")
        timed = False
    if runtime:
        ramp = job.get("ramp_time", lambda text: values.time_us(text, "s"), 0)
        stream.set("replay.stop-time", f"{runtime + ramp}us", "runtime")
    return timed


def set_end(stream: Stream, requests: Requests, total: int | None) -> None:
    """Sets the end of a job over files of `total` bytes: its requests, or the size and the number of its passes."""
    job = stream.job
    timed = set_stop(stream)
    loops = job.get("loops", lambda text: values.whole(text, 0, ENDLESS), 1) or 1
    if timed:
        stream.set("workload.requests", ENDLESS, "time_based")
        return
    loop = job.loop_size(total)
    io_size = job.get("io_size", lambda text: job.share_of(text, lambda: total or job.capacity()), 0)
    number = job.get("number_ios", values.whole, 0)
    if number:
        # A trim and the write behind it count as one request.
        each = 2 if requests.kinds == (1, 2) else 1
        stream.set("workload.requests", min(number * each * loops, ENDLESS), "number_ios")
    elif not loop and not io_size:
        stream.set("workload.requests", ENDLESS, "runtime")
    if not loop and not io_size:
        return
    is_at_end = covers(stream, requests) and loop is not None and loop == total
    restart = loop if is_at_end else restart_of(stream, requests, loop, (io_size or loop or 0) * loops)
    passes = passes_of(loop or io_size, io_size, loops, restart, requests.largest(), is_at_end)
    if passes.total < passes.size * passes.count and not number:
        cut(stream, requests, passes)
    stream.set("workload.pass-size", size_text(max(passes.size // SECTOR * SECTOR, SECTOR)), "io_size", "size", "loops")
    if passes.count > 1:
        stream.set("workload.passes", passes.count, "loops", "io_size")
    repeats = job.get("randrepeat", values.flag, True) and "randseed" not in job.options
    if repeats and passes.total > min(passes.size, loop or passes.size):
        stream.set("workload.same-passes", True, "randrepeat", "loops")


def restart_of(stream: Stream, requests: Requests, loop: int | None, limit: int) -> int | None:
    """Returns the bytes after which a job begins anew before its files are at their end; None if it goes on.

    fio 3.33 compares the bytes of a loop with `size` for asynchronous engines alone.

    Args:
        stream: The stream of the job.
        requests: The requests of the job.
        loop: Bytes of the option `size`; None without it.
        limit: Bytes of the whole job.
    """
    job = stream.job
    if loop is None or not counts_issued_bytes(job):
        return None
    restart = loop
    if 1 in requests.kinds and requests.pattern != "sequential" and job.get("norandommap", values.flag, False):
        restart = max(loop, job.get("io_size", lambda text: job.share_of(text, lambda: loop), 0))
    # Of trims with writes, bytes of both count here, and those of the writes alone for the whole job.
    return (restart + limit) // 2 if requests.kinds == (1, 2) else restart


def cut(stream: Stream, requests: Requests, passes: Passes) -> None:
    """Sets the number of requests of a job whose last pass is cut short, or adds a note if sizes differ."""
    sizes = {size for sizes in requests.sizes.values() for size, _ in sizes}
    if len(sizes) == 1:
        each = 2 if requests.kinds == (1, 2) else 1
        stream.set("workload.requests", -(-passes.total // sizes.pop()) * each, "io_size", "loops")
        return
    stream.job.found.note(
        f"[{stream.job.name}] the last of {passes.count} passes over the files is whole; fio cuts it short at io_size"
    )


def covers(stream: Stream, requests: Requests) -> bool:
    """Returns whether a pass covers every block of the files once, and is over then."""
    keys = stream.job.found.settings
    if any(f"{stream.prefix}workload.{key}" in keys for key in PATH_KEYS):
        return False
    if requests.pattern == "sequential":
        return requests.kinds != (0, 1)
    return f"{stream.prefix}workload.random-map" in keys
