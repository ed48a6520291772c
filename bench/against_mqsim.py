"""`python -m bench.against_mqsim MQSIM`: processor times of MQSim and flashmesh on the same files, run alternately.

Both simulators generate requests during the run, and read no trace. Their random numbers differ, so that latencies
agree to about one percent. Each figure is the processor time of a whole run, including its start. `--csv FILE` stores
the figures with the date and the commit; pages quote those in bench/stored/against-mqsim.csv.
"""

from __future__ import annotations

import csv
import datetime
import json
import re
import shutil
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from bench import build, measure
from flashmesh.importers.mqsim import import_mqsim

CASES = Path(__file__).parent / "mqsim_cases"
FILE = click.Path(path_type=Path, exists=True, dir_okay=False, resolve_path=True)


def mean_us_of_mqsim(stdout: str) -> float:
    """Returns the mean latency that MQSim prints, in whole microseconds."""
    found = re.search(r"device response time: (\d+) \(us\)", stdout)
    if found is None:
        raise RuntimeError(f"MQSim prints no response time:\n{stdout}")
    return float(found[1])


@dataclass(frozen=True, slots=True)
class Compared:
    """Medians over the runs of a workload, and the compared builds."""

    case: str
    requests: int
    mqsim_s: float
    flashmesh_s: float
    mqsim_mean_us: float
    flashmesh_mean_us: float
    runs: int
    build: str
    """Profile with which flashmesh is built, or `command` for the installed one."""
    commit: str
    date: str

    @property
    def ratio(self) -> float:
        """Processor time of MQSim divided by that of flashmesh."""
        return self.mqsim_s / self.flashmesh_s


def compared(mqsim: Path, made: build.Build | None, device: Path, workload: Path, runs: int, profile: str) -> Compared:
    """Runs both simulators alternately on a workload. Without a build, runs the installed flashmesh."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # MQSim writes its results beside the workload.
        shutil.copy(workload, folder / "workload.xml")
        imported = import_mqsim(device, folder / "workload.xml", folder, requests_max=0)
        [config] = imported.files
        theirs = [str(mqsim), "-i", str(device), "-w", "workload.xml"]
        command = [sys.executable, "-m", "flashmesh", "run", "--json", "-", str(config)]
        ours = command if made is None else [str(made.runner), str(config)]
        pairs = [(measure.run(theirs, folder=folder), measure.run(ours, folder=folder)) for _ in range(runs)]
    report = json.loads(pairs[0][1].stdout)
    their_s, our_s = (statistics.median(run.cpu_s for run in side) for side in zip(*pairs, strict=True))
    return Compared(
        case=workload.stem,
        requests=report["requests"],
        mqsim_s=round(their_s, 3),
        flashmesh_s=round(our_s, 3),
        mqsim_mean_us=mean_us_of_mqsim(pairs[0][0].stdout),
        flashmesh_mean_us=round(report["latency_ps"]["all"]["mean"] / 1e6, 2),
        runs=runs,
        build=profile,
        commit=build.git("rev-parse", "--short=12", "HEAD"),
        date=datetime.datetime.now(datetime.UTC).date().isoformat(),
    )


def cells(row: Compared) -> list[str]:
    """Returns a row of the printed table."""
    return [
        row.case,
        f"{row.requests:,}",
        f"{row.mqsim_s:.2f}",
        f"{row.flashmesh_s:.2f}",
        f"{row.ratio:.1f}",
        f"{row.mqsim_mean_us:,.0f}",
        f"{row.flashmesh_mean_us:,.2f}",
    ]


def save(file: Path, rows: list[Compared]) -> None:
    """Writes rows as CSV."""
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, [field.name for field in fields(Compared)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


@click.command()
@click.argument("mqsim", type=FILE)
@click.option("--device", type=FILE, default=CASES / "device.xml", help="The drive, as MQSim takes it with -i.")
@click.option("--workload", "workloads", type=FILE, multiple=True, help="One scenario, as MQSim takes it with -w.")
@click.option("--runs", default=5, show_default=True, type=click.IntRange(min=1), help="Runs of each case.")
@click.option("--csv", "file", type=click.Path(path_type=Path, dir_okay=False), help="Keep the figures in this file.")
@click.option(
    "--installed", is_flag=True, help="Measure the installed command, with the start of Python, and build nothing."
)
@click.option("--quick", is_flag=True, help="Build without optimisation at link time: sooner, and somewhat slower.")
def main(
    mqsim: Path,
    device: Path,
    workloads: tuple[Path, ...],
    runs: int,
    file: Path | None,
    installed: bool,
    quick: bool,
) -> None:
    """Run MQSim, which you have built, and flashmesh on the same drives and workloads."""
    profile = "command" if installed else "quick" if quick else "release"
    made = None if installed else build.tree(profile)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("case", no_wrap=True)
    for heading in ("requests", "MQSim, s", "flashmesh, s", "ratio", "mean of MQSim, us", "of flashmesh"):
        table.add_column(heading, justify="right", no_wrap=True)
    found = []
    for workload in workloads or sorted(set(CASES.glob("*.xml")) - {CASES / "device.xml"}):
        found.append(compared(mqsim, made, device, workload, runs, profile))
        table.add_row(*cells(found[-1]))
    if file is not None:
        save(file, found)
    Console(width=None if sys.stdout.isatty() else 120, highlight=False).print(table)


if __name__ == "__main__":
    main()
