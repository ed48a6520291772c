"""Sizes of the requests of a job."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from flashmesh.importers.fio.notation import values
from flashmesh.importers.toml_text import size as size_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashmesh.importers.fio.streams.stream import Stream
    from flashmesh.importers.fio.translate import Translation

Sizes: TypeAlias = "list[tuple[int, float]]"
"""Request sizes in bytes, each with its weight."""
DIRECTIONS = ("read", "write", "trim")
"""Kinds of requests, in the order of the comma-separated parts of a value in fio."""
SIZE_KEYS = ("workload.request-size", "workload.write-size", "workload.deallocate-size")
DEFAULT_SIZE = 4096
ALIGNED = 512
METADATA_ENGINES = ("io_uring_cmd", "xnvme")
"""I/O engines whose requests may have metadata after each block."""
BLOCKS = (4096, 512)
METADATA = (8, 16, 64, 128)
"""Numbers of metadata bytes after a block in the formats of NVMe drives."""
TRIM_WRITE = (1, 2)
"""Kinds of requests of a mix of trims and writes."""


def part(text: str, kind: int, otherwise: str = "") -> str:
    """Returns the part of a value for one kind of requests; a value has parts for reads, writes and trims.

    Raises:
        Misfit: If the part is empty and there is no `otherwise`.
    """
    parts = [each.strip() for each in text.split(",")]
    if len(parts) > len(DIRECTIONS):
        raise values.Misfit(f"`{text}` has more than three parts")
    # A missing part repeats the part before it; an empty part stands for fio's default.
    parts += [parts[-1]] * (len(DIRECTIONS) - len(parts))
    said = parts[kind] or otherwise
    if not said:
        raise values.Misfit(f"`{text}` has no value for the {DIRECTIONS[kind]}s of this job")
    return said


def sizes(stream: Stream, pattern: str, kinds: tuple[int, ...]) -> dict[int, Sizes]:
    """Sets the keys for the sizes of requests, and returns the sizes by kind of request."""
    job = stream.job
    name = size_option(job)
    by_pattern = job.get("bs_is_seq_rand", values.flag, False)
    said = {kind: (1 if pattern == "random" else 0) if by_pattern else kind for kind in kinds}
    found = {kind: sizes_at(job, name, said[kind]) for kind in kinds}
    stream.set(SIZE_KEYS[0], sizes_text(found[kinds[0]]), name)
    for kind in kinds[1:]:
        if found[kind] != found[kinds[0]]:
            stream.set(SIZE_KEYS[kind], sizes_text(found[kind]), name)
    if kinds == TRIM_WRITE and found[1] != found[2]:
        raise job.problem(
            job.options[name], f"`{name}` differs between writes and trims of the same blocks", "write one"
        )
    return found


def size_option(job: Translation) -> str:
    """Returns the option that sets the sizes: `bssplit` if given, else `bsrange`, else `bs`, in any order of lines."""
    return next((name for name in ("bssplit", "bsrange") if name in job.options), "bs")


def sizes_at(job: Translation, name: str, position: int) -> Sizes:
    """Returns the request sizes that part `position` of an option gives: 0 for reads, 1 for writes, 2 for trims.

    Raises:
        ConfigError: If the sizes are not whole sectors.
    """
    if name == "bsrange" and job.get("bs_unaligned", values.flag, False):
        raise job.problem(
            job.options["bs_unaligned"],
            "bs_unaligned: a request of a block device has whole sectors; sizes of a bsrange would have any length",
            "remove it, or take bssplit with sizes of whole sectors",
        )
    readers: dict[str, Callable[[Translation, str], Sizes]] = {
        "bs": single,
        "bsrange": spread,
        "bssplit": split,
    }
    read = readers[name]
    return job.get(name, lambda text: read(job, part(text, position, str(DEFAULT_SIZE))), [(DEFAULT_SIZE, 1.0)])


def single(job: Translation, text: str) -> Sizes:
    """Reads the one size of `bs`, and refuses a range or a list of sizes, of which fio takes the first size."""
    found = re.fullmatch(r"([0-9]+[a-z]*)([-:/])([0-9]+[a-z]*)", text.lower())
    if found is not None:
        remedy = f"write bsrange={text}" if found[2] == "-" else f"write bssplit={found[1]}/50:{found[3]}/50"
        raise values.Misfit(f"`{text}` is not one size; fio takes {found[1]}", remedy=remedy)
    return [(block(job, text), 1.0)]


def smallest_block(job: Translation) -> int:
    """Returns the smallest request size in bytes that the options give for any kind, even one unused by `rw`."""
    name = size_option(job)
    return min(size for position in range(len(DIRECTIONS)) for size, _ in sizes_at(job, name, position))


def sizes_text(sizes: Sizes) -> str | list[list[str | float]]:
    """Returns sizes as the configuration spells them."""
    if len(sizes) == 1:
        return size_text(sizes[0][0])
    return [[size_text(size), weight] for size, weight in sizes]


def block(job: Translation, text: str) -> int:
    """Reads a request size, and returns its data bytes."""
    size = without_metadata(job, job.bytes_of(text))
    if ALIGNED <= size <= 64 * 1024 * 1024 and size % ALIGNED == 0:
        return size
    iec = re.fullmatch(r"([0-9]+[kmgt])ib", text.lower())
    if iec is not None and size % 1000 == 0:
        raise values.Misfit(f"{text} is {size:,} bytes, in fio too; a request has whole sectors of 512 B", text, iec[1])
    raise values.Misfit(
        f"{text}: a request has 512 B to 64 MiB, in whole sectors of 512 B",
        remedy="write a multiple of 512, such as 4k",
    )


def without_metadata(job: Translation, size: int) -> int:
    """Returns the data bytes of a request; for engines that send NVMe commands, its size may include metadata."""
    option = job.options.get("ioengine")
    if option is None or option.value not in METADATA_ENGINES or size % ALIGNED == 0:
        return size
    for data in BLOCKS:
        for metadata in METADATA:
            if size % (data + metadata) == 0:
                job.found.note(f"bs: of {data + metadata} bytes, {metadata} are metadata, which is not simulated")
                return size // (data + metadata) * data
    return size


def split(job: Translation, text: str) -> Sizes:
    """Reads request sizes with percentages, such as `4k/60:8k/40`.

    As in fio, sizes without a percentage, or with 0 %, share the remaining percentage equally, in whole percents. The
    rounding remainder goes to the most likely size; if several are most likely, to the last of them. Without
    `bs_unaligned`, sizes are rounded down to a multiple of the smallest.
    """
    given: list[tuple[int, int]] = []
    for each in filter(None, text.split(":")):
        written, _, percent_text = each.partition("/")
        percent_text = percent_text.removesuffix("%")
        given.append((block(job, written), values.whole(percent_text, 0, 100) if percent_text else 0))
    if not given:
        raise values.Misfit(f"`{text}` has no size, such as 4k/60:8k/40")
    left = 100 - sum(percent for _, percent in given)
    shares = sum(1 for _, percent in given if not percent)
    if left < 0:
        if shares:
            raise values.Misfit(f"the percentages of `{text}` add up to more than 100: nothing is left for the others")
        job.found.note(f"bssplit: the percentages of `{text}` add up to more than 100; as in fio, the largest is cut")
    ordered = sorted(((size, percent or left // shares) for size, percent in given), key=lambda pair: pair[1])
    least, left = min(size for size, _ in given), 100
    is_unaligned = job.get("bs_unaligned", values.flag, False)
    weights: dict[int, float] = {}
    for number, (size, percent) in enumerate(ordered, 1):
        taken = left if number == len(ordered) else min(percent, left)
        rounded = size if is_unaligned else size - size % least
        weights[rounded] = weights.get(rounded, 0.0) + taken
        left -= taken
    return [(size, weights[size]) for size in sorted(weights) if weights[size] > 0]


def spread(job: Translation, text: str) -> Sizes:
    """Reads a range of request sizes, such as `4k-10k`.

    fio adds a uniform fraction of the largest size to the smallest, rounds down to a multiple of the smallest, and
    limits the result to the largest: 4k-10k gives 4k and 8k with 40 % each, and 10k with 20 %.
    """
    match = re.fullmatch(r"([^-:]+)[-:]([^-:]+)", text)
    if match is None:
        raise values.Misfit(f"`{text}` is not a range of sizes, such as 4k-16k", remedy="write bsrange=4k-16k or bs=4k")
    # fio takes the two in either order.
    least, most = sorted((block(job, match[1].strip()), block(job, match[2].strip())))
    if most > 1024 * least:
        raise values.Misfit(f"`{text}`: the larger is more than 1024 times the smaller", remedy="take a smaller range")
    if least == most:
        return [(least, 1.0)]
    weights: dict[int, float] = {}
    for low in range(least, least + most, least):
        size = min(low, most)
        weights[size] = weights.get(size, 0.0) + (min(low + least, least + most) - low) / most
    return [(size, round(weight, 9)) for size, weight in weights.items()]
