"""Logs of fio: detection of their version and waits, and copies with changed offsets."""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from flashmesh.installation import states

if TYPE_CHECKING:
    from collections.abc import Iterator

READ_MAX = 1 << 20
"""Number of bytes at the start of a log that are searched for waits."""
FIRST_LINES = {b"fio version 2 iolog": 0, b"fio version 3 iolog": 1}
"""First line of a log of version 2 or 3, with the number of fields before the file name in the lines below it."""
ACTIONS = (b"read", b"write", b"trim")
"""Actions in a log that have an offset and a size."""


class NoLog(Exception):  # noqa: N818 - callers turn it into an error with a place
    """Reason why the offsets of a log cannot be changed."""


def second_version(path: Path) -> tuple[bool, bool]:
    """Returns (whether a log has version 2, whether its first mebibyte has wait actions)."""
    try:
        with path.open("rb") as file:
            text = file.read(READ_MAX)
    except OSError:
        return False, False
    is_second = text.startswith(b"fio version 2 iolog")
    return is_second, is_second and any(line.split()[1:2] == [b"wait"] for line in text.splitlines())


def with_offsets(path: Path, scale: int, align: int) -> Path:
    """Returns a copy of a log with changed offsets, made on first use in the folder of such copies.

    Args:
        path: The log.
        scale: Divisor of each offset; 0 for none.
        align: Power of 2 to which the divided offsets are rounded down; 0 for none.

    Raises:
        NoLog: If the file is no log of fio, or the copy cannot be written.
    """
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError as error:
        raise NoLog(f"`{path.name}` cannot be read: {error.strerror or error}") from error
    try:
        copy = folder() / f"{digest}-{scale}-{align}.log"
        if not copy.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=copy.parent)
            written = Path(name)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.writelines(changed(path, scale, align))
                written.replace(copy)
            finally:
                written.unlink(missing_ok=True)
    except OSError as error:
        raise NoLog(f"its copy with other offsets cannot be written: {error.strerror or error}") from error
    return copy


@cache
def folder() -> Path:
    """Returns the folder of copies: beside the folder of saved drive states, or temporary if states are not saved."""
    kept = states.folder()
    return kept.parent / "logs" if kept is not None else Path(temporary().name)


@cache
def temporary() -> tempfile.TemporaryDirectory[str]:
    """Returns a folder that is removed when the process ends."""
    return tempfile.TemporaryDirectory(prefix="flashmesh-")


def changed(path: Path, scale: int, align: int) -> Iterator[bytes]:
    """Yields the lines of a log with changed offsets.

    Raises:
        NoLog: If the file is no log of fio.
    """
    with path.open("rb") as file:
        first = file.readline()
        if first.strip() not in FIRST_LINES:
            raise NoLog(f"`{path.name}` is no log of fio")
        yield first
        action_at = FIRST_LINES[first.strip()] + 1
        offset_at = action_at + 1
        for line in file:
            fields = line.split()
            if len(fields) > offset_at and fields[action_at] in ACTIONS and fields[offset_at].isdigit():
                offset = int(fields[offset_at]) // (scale or 1)
                fields[offset_at] = b"%d" % (offset - offset % (align or 1))
                yield b" ".join(fields) + b"\n"
            else:
                yield line
