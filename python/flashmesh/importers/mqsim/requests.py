"""The requests that MQSim issues, one by one.

Runs with different random generators differ by chance: at some ten thousand requests by about 1 % in the mean latency
and by up to 8 % in its percentiles. The compatible configuration replays the requests of MQSim itself, so that the
remaining difference between MQSim and flashmesh is the drive.
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator
from dataclasses import dataclass
from itertools import chain, count, islice, repeat
from typing import TYPE_CHECKING, TypeAlias

from flashmesh._native import ConfigError, OutputError
from flashmesh.importers.mqsim.forms import Misfit
from flashmesh.importers.mqsim.random_numbers import exponential, normal, uniform
from flashmesh.importers.problems import WORD_MAX
from flashmesh.texts.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Places: TypeAlias = Generator[int, int, None]
"""Generator that receives the size of each request and yields its first sector."""
Request: TypeAlias = tuple[int, int, int, bool]
"""Arrival in nanoseconds, first sector in the space of the flow, sectors, and whether the request is a read."""
CHUNK = 4096
"""Number of requests in one write to the trace file."""
FIELDS = 5
"""Number of fields of a line of a trace, separated by single blanks."""
LINE_MAX = 4096
"""Maximum length of a line of a trace."""
DRAWN_BITS = 32
"""Bits of a drawn request length in MQSim, which is unsigned: a negative draw becomes a very large length."""
COUNT_BITS = 16
"""Bits of the length of a command in MQSim; longer drawn lengths are cut to their low bits."""
STAMP_MAX = 9 * 10**15
"""Maximum time stamp of a trace in ns, which leaves room for the rounds of a replay."""
NUMBER_MAX = 2**64 - 1
DIGITS_MAX = 40
"""Maximum length of a number: Python refuses to convert very long ones."""
DECIMAL, OCTAL, HEXADECIMAL = re.compile("[0-9]+"), re.compile("[0-7]+"), re.compile("0[xX][0-9a-fA-F]+")
BASES = {DECIMAL: 10, OCTAL: 8, HEXADECIMAL: 16}


@dataclass(frozen=True, slots=True)
class Space:
    """Sectors of a flow on the drive, and sectors of the MQSim input stream that receives its requests."""

    first: int
    last: int
    page_sectors: int
    stream_first: int
    """First sector of the input stream: the first sector of the flow on NVMe, of the drive behind SATA."""
    stream_last: int

    def working_set_last(self, percent: int) -> int:
        """Returns the last sector of the working set, `percent` of the space.

        A value outside 1 to 100 counts as 100.
        """
        percent = percent if 1 <= percent <= 100 else 100
        return int(self.first + (self.last - self.first) * (percent / 100.0))

    def offset(self, sector: int, sectors: int) -> int:
        """Returns the offset in the input stream of a request at a sector of the drive.

        MQSim maps a sector outside the stream into the stream by a modulo. It splits requests at page boundaries
        counted from the start of the drive, but numbers their pages from the start of the stream. The returned offset
        gives the same pieces on the same pages, with one exception: if a request of several pieces begins inside a page
        of the stream, but in the same page of the drive, MQSim puts its first two pieces on one page. Here, the first
        piece goes to the page before.
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
    """Parameters of MQSim's request generator."""

    seed: int
    requests: int
    space: Space
    """Sectors from which the first sectors of requests are drawn."""
    working_set_percent: int
    read_percent: int
    distribution: str
    """UNIFORM, HOTCOLD or STREAMING: the value of Address_Distribution without RANDOM_."""
    hot_percent: int
    alignment: int
    """Alignment of requests in sectors of the drive."""
    mean_sectors: int
    deviation: int | None
    """Standard deviation of the request sizes in sectors; None if all requests have the same size."""
    mean_gap_ns: int | None
    """Mean time between arrivals in nanoseconds; None for a fixed queue depth, with all arrivals at 0."""

    def draw(self) -> Iterator[Request]:
        """Yields the requests in order of arrival."""
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
        first, last = self.space.first, self.space.working_set_last(self.working_set_percent)
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

    @staticmethod
    def anywhere(addresses: Iterator[float], first: int, last: int) -> Places:
        """Yields first sectors drawn uniformly; a request that would exceed the last sector begins at the first sector.

        Receives the size of each request in sectors.
        """
        count = float(last - first + 1)
        sector = first
        while True:
            size = yield sector
            sector = first + int(count * next(addresses))
            if sector + size > last:
                sector = first

    def hot_and_cold(self, addresses: Iterator[float], choices: Iterator[float], first: int, last: int) -> Places:
        """Yields first sectors in the cold part with probability `hot_percent` (like MQSim), else in the hot one."""
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
        """Yields consecutive first sectors from a random start on, with gaps for the alignment.

        A request that would exceed `last` begins at `first`.
        """
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
    """Yields the requests of a trace as MQSim issues them.

    All time stamps count as nanoseconds, and sectors beyond the space of the flow are mapped into it by a modulo.

    Args:
        path: The trace.
        space: The sectors of the flow.
        percent: The replayed share of the trace; 100 for several rounds.
        rounds: The number of rounds. Time stamps of each round are relative to the last request of the round before.

    Raises:
        ConfigError: If the trace cannot be read, or holds a line that MQSim cannot read either.
    """
    count = lines_of(path, False)
    count = count * percent // 100 if rounds == 1 else count
    start = time = 0
    for _ in range(rounds):
        start = time
        for stamp, sector, sectors, reads in islice(traced(path), count):
            time = start + stamp
            # Addresses count from the start of the space; those beyond its end are mapped into it by a modulo.
            inside = sector if sector <= space.last - space.first else sector % (space.last - space.first)
            yield time, space.offset(space.first + inside, sectors), sectors, reads


