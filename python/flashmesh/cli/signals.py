"""Signals that end the process: at once while there is nothing to save, else by an exception that saves it."""

from __future__ import annotations

import os
import signal
import sys
import time

# Nothing is imported that takes long: until this module is loaded, signals meet Python as it is.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn

    Handler = Callable[[int, FrameType | None], object]

REPEAT_S = 1.0
"""Debounce interval of interrupts: a key pressed twice, or a shell that signals its group, counts once."""
ENDING = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

_interrupted_at: float | None = None


def hold() -> None:
    """While the program is loaded, signals end it with their exit code and without a traceback."""
    take(leave)


def begin() -> None:
    """From here on signals end the program by an exception."""
    take(raise_for)


def take(handler: Handler) -> None:
    """Gives signals to a handler; those that are ignored, as under nohup, stay so."""
    for name in ENDING:
        number = signal.Signals[name]
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def leave(number: int, frame: FrameType | None) -> NoReturn:
    """Ends the process at once."""
    if number == signal.SIGINT:
        os.write(2, b"interrupted\n")
    os._exit(128 + number)


def raise_for(number: int, frame: FrameType | None) -> None:
    """Ends by an exception, so that partial results are shown and files are closed.

    A second interrupt does not spoil that; a later one, when somebody has waited for the end, ends the process at once.
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
