"""Kinds and addresses of the requests of a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh.importers.fio.notation import values
from flashmesh.importers.fio.notation.options import SKEWS
from flashmesh.importers.fio.streams.sizes import TRIM_WRITE, block, part, size_option, sizes, sizes_at, smallest_block
from flashmesh.importers.toml_text import size as size_text

if TYPE_CHECKING:
    from flashmesh.importers.fio.streams.sizes import Sizes
    from flashmesh.importers.fio.streams.stream import Stream
    from flashmesh.importers.fio.translate import Translation

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
"""Address pattern and kinds of requests (0 reads, 1 writes, 2 trims) for each value of `rw`."""
DISTRIBUTIONS = "random, zipf:THETA, pareto:H, normal:DEVIATION, zoned:... or zoned_abs:..."


@dataclass(frozen=True, slots=True)
class Requests:
    """Kinds, address pattern and sizes of the requests of a job."""

    pattern: str
    kinds: tuple[int, ...]
    sizes: dict[int, Sizes]
    """Sizes of requests with their weights, by kind: 0 reads, 1 writes, 2 trims."""

    @property
    def deallocates_first(self) -> bool:
        """Whether each write follows a trim of its block, as with `rw=trimwrite`."""
        return self.kinds == TRIM_WRITE

    @property
    def is_mix(self) -> bool:
        """Whether the kind of each request is drawn: a read or a write."""
        return self.kinds == (0, 1)

    def all_sizes(self) -> set[int]:
        """Returns the distinct request sizes of all kinds, in bytes."""
        return {size for sizes in self.sizes.values() for size, _ in sizes}

    def smallest(self) -> int:
        """Returns the smallest request size of all kinds, in bytes."""
        return min(self.all_sizes())

    def largest(self) -> int:
        """Returns the largest request size of all kinds, in bytes."""
        return max(self.all_sizes())

    def mean(self, kind: int) -> float:
        """Returns the mean size of the requests of one kind, in bytes."""
        sizes = self.sizes[kind]
        return sum(size * weight for size, weight in sizes) / sum(weight for _, weight in sizes)


def requests_of(stream: Stream) -> Requests:
    """Sets the keys for kinds, pattern, sizes and addresses of the requests; returns the requests, for further keys."""
    job = stream.job
    option = job.options.get("rw")
    word, colon, postfix = (option.value if option is not None else "read").partition(":")
    if option is not None and word not in PATTERNS:
        raise job.problem(option, f"rw: `{word}` is not modelled", f"take one of {', '.join(PATTERNS)}")
    pattern, kinds = PATTERNS[word]
    if stream.side is not None:
        kinds = (stream.side,)
    share = mix(job)
    reads = share / 100 if kinds == (0, 1) else float(kinds == (0,))
    if kinds == (0, 1):
        note_contradiction(job, share)
    if kinds == (0, 1) and reads in (0, 1):
        kinds = (0,) if reads else (1,)
    stream.set("workload.read-share", reads, "rwmixread", "rwmixwrite", "rw")
    stream.set("workload.deallocate-share", float(kinds == (2,)), "rw")
    if kinds == TRIM_WRITE:
        stream.set("workload.deallocate-first", True, "rw")
    if 2 in kinds:
        job.found.note(
            f"[{job.name}] a deallocation costs only its command and its entries of the map here; "
            "on a real drive, fio mostly measures the firmware"
        )
    if colon:
        runs(stream, pattern, postfix)
    found = Requests(pattern, kinds, sizes(stream, pattern, kinds))
    distribution(stream, found)
    return found


def mix(job: Translation) -> int:
    """Returns the percentage of reads in a mix, from the later of `rwmixread` and `rwmixwrite`."""
    reads, writes = job.options.get("rwmixread"), job.options.get("rwmixwrite")
    if reads is not None and (writes is None or writes.line < reads.line):
        return job.get("rwmixread", values.percent, 50)
    return 100 - job.get("rwmixwrite", values.percent, 50)


def note_contradiction(job: Translation, share: int) -> None:
    """Adds a note if `rwmixread` and `rwmixwrite` are not 100 % together, of which fio takes the later one."""
    if not {"rwmixread", "rwmixwrite"} <= job.options.keys():
        return
    reads, writes = (job.get(name, values.percent, 50) for name in ("rwmixread", "rwmixwrite"))
    if reads + writes != 100:
        told = f"rwmixread {reads} and rwmixwrite {writes} are not 100 % together"
        job.found.note(f"[{job.name}] {told}: the later one counts, as in fio, so {share} % of the requests read")


def runs(stream: Stream, pattern: str, postfix: str) -> None:
    """Sets the keys for the number after the colon in `rw`.

    The number is the length of sequential runs for random requests, the bytes skipped between sequential ones.
    """
    job = stream.job
    if pattern == "random":
        length = job.get("rw", lambda _: values.whole(postfix, 1, 10**9), 1)
        if length > 1:
            stream.set("workload.run-length", length, "rw")
        return
    back, text = postfix.startswith("-"), postfix.lstrip("+-")
    skip = job.get("rw", lambda _: job.bytes_of(text), 0)
    if skip:
        stream.skip = 0 if back else skip
        stream.set("workload.skip", size_text(skip), "rw")
        stream.set("workload.skip-back", back, "rw")


def distribution(stream: Stream, requests: Requests) -> None:
    """Sets the keys for the address pattern, the alignment, and the distribution of random addresses."""
    job = stream.job
    option = job.options.get("random_distribution")
    word, _, tail = (option.value if option is not None else "random").partition(":")
    number, _, center = tail.partition(":")
    stream.set("workload.pattern", requests.pattern, "rw")
    if requests.deallocates_first and requests.pattern == "random" and job.offset(stream.clone):
        job.found.note(
            f"[{job.name}] offset: with rw=randtrimwrite, fio 3.33 writes one block again and again behind the first "
            "trim; here each write follows its trim"
        )
    alignment = alignment_of(stream, requests)
    if alignment is not None:
        stream.set("workload.alignment", size_text(alignment), "ba", "bs_is_seq_rand")
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

    def parameter(_: str) -> float:
        try:
            return values.number(number or SKEWS[word])
        except values.Misfit as misfit:
            raise values.Misfit(str(misfit), remedy=f"write a number such as {word}:{SKEWS[word]}") from None

    value = job.get("random_distribution", parameter, 0.0)
    if (word, value) == ("zipf", 1.0) or (word == "pareto" and not 0 < value < 1):
        limits = "zipf takes any theta but 1" if word == "zipf" else "pareto takes a number above 0 and below 1"
        raise job.problem(option, f"random_distribution: {limits}, as in fio", f"write {word}:{SKEWS[word]}")
    stream.set(key, value / scale, "random_distribution")
    stream.hot_share = hot_share(stream, alignment)
    if center:
        job.found.note("random_distribution: the center has no effect, popular blocks are scattered over the footprint")


def hot_share(stream: Stream, alignment: int | None) -> float:
    """Returns the share of a file, from its start, that a skewed distribution covers.

    fio 3.33 draws the number of a block of the smallest size, and multiplies the number by `ba`. If `ba` is smaller
    than the block, requests reach only the start of the file.
    """
    job = stream.job
    least = smallest_block(job)
    if stream.span is not None and stream.span % least:
        job.found.note(
            f"[{job.name}] random_distribution: the last block of the file is incomplete; fio 3.33 ends a pass when "
            "it draws that block, here it is not drawn"
        )
    if alignment is None or alignment == least:
        return 1.0
    if alignment > least:
        job.found.note(
            f"[{job.name}] ba: fio 3.33 draws blocks behind the end of the file with such a random_distribution, and "
            "ends there; here all are in the file"
        )
        return 1.0
    job.found.note(
        f"[{job.name}] ba: as in fio 3.33, with such a random_distribution requests go to the first "
        f"{alignment / least:.3g} of the file"
    )
    return alignment / least


def random_map(stream: Stream, requests: Requests) -> None:
    """Sets the key by which a pass covers each block once, if the kinds of requests have the same smallest size.

    fio 3.33 numbers the blocks of each kind by the smallest size of that kind, but has one map for all kinds. A job of
    several sizes accesses some blocks twice, and ends when the map returns a number beyond the last block of a kind.
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
    """Sets the percentage of requests with a random address, of reads and of writes; other requests are sequential."""
    job = stream.job
    # In a mix of trims and writes, each write has the address of its trim, so only the trims are drawn.
    kinds = (2,) if requests.deallocates_first else requests.kinds

    def share_of(kind: int) -> int:
        return job.get("percentage_random", lambda text: values.percent(part(text, kind, "100")), 100)

    shares = {kind: share_of(kind) for kind in kinds}
    first = shares[kinds[0]]
    if first < 100:
        stream.set("workload.random-share", first / 100, "percentage_random")
    if shares.get(1, first) != first:
        stream.set("workload.write-random-share", shares[1] / 100, "percentage_random")


