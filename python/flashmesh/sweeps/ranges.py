"""Ranges of values as text: `1..64 x2`, `10us..1ms x10`, `0%..100% +10%`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from flashmesh._native import ConfigError

UNITS: dict[str, dict[str, Fraction]] = {
    "plain numbers": {"": Fraction(1)},
    "shares": {"%": Fraction(1, 100)},
    "times": {"ps": Fraction(1), "ns": Fraction(10**3), "us": Fraction(10**6), "ms": Fraction(10**9)}
    | {"s": Fraction(10**12)},
    "sizes": {"B": Fraction(1), "kB": Fraction(10**3), "MB": Fraction(10**6), "GB": Fraction(10**9)}
    | {"KiB": Fraction(2**10), "MiB": Fraction(2**20), "GiB": Fraction(2**30), "TiB": Fraction(2**40)},
    "rates": {"B/s": Fraction(1), "kB/s": Fraction(10**3), "MB/s": Fraction(10**6), "GB/s": Fraction(10**9)},
}
"""Units by what they measure, with their factors."""
BASE_UNITS = {"plain numbers": "", "shares": "share", "times": "ps", "sizes": "B", "rates": "B/s"}
"""The units of factor 1, as results state them."""
NUMBER = r"[+-]?(?:\d[\d_]*)(?:\.\d[\d_]*)?(?:e[+-]?\d+)?"
QUANTITY = re.compile(rf"({NUMBER})([A-Za-z%/]*)")
RANGE = re.compile(
    rf"({NUMBER}[A-Za-z%/]*)\s*\.\.\s*({NUMBER}[A-Za-z%/]*)(?:\s+(?:([x+])\s*({NUMBER}[A-Za-z%/]*)|(log)))?"
)
VALUES_MAX = 100_000
"""Values that one range may have."""
DIGITS = 6
"""Digits of a number drawn between two others."""


@dataclass(frozen=True)
class Quantity:
    """A number with its unit."""

    value: Fraction
    """In the base unit."""
    unit: str
    kind: str
    """What it measures."""
    is_whole: bool
    """Whether it was written without a fraction."""

    def text(self, value: Fraction) -> str:
        """Another value in this unit."""
        number = value / UNITS[self.kind][self.unit]
        return f"{number.numerator if number.denominator == 1 else float(number)!r}{self.unit}"


@dataclass(frozen=True)
class Range:
    """The values from one to another."""

    first: Quantity
    last: Quantity
    step: str | None
    """`x` multiplies, `+` adds, `log` draws evenly over orders of magnitude; None counts by one."""
    by: Fraction

    @property
    def is_listed(self) -> bool:
        """Whether it is a list of values, rather than all numbers between two."""
        return self.step in ("x", "+") or (self.step is None and self.first.is_whole and self.last.is_whole)

    def values(self) -> list[str]:
        """All values in their order.

        Raises:
            ConfigError: When there are too many.
        """
        found: list[str] = []
        value = self.first.value
        while value <= self.last.value:
            if len(found) == VALUES_MAX:
                raise ConfigError(f"a range of more than {VALUES_MAX:,} values: give it a step, such as x2 or +10")
            found.append(self.first.text(value))
            value = value * self.by if self.step == "x" else value + self.by
        return found

    def at(self, share: float) -> str:
        """The value that lies at a share of the way, from 0 up to 1.

        Whole numbers stay whole, each as likely as the others; with a step it is one of the values of the range.
        """
        if self.step in ("x", "+"):
            values = self.values()
            return values[min(int(share * len(values)), len(values) - 1)]
        unit = UNITS[self.first.kind][self.first.unit]
        low, high = self.first.value / unit, self.last.value / unit
        is_whole = self.first.is_whole and self.last.is_whole and (high - low).denominator == 1
        end = float(high) + (1.0 if is_whole else 0.0)
        if self.step == "log":
            number = math.exp(math.log(float(low)) * (1.0 - share) + math.log(end) * share)
        else:
            number = float(low) * (1.0 - share) + end * share
        drawn = min(Fraction(math.floor(number)), high) if is_whole else Fraction(f"{number:.{DIGITS}g}")
        return self.first.text(drawn * unit)


def is_range(text: str) -> bool:
    """Whether a text is a range; a path with two dots is none."""
    return RANGE.fullmatch(text.strip()) is not None


def read_range(key: str, text: str) -> Range:
    """A range out of its text.

    Raises:
        ConfigError: When the text is none, or none that ends.
    """
    found = RANGE.fullmatch(text.strip())
    if found is None:
        raise ConfigError(
            f"{key}: {text!r} is no range: write FIRST..LAST, with a step where it is not one: 1..64 x2, 0%..100% +10%"
        )
    first, last = quantity(key, found[1]), quantity(key, found[2])
    if first.kind != last.kind:
        raise ConfigError(f"{key}: {text!r} begins with {found[1]} and ends with {found[2]}: give both the same unit")
    if last.value < first.value:
        raise ConfigError(f"{key}: {text!r} ends before it begins")
    step: str | None = found[3] or found[5]
    by = UNITS[first.kind][first.unit]
    if step == "x":
        by = plain(key, text, found[4])
        if by <= 1 or first.value <= 0:
            raise ConfigError(f"{key}: {text!r} does not end: a factor is more than 1, and the first value more than 0")
    elif step == "+":
        added = quantity(key, found[4])
        by = added.value if added.kind == first.kind else plain(key, text, found[4]) * by
        if by <= 0:
            raise ConfigError(f"{key}: {text!r} does not end: the step is more than 0")
    elif step == "log" and first.value <= 0:
        raise ConfigError(f"{key}: {text!r}: on a logarithmic scale values are more than 0")
    return Range(first, last, step, by)


def quantity(key: str, text: str) -> Quantity:
    """A number with its unit.

    Raises:
        ConfigError: When the unit is unknown.
    """
    found = QUANTITY.fullmatch(text)
    for kind, units in UNITS.items():
        if found is not None and found[2] in units:
            number = Fraction(found[1].replace("_", ""))
            return Quantity(number * units[found[2]], found[2], kind, "." not in found[1] and "e" not in found[1])
    raise ConfigError(f"{key}: {text!r} has a unit that ranges do not know")


def plain(key: str, text: str, step: str) -> Fraction:
    """A number without a unit.

    Raises:
        ConfigError: When it has one.
    """
    found = quantity(key, step)
    if found.unit:
        raise ConfigError(f"{key}: {text!r}: the step {step} has another unit than the ends")
    return found.value
