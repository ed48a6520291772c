"""Errors in files of other tools, in the form of configuration errors: place, line and remedy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.texts.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SIZE_MAX = 16 * 1024 * 1024
"""Maximum size in bytes of a hand-written file."""
CUT = "..."
"""Sign for omitted text in a shown line."""
SHOWN_MAX = 100
"""Maximum number of characters shown of a line."""
WORD_MAX = 200
"""Maximum number of characters of a word in a message; longer words, quoted from a file, are cut."""


@dataclass(frozen=True, slots=True)
class Source:
    """Text of a file, with the name of the file."""

    name: str
    text: str

    def line(self, number: int) -> str:
        """Returns a line, counted from 1; empty beyond the end."""
        lines = self.text.split("\n")
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""

    def problem(
        self, line: int, message: str, remedy: str = "", mark: str = "", at: int | None = None, length: int = 1
    ) -> ConfigError:
        """Returns an error that shows a line.

        Args:
            line: The line, counted from 1.
            message: The description of the error.
            remedy: The suggestion to fix it.
            mark: The part of the line to mark; the whole line if it does not contain the part.
            at: The column to mark instead, counted from 0.
            length: The number of characters to mark there.
        """
        shown = self.place(line, mark, at, length)
        parts = [re.sub(rf"(\S{{{WORD_MAX}}})\S+", rf"\1{CUT}", printable(message)), *shown]
        if remedy:
            margin = " " * len(str(line))
            parts += [f"{margin} |", f"{margin} = help: {printable(remedy)}"]
        return ConfigError("\n".join(parts))

    def place(self, line: int, mark: str = "", at: int | None = None, length: int = 1) -> list[str]:
        """Returns the lines of an error that show a place in the source; arguments as in `problem`."""
        whole = self.line(line).expandtabs(4)
        if at is not None:
            at = len(self.line(line)[:at].expandtabs(4))
        else:
            at = whole.find(mark) if mark else -1
            if at < 0:
                at, mark = len(whole) - len(whole.lstrip()), whole.strip()
            length = len(mark)
        margin = " " * len(str(line))
        shown, first, length = excerpt(whole.rstrip(), at, length)
        return [
            f"{margin}--> {self.name}:{line}:{at + 1}",
            f"{margin} |",
            f"{line} | {shown}".rstrip(),
            f"{margin} | {' ' * first}{'^' * max(length, 1)}",
        ]


def excerpt(line: str, at: int, length: int) -> tuple[str, int, int]:
    """Returns a printable excerpt of a line around a mark, with column and length of the mark in the excerpt."""
    begin = max(at - SHOWN_MAX // 2, 0) if len(line) > SHOWN_MAX else 0
    end = min(begin + SHOWN_MAX, len(line))
    before = (CUT if begin else "") + printable(line[begin:at])
    marked = printable(line[at : min(at + length, end)])
    after = printable(line[min(at + length, end) : end]) + (CUT if end < len(line) else "")
    return before + marked + after, len(before), len(marked)


def read_source(path: Path) -> tuple[Source, bytes]:
    """Reads a file, and returns its content as a displayable text and as bytes.

    Raises:
        ConfigError: If the file cannot be read, or is too large.
    """
    try:
        with path.open("rb") as file:
            content = file.read(SIZE_MAX + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{str(path)!r}: cannot be read: {reason}") from error
    if len(content) > SIZE_MAX:
        raise ConfigError(f"{path}: is larger than {SIZE_MAX // 2**20} MiB, too large for such a file")
    return Source(str(path), content.decode("utf-8", "replace")), content


def suggestion(name: str, known: Iterable[str]) -> str:
    """Returns the known name most similar to `name`; empty if no known name is similar."""
    by_lower = {other.lower(): other for other in known}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.75)
    return by_lower[near[0]] if near else ""
