"""Command `flashmesh calibrate`."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashmesh.calibration import BUDGET_MIN, SEED
from flashmesh.cli.command import command
from flashmesh.cli.measured.validating import warn_of_contradictions
from flashmesh.cli.options.counts import Requests
from flashmesh.cli.options.parameters import STDOUT, jobs_option, kept_runs_option, out_option, output_option
from flashmesh.cli.options.policies import trust_option
from flashmesh.cli.output import refuse_overwriting, refuse_stdout, require_stdout, stdout

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashmesh.calibration.engine import Problem
    from flashmesh.calibration.searching.bench import Candidate

SILENT_MAX_S = 30.0
"""Maximum time without a line on stderr, in seconds."""
STORED_MAX_S = 0.2
"""Time in seconds below which the first drive is taken to have its results from the store."""


@command()
@click.argument("measured", metavar="[MEASURED]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--facts",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FACTS.toml",
    help="Facts of the drive: a configuration with the known values, without a workload.",
)
@out_option("output", "Write the fitted drive, a configuration.", required=True)
@click.option("--drive", metavar="NAME", help="Name of the drive in the tables; required if they have several.")
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    default=BUDGET_MIN,
    show_default=True,
    metavar="MINUTES",
    help="Time limit of the search. The report names stages that it cut short.",
)
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of drives that Optuna proposes; by default 4 for each key, at least 16.",
)
@click.option(
    "--requests",
    type=Requests(min=1000),
    metavar="N",
    help="Approximate number of requests for each load; by default 25,000 for each die, at least 400,000.",
)
@click.option(
    "--precision",
    metavar="SHARE",
    help="End a run early, once its mean latency is steady and has this precision, such as 3%. Runs of data sheets end "
    "once their request rate is settled.",
)
@click.option(
    "--data-sheet",
    type=click.Path(path_type=Path),
    metavar="CSV",
    help="Fit a table of data-sheet rows too, or alone without MEASURED: rates and latencies of single loads.",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=SEED, show_default=True, help="Seed of the search.")
@output_option("--json", "json_file", "Write the result as JSON; - writes it to stdout instead of the tables.")
@kept_runs_option("calibration.results")
@jobs_option
@trust_option
@click.option("--quiet", is_flag=True, help="Print only errors on stderr.")
def calibrate(
    measured: tuple[Path, ...],
    facts: Path,
    output: Path,
    drive: str | None,
    budget: float,
    trials: int | None,
    requests: int | None,
    precision: str | None,
    data_sheet: Path | None,
    seed: int,
    json_file: Path | None,
    results: Path,
    jobs: int,
    quiet: bool,
) -> int:
    """Fit a drive to measurements or to a data sheet.

    Searches the keys that data sheets do not state, such as array times and the write buffer. Reports the fitted
    values, which of them the measurements determine, and the error of each load predicted by a fit to the other loads.
    MEASURED is a table as for `flashmesh validate --points`, or JSON files of fio, each with its job file in the same
    folder; with --data-sheet it may be left out. An interrupted calibration resumes when the command is repeated.
    """
    from flashmesh.calibration.engine import calibrate as fit
    from flashmesh.calibration.engine import read_problem
    from flashmesh.files import whole_file, write_text
    from flashmesh.sweeps.executors.local import LocalThreads
    from flashmesh.sweeps.results.store import Store

    if not measured and data_sheet is None:
        raise click.UsageError(
            "there is nothing to fit: give MEASURED, --data-sheet or both; "
            "`flashmesh validate` compares a drive without a fit"
        )
    require_stdout()
    refuse_stdout("--out", output, "a configuration")
    read = {"a measurement": [*measured], "the facts": [facts]}
    read["the data sheet"] = [] if data_sheet is None else [data_sheet]
    refuse_overwriting({"--out": output, "--json": json_file}, read)
    problem = read_problem(measured, facts, drive, requests, precision=precision, data_sheet=data_sheet)
    with ExitStack() as opened:
        # Opens files before the search, so that errors show early.
        target = opened.enter_context(whole_file(output))
        document = None
        if json_file is not None and json_file != STDOUT:
            document = opened.enter_context(whole_file(json_file))
        store = Store.open(results, resume=True, kind="calibration", described={})
        opened.callback(store.close)
        executor = LocalThreads(jobs)
        told = ProgressPrinter(quiet, problem, budget, time.monotonic)
        if not quiet:
            warn_of_contradictions(problem.rows)
        told.begin()
        try:
            found = fit(
                problem,
                executor,
                store=store,
                budget_min=budget,
                trials=trials,
                seed=seed,
                on_candidate=told.on_candidate,
                on_stage=told.on_stage,
                on_wait=told.on_wait,
            )
        except KeyboardInterrupt:
            if not quiet:
                click.echo(f"{told.tried} tried drives kept; run the same command to continue", err=True)
            raise
        finally:
            executor.close()
        write_text(target, found.to_toml())
        if document is not None:
            write_text(document, found.to_json())
    with stdout() as stream:
        if json_file == STDOUT:
            stream.write(found.to_json())
        else:
            from flashmesh.report import calibration as report
            from flashmesh.report.terminal import Terminal

            # fio results are no table that `validate` reads.
            points = [str(path) for path in measured if path.suffix != ".json"]
            step = None
            if points or data_sheet is not None:
                sheet = None if data_sheet is None else str(data_sheet)
                step = found.next_step(str(output), points[0] if points else None, sheet, drive)
            report.show(found, Terminal(stream), step)
    return 0


class ProgressPrinter:
    """Printer of the stages of a search, of each tried drive that has the least loss so far, and of the time.

    A line on the time follows whenever nothing was printed for `SILENT_MAX_S`.
    """

    def __init__(self, quiet: bool, problem: Problem, budget_min: float, clock: Callable[[], float]) -> None:
        """Creates a printer; prints nothing if `quiet`.

        Args:
            quiet: Whether to print nothing.
            problem: The problem, for the number of runs of a drive.
            budget_min: The time limit of the search in minutes.
            clock: Returns the time in seconds.
        """
        self.quiet = quiet
        self.problem = problem
        self.budget_min = budget_min
        self.clock = clock
        self.begun = self.told = clock()
        self.stage = "initial drive"
        self.tried = 0
        self.best = float("inf")

    def begin(self) -> None:
        """Prints the time limit, the runs that a drive takes, and the searched keys."""
        runs, keys = len(self.problem.targets), [key.key for key in self.problem.searched.keys]
        self.tell(
            f"at most {self.budget_min:g} min (--budget); {counted(runs, 'load')}, so a drive takes "
            f"{counted(runs, 'run')}; {counted(len(keys), 'searched key')}: {', '.join(keys)}"
        )

    def on_candidate(self, candidate: Candidate) -> None:
        """Counts a tried drive. Prints the drive if it has the least loss so far, and the time of the first one."""
        self.tried += 1
        drive_s = self.clock() - self.begun
        # A first drive whose results are in the store tells nothing about the time of the others.
        if self.tried == 1 and drive_s >= STORED_MAX_S:
            self.tell(self.pace(drive_s))
        if candidate.loss >= self.best:
            return
        self.best = candidate.loss
        settings = ", ".join(f"{key}={value}" for key, value in candidate.settings.items())
        self.tell(f"drive {self.tried}: loss {candidate.loss:.3g}: {settings}")

    def pace(self, drive_s: float) -> str:
        """Returns a line on how many drives the time limit allows, by the time of the first one."""
        from flashmesh.calibration.inputs.points import COARSER

        count = int(self.budget_min * 60.0 / drive_s)
        step = len(self.problem.searched.ranged) + 1
        return (
            f"the first drive took {drive_s:.0f} s: the time is enough for some {count:,} such drives; a step of least "
            f"squares takes up to {step}, and full runs take up to {COARSER} times as long"
        )

    def on_stage(self, name: str) -> None:
        """Prints the name of a stage that begins."""
        if name != self.stage:
            self.stage = name
            self.tell(self.state)

    def on_wait(self) -> None:
        """Prints the time and the number of tried drives if nothing was printed for `SILENT_MAX_S`."""
        if self.clock() - self.told >= SILENT_MAX_S:
            self.tell(self.state)

    @property
    def state(self) -> str:
        """Line on the stage, the time and the tried drives."""
        minutes = (self.clock() - self.begun) / 60.0
        found = f", least loss {self.best:.3g}" if self.tried else ""
        return f"{minutes:.1f} of {self.budget_min:g} min, {self.stage}: {counted(self.tried, 'drive')} tried{found}"

    def tell(self, line: str) -> None:
        """Prints a line on stderr, and notes the time."""
        self.told = self.clock()
        if not self.quiet:
            click.echo(line, err=True)


def counted(count: int, noun: str) -> str:
    """Returns a number with its noun, such as `1 drive` or `6 drives`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
