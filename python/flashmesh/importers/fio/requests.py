"""Kinds, sizes and addresses of the requests of a job."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from flashmesh.importers.fio import values
from flashmesh.importers.fio.options import SKEWS
from flashmesh.importers.toml_text import size as size_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashmesh.importers.fio.stream import Stream
    from flashmesh.importers.fio.translate import Translation

Sizes: TypeAlias = "list[tuple[int, float]]"
"""Sizes of requests with their weights."""
DIRECTIONS = ("read", "write", "trim")
"""Kinds of requests, in the order of the comma-separated parts of a value in fio."""
SIZE_KEYS = ("workload.request-size", "workload.write-size", "workload.deallocate-size")
DEFAULT_SIZE = 4096
ALIGNED = 512
METADATA_ENGINES = ("io_uring_cmd", "xnvme")
"""I/O engines whose requests may have metadata behind each block."""
BLOCKS = (4096, 512)
METADATA = (8, 16, 64, 128)
"""Bytes of metadata behind a block in formats of NVMe drives."""
TRIM_WRITE = (1, 2)
"""Kinds of requests of a mix of trims and writes."""
PATTERNS = {
    "read": ("sequential", (0,)),
    "write": ("sequential", (1,)),
    "trim": ("sequential", (2,)),
    "randread": ("random", (0,)),
    "randwrite": ("random", (1,)),
    "randtrim": ("random", (2,)),
    "rw": ("sequential", (0, 1)),
    "readwrite": ("sequential", (0, 1)),
    "randrw": ("random", (0, 1)),
    "trimwrite": ("sequential", TRIM_WRITE),
    "randtrimwrite": ("random", TRIM_WRITE),
}
"""Pattern and kinds of requests for each value of `rw`."""
DISTRIBUTIONS = "random, zipf:THETA, pareto:H, normal:DEVIATION, zoned:... or zoned_abs:..."


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests of a job."""

    pattern: str
    kinds: tuple[int, ...]
    sizes: dict[int, Sizes]
    """Sizes by kind."""

    @property
    def deallocates_first(self) -> bool:
        """Whether each write follows a trim of its block, as with `rw=trimwrite`."""
        return self.kinds == TRIM_WRITE

    def smallest(self) -> int:
        """Returns the smallest size."""
        return min(size for sizes in self.sizes.values() for size, _ in sizes)

    def largest(self) -> int:
        """Returns the largest size."""
        return max(size for sizes in self.sizes.values() for size, _ in sizes)

    def mean(self, kind: int) -> float:
        """Returns the mean size of one kind."""
        sizes = self.sizes[kind]
        return sum(size * weight for size, weight in sizes) / sum(weight for _, weight in sizes)


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


def requests_of(stream: Stream) -> Requests:
    """Sets the keys of kinds, pattern, sizes and addresses; returns the requests, on which other keys depend."""
    job = stream.job
    option = job.options.get("rw")
    word, colon, postfix = (option.value if option is not None else "read").partition(":")
    if option is not None and word not in PATTERNS:
        raise job.problem(option, f"rw: `{word}` is not modelled", f"take one of {', '.join(PATTERNS)}")
    pattern, kinds = PATTERNS[word]
    reads = mix(stream) / 100 if kinds == (0, 1) else float(kinds == (0,))
    if kinds == (0, 1) and reads in (0, 1):
        kinds = (0,) if reads else (1,)
    stream.set("workload.read-share", reads, "rwmixread", "rwmixwrite", "rw")
    stream.set("workload.deallocate-share", float(kinds == (2,)), "rw")
    if kinds == TRIM_WRITE:
        stream.set("workload.deallocate-first", True, "rw")
    if 2 in kinds:
        job.found.note(
            f"[{job.name}] a deallocation costs its command and its entries of the map; "
            "what fio measures of a real drive's is mostly its firmware"
        )
    if colon:
        runs(stream, pattern, postfix)
    found = Requests(pattern, kinds, sizes(stream, pattern, kinds))
    distribution(stream, found)
    return found


def mix(stream: Stream) -> int:
    """Returns the percentage of reads in a mix, from the later of `rwmixread` and `rwmixwrite`."""
    job = stream.job

    def percent(text: str) -> int:
        return values.whole(text, 0, 100)

    reads, writes = job.options.get("rwmixread"), job.options.get("rwmixwrite")
    if reads is not None and (writes is None or writes.line < reads.line):
        return job.get("rwmixread", percent, 50)
    return 100 - job.get("rwmixwrite", percent, 50)


