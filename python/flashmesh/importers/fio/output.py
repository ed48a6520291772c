"""Results in fio's JSON format, for tools that read fio's results."""

from __future__ import annotations

import json
import time
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from flashmesh._native import __version__
from flashmesh.importers.fio.levels import levels_of
from flashmesh.importers.fio.notation import values
from flashmesh.texts.durations import time_ps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashmesh._results import Distribution, Latency, StreamResult
    from flashmesh.importers.fio.translate import FioJobs
    from flashmesh.results import Result

VERSION = "fio-3.33"
"""fio version whose output format is reproduced."""
PS_PER_NS = 1_000
PS_PER_S = 10**12
PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
KNOWN = {50: "p50", 95: "p95", 99: "p99", 99.5: "p99_5", 99.9: "p99_9", 99.99: "p99_99"}
"""Percentiles that the result of a stream has without a latency distribution, with their names in results."""
BUCKETS = {
    "latency_ns": (1, (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)),
    "latency_us": (1_000, (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)),
    "latency_ms": (1_000_000, (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000)),
}
"""Upper bounds of fio's latency buckets, by member of its output, with the unit of the bounds in nanoseconds."""
SUBMITTED = ("0", "4", "8", "16", "32", "64", ">=64")
KIB_IS_1024 = 1000
"""Value of fio's `kb_base` with which KiB means 1,024 bytes."""
NOTHING = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}


