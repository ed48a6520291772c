"""The requests that MQSim issues, one for one.

Two runs that draw from different generators differ by chance alone: at some ten thousand requests by about 1 % in the
mean latency and by up to 8 % in its percentiles. So that what remains between MQSim and flashmesh is the drive, the
compatible configuration replays the requests of MQSim itself.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from itertools import chain, count, islice, repeat
from typing import TYPE_CHECKING, TypeAlias

from flashmesh._native import ConfigError, OutputError
from flashmesh.importers.mqsim.random_numbers import exponential, normal, uniform
from flashmesh.importers.problems import WORD_MAX
from flashmesh.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Places: TypeAlias = Generator[int, int, None]
"""Gives the first sector of a request for each size that is sent."""
Request: TypeAlias = tuple[int, int, int, bool]
"""Arrival in nanoseconds, first sector in the space of the flow, sectors, and whether it reads."""
CHUNK = 4096
"""Requests that are written at once."""
FIELDS = 5
"""What a line of a trace has, one blank between any two."""
LINE_MAX = 4096
"""No line of a trace is longer."""
DRAWN_BITS = 32
"""MQSim keeps a drawn length in so many bits without a sign: one below zero becomes a very large one."""
COUNT_BITS = 16
"""MQSim keeps the length of a command in so many bits."""


@dataclass(frozen=True, slots=True)
class Space:
    """The sectors of a flow on the drive, and those of the input stream of MQSim that takes its requests."""

    first: int
    last: int
    page_sectors: int
    stream_first: int
    """First sector of the input stream: that of the flow on NVMe, that of the drive behind SATA."""
    stream_last: int

    def offset(self, sector: int, sectors: int) -> int:
        """Returns where a request at a sector of the drive begins in its input stream.

        MQSim folds a sector outside the stream onto it. It cuts requests at multiples of the page size counted from
        the beginning of the drive, and numbers their pages from that of the stream. The offset returned leads to the
        same pieces on the same pages, with one exception: where a page of the stream begins within the page of the
        drive in which a request of several pieces begins, and before the request, MQSim puts the first two pieces on
        one page; here the first one goes to the page before.
        """
        first, last, page = self.stream_first, self.stream_last, self.page_sectors
        offset = sector - first if first <= sector <= last else sector % (last - first)
        shift = first % page
        if shift == 0:
            return offset
        in_page = (offset + shift) % page
        if in_page + sectors <= page:
            return offset - offset % page + in_page
        behind = offset + shift - page
        return behind if behind >= 0 else in_page


@dataclass(frozen=True, slots=True)
class SyntheticFlow:
    """What MQSim draws requests from."""

    seed: int
    requests: int
    space: Space
    """Its part of the drive."""
    working_set_percent: int
    read_percent: int
    distribution: str
    """UNIFORM, HOTCOLD or STREAMING, after RANDOM_."""
    hot_percent: int
    alignment: int
    """Requests begin at multiples of so many sectors of the drive."""
    mean_sectors: int
    deviation: int | None
    """Of the sizes; None: all are of one size."""
    mean_gap_ns: int | None
    """Between arrivals; None: a request comes when another completes."""

    def draw(self) -> Iterator[Request]:
        """Its requests, in order."""
        seeds = iter(range(self.seed, self.seed + 6))
        kinds = uniform(next(seeds))
        addresses = uniform(next(seeds))
        hot_addresses, choices = (
            (uniform(next(seeds)), uniform(next(seeds))) if self.distribution == "HOTCOLD" else (addresses, addresses)
        )
        sizes: Iterator[int] = repeat(self.mean_sectors)
        if self.deviation is not None:
            drawn = normal(next(seeds), self.mean_sectors, self.deviation)
            sizes = (math.ceil(size) % 2**DRAWN_BITS or 1 for size in drawn)
        gaps = repeat(0.0) if self.mean_gap_ns is None else exponential(next(seeds), self.mean_gap_ns)
        first, last = self.space.first, self.last()
        match self.distribution:
            case "UNIFORM":
                places = self.anywhere(addresses, first, last)
            case "HOTCOLD":
                places = self.hot_and_cold(hot_addresses, choices, first, last)
            case _:
                places = self.streaming(addresses, first, last)
        next(places)
        read_share = self.read_percent / 100
        time = 0
        for size, gap in islice(zip(sizes, gaps, strict=False), self.requests):
            time += int(gap)
            reads = next(kinds) <= read_share
            sector = places.send(size)
            sent = size % 2**COUNT_BITS
            yield time, self.space.offset(sector - sector % self.alignment, sent), sent, reads

    def last(self) -> int:
        """The last sector of the working set."""
        percent = self.working_set_percent if 1 <= self.working_set_percent <= 100 else 100
        return int(self.space.first + (self.space.last - self.space.first) * (percent / 100.0))

    @staticmethod
    def anywhere(addresses: Iterator[float], first: int, last: int) -> Places:
        """Uniform; what would reach beyond the last sector begins at the first one."""
        count = float(last - first + 1)
        sector = first
        while True:
            size = yield sector
            sector = first + int(count * next(addresses))
            if sector + size > last:
                sector = first

    def hot_and_cold(self, addresses: Iterator[float], choices: Iterator[float], first: int, last: int) -> Places:
        """Cold with the probability that the hot part has of the space, hot otherwise."""
        share = self.hot_percent / 100.0
        cold = first + int((last - first) * share) + 1
        sector = first
        while True:
            yield sector
            if next(choices) < share:
                sector = cold + int(float(last - cold + 1) * next(addresses))
            else:
                sector = first + int(float(cold - first) * next(addresses))

    def streaming(self, addresses: Iterator[float], first: int, last: int) -> Places:
        """One after the other, from anywhere, aligned up."""
        following = first + int(float(last - first + 1) * next(addresses))
        following -= following % self.alignment
        sector = first
        while True:
            size = yield sector
            sector = following if following + size <= last else first
            following += size
            if following > last:
                following = first
            following += -following % self.alignment


def replayed(path: Path, space: Space, percent: int, rounds: int) -> Iterator[Request]:
    """The requests of a trace as MQSim issues them.

    All stamps are nanoseconds, and what lies beyond the space is folded onto it.

    Args:
        path: The trace.
        space: The sectors of the flow.
        percent: How much of the trace is replayed; all of it when there are several rounds.
        rounds: How often. Each round counts its stamps from the last request of the one before.

    Raises:
        ConfigError: When the trace cannot be read, or holds what MQSim cannot read either.
    """
    count = lines_of(path)
    count = count * percent // 100 if rounds == 1 else count
    start = time = 0
    for _ in range(rounds):
        start = time
        for stamp, sector, sectors, reads in islice(traced(path), count):
            time = start + stamp
            # Within the space an address counts from the beginning of the flow's own part.
            inside = sector if sector <= space.last - space.first else sector % (space.last - space.first)
            yield time, space.offset(space.first + inside, sectors), sectors, reads


def first_arrival(requests: Iterator[Request]) -> tuple[int, Iterator[Request]]:
    """Returns the arrival of the first request in nanoseconds, 0 where there is none, and all requests."""
    first = next(requests, None)
    return (0, iter(())) if first is None else (first[0], chain([first], requests))


def traced(path: Path) -> Iterator[Request]:
    """The lines of a trace; the first that is none ends it.

    Raises:
        ConfigError: When it cannot be read, or a field is no number.
    """
    try:
        with path.open(encoding="latin-1") as file:
            for number in count(1):
                # No more than a line can need: a file of another kind may have none that ends.
                line = file.readline(LINE_MAX + 1)
                if not line:
                    return
                if len(line) > LINE_MAX:
                    raise ConfigError(
                        f"{path}:{number}: the line is longer than {LINE_MAX} bytes: is it a trace of MQSim?"
                    )
                fields = line.rstrip("\r\n").split(" ")
                if len(fields) != FIELDS:
                    return
                try:
                    stamp = whole(fields[0], "the time stamp", 10)
                    sector, sectors = unsigned(fields[2], "the first sector"), unsigned(fields[3], "the sectors")
                except ValueError as error:
                    raise ConfigError(f"{path}:{number}: {error}: is it a trace of MQSim?") from None
                yield stamp, sector, sectors % 2**COUNT_BITS, fields[4] != "0"
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error


def unsigned(text: str, field: str) -> int:
    """Returns a number as C spells it: decimal, 0x.. or 0..

    Raises:
        ValueError: When it is none.
    """
    if text[:2] in ("0x", "0X"):
        return whole(text, field, 16)
    return whole(text, field, 8 if text[:1] == "0" else 10)


def whole(text: str, field: str, base: int) -> int:
    """Returns a whole number of a field.

    Raises:
        ValueError: When it is none; the text names the field.
    """
    try:
        return int(text, base)
    except ValueError:
        raise ValueError(f"{field} is `{printable(text[:WORD_MAX])}`, which is no whole number") from None


def lines_of(path: Path) -> int:
    """Requests of a trace, as MQSim counts them.

    Raises:
        ConfigError: When it cannot be read.
    """
    return sum(1 for _ in traced(path))


def write(path: Path, requests: Iterable[Request]) -> None:
    """Writes requests as a trace of the ASCII family: time in ns, device 0, sector, sectors, 1 for a read.

    Raises:
        OutputError: When the system refuses.
    """
    lines = iter(requests)
    try:
        with path.open("w", encoding="ascii") as file:
            while chunk := list(islice(lines, CHUNK)):
                file.writelines(f"{time} 0 {at} {count} {reads:d}\n" for time, at, count, reads in chunk)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from error
