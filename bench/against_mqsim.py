"""`python -m bench.against_mqsim MQSIM`: MQSim and flashmesh on the same files of MQSim, in turns.

MQSim draws its requests as it runs, and so does flashmesh here: neither reads them from a trace. Their random numbers
differ, so latencies agree to about one percent. Each figure is processor time of a whole run, with its start.
"""

from __future__ import annotations

import json
import re
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from bench import build, measure
from flashmesh.importers.mqsim import import_mqsim

CASES = Path(__file__).parent / "mqsim_cases"
FILE = click.Path(path_type=Path, exists=True, dir_okay=False, resolve_path=True)


def mean_us_of_mqsim(stdout: str) -> float:
    """The mean latency that MQSim prints, in whole microseconds."""
    found = re.search(r"device response time: (\d+) \(us\)", stdout)
    if found is None:
        raise RuntimeError(f"MQSim prints no response time:\n{stdout}")
    return float(found[1])


def compared(mqsim: Path, made: build.Build, device: Path, workload: Path, runs: int) -> list[str]:
    """The cells of a workload."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # MQSim writes its results beside the workload.
        shutil.copy(workload, folder / "workload.xml")
        imported = import_mqsim(device, folder / "workload.xml", folder, requests_max=0)
        [config] = imported.files
        theirs = [str(mqsim), "-i", str(device), "-w", "workload.xml"]
        ours = [str(made.runner), str(config)]
        pairs = [(measure.run(theirs, folder=folder), measure.run(ours, folder=folder)) for _ in range(runs)]
    report = json.loads(pairs[0][1].stdout)
    their_s, our_s = (statistics.median(run.cpu_s for run in side) for side in zip(*pairs, strict=True))
    return [
        workload.stem,
        f"{report['requests']:,}",
        f"{their_s:.2f}",
        f"{our_s:.2f}",
        f"{their_s / our_s:.1f}",
        f"{mean_us_of_mqsim(pairs[0][0].stdout):,.0f}",
        f"{report['latency_ps']['all']['mean'] / 1e6:,.2f}",
    ]


@click.command()
@click.argument("mqsim", type=FILE)
@click.option("--device", type=FILE, default=CASES / "device.xml", help="The drive, as MQSim takes it with -i.")
@click.option("--workload", "workloads", type=FILE, multiple=True, help="One scenario, as MQSim takes it with -w.")
@click.option("--runs", default=5, show_default=True, type=click.IntRange(min=1), help="Runs of each case.")
@click.option("--quick", is_flag=True, help="Build without optimisation at link time: sooner, and somewhat slower.")
def main(mqsim: Path, device: Path, workloads: tuple[Path, ...], runs: int, quick: bool) -> None:
    """Run MQSim, which you have built, and flashmesh on the same drives and workloads."""
    made = build.tree("quick" if quick else "release")
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("case", no_wrap=True)
    for heading in ("requests", "MQSim, s", "flashmesh, s", "ratio", "mean of MQSim, us", "of flashmesh"):
        table.add_column(heading, justify="right", no_wrap=True)
    for workload in workloads or sorted(set(CASES.glob("*.xml")) - {CASES / "device.xml"}):
        table.add_row(*compared(mqsim, made, device, workload, runs))
    Console(width=None if sys.stdout.isatty() else 120, highlight=False).print(table)


main()
