"""`flashmesh compare`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from flashmesh import simulate
from flashmesh.axes import refuse_clashes
from flashmesh.cli.drive import drive_of, jobs_of, tell_lonely
from flashmesh.cli.output import STDOUT, TRACE, inputs, refuse_overwriting, refuse_stdout, require_stdout, stdout
from flashmesh.cli.parameters import EXIT_CODES, axis, drive_argument, output_option, workload_options
from flashmesh.cli.progress import ProgressBar
from flashmesh.comparison import Comparison
from flashmesh.execution import Interrupted
from flashmesh.files import whole_file, write_text
from flashmesh.report import comparison as comparison_report
from flashmesh.report.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path


@click.command(epilog=EXIT_CODES)
@drive_argument
@click.option(
    "--vary",
    "axes",
    multiple=True,
    required=True,
    type=axis,
    metavar="KEY=A,B,...",
    help="Values of a key to compare; several axes give all combinations.",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=simulate.cores, show_default="all cores", help="Runs at once."
)
@click.option(
    "--measure",
    type=click.Choice(comparison_report.NAMES),
    metavar="NAME",
    help="Print one measure alone, such as bandwidth or 'all p99': a row for each value of the first axis.",
)
@workload_options
@output_option("--json", "json_file", "Write the results as JSON; - writes them to stdout instead of the table.")
@output_option(
    "--csv", "csv_file", "Write the results as CSV, a row for each run; - writes them to stdout instead of the table."
)
@output_option("--parquet", "parquet_file", "Write the results as a Parquet file, a row for each run.")
def compare(
    config: str | None,
    fio_file: Path | None,
    axes: tuple[tuple[str, list[str]], ...],
    jobs: int,
    measure: str | None,
    json_file: Path | None,
    csv_file: Path | None,
    parquet_file: Path | None,
    fairness: bool,
    quiet: bool,
    settings: tuple[tuple[str, str], ...],
    **options: Any,
) -> int:
    """Simulate drives that differ in some keys, in parallel, and print them side by side.

    CONFIG is a configuration file, preset:NAME, or - for standard input. With --fio it may be left out, for the
    drive of the defaults. Ratios are against the first run.
    """
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
    require_stdout()
    listed = jobs_of(fio_file, quiet)
    form = "json" if json_file == STDOUT else "csv" if csv_file == STDOUT else "table"
    with ExitStack() as files:
        json_target = files.enter_context(whole_file(json_file)) if json_file and json_file != STDOUT else None
        csv_target = files.enter_context(whole_file(csv_file)) if csv_file and csv_file != STDOUT else None
        parquet_target = files.enter_context(whole_file(parquet_file)) if parquet_file else None
        bar = files.enter_context(ProgressBar(quiet=quiet))
        try:
            comparison = simulate.compare(
                config,
                vary,
                overrides=dict(settings),
                fio=listed,
                fairness=fairness,
                jobs=jobs,
                progress=bar,
                on_open=bar.on_open,
                **options,
            )
        except Interrupted as interrupted:
            bar.stop()
            if isinstance(interrupted.partial, Comparison):
                show_comparison(interrupted.partial, form, measure)
            raise
        if json_target is not None:
            write_text(json_target, comparison.to_json())
        if csv_target is not None:
            write_text(csv_target, comparison.frame().to_csv(index=False))
        if parquet_target is not None:
            comparison.to_parquet(parquet_target)
    tell_lonely([run.result for run in comparison.runs], fairness, quiet)
    show_comparison(comparison, form, measure)
    return 0


def show_comparison(comparison: Comparison, form: str, measure: str | None) -> None:
    """Writes a comparison to stdout."""
    with stdout() as stream:
        match form:
            case "json":
                stream.write(comparison.to_json())
            case "csv":
                stream.write(comparison.frame().to_csv(index=False))
            case _:
                comparison_report.show(comparison, Terminal(stream), measure)
