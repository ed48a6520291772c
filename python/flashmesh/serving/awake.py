"""Prevention of processor sleep while a drive is served in real time."""

from __future__ import annotations

import contextlib
import os
import struct
from pathlib import Path

WISHES = Path("/dev/cpu_dma_latency")
"""Device through which Linux accepts bounds on the wake-up latency of processors, from root only."""
AT_ONCE = struct.pack("i", 0)


class Awake:
    """Bound on the wake-up latency of all processors, from `begin` to `end`.

    The processor of a virtual machine may take milliseconds to wake up, and client, nbdkit and drive wait for one
    another.
    """

    def __init__(self) -> None:
        """Creates the bound without setting it; `begin` sets it."""
        self._wish: int | None = None

    def begin(self) -> bool:
        """Sets the bound; returns False, without effect, if the system refuses it."""
        with contextlib.suppress(OSError):
            self._wish = os.open(WISHES, os.O_WRONLY | os.O_CLOEXEC)
            os.write(self._wish, AT_ONCE)
            return True
        self.end()
        return False

    def end(self) -> None:
        """Removes the bound on the wake-up latency."""
        if self._wish is not None:
            os.close(self._wish)
            self._wish = None
