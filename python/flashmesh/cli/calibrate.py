"""Command `flashmesh calibrate`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashmesh.calibration import BUDGET_MIN, SEED
from flashmesh.cli.command import command
from flashmesh.cli.counts import Requests
from flashmesh.cli.output import refuse_overwriting, refuse_stdout, require_stdout, stdout
from flashmesh.cli.parameters import STDOUT, jobs_option, out_option, output_option
from flashmesh.cli.policies import trust_option
from flashmesh.cli.validating import warn_of_contradictions

if TYPE_CHECKING:
    from flashmesh.calibration.bench import Candidate

RESULTS = Path("calibration.results")


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
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=RESULTS,
    show_default=True,
    metavar="DIR",
    help="Folder with the results of runs; runs with results there are not repeated.",
)
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
    from flashmesh.sweeps.local import LocalThreads
    from flashmesh.sweeps.store import Store

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
        told = ProgressPrinter(quiet)
        if not quiet:
            warn_of_contradictions(problem.rows)
            keys = ", ".join(key.key for key in problem.facts.space.keys)
            click.echo(f"{len(problem.targets)} loads; searched keys: {keys}", err=True)
        try:
            found = fit(problem, executor, store=store, budget_min=budget, trials=trials, seed=seed, on_candidate=told)
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

            report.show(found, Terminal(stream))
    return 0


class ProgressPrinter:
    """Printer of each tried drive that has the least loss so far."""

    def __init__(self, quiet: bool) -> None:
        """Creates a printer; prints nothing if `quiet`."""
        self.quiet = quiet
        self.tried = 0
        self.best = float("inf")

    def __call__(self, candidate: Candidate) -> None:
        """Counts a tried drive. Prints the drive if it has the least loss so far."""
        self.tried += 1
        if self.quiet or candidate.loss >= self.best:
            return
        self.best = candidate.loss
        settings = ", ".join(f"{key}={value}" for key, value in candidate.settings.items())
        click.echo(f"drive {self.tried}: loss {candidate.loss:.3g}: {settings}", err=True)
