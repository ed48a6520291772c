"""Command `flashmesh compare`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from flashmesh import simulate
from flashmesh._native import OutputError
from flashmesh.aggregate.table import ComparedRuns
from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import (
    STDOUT,
    axis,
    baseline_option,
    completed,
    drive_argument,
    jobs_option,
    keep_option,
    output_option,
    results_option,
    until_steady,
    workload_options,
)
from flashmesh.cli.output import TRACE, inputs, refuse_overwriting, refuse_stdout, require_stdout, stdout
from flashmesh.cli.progress import ProgressBar
from flashmesh.cli.runs.drive import drive_of, jobs_of, tell_lonely
from flashmesh.cli.sweeps.sweeping import TOLD_FROM, Estimate, announce, failure, tell_idle
from flashmesh.comparing.axes import refuse_clashes
from flashmesh.comparing.normalised import baseline_of
from flashmesh.files import refuse_pipe, whole_file, write_text
from flashmesh.report import comparison as comparison_report
from flashmesh.report.measures.measure import measure_named
from flashmesh.report.measures.streams import refuse_slowdowns, refuse_unconfigured_streams
from flashmesh.report.tables.view import Choice
from flashmesh.report.terminal import Terminal
from flashmesh.sweeps.executors.local import LocalThreads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from flashmesh.comparing.normalised import Baseline
    from flashmesh.comparison import Comparison


@command()
@drive_argument
@click.option(
    "--vary",
    "axes",
    multiple=True,
    required=True,
    type=axis,
    metavar="KEY=A,B,...",
    shell_complete=completed("axes"),
    help="Values of a key to compare, listed or as a range such as 1..64 x2; several --vary give all combinations.",
)
@keep_option
@jobs_option
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    shell_complete=completed("measures"),
    help="Print only one measure, such as bandwidth, with a row for each value of the first axis; repeat the option for"
    " more tables. flashmesh measures lists the names; streams.reader.p99 is the p99 of the stream named reader.",
)
@baseline_option
@workload_options
@results_option("json", "csv", "parquet")
@output_option("--json", "json_file", "Write the results as JSON; - writes them to stdout instead of the table.")
@output_option(
    "--csv", "csv_file", "Write the results as CSV, a row for each run; - writes them to stdout instead of the table."
)
@click.option("--long", is_flag=True, help="Long-format CSV: one row for each value of each run.")
@output_option("--parquet", "parquet_file", "Write the results as a Parquet file, a row for each run.")
def compare(
    config: str | None,
    fio_file: Path | None,
    axes: tuple[tuple[str, list[str]], ...],
    jobs: int,
    measures: tuple[str, ...],
    baseline: tuple[str, ...],
    json_file: Path | None,
    csv_file: Path | None,
    long: bool,
    parquet_file: Path | None,
    fairness: bool,
    quiet: bool,
    settings: tuple[tuple[str, str], ...],
    **options: Any,
) -> int:
    """Simulate drives that differ in some keys, in parallel, and print them side by side.

    CONFIG is a configuration file, preset:NAME, or - for standard input. With --fio it is optional, and stands for
    the default drive. Ratios are relative to the first run or, with --baseline, to the run with these values and
    otherwise the same settings.
    """
    goal = until_steady(options)
    config = drive_of(config, fio_file)
    vary = dict(axes)
    if len(vary) < len(axes):
        raise click.BadParameter("a key is varied twice", param_hint="--vary")
    refuse_clashes(list(vary), options | {"fio": fio_file}, prefix="--", suffix="")
    refuse_stdout("--parquet", parquet_file)
    refuse_overwriting(
        {"--json": json_file, "--csv": csv_file, "--parquet": parquet_file},
        inputs(config, dict(settings), options["trace"], fio_file, vary.get(TRACE, ())),
    )
    if parquet_file is not None:
        refuse_pipe(parquet_file)
    require_stdout()
    listed = jobs_of(fio_file, quiet)
    named = list(map(measure_named, measures))
    if not fairness:
        refuse_slowdowns(named, "add --fairness")
    against = baseline_of(baseline, vary) if baseline else None
    form = "json" if json_file == STDOUT else "csv" if csv_file == STDOUT else "table"
    with ExitStack() as files:
        targets = {
            writer: files.enter_context(Opened(path))
            for writer, path in (("json", json_file), ("csv", csv_file), ("parquet", parquet_file))
            if path is not None and path != STDOUT
        }
        bar = files.enter_context(ProgressBar(quiet=quiet))
        session, places = simulate.prepared(
            config,
            vary,
            overrides=dict(settings),
            fio=listed,
            fairness=fairness,
            until_steady=goal,
            jobs=jobs,
            **options,
        )
        refuse_unconfigured_streams(named, (task.config for task in session.tasks))
        tell_idle(session.tasks, quiet)
        is_long = len(session.tasks) >= TOLD_FROM
        if is_long:
            announce(session, places, quiet)
        estimate = Estimate(session, places, quiet or not is_long)
        try:
            session.run(LocalThreads(places), on_progress=bar, on_open=bar.on_open, on_end=estimate)
        except BaseException as error:
            # After an interrupt, a termination or a fault, finished runs are written nevertheless.
            bar.stop()
            if session.finished():
                for unwritable in write_files(session.comparison(), targets, long):
                    click.echo(f"error: {unwritable}", err=True)
            partial = ComparedRuns(session.comparison(partial=True))
            partial.planned = len(session.tasks)
            warning = comparison_report.interruption(partial) if isinstance(error, KeyboardInterrupt) else ""
            if warning and (form != "table" or not len(partial)):
                click.echo(warning, err=True)
            if len(partial):
                show_comparison(partial, form, measures, long, against, warning)
            raise
        comparison = session.comparison()
        if not comparison.runs and session.failures[0].error is not None:
            raise session.failures[0].error
        unwritten = write_files(comparison, targets, long)
    tell_lonely([run.result for run in comparison.runs], fairness, quiet)
    table = ComparedRuns(comparison)
    # Results are shown even if a file could not be written: the runs may have taken days.
    show_comparison(table, form, measures, long, against)
    if unwritten:
        raise OutputError("\n".join(unwritten))
    if session.failures:
        raise failure(session.failures, len(session.tasks), "the other results are above, and in any output files")
    return 0


class Opened(ExitStack):
    """An output file that is opened before the runs and written after them; an error concerns only this file."""

    def __init__(self, path: Path) -> None:
        """Opens the file.

        Raises:
            OutputError: If the file cannot be written.
        """
        super().__init__()
        self.target = self.enter_context(whole_file(path))

    def fill(self, write: Callable[[Path], None]) -> str | None:
        """Writes the file. Returns the error message; None if the file was written."""
        try:
            with self:
                write(self.target)
        except OutputError as error:
            return str(error)
        return None


def write_files(comparison: Comparison, targets: Mapping[str, Opened], long: bool) -> list[str]:
    """Writes a comparison into the requested files. Returns the error messages of those that cannot be written."""
    from flashmesh.sweeps.results.table import fill_parquet

    writers: dict[str, Callable[[Path], None]] = {
        "json": lambda target: write_text(target, comparison.to_json()),
        "csv": lambda target: write_text(target, comparison.to_csv(long)),
        "parquet": lambda target: fill_parquet(comparison.table(), target),
    }
    told = [file.fill(writers[form]) for form, file in targets.items()]
    return [failure for failure in told if failure is not None]


def show_comparison(
    table: ComparedRuns,
    form: str,
    measures: tuple[str, ...],
    long: bool = False,
    baseline: Baseline | None = None,
    warning: str = "",
) -> None:
    """Writes a comparison to stdout; as a table with `warning`, if any, above it."""
    with stdout() as stream:
        match form:
            case "json":
                stream.write(table.comparison.to_json())
            case "csv":
                stream.write(table.comparison.to_csv(long))
            case _:
                comparison_report.show(table, Terminal(stream), measures, baseline, Choice(rows=None), warning)
