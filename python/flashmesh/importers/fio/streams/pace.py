"""Arrival of the requests of a job: its I/O engine and depth, its rates, and its think time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flashmesh.importers.fio.notation import values
from flashmesh.importers.fio.notation.options import ENGINE_NAMES, ENGINES_ASYNC, ENGINES_REFUSED, ENGINES_SYNC
from flashmesh.importers.fio.streams.requests import PATTERNS, mix
from flashmesh.importers.fio.streams.sizes import part
from flashmesh.importers.problems import suggestion

if TYPE_CHECKING:
    from flashmesh.importers.fio.streams.requests import Requests
    from flashmesh.importers.fio.streams.stream import Stream
    from flashmesh.importers.fio.translate import Translation

DEPTH_MAX = 65_535
RATES = ("rate_iops", "rate")
NULL_ENGINES = ("null", "cpp_null")


def require_drive(job: Translation) -> None:
    """Refuses an I/O engine whose requests do not reach a drive, before the options of the engine are read.

    Raises:
        ConfigError: If the job has such an engine.
    """
    option = job.job.options.get("ioengine")
    if option is not None and (reason := ENGINES_REFUSED.get(option.value)) is not None:
        raise job.problem(option, f"ioengine: `{option.value}` goes to {reason}", "take libaio or psync")


def is_async(job: Translation) -> bool:
    """Returns whether the I/O engine keeps several requests in flight.

    Raises:
        ConfigError: If the engine is unknown.
    """
    option = job.options.get("ioengine")
    if option is None:
        return False
    engine = ENGINE_NAMES.get(option.value, option.value)
    if engine not in ENGINES_ASYNC | ENGINES_SYNC:
        near = suggestion(engine, ENGINES_ASYNC | ENGINES_SYNC)
        raise job.problem(
            option, f"ioengine: `{engine}` is not modelled", f"did you mean {near}?" if near else "take libaio or psync"
        )
    if engine in NULL_ENGINES:
        job.found.note(f"ioengine: `{engine}` drops its requests in fio; here they go to the drive")
    return engine in ENGINES_ASYNC


def counts_issued_bytes(job: Translation) -> bool:
    """Returns whether fio counts the bytes of a loop when it issues requests.

    fio does so for asynchronous engines, except for `null` at a depth of 1, which queues no requests.
    """
    option = job.options.get("ioengine")
    return is_async(job) and (option is None or option.value not in NULL_ENGINES or depth(job) > 1)


def depth(job: Translation) -> int:
    """Returns the maximum number of requests of the job in flight: `iodepth`, or 1 for a synchronous engine."""
    given = job.get("iodepth", lambda text: values.whole(text, 1, DEPTH_MAX), 1)
    if is_async(job):
        return given
    if given > 1:
        option = job.options.get("ioengine")
        engine = option.value if option is not None else "psync"
        job.found.note(f"iodepth {given}: no effect, ioengine={engine} waits for each request")
    return 1


def pace(stream: Stream, requests: Requests | None) -> None:
    """Sets the keys that determine when requests are issued. `requests` is None for a job that replays a log."""
    job = stream.job
    per_second = {} if requests is None else rates(stream, requests)
    if requests is None or not per_second:
        engine(stream)
        return
    option = job.options["rate_iops" if "rate_iops" in job.options else "rate"]
    total = sum(per_second.values())
    if thinks_longer(job, total):
        job.found.note(f"{option.name}: no effect, thinktime takes longer than a request at this rate")
        engine(stream)
        return
    if len(per_second) > 1:
        stream.set("workload.read-share", per_second[0] / total, option.name)
        share = 100 * per_second[0] / total
        told = f": {share:.4g} %, not {mix(job)} % (rwmixread)" if round(share) != mix(job) else ""
        job.found.note(
            f"{option.name}: fio paces reads and writes each by its own rate, so the rates determine the share of "
            f"reads{told}"
        )
    process = job.options.get("rate_process")
    if process is not None and process.value not in ("linear", "poisson"):
        raise job.problem(process, f"rate_process: `{process.value}` is not modelled", "take linear or poisson")
    stream.set("replay.mode", "open", option.name)
    poisson = process is not None and process.value == "poisson"
    stream.set("workload.arrivals", "exponential" if poisson else "constant", "rate_process", option.name)
    stream.set("workload.interarrival", f"{round(10**12 / total)}ps", option.name)
    capped(stream, option.name)
    job.found.note(
        f"{option.name}: requests are due at this rate and at most iodepth of them are in flight; "
        "their latency counts from their issue"
    )


def capped(stream: Stream, *options: str) -> None:
    """Limits an open replay to the depth of the job: due requests wait on the host for a completion, as in fio."""
    stream.set("replay.outstanding-max", depth(stream.job), "iodepth", "ioengine", *options)
    stream.set("replay.latency-start", "issue", *options)


def thinks_longer(job: Translation, per_second: float) -> bool:
    """Returns whether the think time per request exceeds the interval of a rate of `per_second` requests per second.

    After a shorter think time, fio issues the delayed requests at once, so that the rate is kept.
    """
    think_us, every = think(job)
    if not think_us:
        return False
    if job.get("rate_ignore_thinktime", values.flag, False):
        job.found.note("rate_ignore_thinktime: the longer of thinktime and rate sets the pace, not their sum")
    is_longer = think_us * per_second > every * 1e6
    if not is_longer:
        job.found.note("thinktime: no effect, the rate leaves more time from request to request")
    return is_longer


def think(job: Translation) -> tuple[int, int]:
    """Returns (think time in microseconds, number of requests between two think times); the time is 0 without one.

    Raises:
        ConfigError: If think times are separated by a time, not by a number of requests.
    """
    think_us = job.get("thinktime", lambda text: values.time_us(text, "us"), 0)
    every = job.get("thinktime_blocks", lambda text: values.whole(text, 1, 10**9), 1)
    io_us = job.get("thinktime_iotime", lambda text: values.time_us(text, "s"), 0)
    if not io_us:
        return think_us, every
    if not think_us:
        job.found.note("thinktime_iotime: no effect without thinktime")
        return 0, every
    if "thinktime_blocks" in job.options:
        job.found.note("thinktime_iotime: fio thinks after thinktime_blocks or after this time; here after the blocks")
        return think_us, every
    # fio measures the first interval from the start, and each later one from the start of the previous think time.
    runtime = job.get("runtime", lambda text: values.time_us(text, "s"), 0)
    if runtime and runtime + job.ramp_us() <= io_us + think_us:
        job.found.note("thinktime_iotime: no effect, runtime ends the job before its first think time")
        return 0, every
    if any(part(job.options[name].value, 0, "0") != "0" for name in RATES if name in job.options):
        job.found.note("thinktime_iotime: no effect, fio catches up with the rate after each think time")
        return 0, every
    raise job.problem(
        job.options["thinktime_iotime"],
        "`thinktime_iotime` is not modelled: a job thinks after a number of requests, not after a time",
        "take thinktime_blocks, with the requests that the job does in this time",
    )


def rates(stream: Stream, requests: Requests) -> dict[int, float]:
    """Returns the requests per second of each kind of request, 0 for a kind without a rate; empty without any rate.

    A single rate applies to each kind, not to all kinds together.

    Raises:
        ConfigError: If a job has two options of a rate.
    """
    job = stream.job
    rated = [job.options[name] for name in RATES if name in job.options]
    if not rated:
        return {}
    option = rated[0]
    if len(rated) > 1:
        raise job.problem(option, "`rate_iops` and `rate` exclude each other", "remove one")

    def read(kind: int) -> float:
        def of(text: str) -> float:
            said = part(text, kind, "0")
            if option.name == "rate_iops":
                return float(values.whole(said))
            # fio ignores what follows the prefix, such as /s.
            return job.bytes_of(said.removesuffix("/s")) / requests.mean(kind)

        return job.get(option.name, of, 0.0)

    if re.fullmatch(r"[0-9]{1,3},000", option.value):
        job.found.note(
            f"{option.written}={option.value}: as in fio, the comma ends the rate of reads; for thousands write "
            f"{option.value.replace(',', '')}"
        )
    kinds = (1,) if requests.deallocates_first else requests.kinds
    found = {kind: read(kind) for kind in kinds}
    if not any(found.values()):
        return {}
    if requests.deallocates_first:
        # Each write follows a deallocation, so the rate of requests is twice the rate of writes.
        found[1] *= 2
    return found


def sides_of(job: Translation) -> tuple[int | None, ...]:
    """Returns the kinds of requests that get a stream of their own: reads and writes if only one of them has a rate.

    fio issues the other kind whenever the kind with a rate is not yet due, so that the rate paces one kind alone.

    Returns:
        `(None,)` if one stream issues all requests of the job.

    Raises:
        ConfigError: If bytes or a number of requests end such a job, since the share of each kind is not known.
    """
    option = next((job.options[name] for name in RATES if name in job.options), None)
    rw = job.options.get("rw")
    if option is None or rw is None or "read_iolog" in job.options:
        return (None,)
    _, kinds = PATTERNS.get(rw.value.partition(":")[0], ("", ()))
    if kinds != (0, 1) or mix(job) in (0, 100):
        return (None,)

    def has_rates(text: str) -> list[bool]:
        return [part(text, kind, "0").strip("0") != "" for kind in kinds]

    none: list[bool] = []
    has_rate = job.get(option.name, has_rates, none)
    if all(has_rate) or not any(has_rate):
        return (None,)
    if not (job.get("time_based", values.flag, False) and "runtime" in job.options):
        raise job.problem(
            option,
            f"`{option.name}` paces only one kind of a mix, which is modelled only with runtime and time_based",
            "give both, or write a job for the reads and one for the writes, on the same filename",
        )
    paced, other = ("reads", "writes") if has_rate[0] else ("writes", "reads")
    job.found.note(
        f"[{job.name}] {option.name}: {paced} and {other} are a stream each, {paced} at their rate and {other} with "
        "iodepth in flight; fio has iodepth in flight of both together"
    )
    return kinds


def engine(stream: Stream) -> None:
    """Sets the replay mode, the number of requests in flight, and the think time."""
    job = stream.job
    think_us, every = think(job)
    in_flight = depth(job)
    if is_async(job) and not think_us:
        stream.set("replay.mode", "stress", "ioengine")
        stream.set("replay.outstanding", in_flight, "iodepth", "ioengine")
        return
    threads = min(in_flight, every)
    stream.set("replay.mode", "closed", "ioengine")
    stream.set("replay.threads", threads, "ioengine")
    stream.set("replay.think-time", f"{think_us}us", "thinktime")
    if think_us and in_flight > 1:
        job.found.note("thinktime: fio waits for all requests in flight before it thinks, so fewer than iodepth are")
    each = -(-every // threads)
    if think_us and each > 1:
        stream.set("replay.think-every", each, "thinktime_blocks")