def first_arrival(requests: Iterator[Request]) -> tuple[int, Iterator[Request]]:
    """Returns the arrival of the first request in nanoseconds (0 without requests), and all requests."""
    first = next(requests, None)
    return (0, iter(())) if first is None else (first[0], chain([first], requests))


def traced(path: Path, is_decimal: bool = False) -> Iterator[Request]:
    """Yields the requests of a trace, up to the first line that is not a request.

    Args:
        path: The trace.
        is_decimal: Whether sectors must be decimal numbers, as the trace readers of flashmesh require.

    Raises:
        ConfigError: If the file cannot be read, or holds a line that MQSim or flashmesh cannot replay.
    """
    last = 0
    try:
        with path.open(encoding="latin-1") as file:
            for number in count(1):
                # Reads are limited in length, since a file of another kind may consist of one endless line.
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
                    request = request_of(fields, last, is_decimal)
                except Misfit as misfit:
                    raise ConfigError(f"{path}:{number}: {misfit}") from None
                last = request[0]
                yield request
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error


def request_of(fields: list[str], last: int, is_decimal: bool) -> Request:
    """Returns the request of a line. `last` is the time stamp of the line before.

    Raises:
        Misfit: If a field is not a number, or the request cannot be replayed.
    """
    stamp = number_in(fields[0], "the time stamp", DECIMAL)
    if stamp > STAMP_MAX:
        raise Misfit(f"the time stamp {stamp} is beyond {STAMP_MAX} ns: is it a trace of MQSim?")
    if stamp < last:
        raise Misfit(f"the time stamp {stamp} is earlier than {last}, and MQSim aborts there: sort the trace by time")
    sector, sectors = (
        sectors_in(fields[2], "the first sector", is_decimal),
        sectors_in(fields[3], "the size", is_decimal),
    )
    sent = sectors % 2**COUNT_BITS
    if sent == 0:
        raise Misfit(f"the size is {sectors} sectors, and MQSim never completes such a request: remove the line")
    return stamp, sector, sent, fields[4] != "0"


def sectors_in(text: str, field: str, is_decimal: bool) -> int:
    """Returns a number of sectors in C notation: decimal, 0x.. or 0..

    Raises:
        Misfit: If the text is not such a number, or not a decimal one although it must be.
    """
    if DECIMAL.fullmatch(text) and (text[0] != "0" or text == "0"):
        return number_in(text, field, DECIMAL)
    notation = HEXADECIMAL if text[:2] in ("0x", "0X") else OCTAL
    number = number_in(text, field, notation)
    if is_decimal:
        raise Misfit(f"{field} is `{text}`, {number} in C: write it as a decimal number, or import without --physical")
    return number


def number_in(text: str, field: str, notation: re.Pattern[str]) -> int:
    """Returns a number in one notation.

    Raises:
        Misfit: If the text is not such a number, or the number does not fit in 64 bits.
    """
    if not notation.fullmatch(text):
        raise Misfit(f"{field} is `{printable(text[:WORD_MAX])}`, which is no whole number: is it a trace of MQSim?")
    if len(text) > DIGITS_MAX or (number := int(text, BASES[notation])) > NUMBER_MAX:
        raise Misfit(f"{field} is `{printable(text[:WORD_MAX])}`, which 64 bits do not hold: is it a trace of MQSim?")
    return number


def lines_of(path: Path, is_decimal: bool) -> int:
    """Returns the number of requests of a trace, as MQSim counts them; arguments as in `traced`.

    Raises:
        ConfigError: If the trace cannot be read, or holds a line that cannot be replayed.
    """
    return sum(1 for _ in traced(path, is_decimal))


def write(path: Path, requests: Iterable[Request]) -> None:
    """Writes requests as a trace of the ASCII family: time in ns, device 0, sector, sectors, 1 for a read.

    Raises:
        OutputError: If the system refuses the write.
    """
    lines = iter(requests)
    try:
        with path.open("w", encoding="ascii") as file:
            while chunk := list(islice(lines, CHUNK)):
                file.writelines(f"{time} 0 {at} {count} {reads:d}\n" for time, at, count, reads in chunk)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from error
