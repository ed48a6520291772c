"""`python -m bench.mqsim_random MQSIM`: MQSim and flashmesh on random drives and flows, drawn from seeds.

Both simulate the same requests: the importer draws them as MQSim does. MQSim prints the mean latency of a flow in whole
microseconds; one that prints `(ns)` behind it instead is read to the nanosecond.
"""

from __future__ import annotations

import csv
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

import flashmesh
from bench.mqsim_drawn import drawn
from bench.mqsim_faults import FAULTS
from flashmesh.importers.mqsim import import_mqsim

if TYPE_CHECKING:
    from bench.mqsim_drawn import Case

FILE = click.Path(path_type=Path, exists=True, dir_okay=False, resolve_path=True)
LIMIT_S = 100
"""Limit of the processor time of MQSim, since some cases never end."""
ENDLESS = f"MQSim does not end within {LIMIT_S} s"
TOLERANCE_PERCENT = 1.0
DIFFERS = "deviates in counts:"
"""Start of the verdict on a case in which the simulators serve different requests."""
PRINTED = re.compile(
    r"total requests generated: (\d+) total requests serviced:(\d+)\s+- device response time: (\d+) \((us|ns)\)"
)


@dataclass(frozen=True, slots=True)
class Flow:
    """Result of a flow, as printed by MQSim."""

    generated: int
    serviced: int
    mean_ns: int
    step_ns: int
    """Resolution of the mean."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of the comparison of a case."""

    seed: int
    flows: int
    verdict: str
    fault: str = ""
    """The fault of MQSim that explains the deviation; empty if none does."""
    worst_percent: float | None = None
    """Largest deviation of a flow's mean latency; None if MQSim printed no mean."""


def flows_of(stdout: str) -> list[Flow]:
    """Reads the results of flows that MQSim prints."""
    return [
        Flow(int(generated), int(serviced), int(mean) * scale, scale)
        for generated, serviced, mean, unit in PRINTED.findall(stdout)
        for scale in [1000 if unit == "us" else 1]
    ]


def run_mqsim(mqsim: Path, folder: Path, case: Case) -> list[Flow] | str:
    """Runs MQSim on a case, unless the folder has its output for the same files.

    Returns:
        The flows of MQSim, or the reason why there are none.
    """
    answer, texts = folder / "mqsim.txt", {"ssd.xml": case.device, "work.xml": case.workload}
    folder.mkdir(parents=True, exist_ok=True)
    if not answer.is_file() or any((folder / name).read_text() != text for name, text in texts.items()):
        for name, text in texts.items():
            (folder / name).write_text(text)
        command = [str(mqsim), "-i", "ssd.xml", "-w", "work.xml"]
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=limit_time,
        )
        answer.write_text(f"{done.returncode}\n{done.stdout}")
    code, _, stdout = answer.read_text().partition("\n")
    # MQSim may crash after printing its results, while it frees memory.
    if found := flows_of(stdout):
        return found
    return ENDLESS if int(code) in (-signal.SIGXCPU, -signal.SIGKILL) else f"MQSim ends with {code} and no result"


