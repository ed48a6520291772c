"""Zones of a file: `zonemode=strided`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.importers.toml_text import size as size_text

if TYPE_CHECKING:
    from flashmesh.importers.fio.streams.requests import Requests
    from flashmesh.importers.fio.streams.stream import Stream
    from flashmesh.importers.fio.translate import Translation

ZONES_MAX = 65_536
ENDS_BELOW = 0.5
"""Minimum probability that all requests of a zone fit in the partial zone at the end of a file. Below it, a pass ends
in the partial zone."""


def set_zones(stream: Stream, requests: Requests, total: int | None) -> int | None:
    """Sets the keys for strided zones; returns `total` or, if it is unknown, the bytes of the zones of a random job.

    `total` is the size of all files of the job in bytes; None if it is not known. For a sequential job, an unknown
    total stays None.

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
        # fio counts the bytes of a zone twice: for the trim, and for its write.
        if any(size % (2 * each) for each in requests.all_sizes()):
            raise job.problem(
                job.options["zonesize"],
                "zonesize: fio 3.33 leaves a zone between a trim and its write, which is not modelled",
                "take a multiple of twice the block size",
            )
        size //= 2
    if len(job.paths(stream.clone)) > 1:
        raise job.problem(
            job.options["zonesize"],
            "zonesize: fio 3.33 counts the bytes of a zone over all files, which is modelled with one file",
            "write a job for each file",
        )
    if requests.pattern != "sequential":
        return random_zones(stream, requests, total, size, reach, skip)
    if stream.skip:
        raise job.problem(
            job.options["zonesize"],
            "zonesize: fio 3.33 goes back to the start of a zone with `rw=...:SKIP`, which is not modelled",
            "take zoneskip or the number behind rw",
        )
    if reach < size:
        raise job.problem(
            job.options["zonerange"],
            "zonerange: less than zonesize, so each zone is covered several times, which is not modelled",
            "take loops, or a zonesize of at most zonerange",
        )
    if requests.is_mix:
        job.found.note(f"[{job.name}] zonesize: counts the bytes of each kind here; fio counts those of all kinds")
    # If requests cover only the start of a zone, the rest of the zone is skipped like the gap after it.
    if skip + reach - size:
        stream.skip, stream.skip_after = skip + reach - size, size
        stream.set("workload.skip-after", size_text(size), "zonesize")
        stream.set("workload.skip", size_text(skip + reach - size), "zoneskip")
    return total


def random_zones(stream: Stream, requests: Requests, total: int | None, size: int, reach: int, skip: int) -> int | None:
    """Sets the keys for the zones of a random job: each zone becomes a file, and requests go to the files in turn.

    Each zone has `size` bytes of requests in its first `reach` bytes, and `skip` bytes follow it. Returns `total` or,
    if it is unknown, the bytes of all zones.

    Raises:
        ConfigError: If an option is not modelled with zones, or the file has no zone or too many.
    """
    job = stream.job
    require_plain(stream, requests)
    length = reach + skip
    bytes_of_file = total if total is not None else job.capacity()
    count, rest = divmod(bytes_of_file, length)
    run = -(-size // requests.largest())
    start = job.range_of(stream.clone)[0] + job.offset(stream.clone)
    if rest >= reach and start + (count + 1) * length <= job.capacity():
        # The end of the file cuts off only skipped bytes of the last zone, so this zone counts as whole.
        count += 1
    elif rest:
        job.found.note(
            f"[{job.name}] zonesize: the {count} whole zones have requests; fio goes on in the rest of the file, "
            "and ends a pass there when it draws a block behind the file"
        )
        block = requests.largest()
        stays = ((rest // block) / max(reach // block, 1)) ** run
        if stays < ENDS_BELOW or (size == reach and not skip):
            stream.pass_end = count * run * block
    if not 1 <= count <= ZONES_MAX:
        raise job.problem(
            job.options["zonesize"], f"zonesize: {count} zones, expected 1 to {ZONES_MAX}", "take other zones"
        )
    stream.set("workload.files", count, "zonesize")
    stream.set("workload.file-order", "round-robin", "zonesize")
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
    return total if total is not None else count * length


def require_plain(stream: Stream, requests: Requests) -> None:
    """Refuses options that are not modelled for a random job over zones.

    Raises:
        ConfigError: If the job has requests of several sizes, a skewed distribution, or a write after each trim.
    """
    job: Translation = stream.job
    distribution = job.options.get("random_distribution")
    sizes = requests.all_sizes()
    reason = ""
    if len(sizes) > 1:
        reason = "requests of one size"
    elif distribution is not None and distribution.value != "random":
        reason = "random_distribution=random"
    elif requests.deallocates_first:
        reason = "trims or writes alone: of both, fio 3.33 writes one block again and again"
    if reason:
        raise job.problem(
            job.options["zonesize"],
            f"zonemode=strided of a random job is modelled with {reason}",
            "write a job for each zone",
        )
