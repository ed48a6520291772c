"""A drive as one component of a discrete-event simulator, in the manner of gem5 and SST.

The simulator has one queue of events. A component asks to be called at a time; the drive asks for the time of its own
next event, whenever that has changed. Here eight cores each compute for a while, then read a block and wait for it.
"""

from __future__ import annotations

import heapq
import itertools
from typing import TYPE_CHECKING

import flashmesh

if TYPE_CHECKING:
    from collections.abc import Callable

US = 1_000_000
"""Picoseconds, the tick of the simulator, in a microsecond."""


class Simulator:
    """The queue of events: by time, and those of one time in the order in which they were scheduled."""

    def __init__(self) -> None:
        """At time 0, without events."""
        self.now = 0
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._numbers = itertools.count()

    def schedule(self, time: int, event: Callable[[], None]) -> None:
        """Schedules an event."""
        heapq.heappush(self._events, (time, next(self._numbers), event))

    def run(self) -> None:
        """Takes all events."""
        while self._events:
            self.now, _, event = heapq.heappop(self._events)
            event()


class DriveModel:
    """The drive as a component."""

    def __init__(self, simulator: Simulator, drive: flashmesh.Drive) -> None:
        """With nothing to do."""
        self.simulator = simulator
        self.drive = drive
        self._waiting: dict[int, Callable[[], None]] = {}
        self._wake_at: int | None = None

    def read(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Reads; `done` is called when that has completed."""
        request = self.drive.submit(self.simulator.now, flashmesh.Op.READ, offset, size)
        self._waiting[request] = done
        self._follow()

    def _follow(self) -> None:
        """Asks to be called at the next event of the drive, unless that is so already."""
        at = self.drive.next_event()
        if at is not None and (self._wake_at is None or at < self._wake_at):
            self._wake_at = at
            self.simulator.schedule(at, self._wake)

    def _wake(self) -> None:
        if self.simulator.now != self._wake_at:
            return  # an earlier event came in between
        self._wake_at = None
        for request in self.drive.advance(self.simulator.now).id.tolist():
            self._waiting.pop(request)()
        self._follow()


class Core:
    """Computes, reads, and so on."""

    def __init__(self, number: int, drive: DriveModel, blocks: int) -> None:
        """Begins with this number of blocks to read."""
        self.number = number
        self.drive = drive
        self.left = blocks
        self.finished_at = 0

    def compute(self) -> None:
        """Computes for a time that differs between cores, and then reads the next block."""
        simulator = self.drive.simulator
        if self.left == 0:
            self.finished_at = simulator.now
            return
        self.left -= 1
        block = self.number * 1000 + self.left * 7 % 1000
        simulator.schedule(
            simulator.now + (3 + self.number) * US,
            lambda: self.drive.read(block * 16_384, 16_384, self.compute),
        )


def run(cores: int = 8, blocks: int = 100) -> list[int]:
    """Runs the cores to their end; gives when each was done, in picoseconds."""
    simulator = Simulator()
    drive = DriveModel(simulator, flashmesh.Drive("preset:venice-z-nand", overrides={"geometry.blocks-per-plane": 64}))
    all_cores = [Core(number, drive, blocks) for number in range(cores)]
    for core in all_cores:
        core.compute()
    simulator.run()
    return [core.finished_at for core in all_cores]


if __name__ == "__main__":
    for number, time in enumerate(run()):
        print(f"core {number} is done after {time / 1e9:.3f} ms")
