"""End of a job: when it stops by its loops, bytes, requests or run time, and how often it passes over its files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flashmesh.importers.fio.notation import values
from flashmesh.importers.fio.streams.pace import counts_issued_bytes
from flashmesh.importers.toml_text import size as size_text

if TYPE_CHECKING:
    from flashmesh.importers.fio.streams.requests import Requests
    from flashmesh.importers.fio.streams.stream import Stream

ENDLESS = 10**12
SECTOR = 512
RUN_KEYS = ("run-length", "random-share", "write-random-share")
"""Keys of random jobs that issue sequential requests between random ones."""
PATH_KEYS = (*RUN_KEYS, "skip", "alignment")
"""Keys that can make a pass skip blocks."""


@dataclass(frozen=True, slots=True)
class Passes:
    """Passes of a job over its files: the size and the number of passes, and the end of the job in the last pass."""

    size: int
    """Bytes that the job issues in a pass."""
    count: int
    cut_at: int | None = None
    """Total bytes after which the job ends within its last pass; None if all passes are complete."""


@dataclass(frozen=True, slots=True)
class Loops:
    """Options that limit the bytes of a job."""

    size: int
    """Bytes of a loop over the files; those of `io_size` if the size of the files does not end the job."""
    io_size: int
    """Bytes of the option `io_size`; 0 without it."""
    count: int
    """Value of the option `loops`."""

    @property
    def limit(self) -> int:
        """Total bytes after which the job ends: `io_size`, or without it `size`, times the number of loops."""
        return (self.io_size or self.size) * self.count

    def passes(self, restart: int | None, issued: int, largest: int, each: int) -> Passes:
        """Returns the passes as fio 3.33 counts them.

        Args:
            restart: Bytes after which the job restarts at the first block; None if it never restarts.
            issued: Bytes that a pass issues; less than `restart` if whole requests do not fill the files.
            largest: Size of the largest request.
            each: Bytes that fio counts towards `io_size` for each byte of a pass: 2 if it counts trims as well.
        """
        if restart is None or self.limit <= restart:
            return Passes(self.limit, 1)
        loops = self.count
        if 0 < self.io_size < self.size:
            loops = min(loops, -(-self.limit // issued))
        # After the last loop, fio adds passes until `io_size` bytes are issued, unless less than a request is left.
        count = max(loops, -(-(self.io_size - largest + 1) // (issued * each)))
        return Passes(restart, count, self.limit if self.limit < issued * count else None)


def set_stop(stream: Stream) -> bool:
    """Sets the stop time of the stream. Returns whether only the stop time ends the stream."""
    job = stream.job
    timed = job.get("time_based", values.flag, False)
    runtime = job.get("runtime", lambda text: values.time_us(text, "s"), 0)
    if timed and not runtime:
        job.found.note(f"[{job.name}] time_based: no effect without runtime")
        timed = False
    ramp = job.ramp_us()
    if ramp:
        stream.set("replay.ramp-time", f"{ramp}us", "ramp_time")
    if runtime:
        stream.set("replay.stop-time", f"{runtime + ramp}us", "runtime")
    return timed


def set_end(stream: Stream, requests: Requests, total: int | None) -> None:
    """Sets the keys that end the job: a stop time, a number of requests, or the size and the number of its passes.

    `total` is the size of all files of the job in bytes; None if it is not known.
    """
    job = stream.job
    timed = set_stop(stream)
    loops = job.get("loops", lambda text: values.whole(text, 0, ENDLESS), 1) or 1
    if timed:
        stream.set("workload.requests", ENDLESS, "time_based")
        return
    loop = job.loop_size(total)
    io_size = job.get("io_size", lambda text: job.share_of(text, lambda: total or job.capacity()), 0)
    number = job.get("number_ios", values.whole, 0)
    if number and not (requests.deallocates_first and loops > 1):
        # fio counts a trim and its write as one request; here they are two.
        pair = 2 if requests.deallocates_first else 1
        stream.set("workload.requests", min(number * pair * loops, ENDLESS), "number_ios")
    elif not loop and not io_size:
        stream.set("workload.requests", ENDLESS, "runtime")
    if not loop and not io_size:
        return
    ends = Loops(loop or io_size, io_size, loops)
    passes = passes_of(stream, requests, total, loop, ends)
    if number and requests.deallocates_first and loops > 1:
        passes = pairs_of_passes(stream, requests, passes, number, loops)
    if passes.cut_at is not None and not number:
        cut(stream, requests, passes.cut_at)
    stream.set("workload.pass-size", size_text(max(passes.size // SECTOR * SECTOR, SECTOR)), "io_size", "size", "loops")
    if passes.count > 1:
        stream.set("workload.passes", passes.count, "loops", "io_size")
    repeats = job.get("randrepeat", values.flag, True) and "randseed" not in job.options
    if repeats and (passes.count > 1 or passes.size > ends.size):
        stream.set("workload.same-passes", True, "randrepeat", "loops")


def passes_of(stream: Stream, requests: Requests, total: int | None, loop: int | None, ends: Loops) -> Passes:
    """Returns the passes of a job over files of `total` bytes, as fio counts them.

    `loop` is the size of a loop in bytes; None if the size does not end the job.
    """
    job = stream.job
    sizes = requests.all_sizes()
    files = len(job.paths(stream.clone))
    length = (total or 0) // files
    # fio counts the bytes of both trims and writes to decide whether another pass follows.
    each = 2 if requests.deallocates_first else 1
    end = pass_end(stream, requests, length)
    if end is not None and loop is not None and end * files < ends.size:
        end *= files
        passes = ends.passes(end, end, requests.largest(), each)
        return replace(passes, size=min(passes.size, end))
    restart = restart_of(stream, requests, loop, ends.limit)
    if loop is not None and may_end(stream, requests, length):
        if ends.io_size and len(sizes) == 1:
            # fio starts passes until `io_size` bytes are issued; each pass has at least one request.
            return Passes(ends.size, -(-ends.limit // min(sizes)), ends.limit)
        restart = restart or ends.size
    issued = restart or 0
    is_at_end = covers(stream, requests) and loop is not None and loop == total
    if is_at_end:
        restart = ends.size
        # With requests of one size, a partial block at the end of a file is not accessed.
        issued = length // min(sizes) * min(sizes) * files if len(sizes) == 1 else ends.size
    passes = ends.passes(restart, issued, requests.largest(), each)
    goes_on = not requests.deallocates_first and (len(sizes) > 1 or length == total)
    is_whole = ends.count == 1 and issued * passes.count == ends.limit
    if is_at_end and goes_on and (passes.cut_at is not None or is_whole):
        # One pass is enough: the generator of requests restarts at the end of the files.
        return Passes(ends.limit, 1)
    return passes


def may_end(stream: Stream, requests: Requests, length: int) -> bool:
    """Returns whether a random job can end a pass over files of `length` bytes by chance.

    A sequential request after the last whole block does not fit in the file, and fio then ends the pass.
    """
    keys = stream.job.found.settings
    is_run = any(f"{stream.prefix}workload.{key}" in keys for key in RUN_KEYS)
    return (
        requests.pattern == "random" and is_run and (len(requests.all_sizes()) > 1 or length % requests.smallest() > 0)
    )


def pass_end(stream: Stream, requests: Requests, length: int) -> int | None:
    """Returns the bytes after which fio ends a pass with skips at the end of a file of `length` bytes.

    fio ends the pass if the end of the file cuts off a zone or request, and otherwise continues at the start of the
    file.

    Returns:
        None if fio continues at the start of the file.
    """
    if stream.pass_end is not None or not stream.skip:
        return stream.pass_end
    sizes = requests.all_sizes()
    if requests.pattern != "sequential" or requests.is_mix or len(sizes) > 1:
        return None
    (size,) = sizes
    zone = stream.skip_after or size
    each = -(-zone // size)
    whole, rest = divmod(length, zone + stream.skip)
    last = min(rest // size, each)
    if stream.skip_after:
        # If the file ends with a whole zone, fio continues with the first zone.
        is_end = rest > 0 and last < each
    else:
        # fio compares the end of a request, counted from the offset of the job, with the end of the file.
        offset = stream.job.offset(stream.clone)
        is_end = 0 < rest <= size or offset > (zone + stream.skip - rest) % (zone + stream.skip)
    return (whole * each + last) * size if is_end else None


def pairs_of_passes(stream: Stream, requests: Requests, passes: Passes, number: int, loops: int) -> Passes:
    """Returns the passes of a job of trims and writes with `number_ios`, which fio doubles at the start of each loop.

    Args:
        stream: The stream of the job.
        requests: The requests of the job.
        passes: The passes without `number_ios`.
        number: Value of `number_ios`: pairs of a trim and its write, in a job of one loop.
        loops: Value of `loops`.

    Raises:
        ConfigError: If passes differ in length or in their first file, or the length is not known.
    """
    sizes = requests.all_sizes()
    # In fio, the first loop ends after the requests of all loops together.
    largest = number * loops * min(sizes)
    if largest >= passes.size:
        return passes
    if loops > 2 or len(sizes) > 1 or len(stream.job.paths(stream.clone)) > 1:
        raise stream.job.problem(
            stream.job.options["number_ios"],
            "number_ios: fio 3.33 doubles it in each loop of trims and writes, which is modelled for two loops over "
            "one file, with requests of one size",
            "remove loops, or take a larger number_ios",
        )
    return Passes(largest, 2)


def restart_of(stream: Stream, requests: Requests, loop: int | None, limit: int) -> int | None:
    """Returns the issued bytes after which fio restarts a job before the end of its files; None if it does not restart.

    fio 3.33 compares the bytes of a loop with `size` only for asynchronous engines.

    Args:
        stream: The stream of the job.
        requests: The requests of the job.
        loop: Bytes of a loop over the files; None if the size of the files does not end the job.
        limit: Maximum bytes of the whole job.
    """
    job = stream.job
    if loop is None or not counts_issued_bytes(job):
        return None
    restart = loop
    if 1 in requests.kinds and requests.pattern != "sequential" and job.get("norandommap", values.flag, False):
        restart = max(loop, job.get("io_size", lambda text: job.share_of(text, lambda: loop), 0))
    # For a loop, fio counts the bytes of trims and of writes, but for the whole job only those of writes.
    return (restart + limit) // 2 if requests.deallocates_first else restart


def cut(stream: Stream, requests: Requests, total: int) -> None:
    """Sets the number of requests of a job that ends after `total` bytes, in the middle of a pass.

    If request sizes differ, the number of requests is not known, and a note is added instead.
    """
    sizes = requests.all_sizes()
    if len(sizes) > 1:
        stream.job.found.note(f"[{stream.job.name}] the last pass is whole; fio cuts it short at io_size")
        return
    pair = 2 if requests.deallocates_first else 1
    stream.set("workload.requests", -(-total // sizes.pop()) * pair, "io_size", "loops")


def covers(stream: Stream, requests: Requests) -> bool:
    """Returns whether a pass accesses every block of the files exactly once before it ends."""
    keys = stream.job.found.settings
    if any(f"{stream.prefix}workload.{key}" in keys for key in PATH_KEYS):
        return False
    if requests.pattern == "sequential":
        return not requests.is_mix
    return f"{stream.prefix}workload.random-map" in keys
