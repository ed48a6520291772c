"""`python -m bench.mqsim_random MQSIM`: MQSim and flashmesh on random drives and flows, drawn from seeds.

Both simulate the same requests, which the importer draws as MQSim does. A deviation of the means is explained by a set
of faults of MQSim (`bench.mqsim_faults`) if a build of MQSim with these faults mended agrees with flashmesh.
"""

from __future__ import annotations

import csv
import os
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
    from collections.abc import Callable, Iterable

    from bench.mqsim_drawn import Case
    from bench.mqsim_faults import Fault

FILE = click.Path(path_type=Path, exists=True, dir_okay=False, resolve_path=True)
LIMIT_S = 30
"""Maximum processor time of a run of MQSim, in seconds; some cases never end."""
WALL_LIMIT_S = 10 * LIMIT_S
"""Maximum wall time of a run of MQSim, in seconds, even if it had little processor time."""
TOLERANCE_PERCENT = 1.0
DIFFERS = "deviates in counts:"
"""Start of the verdict on a case in which MQSim and flashmesh serve different numbers of flows or requests."""
NOT_COMPARED = ("lost", "no result", "timeout")
"""Verdicts on cases that are not compared: MQSim lost requests, printed no result, or did not end."""
PRINTED = re.compile(
    r"total requests generated: (\d+) total requests serviced:(\d+)\s+"
    r"(?:mean: (\d+) ns\s+)?- device response time: (\d+) \(us\)"
)


class Endless(Exception):  # noqa: N818 - a verdict on a case, no error of the comparison
    """A run of MQSim that does not end within its limit."""


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow as MQSim reports it."""

    generated: int
    serviced: int
    mean_ns: int
    step_ns: int
    """Resolution in nanoseconds of the mean that MQSim prints."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of the comparison of one case."""

    seed: int
    flows: int
    verdict: str
    fault: str = ""
    """Faults that explain a deviation, or the reason why the case is not compared; empty if there is neither."""
    worst_percent: float | None = None
    """Largest deviation of the mean latency of a flow, in percent; None if no means were compared."""


def flows_of(stdout: str) -> list[Flow]:
    """Returns the results of each flow, read from the output of MQSim."""
    flows = []
    for generated, serviced, ns, us in PRINTED.findall(stdout):
        mean_ns, step_ns = (int(ns), 1) if ns else (int(us) * 1000, 1000)
        flows.append(Flow(int(generated), int(serviced), mean_ns, step_ns))
    return flows


