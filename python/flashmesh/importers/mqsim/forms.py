"""What the text of a tag may be."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Protocol, TypeAlias

Content: TypeAlias = "int | Decimal | bool | str | tuple[int, ...]"
"""What a tag says, once read."""


class Misfit(Exception):  # noqa: N818 - becomes an error where the place is known
    """Why a text is not what a tag holds."""


class Form(Protocol):
    """A kind of content."""

    def read(self, text: str) -> Content:
        """The content of a text.

        Raises:
            Misfit: When it is none.
        """


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number."""

    least: int = 0
    most: int = 2**64 - 1

    def read(self, text: str) -> int:
        """The number."""
        sign = text[:1] in "+-"
        if not text[sign:].isascii() or not text[sign:].isdigit():
            raise Misfit(f"`{text}` is not a whole number")
        # Longer numbers are out of bounds anyway, and Python refuses to convert some of them.
        number = int(text) if len(text) <= 40 else self.most + 1
        if not self.least <= number <= self.most:
            raise Misfit(f"{text} is not between {self.least} and {self.most}")
        return number


@dataclass(frozen=True, slots=True)
class Number:
    """A number with decimals."""

    least: Decimal
    most: Decimal

    def read(self, text: str) -> Decimal:
        """The number."""
        try:
            number = Decimal(text)
        except InvalidOperation:
            raise Misfit(f"`{text}` is not a number") from None
        if not number.is_finite() or not self.least <= number <= self.most:
            raise Misfit(f"{text} is not between {self.least} and {self.most}")
        return number


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    def read(self, text: str) -> bool:
        """Whether it is true."""
        match text.lower():
            case "true":
                return True
            case "false":
                return False
            case _:
                raise Misfit(f"`{text}` is neither true nor false (MQSim takes all but false for true)")


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several words, in any case."""

    names: tuple[str, ...]

    def read(self, text: str) -> str:
        """The word as it is listed."""
        name = text.upper()
        if name not in self.names:
            raise Misfit(f"`{text}` is not one of {', '.join(self.names)}")
        return name


@dataclass(frozen=True, slots=True)
class Indices:
    """Numbers of parts, between commas; MQSim skips empty places between them, such as that after a trailing comma."""

    def read(self, text: str) -> tuple[int, ...]:
        """The numbers, each once, rising."""
        parts = [part for part in text.split(",") if part.strip()]
        try:
            return tuple(sorted({int(Whole(0, 65_535).read(part.strip())) for part in parts or [text]}))
        except Misfit as misfit:
            raise Misfit(f"{misfit}: expected numbers between commas, such as 0,1,2,3") from None


@dataclass(frozen=True, slots=True)
class Words:
    """Any text."""

    def read(self, text: str) -> str:
        """The text."""
        if not text:
            raise Misfit("is empty")
        return text
