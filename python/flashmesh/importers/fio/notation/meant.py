"""Spellings that fio 3.33 misreads without an error: what it reads, and what to write instead.

fio reads the digits at the beginning of a number, and takes the suffix that follows them directly. So it reads `0.3` as
0, `1.5g` as 1 byte, and `5sec` as 5 us, since `sec` is none of its units.
"""

from __future__ import annotations

import re
from fractions import Fraction

TIMES = {"d": 86_400 * 10**6, "h": 3_600 * 10**6, "m": 60 * 10**6, "s": 10**6, "ms": 1_000, "us": 1}
"""fio's units of time, in microseconds."""
WORDS = {
    "d": "d day days",
    "h": "h hr hrs hour hours",
    "m": "m min mins minute minutes",
    "s": "s sec secs second seconds",
    "ms": "ms msec msecs millisecond milliseconds",
    "us": "us usec usecs microsecond microseconds",
}
"""Words that people write for fio's units of time."""
UNITS = {word: unit for unit, words in WORDS.items() for word in words.split()}
PART = re.compile(r"([0-9]*\.?[0-9]+|[0-9]+\.)\s*([a-z]*)\s*")
"""A number with a word behind it."""
PREFIXES = ("", "k", "m", "g", "t", "p")
LEADING = re.compile(r"[0-9]+")
"""Digits at the beginning of a text."""
DIGITS_MAX = 18
"""Maximum length of a text for which a replacement is computed."""


def parts(text: str) -> list[tuple[Fraction, str]]:
    """Returns the numbers of a text with their words, such as 1 h and 30 m of `1h30m`; empty for other texts."""
    found: list[tuple[Fraction, str]] = []
    at, lower = 0, text.strip().lower()
    while len(text) <= DIGITS_MAX and (match := PART.match(lower, at)) is not None:
        found.append((Fraction(match[1]), match[2]))
        at = match.end()
    return found if at == len(lower) else []


def time(text: str, unit: str) -> str:
    """Returns the time that somebody means by a text, in fio's notation; empty if that is not known.

    `unit` is the unit of a number without a word.
    """
    clock = re.fullmatch(r"(?:([0-9]{1,4}):)?([0-9]{1,2}):([0-9]{1,2})", text)
    if clock is not None:
        hours, minutes, seconds = (int(each or 0) for each in clock.groups())
        return time_text(Fraction((3_600 * hours + 60 * minutes + seconds) * 10**6))
    found = parts(text)
    units = [UNITS.get(word or unit) for _, word in found]
    if not found or None in units:
        return ""
    return time_text(sum((number * TIMES[str(of)] for (number, _), of in zip(found, units, strict=True)), Fraction()))


def time_text(microseconds: Fraction) -> str:
    """Returns a time in the largest unit of fio in which it is a whole number; empty below a microsecond."""
    unit = next((unit for unit, factor in TIMES.items() if microseconds and microseconds % factor == 0), "")
    return f"{microseconds // TIMES[unit]}{unit}" if unit else ""


def time_read(text: str, unit: str) -> str:
    """Returns the time as which fio 3.33 reads a text; empty if fio refuses the text."""
    digits = LEADING.match(text)
    if digits is None:
        return ""
    rest = text[digits.end() :].lower()
    if not rest[:1].isalpha():
        return f"{digits[0]}{unit}"
    known = next((each for each in ("us", "ms") if rest.startswith(each)), "")
    return f"{digits[0]}{known or (rest if rest in TIMES else 'us')}"


def size(text: str, kb_base: int) -> str:
    """Returns the size that somebody means by a text with a fraction, in fio's notation; empty if that is not known."""
    found = parts(text)
    if len(found) != 1 or found[0][1][:1] not in PREFIXES:
        return ""
    (number, word), base = found[0], kb_base
    count = number * base ** PREFIXES.index(word[:1])
    if count % 1 or not count:
        return ""
    place = next(place for place in range(len(PREFIXES) - 1, -1, -1) if count % base**place == 0)
    return f"{count // base**place}{PREFIXES[place]}"


def size_read(text: str) -> str:
    """Returns the number of bytes as which fio 3.33 reads a text with a fraction; empty for other texts."""
    match = re.match(r"([0-9]+)\.", text)
    return "" if match is None else f"{int(match[1]):,} byte{'' if int(match[1]) == 1 else 's'}"
