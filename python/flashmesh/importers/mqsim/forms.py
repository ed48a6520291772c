"""Formats of the contents of tags, with their parsers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol, TypeAlias

Content: TypeAlias = "int | Decimal | bool | str | tuple[int, ...]"
"""Content of a tag after parsing."""
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
"""Pattern of a decimal number as C spells it."""


class Misfit(Exception):  # noqa: N818 - callers turn it into an error with a place
    """Reason why a text is not valid content of a tag."""


class Form(Protocol):
    """Interface of a format, which parses the text in a tag of an MQSim file."""

    def read(self, text: str) -> Content:
        """Parses a text.

        Raises:
            Misfit: If the text is invalid.
        """


@dataclass(frozen=True, slots=True)
class Whole:
    """Format of a whole number from `least` to `most`."""

    least: int = 0
    most: int = 2**64 - 1

    def read(self, text: str) -> int:
        """Parses a whole number."""
        if not text:
            raise Misfit("is empty: expected a whole number")
        sign = text[:1] in "+-"
        if not text[sign:].isascii() or not text[sign:].isdigit():
            raise Misfit(f"`{text}` is not a whole number")
        # Longer numbers are out of bounds, and Python refuses to convert very long numbers.
        number = int(text) if len(text) <= 40 else self.most + 1
        if not self.least <= number <= self.most:
            raise Misfit(f"{text} is not between {self.least} and {self.most}")
        return number


@dataclass(frozen=True, slots=True)
class Number:
    """Format of a decimal number from `least` to `most`."""

    least: Decimal
    most: Decimal

    def read(self, text: str) -> Decimal:
        """Parses a decimal number."""
        if not text:
            raise Misfit("is empty: expected a number")
        # `Decimal` would also accept underscores, and digits of other scripts.
        if not DECIMAL.fullmatch(text):
            raise Misfit(f"`{text}` is not a number")
        number = Decimal(text)
        if not number.is_finite() or not self.least <= number <= self.most:
            raise Misfit(f"{text} is not between {self.least} and {self.most}")
        return number


@dataclass(frozen=True, slots=True)
class Flag:
    """Format of a truth value: true or false."""

    def read(self, text: str) -> bool:
        """Parses a truth value."""
        match text.lower():
            case "":
                raise Misfit("is empty: expected true or false")
            case "true":
                return True
            case "false":
                return False
            case _:
                raise Misfit(f"`{text}` is neither true nor false (MQSim takes all but false for true)")


@dataclass(frozen=True, slots=True)
class Choice:
    """Format of one of the words `names`, in upper or lower case."""

    names: tuple[str, ...]

    def read(self, text: str) -> str:
        """Returns the word in upper case."""
        name = text.upper()
        if not name:
            raise Misfit(f"is empty: expected one of {', '.join(self.names)}")
        if name not in self.names:
            raise Misfit(f"`{text}` is not one of {', '.join(self.names)}")
        return name


@dataclass(frozen=True, slots=True)
class Indices:
    """Format of comma-separated indices of channels, chips, dies or planes.

    Like MQSim, skips empty entries, such as after a trailing comma.
    """

    def read(self, text: str) -> tuple[int, ...]:
        """Returns the indices in ascending order, each once."""
        if not text:
            raise Misfit("is empty: expected numbers between commas, such as 0,1,2,3")
        parts = [part for part in text.split(",") if part.strip()]
        try:
            return tuple(sorted({int(Whole(0, 65_535).read(part.strip())) for part in parts or [text]}))
        except Misfit as misfit:
            raise Misfit(f"{misfit}: expected numbers between commas, such as 0,1,2,3") from None


@dataclass(frozen=True, slots=True)
class Words:
    """Format of any text that is not empty."""

    def read(self, text: str) -> str:
        """Returns the text."""
        if not text:
            raise Misfit("is empty")
        return text
