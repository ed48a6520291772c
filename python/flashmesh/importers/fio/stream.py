"""One job of fio as one stream of a configuration."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from flashmesh.files import absolute
from flashmesh.importers.fio import values
from flashmesh.importers.fio.options import ENGINES_ASYNC, ENGINES_SYNC
from flashmesh.importers.problems import suggestion
from flashmesh.importers.toml_text import size as size_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashmesh.importers.fio.translate import Translation
    from flashmesh.importers.toml_text import Value

Sizes: TypeAlias = "list[tuple[int, float]]"
"""Sizes of requests with their weights."""
ENDLESS = 10**12
PATTERNS = {
    "read": ("sequential", 1, 0),
    "write": ("sequential", 0, 0),
    "trim": ("sequential", 0, 1),
    "randread": ("random", 1, 0),
    "randwrite": ("random", 0, 0),
    "randtrim": ("random", 0, 1),
    "rw": ("sequential", None, 0),
    "readwrite": ("sequential", None, 0),
    "randrw": ("random", None, 0),
}
"""What `rw` says: the pattern, the shares of reads and of deallocations; None: `rwmixread` says it."""
LOG_SAYS = (
    "rwmixread",
    "rwmixwrite",
    "bssplit",
    "blocksize_range",
    "blockalign",
    "offset",
    "offset_increment",
    "io_size",
    "loops",
    "random_distribution",
    "rate_iops",
    "rate",
    "rate_process",
    "thinktime",
    "time_based",
)
"""Options about requests, their times and their number that a log leaves nothing to say for."""


class Stream:
    """Sets the keys of one stream."""

    def __init__(self, job: Translation, prefix: str) -> None:
        """Prepares a stream of `job`."""
        self.job = job
        self.prefix = prefix

    def set(self, key: str, value: Value, *options: str) -> None:
        """Sets a key, which the first of these options that the job has asks for, or else the job as such."""
        job = self.job
        given = [job.options[name] for name in options if name in job.options]
        place = (given[0].line, job.source.line(given[0].line).strip()) if given else (job.job.line, "")
        job.found.settings[f"{self.prefix}{key}"] = value
        job.found.places[f"{self.prefix}{key}"] = place

    def log(self) -> None:
        """A job that replays a log."""
        job = self.job
        option = job.options["read_iolog"]
        for name in LOG_SAYS:
            if name in job.options:
                raise job.problem(
                    job.options[name], f"`{name}` does not go with `read_iolog`, which says it", "remove it"
                )
        try:
            path = absolute(job.folder / option.value)
            is_there = path.is_file()
        except (OSError, ValueError) as error:
            what = getattr(error, "strerror", None) or str(error)
            raise job.problem(option, f"the path cannot be used: {what}", "name a file") from None
        if not is_there:
            raise job.problem(option, f"`{path}` is not there", "the path is relative to the job file")
        self.set("workload.kind", "trace", "read_iolog")
        self.set("workload.trace", str(path), "read_iolog")
        self.set("workload.format", "auto", "read_iolog")
        if "number_ios" in job.options:
            self.set("workload.requests", job.get("number_ios", lambda text: values.whole(text, 1), 1), "number_ios")
        self.stop()
        if job.get("replay_no_stall", values.flag, False):
            if "replay_time_scale" in job.options:
                job.found.note("replay_time_scale: no effect with replay_no_stall")
            self.engine()
            return
        self.set("replay.mode", "open", "read_iolog")
        if "iodepth" in job.options:
            job.found.note(
                "iodepth: no effect, a log is replayed at its own times; replay_no_stall keeps requests in flight"
            )
        percent = job.get("replay_time_scale", lambda text: values.whole(text, 1, 10_000), 100)
        self.set("replay.time-scale", 100 / percent, "replay_time_scale")

    def synthetic(self, clone: int) -> None:
        """A job that makes up its requests."""
        job = self.job
        self.set("workload.kind", "synthetic", "rw")
        kinds = self.kinds()
        sizes = self.sizes(kinds)
        self.addresses(sizes, kinds, clone)
        self.pace(sizes, kinds)
        self.end(sizes)
        if "replay_no_stall" in job.options or "replay_time_scale" in job.options:
            job.found.note("replay_no_stall, replay_time_scale: no effect without read_iolog")

    def kinds(self) -> tuple[int, ...]:
        """What requests ask; gives which of fio's kinds (reads, writes, trims) there are."""
        job = self.job
        option = job.options.get("rw")
        word = option.value if option is not None else "read"
        if option is not None and word not in PATTERNS:
            known = ", ".join(PATTERNS)
            raise job.problem(option, f"rw: `{word}` is not modelled", f"take one of {known}")
        pattern, reads, trims = PATTERNS[word]
        mixed = self.mix()
        share = mixed / 100 if reads is None else float(reads)
        self.set("workload.read-share", share, "rwmixread", "rwmixwrite", "rw")
        self.set("workload.deallocate-share", float(trims), "rw")
        self.distribution(pattern)
        return tuple(kind for kind, there in enumerate((share > 0, share < 1 and not trims, trims)) if there)

    def mix(self) -> int:
        """Percentage of reads in a mix."""
        job = self.job

        def percent(text: str) -> int:
            return values.whole(text, 0, 100)

        writes = job.get("rwmixwrite", percent, 50)
        if "rwmixread" in job.options and "rwmixwrite" in job.options:
            option = job.options["rwmixwrite"]
            raise job.problem(option, "`rwmixread` and `rwmixwrite` say the same", "remove one")
        return job.get("rwmixread", percent, 100 - writes)

    def distribution(self, pattern: str) -> None:
        """Which blocks are drawn."""
        job = self.job
        option = job.options.get("random_distribution")
        word = option.value if option is not None else "random"
        zipf = re.fullmatch(r"zipf(?::([0-9.]+))?", word)
        if pattern == "sequential" or word == "random":
            self.set("workload.pattern", pattern, "rw")
            if pattern == "random" and not self.repeats():
                job.found.note(
                    f"[{job.name}] without norandommap fio visits every block once before it visits one again; "
                    "here each request draws its block anew"
                )
        elif zipf is not None:
            self.set("workload.pattern", "zipf", "random_distribution")
            theta = job.get("random_distribution", lambda _: values.number(zipf[1] or "1.1"), 1.1)
            self.set("workload.zipf-theta", theta, "random_distribution")
        elif option is not None:
            raise job.problem(option, f"random_distribution: `{word}` is not modelled", "take random or zipf:theta")

    def repeats(self) -> bool:
        """Whether fio itself may visit a block again before all others had their turn."""
        given = self.job.job.options
        without_map = given["norandommap"].value != "0" if "norandommap" in given else False
        return without_map or "blockalign" in self.job.options

    def sizes(self, kinds: tuple[int, ...]) -> Sizes:
        """The sizes of requests with their weights."""
        job = self.job
        read: Callable[[str], Sizes] = lambda text: [(self.block(text), 1.0)]  # noqa: E731
        name = "bs"
        for other, reader in (("blocksize_range", self.range), ("bssplit", self.split)):
            if other in job.options:
                name, read = other, reader
        sizes = job.get(name, lambda text: read(self.of_kinds(text, kinds, "4k")), [(4096, 1.0)])
        if len(sizes) == 1:
            self.set("workload.request-size", size_text(sizes[0][0]), name)
        else:
            self.set("workload.request-size", [[size_text(size), weight] for size, weight in sizes], name)
        return sizes

    def of_kinds(self, text: str, kinds: tuple[int, ...], otherwise: str = "") -> str:
        """What a value with a part for reads, writes and trims says of the kinds that there are.

        Raises:
            Misfit: When that differs between them, or is nothing and there is no `otherwise`.
        """
        parts = [part.strip() for part in text.split(",")]
        if len(parts) > 3:
            raise values.Misfit(f"`{text}` has more than three parts")
        # What is left out is like the part before it; an empty part is what fio takes without the option.
        parts += [parts[-1]] * (3 - len(parts))
        different = {parts[kind] for kind in kinds}
        if len(different) > 1:
            raise values.Misfit(f"`{text}` differs between reads and writes, which is not modelled")
        said = different.pop() or otherwise
        if not said:
            raise values.Misfit(f"`{text}` says nothing of the requests of this job")
        return said

    def block(self, text: str) -> int:
        """The size of a request."""
        size = self.job.bytes_of(text)
        if not 512 <= size <= 64 * 1024 * 1024 or size % 512:
            raise values.Misfit(f"{text}: a request has 512 B to 64 MiB, in whole sectors of 512 B")
        return size

    def split(self, text: str) -> Sizes:
        """Sizes with percentages; those without share what is left."""
        found: dict[int, float | None] = {}
        for part in text.split(":"):
            size, _, percent = part.partition("/")
            block = self.block(size)
            if block in found:
                raise values.Misfit(f"{size} is there twice")
            found[block] = float(values.whole(percent, 0, 100)) if percent else None
        left = 100 - sum(percent for percent in found.values() if percent is not None)
        open_ended = sum(1 for percent in found.values() if percent is None)
        if left < 0 or (left > 0 and not open_ended):
            raise values.Misfit(f"the percentages of `{text}` do not add up to 100")
        weights = {block: left / open_ended if percent is None else percent for block, percent in found.items()}
        return [(block, weight) for block, weight in weights.items() if weight > 0]

    def range(self, text: str) -> Sizes:
        """All multiples of the least up to the most."""
        match = re.fullmatch(r"([^-]+)-([^-]+)", text)
        if match is None:
            raise values.Misfit(f"`{text}` is not a range of sizes, such as 4k-16k")
        least, most = self.block(match[1].strip()), self.block(match[2].strip())
        if not least <= most <= 1024 * least:
            raise values.Misfit(f"`{text}`: expected the smaller first, and at most 1024 times as much")
        return [(size, 1.0) for size in range(least, most + 1, least)]

    def addresses(self, sizes: Sizes, kinds: tuple[int, ...], clone: int) -> None:
        """Where requests go."""
        job = self.job
        least = min(size for size, _ in sizes)
        alignment = job.get("blockalign", lambda text: self.block(self.of_kinds(text, kinds)), least)
        self.set("workload.alignment", size_text(alignment), "blockalign", "bssplit", "blocksize_range", "bs")
        start = job.get("offset", job.bytes_of, 0) + clone * job.get("offset_increment", job.bytes_of, 0)
        self.set("workload.footprint-start", size_text(start), "offset", "offset_increment")
        size = self.size()
        if size is not None:
            if size < max(block for block, _ in sizes):
                raise job.problem(job.options["size"], "`size` is less than one request")
            self.set("workload.footprint", size_text(size), "size")

    def size(self) -> int | None:
        """The space of a job; None: all of the drive."""
        job = self.job
        option = job.options.get("size")
        if option is not None and option.value.endswith("%"):
            if option.value != "100%":
                raise job.problem(option, "size: a share of the drive is not taken", "give it in bytes, such as 1g")
            return None
        return job.get("size", job.bytes_of, 0) or None

    def pace(self, sizes: Sizes, kinds: tuple[int, ...]) -> None:
        """When requests come."""
        job = self.job
        rated = [name for name in ("rate_iops", "rate") if name in job.options]
        if not rated:
            self.engine()
            return
        option = job.options[rated[0]]
        if len(rated) > 1:
            raise job.problem(option, "`rate_iops` and `rate` exclude each other", "remove one")
        if "thinktime" in job.options:
            raise job.problem(job.options["thinktime"], f"`thinktime` does not go with `{option.name}`", "remove one")
        read: Callable[[str], float] = lambda text: float(values.whole(text, 1))  # noqa: E731
        if option.name == "rate":
            if len(sizes) > 1:
                raise job.problem(option, "`rate` with requests of several sizes is not modelled", "take `rate_iops`")
            read = lambda text: job.bytes_of(text) / sizes[0][0]  # noqa: E731
        rates: list[float] = job.get(option.name, lambda text: self.rates(text, kinds, read), [])
        per_second = sum(rates)
        if min(rates) <= 0:
            raise job.problem(option, f"{option.name}: expected more than 0")
        if len(rates) > 1:
            self.set("workload.read-share", rates[0] / per_second, option.name)
            job.found.note(
                f"{option.name}: fio paces reads and writes each by its own rate, so the rates say how many are reads"
            )
        process = job.options.get("rate_process")
        if process is not None and process.value not in ("linear", "poisson"):
            raise job.problem(process, f"rate_process: `{process.value}` is not modelled", "take linear or poisson")
        self.set("replay.mode", "open", option.name)
        poisson = process is not None and process.value == "poisson"
        self.set("workload.arrivals", "exponential" if poisson else "constant", "rate_process", option.name)
        self.set("workload.interarrival", f"{round(10**12 / per_second)}ps", option.name)
        job.found.note(
            f"{option.name}: requests arrive at this rate whatever the drive does; iodepth does not bound them"
        )

    def rates(self, text: str, kinds: tuple[int, ...], read: Callable[[str], float]) -> list[float]:
        """Requests in a second of each kind that there is: one rate is that of each kind, not of all together.

        Raises:
            Misfit: When there is none for a kind.
        """
        return [read(self.of_kinds(text, (kind,))) for kind in kinds]

    def engine(self) -> None:
        """How many requests are in flight."""
        job = self.job
        option = job.options.get("ioengine")
        engine = option.value if option is not None else "psync"
        depth = job.get("iodepth", lambda text: values.whole(text, 1, 65_535), 1)
        think_us = job.get("thinktime", lambda text: values.time_us(text, "us"), 0)
        if engine in ENGINES_ASYNC:
            if think_us:
                raise job.problem(
                    job.options["thinktime"], f"`thinktime` is not modelled with {engine}", "take ioengine=psync"
                )
            self.set("replay.mode", "stress", "ioengine")
            self.set("replay.outstanding", depth, "iodepth", "ioengine")
        elif engine in ENGINES_SYNC:
            if depth > 1:
                job.found.note(f"iodepth {depth}: no effect, ioengine={engine} waits for each request")
            self.set("replay.mode", "closed", "ioengine")
            self.set("replay.threads", 1, "ioengine")
            self.set("replay.think-time", f"{think_us}us", "thinktime")
        elif option is not None:
            near = suggestion(engine, ENGINES_ASYNC | ENGINES_SYNC)
            raise job.problem(option, f"ioengine: `{engine}` is not modelled", f"did you mean {near}?" if near else "")

    def stop(self) -> bool:
        """When the stream ends by the clock; gives whether nothing else ends it."""
        job = self.job
        timed = job.get("time_based", values.flag, False)
        runtime = job.get("runtime", lambda text: values.time_us(text, "s"), 0)
        if timed and not runtime:
            raise job.problem(job.options["time_based"], "`time_based` without `runtime`", "say how long")
        if runtime:
            self.set("replay.stop-time", f"{runtime}us", "runtime")
        return timed

    def end(self, sizes: Sizes) -> None:
        """How many requests there are."""
        job = self.job
        if self.stop():
            self.set("workload.requests", ENDLESS)
            return
        loops = job.get("loops", lambda text: values.whole(text, 1, 10**9), 1)
        total = job.get("io_size", job.bytes_of, 0) or (self.size() or 0) * loops
        mean = sum(size * weight for size, weight in sizes) / sum(weight for _, weight in sizes)
        limits = []
        if total:
            limits.append(max(int(total / mean), 1))
        if "number_ios" in job.options:
            limits.append(job.get("number_ios", lambda text: values.whole(text, 1), 1))
        if limits:
            self.set("workload.requests", min([*limits, ENDLESS]), "number_ios", "io_size", "size")
        elif "runtime" in job.options:
            self.set("workload.requests", ENDLESS)
        else:
            raise self.job.source.problem(
                job.job.line,
                f"nothing says when the job `{job.job.name}` ends",
                "give it size, io_size, number_ios or runtime",
            )
