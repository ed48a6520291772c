"""Errors in files of others, shown like those of configurations: the place, the line, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SIZE_MAX = 16 * 1024 * 1024
"""No file that a person writes is as large, in bytes."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text and where it came from."""

    name: str
    text: str

    def line(self, number: int) -> str:
        """A line, counted from 1; empty beyond the end."""
        lines = self.text.split("\n")
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""

    def problem(self, line: int, message: str, remedy: str = "", mark: str = "") -> ConfigError:
        """An error at a line.

        Args:
            line: The line, counted from 1.
            message: What is wrong.
            remedy: What to do about it.
            mark: The part of the line to point at; all of it when the line does not hold it.
        """
        shown = self.line(line).expandtabs(4)
        at = shown.find(mark) if mark else -1
        if at < 0:
            at, mark = len(shown) - len(shown.lstrip()), shown.strip()
        margin = " " * len(str(line))
        parts = [
            message,
            f"{margin}--> {self.name}:{line}:{at + 1}",
            f"{margin} |",
            f"{line} | {shown.rstrip()}".rstrip(),
            f"{margin} | {' ' * at}{'^' * max(len(mark), 1)}",
        ]
        if remedy:
            parts += [f"{margin} |", f"{margin} = help: {remedy}"]
        return ConfigError("\n".join(parts))


def read_source(path: Path) -> tuple[Source, bytes]:
    """A file as a text to show, and as its bytes.

    Raises:
        ConfigError: When it cannot be read, or is larger than such files are.
    """
    try:
        with path.open("rb") as file:
            content = file.read(SIZE_MAX + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"{str(path)!r}: cannot be read: {reason}") from error
    if len(content) > SIZE_MAX:
        raise ConfigError(f"{path}: is larger than {SIZE_MAX // 2**20} MiB, which no such file is")
    return Source(str(path), content.decode("utf-8", "replace")), content


def suggestion(name: str, known: Iterable[str]) -> str:
    """The known name that one may have been meant to be; empty when none is near."""
    by_lower = {other.lower(): other for other in known}
    near = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.75)
    return by_lower[near[0]] if near else ""
