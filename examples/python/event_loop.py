"""A drive as one component of a discrete-event simulator, in the manner of gem5 and SST.

The simulator has one queue of events, in which each component schedules calls of its methods. `DriveModel` schedules a
call at the time of the next event of the drive, and advances the drive in this call. In the example, eight cores each
compute for a while, then read a block from the drive and wait for the data.
"""

from __future__ import annotations

import heapq
import itertools
from typing import TYPE_CHECKING

import flashmesh

if TYPE_CHECKING:
    from collections.abc import Callable

US = 1_000_000
"""Picoseconds in a microsecond. The simulator counts time in picoseconds, as the drive does."""


class Simulator:
    """A queue of events in order of time; events of the same time keep the order in which they were scheduled."""

    def __init__(self) -> None:
        """Creates a simulator at time 0, without events."""
        self.now = 0
        self._events: list[tuple[int, int, Callable[[], None]]] = []
        self._numbers = itertools.count()

    def schedule(self, time: int, event: Callable[[], None]) -> None:
        """Schedules a call of `event` at `time`, in picoseconds."""
        heapq.heappush(self._events, (time, next(self._numbers), event))

    def run(self) -> None:
        """Calls the events in order until none is left. `now` is the time of the current event."""
        while self._events:
            self.now, _, event = heapq.heappop(self._events)
            event()


class DriveModel:
    """Component that connects a drive to the simulator."""

    def __init__(self, simulator: Simulator, drive: flashmesh.Drive) -> None:
        """Creates a component for a drive without outstanding requests."""
        self.simulator = simulator
        self.drive = drive
        self._waiting: dict[int, Callable[[], None]] = {}
        self._wake_at: int | None = None

    def read(self, offset: int, size: int, done: Callable[[], None]) -> None:
        """Starts a read of `size` bytes at a byte offset. The component calls `done` when the read has completed."""
        request = self.drive.submit(self.simulator.now, flashmesh.Op.READ, offset, size)
        self._waiting[request] = done
        self._follow()

    def _follow(self) -> None:
        """Schedules `_wake` at the next event of the drive, unless a call by then is already scheduled."""
        at = self.drive.next_event()
        if at is not None and (self._wake_at is None or at < self._wake_at):
            self._wake_at = at
            self.simulator.schedule(at, self._wake)

    def _wake(self) -> None:
        """Advances the drive to the present, and calls `done` of each read that has completed."""
        if self.simulator.now != self._wake_at:
            return  # obsolete: a call at an earlier time was scheduled afterwards
        self._wake_at = None
        for request in self.drive.advance(self.simulator.now).id.tolist():
            self._waiting.pop(request)()
        self._follow()


class Core:
    """Processor core that alternately computes and reads a block from the drive."""

    def __init__(self, number: int, drive: DriveModel, blocks: int) -> None:
        """Creates core `number`, which will read `blocks` blocks from the drive. `compute` starts it."""
        self.number = number
        self.drive = drive
        self.left = blocks
        self.finished_at = 0

    def compute(self) -> None:
        """Computes for a time that differs between cores, then reads the next block; ends after the last block."""
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
    """Simulates the cores until all have read their blocks. Returns the time at which each ended, in picoseconds."""
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
