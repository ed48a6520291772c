"""A tenant that adapts its queue depth to the latency of its reads, beside a writer with a constant rate.

After every `WINDOW` reads, the tenant compares the 99th percentile of their latency with a goal. Below the goal it
raises its queue depth by one; otherwise it halves its queue depth, as congestion control does. A trace cannot show this
behaviour, since the arrival times of the reads depend on the latency of earlier reads.
"""

from __future__ import annotations

import numpy as np

import flashmesh

US = 1_000_000
"""Picoseconds in a microsecond."""
GOAL_PS = 120 * US
"""Goal of the tenant for the 99th percentile of read latency, in picoseconds."""
WINDOW = 200
"""Number of reads after which the tenant adapts its queue depth; a step may complete a few more."""
WRITE_EVERY_PS = 25 * US
"""Time from one write of the writer to the next, in picoseconds."""

CONFIG = {
    "preset": "venice-z-nand",
    "geometry": {"channels": 2, "chips-per-channel": 2, "blocks-per-plane": 64},
    "stream": {"tenant": {}, "writer": {}},
}


def run(windows: int = 40) -> list[tuple[int, float]]:
    """Runs the tenant for `windows` windows. Returns (queue depth, 99th percentile of latency in us) of each window."""
    drive = flashmesh.Drive(CONFIG)
    random = np.random.default_rng(1)
    depth, seen = 1, []
    latencies: list[int] = []
    tenants: set[int] = set()
    next_write = 0
    while len(seen) < windows:
        while len(tenants) < depth:
            page = int(random.integers(16_384))
            tenants.add(drive.submit(drive.now_ps, flashmesh.Op.READ, page * 4096, 4096, stream=0))
        # The writer does not wait for completions: submit all of its writes up to the time to which the drive advances.
        horizon = drive.now_ps + 10 * WRITE_EVERY_PS
        while next_write <= horizon:
            page = int(random.integers(16_384))
            drive.submit(next_write, flashmesh.Op.WRITE, page * 4096, 4096, stream=1)
            next_write += WRITE_EVERY_PS
        done = drive.advance_to_completion(horizon)
        for request, latency in zip(done.id.tolist(), done.latency_ps.tolist(), strict=True):
            if request in tenants:
                tenants.remove(request)
                latencies.append(latency)
        if len(latencies) >= WINDOW:
            p99 = float(np.percentile(latencies, 99))
            seen.append((depth, p99 / US))
            depth = depth + 1 if p99 < GOAL_PS else max(1, depth // 2)
            latencies.clear()
    return seen


if __name__ == "__main__":
    for depth, p99_us in run():
        print(f"depth {depth:3}: p99 {p99_us:7.1f} us")
