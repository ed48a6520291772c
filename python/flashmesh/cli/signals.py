"""Signals that end the process: immediately while there is nothing to save, else by an exception."""

from __future__ import annotations

import os
import signal
import time

# No slow import here: until this module is loaded, Python handles signals itself.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn

    Handler = Callable[[int, FrameType | None], object]

REPEAT_S = 1.0
"""Minimum seconds between two signals for them to count as two. Sooner ones count as one, such as those of a key
pressed twice, or of `timeout`, which sends SIGTERM to the process and to its group."""
ENDING = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

WORDS = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "hung up"}
"""Message on stderr for a command that a signal ended, by the name of the signal."""

_first: tuple[int, float] | None = None
"""Number of the first signal that `raise_for` handled, and the monotonic time of the signal in seconds."""


def hold() -> None:
    """Installs handlers for the time of the imports: a signal ends the process without a traceback."""
    take(leave)


def begin() -> None:
    """Installs handlers that raise an exception, for the time of the command."""
    take(raise_for)


def end() -> None:
    """Ignores further signals if one has ended the command: at its exit Python would let them replace the exit code."""
    if _first is not None:
        take(signal.SIG_IGN)


def take(handler: Handler | signal.Handlers) -> None:
    """Installs `handler` for all signals that end the process; ignored signals, as under nohup, stay ignored."""
    for name in ENDING:
        number = signal.Signals[name]
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def leave(number: int, frame: FrameType | None) -> NoReturn:
    """Ends the process immediately."""
    if number == signal.SIGINT:
        os.write(2, b"interrupted\n")
    os._exit(128 + number)


def raise_for(number: int, frame: FrameType | None) -> None:
    """Raises KeyboardInterrupt for every signal, so that partial results are shown and files are closed.

    A second signal within `REPEAT_S` is ignored: its exception would cut short the handling of the first one, such as
    the wait for partial results or the release of a lock. A later one ends the process immediately.
    """
    global _first
    now = time.monotonic()
    if _first is None:
        _first = number, now
        raise KeyboardInterrupt
    if now - _first[1] > REPEAT_S:
        leave(number, frame)


def received() -> signal.Signals | None:
    """Returns the first signal that ended the command; None without one."""
    return signal.Signals(_first[0]) if _first is not None else None
