"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flashmesh._native import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Gives a temporary file beside `path`, and moves it there when the block ends without an exception.

    The temporary file is made at once, so that a folder that cannot be written shows before the work, not after it.
    A path that is there and no plain file (a pipe, a device) is given as it is.

    Raises:
        OutputError: When the file cannot be made.
    """
    path = Path(path)
    try:
        unusable = b"\0" in os.fsencode(path)
    except UnicodeError:
        unusable = True
    if unusable:
        raise OutputError(f"{str(path)!r}: is no name of a file")
    if path.is_dir():
        raise OutputError(f"{path}: is a folder, not a file")
    if path.exists() and not path.is_file():
        yield path
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.open("xb").close()
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from error
    try:
        yield temporary
        try:
            temporary.replace(path)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Writes a text, down to the disk.

    Raises:
        OutputError: When the system refuses.
    """
    try:
        with path.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror}") from error