def zones(stream: Stream, text: str, requests: Requests, in_bytes: bool) -> None:
    """Sets the key for zones of random addresses, from `text` such as `60/10:40/90`: % of requests / % of the file.

    With `in_bytes`, the second number of a zone is its size in bytes. Zones without one of these numbers share what is
    left of 100 % equally.
    """
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
    """Returns the alignment of random requests, from `ba` or `bs_is_seq_rand`; None for the block size."""
    job = stream.job
    if "ba" not in job.options:
        return alignment_of_kind(job, requests)

    def read(text: str) -> int:
        found = {block(job, part(text, kind, str(requests.smallest()))) for kind in requests.kinds}
        if len(found) > 1:
            raise values.Misfit(f"`{text}` differs between reads and writes, which is not modelled")
        return found.pop()

    return job.get("ba", read, 0)


def alignment_of_kind(job: Translation, requests: Requests) -> int | None:
    """Returns the alignment of random requests with `bs_is_seq_rand`; None for the block size.

    fio aligns a random request to the size given for its kind.
    """
    has_map = not job.get("norandommap", values.flag, False) and "random_distribution" not in job.options
    if has_map or not job.get("bs_is_seq_rand", values.flag, False):
        return None
    found = {min(size for size, _ in sizes_at(job, size_option(job), kind)) for kind in requests.kinds}
    return found.pop() if len(found) == 1 and requests.smallest() not in found else None