def fio_json(result: Result, jobs: FioJobs) -> str:
    """Returns a result as the text that fio writes with --output-format=json.

    Args:
        result: The run of the jobs.
        jobs: The jobs, as returned by `read_jobs`.
    """
    options = dict(zip([stream.name for stream in result.streams], jobs.jobs, strict=False))
    shared = {"global options": dict(jobs.shared)} if jobs.shared else {}
    parameters = result.parameters
    now = time.time()
    document = {
        "fio version": VERSION,
        "flashmesh version": __version__,
        "timestamp": int(now),
        "timestamp_ms": int(now * 1000),
        "time": time.strftime("%a %b %d %H:%M:%S %Y", time.localtime(now)),
        **shared,
        "jobs": [
            job_of(result, stream, *options.get(stream.name, (stream.name, {})), jobs.shared, parameters)
            for stream in result.streams
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def job_of(
    result: Result,
    stream: StreamResult,
    name: str,
    options: Mapping[str, str],
    shared: Mapping[str, str],
    parameters: Mapping[str, Any],
) -> dict[str, Any]:
    """Returns the results of one stream as an entry of `jobs` in fio's output.

    The options of the job are written without those in `shared`, which fio lists once for all jobs.
    """
    tables = parameters.get("stream", {}).get(stream.name, parameters)
    # Requests of the first `ramp_time` do not count in the results of a stream; a window after them has the others.
    ramp_ps = time_ps(tables["replay"]["ramp-time"])
    whole = result if not ramp_ps else result.measured
    alone = whole.distribution if len(result.streams) == 1 and whole is not None else None
    latency = stream.latency_ps
    counted = {"read": latency.read, "write": latency.write}
    rest = sum(kind.count for kind in (latency.read, latency.write, latency.flush) if kind is not None)
    trims = (latency.all.count if latency.all is not None else 0) - rest
    runtime_ps = max(stream.makespan_ps - stream.start_ps - ramp_ps, 1)
    of_trace = (stream.workload or {}).get("deallocate_bytes", 0)
    trimmed = trimmed_bytes(trims, tables["workload"]) if tables["workload"]["kind"] == "job" else of_trace
    sections = {
        "read": section(counted["read"], stream.read_bytes, runtime_ps, alone.read if alone else None),
        "write": section(counted["write"], stream.written_bytes, runtime_ps, alone.write if alone else None),
        # A stream has no separate latency of deallocations; without other requests, the latency of all requests is that
        # of deallocations.
        "trim": section(latency.all if trims and not rest else None, trimmed, runtime_ps, None, trims),
    }
    depth = options.get("iodepth", "1")
    submitted = dict.fromkeys(SUBMITTED, 0.0) | {"4": 100.0}
    milliseconds = max(round(runtime_ps / 10**9), 1)
    return {
        "jobname": name,
        "groupid": 0,
        "error": 0,
        "eta": 0,
        "elapsed": -(-stream.makespan_ps // PS_PER_S),
        "job options": {key: value for key, value in options.items() if shared.get(key) != value},
        **sections,
        "sync": {"total_ios": latency.flush.count if latency.flush else 0, "lat_ns": statistics(latency.flush, None)},
        "job_runtime": milliseconds,
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": levels_of(stream, tables["replay"]),
        "iodepth_submit": submitted,
        "iodepth_complete": submitted,
        **(shares(alone.all) if alone and alone.all else {}),
        "latency_depth": int(depth) if depth.isdecimal() else 1,
        "latency_target": 0,
        "latency_percentile": 100.0,
        "latency_window": 0,
    }


def trimmed_bytes(trims: int, workload: Mapping[str, Any]) -> int:
    """Returns the bytes of deallocations: exact for a single size and for whole passes, else from the mean size.

    Args:
        trims: Number of deallocations.
        workload: The section `workload` of the stream.
    """
    sizes: str | list[tuple[str, float]] = workload.get("deallocate-size", workload["request-size"])
    if not trims:
        return 0
    if isinstance(sizes, str):
        return trims * values.size(sizes, KIB_IS_1024)
    if workload["deallocate-share"] == 1.0 and "pass-size" in workload and "requests" not in workload:
        return values.size(workload["pass-size"], KIB_IS_1024) * int(workload["passes"])
    weights = sum(weight for _, weight in sizes)
    return round(trims * sum(values.size(size, KIB_IS_1024) * weight for size, weight in sizes) / weights)


def section(
    latency: Latency | None, size: int, runtime_ps: int, distribution: Distribution | None, requests: int | None = None
) -> dict[str, Any]:
    """Returns the member of a job for one kind of requests, such as `read`, in fio's format.

    `size` is the sum of the request sizes in bytes; `requests` is the number of requests if `latency` does not have it.
    """
    count = requests if requests is not None else latency.count if latency is not None else 0
    seconds = runtime_ps / PS_PER_S
    rate, iops = size / seconds, count / seconds
    found = statistics(latency, distribution)
    percentile = percentiles(latency, distribution)
    bins = {"bins": bins_of(distribution)} if distribution is not None else {}
    return {
        "io_bytes": size,
        "io_kbytes": size >> 10,
        "bw_bytes": round(rate),
        "bw": round(rate / 1024),
        "iops": iops,
        "runtime": max(round(runtime_ps / 10**9), 1) if count else 0,
        "total_ios": count,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": dict(NOTHING),
        "clat_ns": found | ({"percentile": percentile} if percentile else {}) | bins,
        "lat_ns": found | ({"percentile": percentile} if percentile else {}),
        "bw_min": round(rate / 1024),
        "bw_max": round(rate / 1024),
        "bw_agg": 100.0 if count else 0.0,
        "bw_mean": rate / 1024,
        "bw_dev": 0.0,
        "bw_samples": 1 if count else 0,
        "iops_min": round(iops),
        "iops_max": round(iops),
        "iops_mean": iops,
        "iops_stddev": 0.0,
        "iops_samples": 1 if count else 0,
    }


def statistics(latency: Latency | None, distribution: Distribution | None) -> dict[str, Any]:
    """Returns the statistics of a latency in nanoseconds; the minimum is known only with a distribution."""
    if latency is None:
        return dict(NOTHING)
    least = {"min": distribution.latency_ps[0] // PS_PER_NS} if distribution is not None else {}
    return least | {
        "max": latency.max // PS_PER_NS,
        "mean": latency.mean / PS_PER_NS,
        "stddev": latency.deviation / PS_PER_NS,
        "N": latency.count,
    }


def percentiles(latency: Latency | None, distribution: Distribution | None) -> dict[str, int]:
    """Returns the latency percentiles in nanoseconds, by their names in fio.

    Without a distribution, only the `KNOWN` percentiles are returned.
    """
    if latency is None:
        return {}
    if distribution is None:
        return {f"{at:.6f}": getattr(latency, name) // PS_PER_NS for at, name in KNOWN.items()}
    total = distribution.requests[-1]
    return {
        f"{at:.6f}": distribution.latency_ps[bisect_left(distribution.requests, at / 100 * total)] // PS_PER_NS
        for at in PERCENTILES
    }


def bins_of(distribution: Distribution) -> dict[str, int]:
    """Returns the number of requests for each distinct latency in nanoseconds, as in fio's json+ output."""
    found: dict[str, int] = {}
    before = 0
    for latency, upto in zip(distribution.latency_ps, distribution.requests, strict=True):
        at = str(latency // PS_PER_NS)
        found[at] = found.get(at, 0) + upto - before
        before = upto
    return found


def shares(distribution: Distribution) -> dict[str, dict[str, float]]:
    """Returns the percentage of requests in each of fio's latency buckets, by unit and upper bound."""
    found: dict[str, dict[str, float]] = {}
    before = 0.0
    for name, (unit, bounds) in BUCKETS.items():
        found[name] = {}
        for bound in bounds:
            upto = percentage_below(distribution, bound * unit * PS_PER_NS)
            found[name][str(bound)] = round(upto - before, 6)
            before = upto
    found["latency_ms"][">=2000"] = round(100.0 - before, 6)
    return found


def percentage_below(distribution: Distribution, limit_ps: int) -> float:
    """Returns the percentage of requests with a latency below a limit in picoseconds."""
    at = bisect_left(distribution.latency_ps, limit_ps)
    return 100.0 * distribution.requests[at - 1] / distribution.requests[-1] if at else 0.0
