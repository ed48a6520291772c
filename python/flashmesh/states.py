"""States of preconditioned drives that are kept between runs: where, how many, and what there is.

A full drive is simulated before its first request until it is in its steady state. What takes longest of it is kept in
a folder of the user, so that the next run of such a drive begins at once. It changes no result.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flashmesh import _native
from flashmesh._native import ConfigError
from flashmesh.sizes import size_of

if TYPE_CHECKING:
    from datetime import timedelta

VARIABLE = "FLASHMESH_CACHE"
"""The environment variable that names the folder, or switches it off."""
LIMIT_VARIABLE = "FLASHMESH_CACHE_LIMIT"
"""The environment variable with the most that the folder may hold."""
OFF = "off"
LIMIT = 10 << 30
"""Bytes that the folder may hold where nothing else is said."""


@dataclass(frozen=True, slots=True)
class KeptState:
    """A state that is kept."""

    key: str
    """What its file is named by."""
    drive: str | None
    """The preset or the hash of the configuration of the drive it was made for; None when the file does not say."""
    capacity_bytes: int | None
    """Of that drive, as the host sees it."""
    made_s: int | None
    """When it was made, in seconds since 1970."""
    used_s: int
    """When it was made or read last, in seconds since 1970."""
    size_bytes: int
    """Of its file."""
    is_current: bool
    """Whether this build can use it: another one may compute another state."""


def folder() -> Path | None:
    """The folder of kept states; None when it is switched off.

    `FLASHMESH_CACHE` names it, or is "off"; else it is the folder of the user for what can be made again
    (`$XDG_CACHE_HOME/flashmesh/states`, mostly `~/.cache/flashmesh/states`).
    """
    named = os.environ.get(VARIABLE, "")
    if named == OFF:
        return None
    if named:
        return Path(named).absolute() / "states"
    # Imported here: most commands need no folder.
    import platformdirs

    return platformdirs.user_cache_path("flashmesh", appauthor=False) / "states"


def limit() -> int:
    """Bytes that the folder may hold.

    Raises:
        ConfigError: When `FLASHMESH_CACHE_LIMIT` is no size.
    """
    text = os.environ.get(LIMIT_VARIABLE, "")
    if not text:
        return LIMIT
    try:
        return size_of(text)
    except ValueError as error:
        raise ConfigError(f"{LIMIT_VARIABLE} is {text!r}: a size, such as 20GiB, is wanted") from error


def drives(one_run: bool = False) -> _native.PreparedDrives:
    """Drives that runs begin with.

    Args:
        one_run: Whether a single run asks for one, so that no copy of it stays in memory.

    Raises:
        ConfigError: When the environment says nothing that can be followed.
    """
    where = folder()
    return _native.PreparedDrives(where, limit() if where is not None else 0, one_run)


def tell_notes(drives: _native.PreparedDrives) -> None:
    """Tells what went wrong with the folder: it has cost time, and changed no result."""
    notes = drives.take_notes()
    if notes:
        from flashmesh.configuration import tell

        for note in notes:
            tell(note, "preset:", RuntimeWarning)


def kept() -> list[KeptState]:
    """The states that are kept, that used last first."""
    where = folder()
    states = _native.kept_states(where) if where is not None else []
    found = []
    for key, about, is_current, size_bytes, used_s in states:
        drive, capacity_bytes, made_s = about if about is not None else (None, None, None)
        found.append(KeptState(key, drive, capacity_bytes, made_s, used_s, size_bytes, is_current))
    return found


def clear(unused: timedelta) -> tuple[int, int]:
    """Removes the states that were not used for so long; gives how many, and their bytes.

    Raises:
        OutputError: When one cannot be removed.
    """
    where = folder()
    return _native.clear_states(where, int(unused.total_seconds())) if where is not None else (0, 0)
