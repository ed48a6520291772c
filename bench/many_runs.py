"""`python -m bench.many_runs`: processor time and wall time to report on many runs, and to list them in a table."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import click

from bench import measure

SWEEP = """config = "preset:venice-z-nand"
seeds = {seeds}
[set]
"workload.requests" = 100
[axes]
"fabric.kind" = ["bus", "pssd", "pnssd", "ideal"]
"replay.outstanding" = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
"flash.read-time" = ["1us", "3us", "10us", "30us", "60us"]
"""
POINTS = 4 * 10 * 5
COMMAND = [sys.executable, "-c", "from flashmesh.cli import main; main()"]


def taken(arguments: list[str], folder: Path, rounds: int) -> str:
    """Runs a flashmesh command `rounds` times. Returns the minimum processor time and wall time in seconds, as text."""
    processor, wall = [], []
    for _ in range(rounds):
        start = time.monotonic()
        processor.append(measure.run([*COMMAND, *arguments], folder=folder).cpu_s)
        wall.append(time.monotonic() - start)
    return f"{min(processor):6.2f} s of processor time, {min(wall):6.2f} s"


@click.command()
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1), help="Measurements of each.")
def main(rounds: int) -> None:
    """Measure what it takes to look at 1,000 and at 10,000 runs of a sweep."""
    for seeds in (5, 50):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "many.toml").write_text(SWEEP.format(seeds=seeds))
            measure.run([*COMMAND, "sweep", "many.toml", "--out", "many", "--quiet"], folder=folder)
            report = taken(["report", "many", "-o", "many.html"], folder, rounds)
            size = (folder / "many.html").stat().st_size / 1e6
            click.echo(f"{seeds * POINTS:6,} runs: report {report}, {size:.1f} MB")
            click.echo(f"{seeds * POINTS:6,} runs: show   {taken(['show', 'many'], folder, rounds)}")


main()