def run_mqsim(mqsim: Path, folder: Path, case: Case, without: Iterable[Fault] = ()) -> list[Flow] | str:
    """Runs MQSim on a case, or reuses its stored answer if the folder has one for the same files.

    Args:
        mqsim: The program; if `without` is not empty, the build whose faults can be mended.
        folder: The folder for the files, and for the answers.
        case: The case.
        without: The faults to mend.

    Returns:
        The flows of MQSim, or the reason why there are none.

    Raises:
        Endless: If MQSim does not end within its limit.
    """
    switches = ",".join(fault.switch for fault in without)
    answer, texts = folder / f"mqsim-{switches}.txt", {"ssd.xml": case.device, "work.xml": case.workload}
    folder.mkdir(parents=True, exist_ok=True)
    if any(not (folder / name).is_file() or (folder / name).read_text() != text for name, text in texts.items()):
        for old in folder.glob("mqsim-*.txt"):
            old.unlink()
        for name, text in texts.items():
            (folder / name).write_text(text)
    if not answer.is_file():
        try:
            done = subprocess.run(
                [str(mqsim), "-i", "ssd.xml", "-w", "work.xml"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                env=os.environ | {"MQSIM_MENDED": switches},
                preexec_fn=limit_time,
                timeout=WALL_LIMIT_S,
            )
        except subprocess.TimeoutExpired:
            raise Endless from None
        answer.write_text(f"{done.returncode}\n{done.stdout}")
    code, _, stdout = answer.read_text().partition("\n")
    # MQSim may crash while it frees its memory, after the results.
    if found := flows_of(stdout):
        return found
    if int(code) in (-signal.SIGXCPU, -signal.SIGKILL):
        raise Endless
    return f"MQSim ends with {code} and no result"


def limit_time() -> None:
    """Limits the processor time of the process that becomes MQSim, and disables its core dumps."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def compared(mqsim: Path, mended: Path | None, seed: int, keep: Path | None) -> Outcome:
    """Compares MQSim and flashmesh on the case of a seed, and explains a deviation.

    With `mended`, the build whose faults can be mended, a deviation is explained by a minimal set of faults. If MQSim
    does not end within its limit, the verdict is `timeout`.
    """
    case = drawn(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = (Path(name) if keep is None else keep) / str(seed)
        flows = len(case.flows)
        try:
            theirs = run_mqsim(mqsim, folder, case)
        except Endless:
            return Outcome(seed, flows, "timeout", f"MQSim does not end within {LIMIT_S} s")
        if isinstance(theirs, str):
            return Outcome(seed, flows, "no result", theirs)
        if lost := requests_lost(theirs):
            return Outcome(seed, flows, "lost", f"MQSim loses {lost} requests")
        try:
            done = import_mqsim(folder / "ssd.xml", folder / "work.xml", folder / "out")
            ours = ours_of(flashmesh.run(done.files[0]))
        except flashmesh.FlashmeshError as error:
            return Outcome(seed, flows, f"flashmesh: {str(error).splitlines()[0]}")
        outcome = judged(seed, theirs, ours)
        if outcome.verdict == "agrees" or mended is None:
            return outcome

        ends = True

        def agrees(without: list[Fault]) -> bool:
            nonlocal ends
            try:
                found = run_mqsim(mended, folder, case, without)
            except Endless:
                ends = False
                return False
            if isinstance(found, str) or requests_lost(found):
                return False
            return judged(seed, found, ours).verdict == "agrees"

        faults = needed(case, agrees)
        if not faults and not ends:
            return replace(outcome, verdict=f"{outcome.verdict}, and the copy does not end within {LIMIT_S} s")
        return replace(outcome, fault=" and ".join(fault.name for fault in faults))


def needed(case: Case, agrees: Callable[[list[Fault]], bool]) -> list[Fault]:
    """Returns a minimal set of faults that explains a case; empty if the case deviates even with all faults mended."""
    found = [fault for fault in FAULTS if fault.may_show(case)]
    if not agrees(found):
        return []
    for fault in list(found):
        others = [other for other in found if other is not fault]
        if agrees(others):
            found = others
    return found


def requests_lost(flows: list[Flow]) -> int:
    """Returns the number of requests that MQSim generated but did not serve."""
    return sum(flow.generated - flow.serviced for flow in flows)


def ours_of(result: flashmesh.Result) -> list[tuple[int, float]]:
    """Returns (number of requests, mean latency in ns) of each flow, in the order of MQSim's workload file."""
    if len(result.streams) == 1:
        latency = result.latency_ps.all
        assert latency is not None, "a run without requests has been refused"
        return [(latency.count, latency.mean / 1000)]
    by_name = {stream.name: stream.latency_ps.all for stream in result.streams}
    ordered = [by_name[f"flow-{number}"] for number in range(1, len(by_name) + 1)]
    return [(latency.count, latency.mean / 1000) for latency in ordered if latency is not None]


def judged(seed: int, theirs: list[Flow], ours: list[tuple[int, float]]) -> Outcome:
    """Compares the mean latency of each flow of a case with the mean in MQSim."""
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
    """Returns the label of the line of the summary in which an outcome is counted."""
    if outcome.verdict == "agrees":
        return f"agree within {TOLERANCE_PERCENT:g} %"
    if not outcome.fault:
        return "not explained"
    if outcome.verdict in NOT_COMPARED:
        return f"not compared: {re.sub(r'[0-9]+ requests', 'requests', outcome.fault)}"
    return f"explained: {outcome.fault}"


@click.command()
@click.argument("mqsim", type=FILE)
@click.option("--mended", type=FILE, help="Your build of MQSim whose faults can be mended (bench.mqsim_faults).")
@click.option("--first", default=1, show_default=True, type=click.IntRange(min=0), help="Seed of the first case.")
@click.option("--cases", default=300, show_default=True, type=click.IntRange(min=1), help="Cases, of seeds in a row.")
@click.option("--csv", "file", type=click.Path(path_type=Path), help="Table of all cases.")
@click.option(
    "--keep", type=click.Path(path_type=Path, resolve_path=True), help="Folder for the files, and MQSim's answers."
)
def main(mqsim: Path, mended: Path | None, first: int, cases: int, file: Path | None, keep: Path | None) -> None:
    """Run an MQSim of yours and flashmesh on random cases; fail where means deviate without a known fault.

    Answers of MQSim that are in the folder of --keep are used again. Without --mended no deviation is explained.
    """
    outcomes = []
    for seed in range(first, first + cases):
        outcome = compared(mqsim, mended, seed, keep)
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
