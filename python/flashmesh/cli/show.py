"""`flashmesh show`."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from flashmesh._native import ConfigError, FlashmeshError
from flashmesh.cli.command import command
from flashmesh.cli.output import refuse_overwriting, refuse_stdout, require_stdout, stdout
from flashmesh.cli.parameters import STDOUT, baseline_option, completed, output_option
from flashmesh.comparison import ComparedRun, Comparison
from flashmesh.files import whole_file, write_text
from flashmesh.normalised import baseline_of
from flashmesh.saved import load, other_versions

if TYPE_CHECKING:
    from flashmesh.normalised import Baseline
    from flashmesh.results import Result


@command()
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    shell_complete=completed("measures"),
    help="Print this measure alone; flashmesh measures lists them.",
)
@baseline_option
@click.option("--long", is_flag=True, help="Long-format CSV: one row for each value of each run.")
@output_option("--csv", "csv_file", "Write the runs as CSV; - writes them to stdout instead of the tables.")
@output_option("--parquet", "parquet_file", "Write the runs as a Parquet file.")
def show(
    path: Path,
    measures: tuple[str, ...],
    baseline: tuple[str, ...],
    long: bool,
    csv_file: Path | None,
    parquet_file: Path | None,
) -> int:
    """Print saved results again, without simulating.

    FILE is what --json or --parquet of a command wrote, or the folder of a sweep or a search.
    """
    from flashmesh.report.measures import measure_named

    require_stdout()
    refuse_stdout("--parquet", parquet_file)
    refuse_overwriting({"--csv": csv_file, "--parquet": parquet_file}, {"the results": [path]})
    for name in measures:
        measure_named(name)
    found = load(path)
    against = None
    if baseline:
        if not isinstance(found, Comparison):
            raise ConfigError(f"--baseline: {path} holds one run: nothing is compared in it")
        against = baseline_of(baseline, found.axes)
    comparison = found if isinstance(found, Comparison) else Comparison({}, (ComparedRun({}, found),))
    versions = other_versions(run.result.version for run in comparison.runs)
    if versions is not None:
        click.echo(f"warning: {path}: {versions}", err=True)
    if not comparison.complete:
        click.echo(
            f"warning: {path}: not all runs had finished; these are the {len(comparison.runs):,} that had", err=True
        )
    if parquet_file is not None:
        comparison.to_parquet(parquet_file)
    if csv_file is not None and csv_file != STDOUT:
        with whole_file(csv_file) as file:
            write_text(file, comparison.to_csv(long))
    with stdout() as stream:
        if csv_file == STDOUT:
            stream.write(comparison.to_csv(long))
            return 0
        show_text(found, measures, stream, against)
    return 0


def show_text(
    found: Result | Comparison, measures: tuple[str, ...], stream: IO[str], baseline: Baseline | None = None
) -> None:
    """Prints a result or a comparison, or some measures of it."""
    from flashmesh.report import comparison as comparison_report
    from flashmesh.report.measures import measure_named
    from flashmesh.report.terminal import Terminal

    if isinstance(found, Comparison):
        terminal = Terminal(stream)
        if not found.runs and not found.failures:
            raise FlashmeshError("there are no results in it yet")
        comparison_report.show(found, terminal, measures, baseline)
        return
    if not measures:
        from flashmesh.report import summary

        summary.show(found, Terminal(stream, summary.WIDTH))
        return
    for name in measures:
        measure = measure_named(name)
        # A line for each, however long a text is.
        stream.write(f"{measure.name.strip()}  {measure.text(measure.value(found))}\n")