def limit_time() -> None:
    """Limits the processor time of this process, and disables core files."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def compared(mqsim: Path, seed: int, keep: Path | None) -> Outcome:
    """Compares the case of a seed. If it deviates, compares it again without each fault of MQSim that affects it."""
    case = drawn(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = (Path(name) if keep is None else keep) / str(seed)
        outcome = of_case(mqsim, seed, case, folder)
        if outcome.verdict != "deviates":
            return outcome
        found = [fault for fault in FAULTS if fault.shows(case, folder)]
        for tried in [[fault] for fault in found] + ([found] if len(found) > 1 else []):
            avoiding = case
            for fault in tried:
                avoiding = fault.avoided(avoiding)
            names = " and ".join(fault.name for fault in tried)
            without = folder / f"without {names}"
            if of_case(mqsim, seed, avoiding, without).verdict == "agrees":
                return replace(outcome, fault=names)
        return outcome


def of_case(mqsim: Path, seed: int, case: Case, folder: Path) -> Outcome:
    """Compares a case in a folder."""
    theirs = run_mqsim(mqsim, folder, case)
    flows = len(case.flows)
    if isinstance(theirs, str):
        return Outcome(seed, flows, "no result", theirs)
    lost = sum(flow.generated - flow.serviced for flow in theirs)
    if lost:
        return Outcome(seed, flows, "lost", f"MQSim loses {lost} requests")
    try:
        done = import_mqsim(folder / "ssd.xml", folder / "work.xml", folder / "out")
        result = flashmesh.run(done.files[0])
    except flashmesh.FlashmeshError as error:
        return Outcome(seed, flows, f"flashmesh: {str(error).splitlines()[0]}")
    return judged(seed, theirs, ours_of(result))


def ours_of(result: flashmesh.Result) -> list[tuple[int, float]]:
    """Returns requests and mean latency in ns of each flow, in the order of the workload file."""
    if len(result.streams) == 1:
        latency = result.latency_ps.all
        assert latency is not None, "a run without requests has been refused"
        return [(latency.count, latency.mean / 1000)]
    by_name = {stream.name: stream.latency_ps.all for stream in result.streams}
    ordered = [by_name[f"flow-{number}"] for number in range(1, len(by_name) + 1)]
    return [(latency.count, latency.mean / 1000) for latency in ordered if latency is not None]


def judged(seed: int, theirs: list[Flow], ours: list[tuple[int, float]]) -> Outcome:
    """Compares the mean latencies of a case, and returns the outcome."""
    if len(theirs) != len(ours):
        return Outcome(seed, len(theirs), f"{DIFFERS} {len(ours)} flows, {len(theirs)} in MQSim")
    worst, within = 0.0, True
    for flow, (count, mean_ns) in zip(theirs, ours, strict=True):
        if count != flow.serviced:
            return Outcome(seed, len(theirs), f"{DIFFERS} {count} requests, {flow.serviced} in MQSim")
        percent = 100 * (mean_ns / flow.mean_ns - 1) if flow.mean_ns else 0.0
        worst = max(worst, percent, key=abs)
        # MQSim truncates the means that it prints.
        off_ns = max(flow.mean_ns - mean_ns, mean_ns - flow.mean_ns - flow.step_ns, 0)
        within &= off_ns <= flow.mean_ns * TOLERANCE_PERCENT / 100
    return Outcome(seed, len(theirs), "agrees" if within else "deviates", worst_percent=worst)


def kind(outcome: Outcome) -> str:
    """Returns the line of the summary that counts an outcome."""
    if outcome.verdict == "agrees":
        return f"agree within {TOLERANCE_PERCENT:g} %"
    if not outcome.fault:
        return "not explained"
    return re.sub(r"\d+ requests", "requests", f"explained: {outcome.fault}")


@click.command()
@click.argument("mqsim", type=FILE)
@click.option("--first", default=1, show_default=True, type=click.IntRange(min=0), help="Seed of the first case.")
@click.option("--cases", default=300, show_default=True, type=click.IntRange(min=1), help="Cases, of seeds in a row.")
@click.option("--csv", "file", type=click.Path(path_type=Path), help="Table of all cases.")
@click.option(
    "--keep", type=click.Path(path_type=Path, resolve_path=True), help="Folder for the files, and MQSim's answers."
)
def main(mqsim: Path, first: int, cases: int, file: Path | None, keep: Path | None) -> None:
    """Run an MQSim of yours and flashmesh on random cases; fail where means deviate without a known fault.

    Answers of MQSim that are in the folder of --keep are used again.
    """
    outcomes = []
    for seed in range(first, first + cases):
        outcome = compared(mqsim, seed, keep)
        outcomes.append(outcome)
        if outcome.verdict != "agrees":
            percent = "" if outcome.worst_percent is None else f" by {outcome.worst_percent:+.2f} %"
            fault = f": {outcome.fault}" if outcome.fault else ""
            click.echo(f"case {seed}, {outcome.flows} flows: {outcome.verdict}{percent}{fault}")
    if file is not None:
        with file.open("w", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(("seed", "flows", "verdict", "fault", "worst_percent"))
            writer.writerows(
                (o.seed, o.flows, o.verdict, o.fault, "" if o.worst_percent is None else f"{o.worst_percent:.2f}")
                for o in outcomes
            )
    click.echo(f"{len(outcomes)} cases:")
    for name, count in Counter(map(kind, outcomes)).most_common():
        click.echo(f"{count:5} {name}")
    sys.exit(any(kind(outcome) == "not explained" for outcome in outcomes))


if __name__ == "__main__":
    main()
