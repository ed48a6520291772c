"""Kept states of preconditioned drives: their folder, its limit, and its contents.

A full drive is simulated before its first request until it is in its steady state. The state after the slowest part of
this simulation is stored in a folder of the user, so that the next run of such a drive begins sooner. Results are the
same.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flashmesh import _native
from flashmesh._native import ConfigError
from flashmesh.texts.sizes import size_of

if TYPE_CHECKING:
    from datetime import timedelta

VARIABLE = "FLASHMESH_CACHE"
"""Environment variable with the folder of kept states, or `off`."""
LIMIT_VARIABLE = "FLASHMESH_CACHE_LIMIT"
"""Environment variable with the maximum size of the folder of kept states."""
OFF = "off"
LIMIT = 10 << 30
"""Default of the maximum size of the folder of kept states, in bytes."""


@dataclass(frozen=True, slots=True)
class KeptState:
    """A kept state: the saved state of a preconditioned drive."""

    key: str
    """Name of the file of the state."""
    drive: str | None
    """Preset or configuration hash of the drive that the state was made for; None if the file does not name it."""
    capacity_bytes: int | None
    """Host-visible capacity of the drive in bytes; None if the file does not name it."""
    made_s: int | None
    """Time at which the state was made, in seconds since 1970; None if the file does not name it."""
    used_s: int
    """Time at which the state was last used, in seconds since 1970."""
    size_bytes: int
    is_current: bool
    """Whether this build can use the state; states of another build may differ, and are ignored."""


def folder() -> Path | None:
    """Returns the folder of kept states; None if disabled.

    `FLASHMESH_CACHE` is its path, or "off". The default is in the cache folder of the user
    (`$XDG_CACHE_HOME/flashmesh/states`, mostly `~/.cache/flashmesh/states`).
    """
    named = os.environ.get(VARIABLE, "")
    if named == OFF:
        return None
    if named:
        return Path(named).absolute() / "states"
    # Imported here, since most commands need no folder.
    import platformdirs

    return platformdirs.user_cache_path("flashmesh", appauthor=False) / "states"


def limit() -> int:
    """Returns the maximum size of the folder in bytes.

    Raises:
        ConfigError: If `FLASHMESH_CACHE_LIMIT` is not a size.
    """
    text = os.environ.get(LIMIT_VARIABLE, "")
    if not text:
        return LIMIT
    try:
        return size_of(text)
    except ValueError as error:
        raise ConfigError(f"{LIMIT_VARIABLE} is {text!r}: expected a size, such as 20GiB") from error


def drives(one_run: bool = False) -> _native.PreparedDrives:
    """Returns the cache of preconditioned drives for the runs of a process, in memory and in the folder of states.

    Args:
        one_run: Whether only one run follows. No copy of its drive then stays in memory.

    Raises:
        ConfigError: If the environment variables are invalid.
    """
    where = folder()
    return _native.PreparedDrives(where, limit() if where is not None else 0, one_run)


def tell_notes(drives: _native.PreparedDrives) -> None:
    """Reports problems with the folder of kept states, as notes or warnings. They cost time but change no result."""
    notes = drives.take_notes()
    if notes:
        from flashmesh.configuration import tell

        for note in notes:
            tell(note, "preset:", RuntimeWarning)


def kept() -> list[KeptState]:
    """Returns the kept states, the most recently used first."""
    where = folder()
    states = _native.kept_states(where) if where is not None else []
    found = []
    for key, about, is_current, size_bytes, used_s in states:
        drive, capacity_bytes, made_s = about if about is not None else (None, None, None)
        found.append(KeptState(key, drive, capacity_bytes, made_s, used_s, size_bytes, is_current))
    return found


def clear(unused: timedelta) -> tuple[int, int]:
    """Removes the states that were not used for at least `unused`. Returns (number of removed states, their bytes).

    Raises:
        OutputError: If a state cannot be removed.
    """
    where = folder()
    return _native.clear_states(where, int(unused.total_seconds())) if where is not None else (0, 0)
