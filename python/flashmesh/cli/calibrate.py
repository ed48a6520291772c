"""Command `flashmesh calibrate`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashmesh.calibration import BUDGET_MIN, SEED
from flashmesh.cli.command import command
from flashmesh.cli.output import refuse_overwriting, refuse_stdout, require_stdout, stdout
from flashmesh.cli.parameters import STDOUT, jobs_option, out_option, output_option
from flashmesh.cli.policies import trust_option

if TYPE_CHECKING:
    from flashmesh.calibration.bench import Candidate

RESULTS = Path("calibration.results")


@command()
@click.argument("measured", metavar="MEASURED...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--facts",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FACTS.toml",
    help="Known values of the drive: a configuration without a workload.",
)
@out_option("output", "The drive to write.", required=True)
@click.option("--drive", metavar="NAME", help="Name of the drive in the table; required if the table has several.")
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    default=BUDGET_MIN,
    show_default=True,
    metavar="MINUTES",
    help="Time limit; names the work that did not fit into it.",
)
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of drives tried before the best one is improved; by default 8 for each key.",
)
@click.option(
    "--requests",
    type=click.IntRange(min=1000),
    metavar="N",
    help="Approximate number of requests for each load; by default 25,000 for each die, at least 400,000.",
)
@click.option(
    "--precision",
    metavar="SHARE",
    help="End each run once its mean latency is steady and known to this precision, such as 3%, at the latest after "
    "--requests.",
)
@click.option(
    "--data-sheet",
    type=click.Path(path_type=Path),
    metavar="CSV",
    help="Also fit the rows of a data sheet: rates and latencies of single loads.",
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
    """Fit a drive to measurements.

    Searches the keys that data sheets do not state, such as array times and buffers, predicts each load from a fit to
    the other loads, and reports which keys the measurements determine. MEASURED is a table as for `flashmesh validate
    --points`, or JSON written by fio, with the job file beside each file. An interrupted calibration resumes when the
    command is repeated.
    """
    from flashmesh.calibration.engine import calibrate as fit
    from flashmesh.calibration.engine import read_problem
    from flashmesh.files import whole_file, write_text
    from flashmesh.sweeps.local import LocalThreads
    from flashmesh.sweeps.store import Store

    require_stdout()
    refuse_stdout("--out", output, "a configuration")
    read = {"a measurement": [*measured], "the facts": [facts]}
    read["the data sheet"] = [] if data_sheet is None else [data_sheet]
    refuse_overwriting({"--out": output, "--json": json_file}, read)
    problem = read_problem(measured, facts, drive, requests, precision=precision, data_sheet=data_sheet)
    with ExitStack() as opened:
        # Files are opened before the work, so that errors show early.
        target = opened.enter_context(whole_file(output))
        document = None
        if json_file is not None and json_file != STDOUT:
            document = opened.enter_context(whole_file(json_file))
        store = Store.open(results, resume=True, kind="calibration", described={})
        opened.callback(store.close)
        executor = LocalThreads(jobs)
        told = Told(quiet)
        if not quiet:
            keys = ", ".join(key.key for key in problem.facts.space.keys)
            click.echo(f"{len(problem.targets)} loads; searched are {keys}", err=True)
        try:
            found = fit(problem, executor, store=store, budget_min=budget, trials=trials, seed=seed, on_candidate=told)
        except KeyboardInterrupt:
            if not quiet:
                click.echo(f"{told.tried} drives tried, and kept; the same command goes on", err=True)
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


class Told:
    """Printer of each tried drive that is better than all drives tried before."""

    def __init__(self, quiet: bool) -> None:
        """Starts the count of tried drives at 0."""
        self.quiet = quiet
        self.tried = 0
        self.best = float("inf")

    def __call__(self, candidate: Candidate) -> None:
        """Counts a tried drive, and prints it if it is the best so far."""
        self.tried += 1
        if self.quiet or candidate.loss >= self.best:
            return
        self.best = candidate.loss
        settings = ", ".join(f"{key}={value}" for key, value in candidate.settings.items())
        click.echo(f"drive {self.tried}: distance {candidate.loss:.3g}: {settings}", err=True)
