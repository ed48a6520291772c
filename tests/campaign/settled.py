"""Comparison of the intervals and verdicts of short runs with long runs, on random drives."""

from __future__ import annotations

import random
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import click

import flashmesh

LONGER = 20
"""Ratio of the number of requests of a long run to that of the short run."""
HELD_MIN = 0.9
REFUSED_MAX = 0.1
TRANSIENTS = ("fresh", "filling cache", "growing backlog", "first collections ahead")
PAGE_BYTES = 16 * 1024
PAGES_PER_PROGRAM = 3
"""Pages of a TLC word line."""
FAILED = 3


def drawn(seed: int, transient: str | None = None) -> dict[str, Any]:
    """Returns a small drive with a synthetic workload: randomly preconditioned, or made unsteady (`transient`)."""
    draw = random.Random(f"{seed} {transient}")
    channels, blocks, pages = draw.choice((2, 4)), draw.choice((40, 64)), 96
    chips = channels
    planes = channels * chips * 4
    raw = planes * blocks * pages * PAGE_BYTES
    # Smaller caches cannot gather a program for each plane, and stall on partial programs for seconds.
    cache = planes * PAGES_PER_PROGRAM * PAGE_BYTES * draw.choice((2, 4))
    is_paced = draw.random() < 0.7
    tables: dict[str, Any] = {
        "preset": "samsung-pm9a3",
        "seed": seed,
        "geometry": {
            "channels": channels,
            "chips-per-channel": chips,
            "blocks-per-plane": blocks,
            "pages-per-block": pages,
            "capacity": f"{int(raw * draw.choice((0.7, 0.8))) // 65536 * 64}KiB",
        },
        "fabric": {"kind": draw.choice(("bus", "pssd", "pnssd", "nossd", "venice", "ideal"))},
        "ftl": {"policy": draw.choice(("tbm", "page"))},
        "gc": {"victim": draw.choice(("greedy", "d-choices")), "paced": is_paced, "preemptible": is_paced},
        "cache": {"capacity": f"{cache // 1024}KiB"},
        "precondition": {"kind": "random"},
        "workload": {
            "pattern": "random",
            "request-size": draw.choice(("4KiB", "16KiB")),
            "read-share": draw.choice((0.3, 0.5, 0.7, 0.9)),
        },
        "replay": {"mode": "stress", "outstanding": draw.choice((4, 16, 64))},
    }
    if transient is None and draw.random() < 1 / 3:
        tables["replay"] = {"mode": "open"}
        tables["workload"]["interarrival"] = f"{draw.choice((400, 800))}us"
    match transient:
        case "fresh":
            tables["precondition"] = {"kind": "none"}
        case "filling cache":
            tables["measure"] = {"warm-up": "none"}
            tables["cache"] |= {"capacity": "64MiB", "throttle-interval": "0ps"}
            # Pure writes arrive as fast as the link transfers them, faster than any drive destages them.
            tables["workload"] |= {"request-size": "16KiB", "read-share": 0.0}
            tables["replay"]["outstanding"] = 64
        case "growing backlog":
            tables["replay"] = {"mode": "open"}
            tables["workload"]["interarrival"] = "1us"
        case "first collections ahead":
            tables["precondition"] = {"kind": "sequential"}
    return tables


@dataclass(frozen=True)
class Held:
    """Comparison of a figure: its interval in a short run, and its value in a long run."""

    drive: int
    figure: str
    short: float
    long: float
    is_held: bool


def figures(result: flashmesh.Result) -> dict[str, tuple[float | None, Any]]:
    """Returns (figure, interval) for the main figures of the measured window, by name; None for a missing one."""
    window, sure = result.measured, result.confidence
    assert window is not None
    latency, ends = window.latency_ps.all, sure.latency_ps.all
    assert latency is not None
    return {
        "IOPS": (window.iops, sure.iops),
        "mean": (latency.mean, ends.mean),
        "p99": (latency.p99, ends.p99),
        "write amplification": (window.write_amplification, sure.write_amplification),
    }


def compared(drive: int, requests: int) -> list[Held]:
    """Compares a run of a drive with few requests to one with many. Returns a comparison for each figure."""
    tables = drawn(drive)
    short, long = (
        figures(flashmesh.run(tables, overrides={"workload.requests": count}))
        for count in (requests, requests * LONGER)
    )
    found = []
    for figure, (value, interval) in short.items():
        truth = long[figure][0]
        if value is not None and truth is not None and interval is not None:
            found.append(Held(drive, figure, value, truth, interval.low <= truth <= interval.high))
    return found


def judged(drive: int, transient: str | None, requests: int) -> tuple[int, str | None, bool, tuple[str, ...]]:
    """Runs a drive. Returns its number, its transient, whether the run is judged steady, and the reasons if not."""
    result = flashmesh.run(drawn(drive, transient), overrides={"workload.requests": requests})
    return drive, transient, result.steadiness.steady, tuple(result.steadiness.reasons)


@click.command()
@click.option("--drives", default=40, show_default=True, help="Drives that run short and long.")
@click.option("--verdicts", default=60, show_default=True, help="Drives that are judged, half of them in transients.")
@click.option("--requests", default=30_000, show_default=True, help="Requests of a short run.")
def main(drives: int, verdicts: int, requests: int) -> None:
    """Hold intervals and verdicts of short runs against long runs of random drives."""
    with ThreadPoolExecutor(2) as pool:
        held = [each for found in pool.map(lambda drive: compared(drive, requests), range(drives)) for each in found]
        kinds = [None if number % 2 else TRANSIENTS[number // 2 % len(TRANSIENTS)] for number in range(verdicts)]
        verdict = list(pool.map(lambda number: judged(1_000 + number, kinds[number], requests), range(verdicts)))
    for each in held:
        if not each.is_held:
            click.echo(f"drive {each.drive}: {each.figure} {each.short:.4g}, {each.long:.4g} in the long run")
    for drive, transient, steady, reasons in verdict:
        if steady == (transient is not None):
            click.echo(f"drive {drive}: {transient or 'steady'}, judged {'steady' if steady else ', '.join(reasons)}")
    share = sum(each.is_held for each in held) / len(held)
    missed = sum(steady for _, transient, steady, _ in verdict if transient)
    settled = [steady for _, transient, steady, _ in verdict if not transient]
    refused = settled.count(False)
    click.echo(
        f"{share:.1%} of {len(held)} intervals of {drives} drives hold the value of a run {LONGER} times as long"
    )
    click.echo(
        f"{missed} of {verdicts - len(settled)} transients called steady, {refused} of {len(settled)} others refused"
    )
    sys.exit(FAILED if share < HELD_MIN or missed or refused > REFUSED_MAX * len(settled) else 0)


if __name__ == "__main__":
    main()
