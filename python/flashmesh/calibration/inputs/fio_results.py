"""Reader of fio results: the JSON of `--output-format=json` or `json+`, and the job file in the same folder."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.importers.fio import FioJobs, read_jobs
from flashmesh.importers.fio.notation import jobs as job_files
from flashmesh.importers.fio.notation.options import ALIASES
from flashmesh.validation.figures import COLUMNS, KINDS, Figures
from flashmesh.validation.tables.measurements import require_ordered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PERCENTILES = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
NS_PER_US = 1e3
FEW = 1000
"""Number of requests below which p99.9 is left out, since it would be the latency of a single request."""
DEFAULT_MIX = 50
"""Default of fio for `rwmixread`, in percent."""
SUFFIX = ".fio"


def is_fio(path: Path) -> bool:
    """Returns whether a file of measurements is a fio result, by its suffix."""
    return path.suffix.lower() == ".json"


def read_fio(path: Path) -> tuple[Figures, FioJobs, int]:
    """Reads a fio result and its job file. Returns the figures, the jobs as streams, and the maximum `iodepth`.

    Raises:
        ConfigError: If the file is not a result of fio, or its job file is missing.
    """
    job_file = path.with_suffix(SUFFIX)
    if not job_file.is_file():
        raise ConfigError(f"{path}: its job file is missing: copy it to {job_file}")
    _, listed = job_files.read(job_file)
    depths = [job.options["iodepth"].value for job in listed if "iodepth" in job.options]
    depth = max((int(value) for value in depths if value.isdecimal()), default=1)
    return figures_of(path, document_of(path)), read_jobs(job_file), depth


def document_of(path: Path) -> list[dict[str, Any]]:
    """Returns the jobs of the last document in a file; fio with --status-interval writes several.

    Raises:
        ConfigError: If the file cannot be read, is not a fio result, or has a job that ended with an error.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    try:
        document = last_document(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: is not JSON: run fio with --output-format=json --output={path.name}") from error
    jobs = document.get("jobs") if isinstance(document, dict) and "fio version" in document else None
    if not isinstance(jobs, list) or not jobs or not all(isinstance(job, dict) for job in jobs):
        raise ConfigError(f"{path}: is not a fio result: run fio with --output-format=json")
    failed = [str(job.get("jobname")) for job in jobs if job.get("error")]
    if failed:
        raise ConfigError(f"{path}: the job {failed[0]} ended with an error: measure again")
    shared = document.get("global options")
    try:
        return [separate(job, shared if isinstance(shared, dict) else {}) for job in jobs]
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def last_document(text: str) -> Any:
    """Returns the last JSON document in a text, which may have other output around it (--output-format=normal,json).

    Raises:
        ValueError: If there is none, or the last one is incomplete.
    """
    found, decoder, begin = None, json.JSONDecoder(), re.compile(r"^\{", re.MULTILINE)
    at = begin.search(text)
    if at is None:
        return json.loads(text)
    while at is not None:
        found, end = decoder.raw_decode(text, at.start())
        at = begin.search(text, end)
    return found


def separate(job: dict[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a job with separate figures of reads and writes, also if unified_rw_reporting=1 merged them.

    Merged rates are divided by the percentages of the mix. Merged latencies are left out.
    """
    mixed = job.get("mixed")
    if not isinstance(mixed, dict) or any(job.get(kind, {}).get("total_ios") for kind in KINDS):
        return job
    own = job.get("job options")
    options = {
        ALIASES.get(name, name): value for name, value in {**shared, **(own if isinstance(own, dict) else {})}.items()
    }
    word = str(options.get("rw", "read")).partition(":")[0].removeprefix("rand")
    if word not in ("rw", "readwrite"):
        return {**job, word: mixed}
    share = rwmix(options)
    for kind, part in (("read", share), ("write", 1 - share)):
        counts = {"iops": mixed["iops"] * part, "total_ios": round(mixed["total_ios"] * part)}
        job = {**job, kind: counts | {"is_share": True}}
    return job


def rwmix(options: Mapping[str, Any]) -> float:
    """Returns the share of reads in a mix, from `rwmixread` or `rwmixwrite`, whichever is given last.

    Raises:
        ConfigError: If the percentage is not a whole number.
    """
    given = [name for name in options if name in ("rwmixread", "rwmixwrite")]
    name = given[-1] if given else "rwmixread"
    text = str(options.get(name, DEFAULT_MIX))
    if not text.isdecimal():
        raise ConfigError(f"job options: {name} is `{text}`, not a whole number: the mix is not known")
    share = min(int(text), 100) / 100
    return share if name == "rwmixread" else 1 - share


def figures_of(path: Path, jobs: Sequence[Mapping[str, Any]]) -> Figures:
    """Returns the figures over all jobs.

    Raises:
        ConfigError: If no job read or wrote, latencies are not in nanoseconds, or percentiles cannot be merged or
            decrease.
    """
    found: dict[str, float | None] = dict.fromkeys(COLUMNS)
    for kind in KINDS:
        parts = [job[kind] for job in jobs if job.get(kind, {}).get("total_ios")]
        found[f"{kind}_iops"] = float(sum(part["iops"] for part in parts))
        if parts and not any(part.get("is_share") for part in parts):
            found |= {f"{kind}_{name}_us": value for name, value in latencies(path, kind, parts).items()}
    if not any(found[f"{kind}_iops"] for kind in KINDS):
        raise ConfigError(f"{path}: no job read or wrote anything")
    figures = Figures.from_dict(found)
    require_ordered(str(path), figures)
    return figures


def latencies(path: Path, kind: str, parts: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Returns the latency statistics of the requests of one kind (`read` or `write`), in microseconds, by name.

    A statistic that is not known is missing or None. Empty if the jobs did not measure latencies.

    Raises:
        ConfigError: If the latencies are not in nanoseconds, or percentiles of several jobs cannot be merged.
    """
    if any("clat_ns" not in part for part in parts):
        raise ConfigError(f"{path}: has no latencies in nanoseconds: measure with fio 3 or newer")
    family = latency_family(parts)
    if family is None:
        return {}
    each = [part[family] for part in parts]
    count = sum(part["total_ios"] for part in parts)
    mean = sum(one["mean"] * part["total_ios"] for one, part in zip(each, parts, strict=True)) / count
    found: dict[str, float | None] = {"mean": mean / NS_PER_US}
    found |= {name: value / NS_PER_US for name, value in percentiles(path, kind, each).items()}
    if count < FEW:
        found["p999"] = None
    return found


def latency_family(parts: Sequence[Mapping[str, Any]]) -> str | None:
    """Returns the fio latency to use: `lat_ns` or `clat_ns`; None if the jobs did not measure it (gtod_reduce=1).

    `lat_ns` includes submission, as the program sees it, and is preferred if it has percentiles (lat_percentiles=1).
    """
    if all("percentile" in part.get("lat_ns", {}) for part in parts):
        return "lat_ns"
    measured = (name for name in ("clat_ns", "lat_ns") if all(part.get(name, {}).get("N", 1) for part in parts))
    return next(measured, None)


def percentiles(path: Path, kind: str, each: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Returns the percentiles over all jobs, in nanoseconds, by name.

    Percentiles of several jobs follow from their merged bins.

    Raises:
        ConfigError: If there are several jobs and one has no bins.
    """
    if len(each) == 1 and ("percentile" in each[0] or "bins" not in each[0]):
        known = each[0].get("percentile", {})
        return {name: float(known[key]) for name, at in PERCENTILES.items() if (key := f"{100 * at:.6f}") in known}
    if not all("bins" in one for one in each):
        raise ConfigError(
            f"{path}: {len(each)} jobs have {kind}s, and their percentiles cannot be merged without bins: "
            "run fio with --output-format=json+, or with group_reporting=1"
        )
    bins: dict[int, int] = {}
    for one in each:
        for value, count in one["bins"].items():
            bins[int(value)] = bins.get(int(value), 0) + count
    return {name: quantile(bins, at) for name, at in PERCENTILES.items()}


def quantile(bins: Mapping[int, int], share: float) -> float:
    """Returns the quantile `share` of the values counted in `bins`."""
    left = share * sum(bins.values())
    for value in sorted(bins):
        left -= bins[value]
        if left <= 0:
            return float(value)
    return float(max(bins))
