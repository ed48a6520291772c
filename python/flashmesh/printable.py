"""Text from outside on its way to a terminal: what would move, colour or hide something there is escaped."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from collections.abc import Iterable

LAYOUT = "\n\t"
"""What lays out a text of several lines, and hides nothing."""


def printable(text: str, keep: str = "") -> str:
    """A text with an escape in place of every character that a terminal does not show.

    These are control characters, marks that change the direction of text, invisible ones, and single surrogates. They
    are spelled as in TOML and JSON, so that such a text means the same.

    Args:
        text: Any text.
        keep: Characters that stay as they are.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in keep else escaped(character) for character in text
    )


def escaped(character: str) -> str:
    """A character by its number."""
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


class PrintableStream:
    """A stream of text behind which there may be a terminal: everything that is written is printable.

    `unguarded` is the stream itself, for what has been made printable before it was styled.
    """

    def __init__(self, stream: IO[str]) -> None:
        """Guards a stream."""
        self.unguarded = stream

    def write(self, text: str | bytes) -> int:
        """Writes a text; characters that the encoding of the stream lacks are escaped as well.

        Click writes completions as bytes, and looks for a stream of bytes first, which there is none behind a guard.
        """
        if isinstance(text, bytes):
            text = text.decode(errors="backslashreplace")
        self.unguarded.write(encodable(printable(text, LAYOUT), self.unguarded))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Writes several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        """As of the stream, but for its bytes: nothing is written there."""
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.unguarded, name)


def encodable(text: str, stream: IO[str]) -> str:
    """A text with escapes in place of the characters that the encoding of a stream lacks."""
    encoding: str | None = cast("TextIO", stream).encoding
    if text.isascii() or not encoding or encoding.lower().startswith("utf"):
        return text
    return text.encode(encoding, "backslashreplace").decode(encoding)


def unguarded(stream: IO[str] | PrintableStream) -> IO[str]:
    """The stream behind the guard, when there is one."""
    return stream.unguarded if isinstance(stream, PrintableStream) else stream
