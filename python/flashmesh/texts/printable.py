"""Escaping of foreign text for terminals, where it could move the cursor, change colours or hide text."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from collections.abc import Iterable

LAYOUT = "\n\t"
"""Harmless layout characters of multi-line texts."""


def printable(text: str, keep: str = "") -> str:
    """Returns a text with escapes instead of characters that a terminal does not display.

    These are control characters, bidirectional marks, invisible characters and lone surrogates. The escapes are those
    of TOML and JSON, so that the text keeps its meaning there.

    Args:
        text: Any text.
        keep: Characters that are not escaped.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in keep else escaped(character) for character in text
    )


def escaped(character: str) -> str:
    """Returns the escape of a character in TOML and JSON."""
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


class PrintableStream:
    """A text stream, possibly of a terminal, that escapes everything written to it.

    `unguarded` is the underlying stream, for text that was escaped before it was styled.
    """

    def __init__(self, stream: IO[str]) -> None:
        """Wraps a stream."""
        self.unguarded = stream

    def write(self, text: str | bytes) -> int:
        """Writes a text; also escapes characters that the encoding of the stream lacks.

        Accepts bytes as well: Click writes completions as bytes, and finds no byte stream in this class.
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
        """Returns attributes of the underlying stream, except its byte stream."""
        if name == "buffer":
            raise AttributeError(name)
        return getattr(self.unguarded, name)


def encodable(text: str, stream: IO[str]) -> str:
    """Returns a text with escapes for the characters that the encoding of a stream lacks."""
    encoding: str | None = cast("TextIO", stream).encoding
    if text.isascii() or not encoding or encoding.lower().startswith("utf"):
        return text
    return text.encode(encoding, "backslashreplace").decode(encoding)


def unguarded(stream: IO[str] | PrintableStream) -> IO[str]:
    """Returns the underlying stream of a `PrintableStream`; any other stream unchanged."""
    return stream.unguarded if isinstance(stream, PrintableStream) else stream