def runs(stream: Stream, pattern: str, postfix: str) -> None:
    """Sets the keys of the suffix of `rw`: run length of random requests, or bytes skipped between sequential ones."""
    job = stream.job
    if pattern == "random":
        length = job.get("rw", lambda _: values.whole(postfix, 1, 10**9), 1)
        if length > 1:
            stream.set("workload.run-length", length, "rw")
        return
    back, text = postfix.startswith("-"), postfix.lstrip("+-")
    skip = job.get("rw", lambda _: job.bytes_of(text), 0)
    if skip:
        stream.set("workload.skip", size_text(skip), "rw")
        stream.set("workload.skip-back", back, "rw")


def sizes(stream: Stream, pattern: str, kinds: tuple[int, ...]) -> dict[int, Sizes]:
    """Sets the sizes of requests, and returns the sizes by kind."""
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
    """Returns the sizes in the part of an option at `position`: 0 for reads, 1 for writes, 2 for trims.

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
        "bs": lambda job, text: [(block(job, text), 1.0)],
        "bsrange": spread,
        "bssplit": split,
    }
    read = readers[name]
    return job.get(name, lambda text: read(job, part(text, position, str(DEFAULT_SIZE))), [(DEFAULT_SIZE, 1.0)])


def smallest_block(job: Translation) -> int:
    """Returns the smallest size that the options give for any kind, even for kinds that `rw` does not use."""
    name = size_option(job)
    return min(size for position in range(len(DIRECTIONS)) for size, _ in sizes_at(job, name, position))


def sizes_text(sizes: Sizes) -> str | list[list[str | float]]:
    """Returns sizes as the configuration spells them."""
    if len(sizes) == 1:
        return size_text(sizes[0][0])
    return [[size_text(size), weight] for size, weight in sizes]


def block(job: Translation, text: str) -> int:
    """Reads the size of a request."""
    size = without_metadata(job, job.bytes_of(text))
    if not ALIGNED <= size <= 64 * 1024 * 1024 or size % ALIGNED:
        raise values.Misfit(f"{text}: a request has 512 B to 64 MiB, in whole sectors of 512 B")
    return size


def without_metadata(job: Translation, size: int) -> int:
    """Returns the bytes of data of a request, whose size counts metadata too for engines that send NVMe commands."""
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
    """Reads sizes with percentages.

    As in fio, the rest goes to sizes without a percentage, or with one of 0, in whole percents. What is left then goes
    to the most likely size, the last of several. Without `bs_unaligned`, sizes are rounded down to a multiple of the
    smallest.
    """
    given: list[tuple[int, int]] = []
    for each in filter(None, text.split(":")):
        written, _, percent_text = each.partition("/")
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
    """Reads a range of sizes.

    fio adds a uniform fraction of the largest size to the smallest, rounds down to a multiple of the smallest, and
    limits the result to the largest: 4k-10k gives 4k and 8k with 40 % each, and 10k with 20 %.
    """
    match = re.fullmatch(r"([^-:]+)[-:]([^-:]+)", text)
    if match is None:
        raise values.Misfit(f"`{text}` is not a range of sizes, such as 4k-16k")
    least, most = block(job, match[1].strip()), block(job, match[2].strip())
    if not least <= most <= 1024 * least:
        raise values.Misfit(f"`{text}`: expected the smaller first, and at most 1024 times as much")
    if least == most:
        return [(least, 1.0)]
    weights: dict[int, float] = {}
    for low in range(least, least + most, least):
        size = min(low, most)
        weights[size] = weights.get(size, 0.0) + (min(low + least, least + most) - low) / most
    return [(size, round(weight, 9)) for size, weight in weights.items()]


def distribution(stream: Stream, requests: Requests) -> None:
    """Sets the distribution of addresses."""
    job = stream.job
    option = job.options.get("random_distribution")
    word, _, tail = (option.value if option is not None else "random").partition(":")
    number, _, center = tail.partition(":")
    stream.set("workload.pattern", requests.pattern, "rw")
    alignment = alignment_of(stream, requests)
    if alignment is not None:
        stream.set("workload.alignment", size_text(alignment), "ba")
    if requests.pattern == "sequential":
        return
    draws(stream, requests)
    order = job.options.get("rw_sequencer")
    if order is not None and order.value not in ("sequential", "identical"):
        raise job.problem(order, f"rw_sequencer: `{order.value}` is not modelled", "take sequential or identical")
    if order is not None and order.value == "identical":
        stream.set("workload.run-kind", "identical", "rw_sequencer")
    if word == "random":
        without = job.get("norandommap", values.flag, False)
        if not without and (alignment is None or alignment == requests.smallest()):
            random_map(stream, requests)
        return
    if option is None:
        return
    if word in ("zoned", "zoned_abs"):
        zones(stream, tail, requests, word == "zoned_abs")
        return
    keys = {
        "zipf": ("zipf", "workload.zipf-theta", 1.0),
        "pareto": ("pareto", "workload.pareto-share", 1.0),
        "normal": ("normal", "workload.normal-deviation", 100.0),
        "gauss": ("normal", "workload.normal-deviation", 100.0),
    }
    if word not in keys:
        raise job.problem(option, f"random_distribution: `{word}` is not modelled", f"take {DISTRIBUTIONS}")
    pattern, key, scale = keys[word]
    stream.set("workload.pattern", pattern, "random_distribution")
    value = job.get("random_distribution", lambda _: values.number(number or SKEWS[word]), 0.0)
    stream.set(key, value / scale, "random_distribution")
    if center:
        job.found.note("random_distribution: the center has no effect, popular blocks are scattered over the footprint")


def random_map(stream: Stream, requests: Requests) -> None:
    """Sets the key by which a pass covers each block once, if the kinds of requests have the same smallest size.

    fio 3.33 numbers the blocks of each kind by the smallest size of that kind, and has one map for all kinds. A job of
    several sizes covers blocks twice, and ends when the map returns a number behind the last block of a kind.
    """
    job = stream.job
    least = {min(size for size, _ in requests.sizes[kind]) for kind in requests.kinds}
    if len(least) == 1:
        stream.set("workload.random-map", True, "norandommap", "rw")
    if len(least) > 1 or least != {smallest_block(job)}:
        job.found.note(
            f"[{job.name}] the block sizes differ between reads, writes and trims: fio 3.33 mixes their blocks up "
            "in its random map, and ends early; here the job does all its bytes"
        )


def draws(stream: Stream, requests: Requests) -> None:
    """Sets the shares of random draws among the reads and among the writes of a random job."""
    job = stream.job
    # The write of a mix of writes and trims follows its trim.
    kinds = (2,) if requests.deallocates_first else requests.kinds

    def share_of(kind: int) -> int:
        return job.get("percentage_random", lambda text: values.whole(part(text, kind, "100"), 0, 100), 100)

    shares = {kind: share_of(kind) for kind in kinds}
    first = shares[kinds[0]]
    if first < 100:
        stream.set("workload.random-share", first / 100, "percentage_random")
    if shares.get(1, first) != first:
        stream.set("workload.write-random-share", shares[1] / 100, "percentage_random")


def zones(stream: Stream, text: str, requests: Requests, in_bytes: bool) -> None:
    """Sets the zones of a distribution; zones without a share of requests, or of the range, share the rest equally."""
    job = stream.job

    def read(_: str) -> str:
        said = part(text, requests.kinds[0])
        if any(part(text, kind) != said for kind in requests.kinds):
            raise values.Misfit(f"`{text}` differs between reads and writes, which is not modelled")
        found: list[tuple[float | None, float | None]] = []
        span = stream.span or 0
        for each in said.split(":"):
            requests_text, _, range_text = each.partition("/")
            access = float(values.whole(requests_text, 0, 100)) if requests_text else None
            if not range_text:
                space = None
            elif in_bytes:
                if not span:
                    raise values.Misfit("zones in bytes need a size: give the job one")
                space = 100 * job.bytes_of(range_text) / span
            else:
                space = float(values.whole(range_text, 0, 100))
            found.append((access, space))
        left = [100 - sum(pair[at] or 0.0 for pair in found) for at in (0, 1)]
        if min(left) < -1e-9:
            raise values.Misfit(f"the shares of `{said}` add up to more than 100")
        open_ended = [sum(1 for pair in found if pair[at] is None) for at in (0, 1)]
        if left[0] > 1e-9 and not open_ended[0]:
            raise values.Misfit(f"the shares of the requests of `{said}` do not add up to 100")
        rows = []
        for pair in found:
            access, space = (left[at] / open_ended[at] if share is None else share for at, share in enumerate(pair))
            rows.append(f"{access:.9g}/{space:.9g}")
        return ":".join(rows)

    stream.set("workload.pattern", "zoned", "random_distribution")
    stream.set("workload.zones", job.get("random_distribution", read, ""), "random_distribution")


def alignment_of(stream: Stream, requests: Requests) -> int | None:
    """Returns the alignment that `ba` sets; None without `ba`."""
    job = stream.job
    if "ba" not in job.options:
        return None

    def read(text: str) -> int:
        found = {block(job, part(text, kind, str(requests.smallest()))) for kind in requests.kinds}
        if len(found) > 1:
            raise values.Misfit(f"`{text}` differs between reads and writes, which is not modelled")
        return found.pop()

    return job.get("ba", read, 0)
