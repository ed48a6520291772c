"""Signals that end the process: immediately while there is nothing to save, else by an exception."""

from __future__ import annotations

import os
import signal
import sys
import time

# No slow import here: until this module is loaded, Python handles signals itself.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn

    Handler = Callable[[int, FrameType | None], object]

REPEAT_S = 1.0
"""Minimum seconds between two interrupts for them to count as two. Interrupts that follow each other sooner, such as a
key pressed twice or a shell that signals its process group, count as one."""
ENDING = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

_interrupted_at: float | None = None


def hold() -> None:
    """Installs handlers for the time of the imports: a signal ends the process without a traceback."""
    take(leave)


def begin() -> None:
    """Installs handlers that raise an exception, for the time of the command."""
    take(raise_for)


def take(handler: Handler) -> None:
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
    """Raises an exception, so that partial results are shown and files are closed.

    A second interrupt within `REPEAT_S` is ignored; a later one ends the process immediately.
    """
    global _interrupted_at
    if number != signal.SIGINT:
        sys.exit(128 + number)
    now = time.monotonic()
    if _interrupted_at is None:
        _interrupted_at = now
        raise KeyboardInterrupt
    if now - _interrupted_at > REPEAT_S:
        leave(number, frame)
