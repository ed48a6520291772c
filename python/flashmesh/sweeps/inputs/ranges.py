"""Ranges of values as text: `1..64 x2`, `10us..1ms x10`, `0%..100% +10%`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

UNITS: dict[str, dict[str, Fraction]] = {
    "plain numbers": {"": Fraction(1)},
    "shares": {"%": Fraction(1, 100)},
    "times": {"ps": Fraction(1), "ns": Fraction(10**3), "us": Fraction(10**6), "ms": Fraction(10**9)}
    | {"s": Fraction(10**12)},
    "sizes": {"B": Fraction(1), "kB": Fraction(10**3), "MB": Fraction(10**6), "GB": Fraction(10**9)}
    | {
        "TB": Fraction(10**12),
        "KiB": Fraction(2**10),
        "MiB": Fraction(2**20),
        "GiB": Fraction(2**30),
        "TiB": Fraction(2**40),
    },
    "rates": {"B/s": Fraction(1), "kB/s": Fraction(10**3), "MB/s": Fraction(10**6), "GB/s": Fraction(10**9)},
}
"""Units of each kind of quantity, with their factors to the base unit."""
BASE_UNITS = {"plain numbers": "", "shares": "share", "times": "ps", "sizes": "B", "rates": "B/s"}
"""Base unit of each kind of quantity, as in results."""
NUMBER = r"[+-]?(?:\d[\d_]*)(?:\.\d[\d_]*)?(?:e[+-]?\d+)?"
QUANTITY = re.compile(rf"({NUMBER})([A-Za-z%/]*)")
RANGE = re.compile(
    rf"({NUMBER}[A-Za-z%/]*)\s*\.\.\s*({NUMBER}[A-Za-z%/]*)(?:\s+(?:([x+])\s*({NUMBER}[A-Za-z%/]*)|(log)))?"
)
VALUES_MAX = 100_000
"""Maximum number of values of a listed range."""
SHOWN_MAX = 10**30
"""Largest number of values that an error prints in digits."""
LENGTH_MAX = 400
"""Maximum length of a number in characters."""
EXPONENT_MAX = 200
"""Maximum order of magnitude of a number, so that it fits in floating point."""
EXACT_MAX = 1000
"""Maximum number of values of a range with a factor for which the values are computed as exact fractions."""
PRODUCT_DIGITS = 60
"""Digits with which the values of a longer range are computed, so that errors stay below floating point precision."""
SHOWN_DIGITS = 30
"""Maximum number of characters of an invalid number that an error shows."""
DIGITS = 6
"""Significant digits of a number drawn from a continuous range."""


@dataclass(frozen=True)
class Quantity:
    """A number with its unit."""

    value: Fraction
    """The number in the base unit of its kind."""
    unit: str
    kind: str
    """Kind of quantity, a key of `UNITS`."""
    is_whole: bool
    """Whether the number was written without a decimal point or exponent."""

    def text(self, value: Fraction) -> str:
        """Returns another value in base units as text in the unit of this quantity."""
        number = value / UNITS[self.kind][self.unit]
        return f"{number.numerator if number.denominator == 1 else float(number)!r}{self.unit}"


@dataclass(frozen=True)
class Range:
    """A range of values between two bounds."""

    first: Quantity
    last: Quantity
    step: str | None
    """Step of the range: `x` multiplies, `+` adds, `log` draws evenly over orders of magnitude; None for no step.
    Without a step, a range of whole numbers has all of them, and any other range is continuous."""
    by: Fraction

    @property
    def is_listed(self) -> bool:
        """Whether the range is a list of values, not continuous."""
        return self.step in ("x", "+") or (self.step is None and self.first.is_whole and self.last.is_whole)

    @cached_property
    def count(self) -> int:
        """Number of values of a listed range, computed without the list; `SHOWN_MAX` if the factor is too near to 1.

        With a factor, the number may be off by one.
        """
        span = self.last.value - self.first.value
        if self.step != "x":
            return span // self.by + 1
        if self.first.value * self.by > self.last.value:
            return 1
        factor = math.log1p(float(self.by - 1)) if self.by < 2 else logarithm(self.by)
        if factor == 0.0:
            return SHOWN_MAX
        # Rounding can change the result by 1. This is harmless: the count of a range with a factor is only compared
        # with limits.
        return int((logarithm(self.last.value) - logarithm(self.first.value)) / factor) + 1

    def refuse_too_many(self, key: str) -> None:
        """Refuses a range with too many values, before any value is computed.

        Raises:
            ConfigError: If the range has too many values, or a step that does not change a value.
        """
        if self.count > VALUES_MAX:
            told = f"{self.count:,}" if self.count < SHOWN_MAX else "far more"
            raise ConfigError(
                f"{key}: a range of {told} values: at most {VALUES_MAX:,} are allowed; "
                "give it a larger step, such as x2 or +10"
            )
        if self.count > 1 and not self.is_moving:
            raise ConfigError(f"{key}: the step is too small to change a value: give it a larger one")

    @property
    def is_moving(self) -> bool:
        """Whether a step changes the text of the value, at both ends of the range."""
        if self.step == "x":
            pairs = [(self.first.value, self.first.value * self.by), (self.last.value / self.by, self.last.value)]
        else:
            pairs = [(self.first.value, self.first.value + self.by), (self.last.value - self.by, self.last.value)]
        return all(self.first.text(value) != self.first.text(after) for value, after in pairs)

    def values(self) -> list[str]:
        """Returns all values in ascending order.

        Raises:
            ConfigError: If there are too many.
        """
        self.refuse_too_many("the values")
        return list(self._listed)

    @cached_property
    def _listed(self) -> tuple[str, ...]:
        if self.step == "x" and self.count > EXACT_MAX:
            return tuple(self._products())
        found: list[str] = []
        value = self.first.value
        while value <= self.last.value:
            found.append(self.first.text(value))
            value = value * self.by if self.step == "x" else value + self.by
        return tuple(found)

    def _products(self) -> Iterator[str]:
        """Yields the values of a long range with a factor, rounded to `PRODUCT_DIGITS`.

        Exact fractions would grow without bound.
        """
        with localcontext(prec=PRODUCT_DIGITS):
            unit = UNITS[self.first.kind][self.first.unit]
            value, last, by = map(decimal, (self.first.value / unit, self.last.value / unit, self.by))
            last *= 1 + Decimal(10) ** (DIGITS - PRODUCT_DIGITS + len(str(VALUES_MAX)))
            yield self.first.text(self.first.value)
            while (value := value * by) <= last:
                yield f"{float(value)!r}{self.first.unit}"

    def value(self, index: int) -> str:
        """Returns the value at an index of a listed range."""
        return self._listed[index] if self.step == "x" else self.first.text(self.first.value + index * self.by)

    def at(self, share: float) -> str:
        """Returns the value at position `share` of the range; `share` is in [0, 1).

        With a step, returns a listed value. Without one, all whole numbers between whole bounds are equally likely.
        """
        if self.step in ("x", "+"):
            count = len(self._listed) if self.step == "x" else self.count
            return self.value(min(int(share * count), count - 1))
        unit = UNITS[self.first.kind][self.first.unit]
        low, high = self.first.value / unit, self.last.value / unit
        is_whole = self.first.is_whole and self.last.is_whole and (high - low).denominator == 1
        end = float(high) + (1.0 if is_whole else 0.0)
        if self.step == "log":
            number = math.exp(math.log(float(low)) * (1.0 - share) + math.log(end) * share)
        else:
            number = float(low) * (1.0 - share) + end * share
        drawn = Fraction(math.floor(number)) if is_whole else Fraction(f"{number:.{DIGITS}g}")
        return self.first.text(min(max(drawn, low), high) * unit)


def logarithm(value: Fraction) -> float:
    """Returns the natural logarithm of a number that may be out of the range of floating point."""
    return math.log(value.numerator) - math.log(value.denominator)


def decimal(value: Fraction) -> Decimal:
    """Returns a fraction as a decimal in the precision of the context."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def is_range(text: str) -> bool:
    """Returns whether a text has the form of a range; a path with two dots is not a range."""
    return RANGE.fullmatch(text.strip()) is not None


