"""Processors that do not sleep while a drive is served in real time."""

from __future__ import annotations

import contextlib
import os
import struct
from pathlib import Path

WISHES = Path("/dev/cpu_dma_latency")
"""Where Linux takes wishes for how fast a processor wakes up, of root alone (kernel, power/pm_qos_interface)."""
AT_ONCE = struct.pack("i", 0)


class Awake:
    """Keeps all processors out of sleep from `begin` to `end`.

    A processor of a virtual machine that has slept may take milliseconds to wake up, and client, nbdkit and drive wait
    for one another.
    """

    def __init__(self) -> None:
        """Changes nothing yet."""
        self._wish: int | None = None

    def begin(self) -> bool:
        """States the wish; false where the machine does not take it."""
        with contextlib.suppress(OSError):
            self._wish = os.open(WISHES, os.O_WRONLY | os.O_CLOEXEC)
            os.write(self._wish, AT_ONCE)
            return True
        self.end()
        return False

    def end(self) -> None:
        """Takes it back."""
        if self._wish is not None:
            os.close(self._wish)
            self._wish = None
