"""Probe of real time: the latency between client and server, and the shortest drive latency that can be served."""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flashmesh import configuration
from flashmesh.serving.client import read_latencies
from flashmesh.serving.server import Server, Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from flashmesh._native import Config
    from flashmesh.serving.figures import Figures

AT_ONCE = 0.001
"""Time scale at which the drive replies at once: 100 us of simulated time take 100 ns."""
SMALL = {"geometry.blocks-per-plane": 64}
"""Settings of a small drive for measuring the latency between client and server, which does not depend on the drive."""
USUAL = 7.0
"""Time scale at which the small drive reads in about 50 us. An idle processor sleeps during this time and must wake
up."""
READ_BYTES = 4096
WARM = 200
"""Number of reads before the measured ones, which are not counted."""
TARGETS_US = (5, 10, 15, 20, 30, 50, 100, 200)
SHARE, SLACK_US = 0.1, 2.0
"""Allowed difference between the median latencies of client and drive: a share of that of the drive, plus a time."""


@dataclass(frozen=True, slots=True)
class Step:
    """Latencies that a client sees, for a drive with reads of `target_us`."""

    target_us: float
    p50_us: float
    p99_us: float

    @property
    def holds(self) -> bool:
        """Whether the median latency of the client equals the latency of the drive, within `SHARE` and `SLACK_US`."""
        return abs(self.p50_us - self.target_us) <= SHARE * self.target_us + SLACK_US


@dataclass(frozen=True, slots=True)
class Probed:
    """Result of a probe: the latencies that the client of a served drive sees."""

    way: Step
    """Latencies of the client with a drive that replies at once: the time between client and server."""
    steps: tuple[Step, ...]

    @property
    def lowest_us(self) -> float | None:
        """Shortest tried drive latency, in microseconds, from which on the client sees the latency of the drive.

        None if the client does not see the longest tried latency.
        """
        lowest = None
        for step in reversed(self.steps):
            if not step.holds:
                break
            lowest = step.target_us
        return lowest


def quantile(values: Sequence[int], share: float) -> float:
    """Returns the quantile `share` of times in nanoseconds, in microseconds."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)] / 1000


def measured(
    config: Config, settings: Settings, requests: int, on_note: Callable[[str], None]
) -> tuple[list[int], Figures]:
    """Serves a drive, and returns the latencies of random reads at depth 1 in nanoseconds, and its counters."""
    with Server(config, settings, on_note) as server:
        pages = server.figures.size // READ_BYTES
        draw = random.Random(1)
        offsets = [draw.randrange(pages) * READ_BYTES for _ in range(WARM + requests)]
        latencies = read_latencies(settings.socket, offsets, READ_BYTES)
        while server.figures.requests < len(offsets) and server.watch(0.3):
            server.require_serving()
        return latencies[WARM:], server.figures


def way_ns(queue_depth: int, on_note: Callable[[str], None], requests: int = 1000) -> int:
    """Returns the latency between client and server in ns: the client's median minus the drive's mean, at least 0.

    If the server sends replies this much earlier, the client sees the latency of the drive.
    """
    config = configuration.load("preset:venice-z-nand", overrides=SMALL)
    with tempfile.TemporaryDirectory(prefix="flashmesh-") as folder:
        settings = Settings(Path(folder) / "way", time_scale=USUAL, queue_depth=queue_depth)
        latencies, figures = measured(config, settings, requests, on_note)
    drive_ns = USUAL * figures.latency_ps / figures.requests / 1000
    return max(int(sorted(latencies)[len(latencies) // 2] - drive_ns), 0)


def step_of(
    config: Config, settings: Settings, target_us: float, requests: int, on_note: Callable[[str], None]
) -> Step:
    """Serves a drive, and returns the latencies that a client sees; `settings` make its reads take `target_us`."""
    seen, _ = measured(config, settings, requests, on_note)
    return Step(target_us, quantile(seen, 0.5), quantile(seen, 0.99))


def probe(
    config: Config,
    queue_depth: int,
    on_note: Callable[[str], None],
    requests: int = 1000,
    targets: Sequence[float] = TARGETS_US,
) -> Probed:
    """Serves a drive at several time scales, and compares the latencies of client and drive."""
    with tempfile.TemporaryDirectory(prefix="flashmesh-") as folder:
        socket = Path(folder) / "probe"
        settings = Settings(socket, time_scale=AT_ONCE, queue_depth=queue_depth)
        latencies, figures = measured(config, settings, requests, on_note)
        mean_us = figures.latency_ps / figures.requests / 1e6
        ahead_ns = way_ns(queue_depth, on_note)
        way = Step(0.0, quantile(latencies, 0.5), quantile(latencies, 0.99))

        def steps() -> Iterator[Step]:
            for target in targets:
                scaled = Settings(socket, time_scale=target / mean_us, queue_depth=queue_depth, ahead_ns=ahead_ns)
                step = step_of(config, scaled, target, requests, on_note)
                # Repeat a step that fails once, since other work on the machine may have interfered.
                yield step if step.holds else step_of(config, scaled, target, requests, on_note)

        return Probed(way, tuple(steps()))
