"""`python -m bench.sweeps`: the share of a sweep that is not simulation, in processor time.

The same runs are executed alternately by `flashmesh sweep` and by threads that only simulate. The difference is the
overhead of the sweep: imports, checks of configurations, documents, files, the log and the table.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

import click

from bench import measure

SWEEP = """config = "preset:venice-z-nand"
seeds = {runs}
[set]
"workload.requests" = {requests}
[axes]
fabric.kind = ["ideal"]
"""
BARE = """
import sys, threading
from flashmesh import _native, configuration
runs, requests, jobs = map(int, sys.argv[1:])
seeds = iter(range(runs))
def work():
    for seed in seeds:
        settings = {"workload.requests": requests, "fabric.kind": "ideal", "seed": seed}
        config = configuration.load("preset:venice-z-nand", overrides=settings)
        _native.Simulation(config).run(_native.Control())
threads = [threading.Thread(target=work) for _ in range(jobs)]
for each in threads: each.start()
for each in threads: each.join()
"""
COMMAND = "from flashmesh.cli import main; main()"


@click.command()
@click.option("--runs", default=1000, show_default=True, type=click.IntRange(min=1), help="Points of the sweep.")
@click.option("--requests", default=45_000, show_default=True, type=click.IntRange(min=1), help="Requests of a run.")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(min=1), help="Runs at once.")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(min=1), help="Measurements of each.")
def main(runs: int, requests: int, jobs: int, rounds: int) -> None:
    """Measure the processor time of a sweep beside its simulations."""
    whole, bare, resumed = [], [], []
    # Keep the folders until the end: ext4 creates files much more slowly soon after others were removed.
    with tempfile.TemporaryDirectory() as name:
        for turn in range(rounds):
            folder = Path(name) / str(turn)
            folder.mkdir()
            (folder / "s.toml").write_text(SWEEP.format(runs=runs, requests=requests))
            sweep = [sys.executable, "-c", COMMAND, "sweep", "s.toml", "--quiet", "--jobs", str(jobs)]
            bare.append(measure.run([sys.executable, "-c", BARE, str(runs), str(requests), str(jobs)]).cpu_s)
            whole.append(measure.run(sweep, folder=folder).cpu_s)
            resumed.append(measure.run([*sweep, "--resume"], folder=folder).cpu_s)
    simulated, all_of_it = statistics.median(bare), statistics.median(whole)
    click.echo(f"{runs:,} runs of {requests:,} requests, {jobs} at once; processor time, medians of {rounds}")
    click.echo(f"simulations alone           {simulated:8.2f} s, {simulated / runs * 1e3:.1f} ms a run")
    click.echo(f"flashmesh sweep             {all_of_it:8.2f} s")
    click.echo(f"machinery of the sweep      {all_of_it - simulated:8.2f} s, {all_of_it / simulated - 1:.1%}")
    click.echo(f"resuming it when complete   {statistics.median(resumed):8.2f} s")


main()
