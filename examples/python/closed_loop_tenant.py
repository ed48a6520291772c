"""A tenant that reacts to latency: it issues reads as long as they are fast, beside one that writes whatever happens.

It raises its queue depth by one after every window of reads whose 99th percentile is below its goal, and halves it
after one that is not, as congestion control does. A trace cannot show that: when its requests come depends on the
drive.
"""

from __future__ import annotations

import numpy as np

import flashmesh

US = 1_000_000
"""Picoseconds in a microsecond."""
GOAL_PS = 120 * US
WINDOW = 200
WRITE_EVERY_PS = 25 * US

CONFIG = {
    "preset": "venice-z-nand",
    "geometry": {"channels": 2, "chips-per-channel": 2, "blocks-per-plane": 64},
    "stream": {"tenant": {}, "writer": {}},
}


def run(windows: int = 40) -> list[tuple[int, float]]:
    """Runs the tenant for `windows` windows. Returns the depth and the 99th percentile in us of each."""
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
        # The writer asks nobody: its requests are known up to a time before the drive is advanced to it.
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
