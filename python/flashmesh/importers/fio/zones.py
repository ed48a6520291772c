"""Zones of a file: `zonemode=strided`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.importers.toml_text import size as size_text

if TYPE_CHECKING:
    from flashmesh.importers.fio.requests import Requests
    from flashmesh.importers.fio.stream import Stream
    from flashmesh.importers.fio.translate import Translation

ZONES_MAX = 65_536


def set_zones(stream: Stream, requests: Requests, total: int | None) -> int | None:
    """Sets the zones of a job whose files have `total` bytes, and returns the bytes of the files that have requests.

    Raises:
        ConfigError: If the zones are not modelled.
    """
    job = stream.job
    mode = job.options.get("zonemode")
    size = job.get("zonesize", job.bytes_of, 0)
    if not size or (mode is not None and mode.value == "none"):
        return total
    reach = job.get("zonerange", job.bytes_of, 0) or size
    skip = job.get("zoneskip", job.bytes_of, 0)
    if requests.deallocates_first:
        # A trim and the write behind it both count.
        size //= 2
    if requests.pattern != "sequential":
        return random_zones(stream, requests, total, size, reach, skip)
    if reach < size:
        raise job.problem(
            job.options["zonerange"],
            "zonerange: less than zonesize, so each zone is covered several times, which is not modelled",
            "take loops, or a zonesize of at most zonerange",
        )
    if requests.kinds == (0, 1):
        job.found.note(f"[{job.name}] zonesize: counts the bytes of each kind here; fio counts those of all kinds")
    # A zone of which a part is covered is that part with more to skip.
    if skip + reach - size:
        stream.set("workload.skip-after", size_text(size), "zonesize")
        stream.set("workload.skip", size_text(skip + reach - size), "zoneskip")
    return total


def random_zones(stream: Stream, requests: Requests, total: int | None, size: int, reach: int, skip: int) -> int | None:
    """Sets the zones of a random job as files that take turns, each for `size` bytes.

    Raises:
        ConfigError: If the zones are not equal parts of the file, or a zone has no fixed number of requests.
    """
    job = stream.job
    require_plain(stream, requests)
    length = reach + skip
    bytes_of_file = total if total is not None else job.capacity()
    count = bytes_of_file // length
    if not 1 <= count <= ZONES_MAX:
        raise job.problem(
            job.options["zonesize"], f"zonesize: {count} zones, expected 1 to {ZONES_MAX}", "take other zones"
        )
    if count * length < bytes_of_file:
        job.found.note(f"[{job.name}] zonesize: what is left behind {count} whole zones has no requests")
    stream.set("workload.files", count, "zonesize")
    stream.set("workload.file-order", "round-robin", "zonesize")
    run = max(size // requests.largest(), 1)
    if run > 1:
        stream.set("workload.file-run", run, "zonesize")
    stream.set("workload.footprint", size_text(count * length), "zonesize", "size")
    if skip:
        stream.set("workload.pattern", "zoned", "zoneskip")
        share = 100 * reach / length
        stream.set("workload.zones", f"100/{share:.12g}:0/{100 - share:.12g}", "zonerange", "zoneskip")
    map_key = f"{stream.prefix}workload.random-map"
    if (skip or size != reach) and map_key in job.found.settings:
        del job.found.settings[map_key], job.found.places[map_key]
        job.found.note(f"[{job.name}] zonesize: a block may come twice in a zone; with fio's random map it does not")
    return count * length


def require_plain(stream: Stream, requests: Requests) -> None:
    """Refuses what a random job over zones does not take.

    Raises:
        ConfigError: If the job has requests of several sizes, several files, or a skewed distribution.
    """
    job: Translation = stream.job
    distribution = job.options.get("random_distribution")
    sizes = {size for sizes in requests.sizes.values() for size, _ in sizes}
    reason = ""
    if len(sizes) > 1:
        reason = "requests of one size"
    elif len(job.paths(stream.clone)) > 1:
        reason = "one file"
    elif distribution is not None and distribution.value != "random":
        reason = "random_distribution=random"
    if reason:
        raise job.problem(
            job.options["zonesize"],
            f"zonemode=strided of a random job is modelled with {reason}",
            "write a job for each zone",
        )
