"""`python -m bench.mqsim_random MQSIM`: MQSim and flashmesh on random drives and flows, drawn from seeds.

Both simulate the same requests: the importer draws them as MQSim does. MQSim prints the mean latency of a flow in whole
microseconds; one that prints `(ns)` behind it instead is read to the nanosecond.
"""

from __future__ import annotations

import csv
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

import flashmesh
from bench.mqsim_drawn import drawn
from flashmesh.importers.mqsim import import_mqsim

if TYPE_CHECKING:
    from bench.mqsim_drawn import Case

FILE = click.Path(path_type=Path, exists=True, dir_okay=False, resolve_path=True)
TIMEOUT_S = 300
TOLERANCE_PERCENT = 1.0
DIFFERS = "deviates in counts:"
"""First words of the verdict on a case in which the two serve different requests."""
PRINTED = re.compile(
    r"total requests generated: (\d+) total requests serviced:(\d+)\s+- device response time: (\d+) \((us|ns)\)"
)


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow as MQSim reports it."""

    generated: int
    serviced: int
    mean_ns: int
    step_ns: int
    """Resolution of the mean."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case, compared."""

    seed: int
    flows: int
    verdict: str
    worst_percent: float | None
    """Largest deviation of the mean latency of a flow; None where MQSim gave none."""


def flows_of(stdout: str) -> list[Flow]:
    """Reads the flows that MQSim prints."""
    return [
        Flow(int(generated), int(serviced), int(mean) * scale, scale)
        for generated, serviced, mean, unit in PRINTED.findall(stdout)
        for scale in [1000 if unit == "us" else 1]
    ]


def run_mqsim(mqsim: Path, folder: Path) -> list[Flow] | str:
    """Runs MQSim on the files of a folder; returns its flows, or why there are none."""
    command = [str(mqsim), "-i", "ssd.xml", "-w", "work.xml"]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"MQSim does not end within {TIMEOUT_S} s"
    # MQSim may crash while it frees its memory, after the results.
    return flows_of(done.stdout) or f"MQSim ends with {done.returncode} and no result"


def compared(mqsim: Path, seed: int, keep: Path | None) -> Outcome:
    """Compares a case."""
    case = drawn(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) if keep is None else keep / str(seed)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ssd.xml").write_text(case.device)
        (folder / "work.xml").write_text(case.workload)
        theirs = run_mqsim(mqsim, folder)
        try:
            done = import_mqsim(folder / "ssd.xml", folder / "work.xml", folder / "out")
            result = flashmesh.run(done.files[0])
        except flashmesh.FlashmeshError as error:
            return Outcome(seed, len(case.flows), f"flashmesh: {str(error).splitlines()[0]}", None)
    if isinstance(theirs, str):
        return Outcome(seed, len(case.flows), theirs, None)
    return judged(seed, case, theirs, ours_of(result))


def ours_of(result: flashmesh.Result) -> list[tuple[int, float]]:
    """Returns requests and mean latency in ns of each flow, in the order of MQSim's file."""
    if len(result.streams) == 1:
        latency = result.latency_ps.all
        assert latency is not None, "a run without requests has been refused"
        return [(latency.count, latency.mean / 1000)]
    by_name = {stream.name: stream.latency_ps.all for stream in result.streams}
    ordered = [by_name[f"flow-{number}"] for number in range(1, len(by_name) + 1)]
    return [(latency.count, latency.mean / 1000) for latency in ordered if latency is not None]


def judged(seed: int, case: Case, theirs: list[Flow], ours: list[tuple[int, float]]) -> Outcome:
    """Judges the means of a case."""
    lost = sum(flow.generated - flow.serviced for flow in theirs)
    if lost:
        return Outcome(seed, len(case.flows), f"MQSim loses {lost} requests", None)
    if len(theirs) != len(ours):
        return Outcome(seed, len(case.flows), f"{DIFFERS} {len(ours)} flows, {len(theirs)} in MQSim", None)
    worst, within = 0.0, True
    for flow, (count, mean_ns) in zip(theirs, ours, strict=True):
        if count != flow.serviced:
            return Outcome(seed, len(case.flows), f"{DIFFERS} {count} requests, {flow.serviced} in MQSim", None)
        percent = 100 * (mean_ns / flow.mean_ns - 1) if flow.mean_ns else 0.0
        worst = max(worst, percent, key=abs)
        # MQSim truncates the means that it prints.
        off_ns = max(flow.mean_ns - mean_ns, mean_ns - flow.mean_ns - flow.step_ns, 0)
        within &= off_ns <= flow.mean_ns * TOLERANCE_PERCENT / 100
    return Outcome(seed, len(case.flows), "agrees" if within else f"deviates{reason(case)}", worst)


def reason(case: Case) -> str:
    """Returns which fault of MQSim may lead to another mean, for the end of a verdict; empty if none is known."""
    if case.is_cut_twice():
        return ", two pieces of a request on one page"
    return ", last translation page never read" if case.is_map_small() else ""


@click.command()
@click.argument("mqsim", type=FILE)
@click.option("--first", default=1, show_default=True, type=click.IntRange(min=0), help="Seed of the first case.")
@click.option("--cases", default=300, show_default=True, type=click.IntRange(min=1), help="Cases, of seeds in a row.")
@click.option("--csv", "file", type=click.Path(path_type=Path), help="Table of all cases.")
@click.option("--keep", type=click.Path(path_type=Path), help="Folder for the files of the cases.")
def main(mqsim: Path, first: int, cases: int, file: Path | None, keep: Path | None) -> None:
    """Run an MQSim of yours and flashmesh on random cases; fail where means deviate without a known fault."""
    outcomes = []
    for seed in range(first, first + cases):
        outcome = compared(mqsim, seed, keep)
        outcomes.append(outcome)
        if outcome.verdict != "agrees":
            percent = "" if outcome.worst_percent is None else f" by {outcome.worst_percent:+.2f} %"
            click.echo(f"case {seed}, {outcome.flows} flows: {outcome.verdict}{percent}")
    if file is not None:
        with file.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(("seed", "flows", "verdict", "worst_percent"))
            writer.writerows((o.seed, o.flows, o.verdict, o.worst_percent) for o in outcomes)
    for flows in sorted({outcome.flows for outcome in outcomes}):
        of = [outcome for outcome in outcomes if outcome.flows == flows]
        counts = {
            verdict: sum(o.verdict.startswith(verdict) for o in of) for verdict in ("agrees", "deviates", "MQSim")
        }
        click.echo(
            f"{flows} flows: {len(of)} cases, {counts['agrees']} agree within {TOLERANCE_PERCENT:g} %, "
            f"{counts['deviates']} deviate, {counts['MQSim']} have no result of MQSim"
        )
    sys.exit(any(o.verdict == "deviates" or o.verdict.startswith((DIFFERS, "flashmesh")) for o in outcomes))


if __name__ == "__main__":
    main()