def read_range(key: str, text: str) -> Range:
    """Reads a range.

    Raises:
        ConfigError: If the text is not a range, or the range would have no end.
    """
    found = RANGE.fullmatch(text.strip())
    if found is None:
        raise ConfigError(
            f"{key}: {text!r} is not a range: write FIRST..LAST, with a step if it is not 1: 1..64 x2, 0%..100% +10%"
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
            raise ConfigError(f"{key}: {text!r} never ends: the factor must be above 1, and the first value above 0")
    elif step == "+":
        added = quantity(key, found[4])
        by = added.value if added.kind == first.kind else plain(key, text, found[4]) * by
        if by <= 0:
            raise ConfigError(f"{key}: {text!r} never ends: the step must be above 0")
    elif step == "log" and first.value <= 0:
        raise ConfigError(f"{key}: {text!r}: values on a logarithmic scale must be above 0")
    found_range = Range(first, last, step, by)
    if step in ("x", "+"):
        found_range.refuse_too_many(key)
    return found_range


def quantity(key: str, text: str) -> Quantity:
    """Reads a number with its unit.

    Raises:
        ConfigError: If the unit is unknown.
    """
    found = QUANTITY.fullmatch(text)
    for kind, units in UNITS.items():
        if found is not None and found[2] in units:
            number = number_of(key, found[1])
            return Quantity(number * units[found[2]], found[2], kind, "." not in found[1] and "e" not in found[1])
    raise ConfigError(f"{key}: {text!r} has a unit that ranges do not support")


def number_of(key: str, text: str) -> Fraction:
    """Reads a number.

    Raises:
        ConfigError: If the number has too many digits, or is too large or too small for any key.
    """
    _, _, exponent = text.lower().replace("_", "").partition("e")
    if len(text) <= LENGTH_MAX and abs(int(exponent or 0)) <= EXPONENT_MAX:
        number = Fraction(text.replace("_", ""))
        limit = Fraction(10) ** EXPONENT_MAX
        if number == 0 or 1 / limit <= abs(number) <= limit:
            return number
    shown = text if len(text) <= SHOWN_DIGITS else f"{text[:SHOWN_DIGITS]}..."
    raise ConfigError(
        f"{key}: {shown} is not a number that a key can have: the limits are 10^-{EXPONENT_MAX} and 10^{EXPONENT_MAX}"
    )


def plain(key: str, text: str, step: str) -> Fraction:
    """Reads a number without a unit.

    Raises:
        ConfigError: If the number has a unit.
    """
    found = quantity(key, step)
    if found.unit:
        raise ConfigError(
            f"{key}: {text!r}: {step} has a wrong unit: a factor has none, a step has the unit of the ends"
        )
    return found.value
