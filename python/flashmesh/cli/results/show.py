"""Command `flashmesh show`."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from flashmesh._native import ConfigError, FlashmeshError
from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import (
    STDOUT,
    baseline_option,
    completed,
    once_each,
    output_option,
    results_option,
    setting,
)
from flashmesh.cli.output import refuse_missing, refuse_overwriting, refuse_stdout, require_stdout, stdout
from flashmesh.comparing.normalised import baseline_of
from flashmesh.comparison import ComparedRun, Comparison
from flashmesh.files import whole_file, write_text
from flashmesh.saved import load, open_runs, other_versions, read_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.comparing.normalised import Baseline
    from flashmesh.report.tables.view import Choice

ALL = "all"


def rows(text: str) -> int | None:
    """Parses `--rows`, the maximum number of points to print; None for `all`."""
    if text == ALL:
        return None
    if not text.isdecimal() or not int(text):
        raise click.BadParameter(f"{text!r}: expected a number of points, or {ALL}")
    return int(text)


@command()
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    shell_complete=completed("measures"),
    help="Print only this measure; flashmesh measures lists the names, and streams.reader.p99 is that of a stream.",
)
@baseline_option
@click.option(
    "--where",
    multiple=True,
    type=setting,
    callback=once_each,
    metavar="KEY=VALUE",
    help="Print only runs with this value of a varied key.",
)
@click.option(
    "--sort", metavar="[-]NAME", help="Sort by this measure, the smallest first; with a minus, the largest first."
)
@click.option(
    "--rows", type=rows, default="40", show_default=True, metavar="N|all", help="Maximum number of points to print."
)
@click.option("--long", is_flag=True, help="Long-format CSV: one row for each value of each run.")
@results_option("csv", "parquet")
@output_option("--csv", "csv_file", "Write the runs as CSV; - writes them to stdout instead of the tables.")
@output_option("--parquet", "parquet_file", "Write the runs as a Parquet file.")
def show(
    path: Path,
    measures: tuple[str, ...],
    baseline: tuple[str, ...],
    where: tuple[tuple[str, str], ...],
    sort: str | None,
    rows: int | None,
    long: bool,
    csv_file: Path | None,
    parquet_file: Path | None,
) -> int:
    """Print saved results again, without simulating.

    FILE is a file written by --json or --parquet, or the folder of a sweep or a search. Runs that differ only in their
    seed are one row, with the mean and its 95 % confidence interval.
    """
    from flashmesh.report.measures.measure import measure_named
    from flashmesh.report.tables.view import Choice

    require_stdout()
    refuse_stdout("--parquet", parquet_file)
    refuse_overwriting({"--csv": csv_file, "--parquet": parquet_file}, {"the results": [path]})
    for name in measures:
        measure_named(name)
    refuse_missing(path)
    by = measure_named(sort.removeprefix("-")) if sort is not None else None
    choice = Choice(dict(where), by, sort is not None and sort.startswith("-"), rows)
    answer = read_answer(path)
    if answer is not None:
        from flashmesh.report import asking
        from flashmesh.report.terminal import Terminal

        with stdout() as stream:
            asking.show(answer, Terminal(stream))
        return 0
    table = open_runs(path)
    tell(path, table)
    if parquet_file is not None or csv_file is not None:
        write_files(path, csv_file, parquet_file, long)
    if csv_file == STDOUT:
        return 0
    if not len(table) and not table.failures:
        raise FlashmeshError(f"{path}: contains no results yet")
    if baseline and not table.axes:
        raise ConfigError(f"--baseline: {path} contains one run, so there is nothing to compare with")
    against = baseline_of(baseline, table.axes) if baseline else None
    with stdout() as stream:
        show_text(table, measures, stream, against, choice)
    return 0


def tell(path: Path, table: RunTable) -> None:
    """Prints warnings about saved results on stderr."""
    (found,) = table.columns(["version"])
    versions = other_versions(found)
    if versions is not None:
        click.echo(f"warning: {path}: {versions}", err=True)
    if not table.complete:
        click.echo(
            f"warning: {path}: not all runs had finished: only the {len(table):,} finished ones are shown", err=True
        )


def write_files(path: Path, csv_file: Path | None, parquet_file: Path | None, long: bool) -> None:
    """Writes all runs of saved results as CSV or Parquet."""
    found = load(path)
    comparison = found if isinstance(found, Comparison) else Comparison({}, (ComparedRun({}, found),))
    if parquet_file is not None:
        comparison.to_parquet(parquet_file)
    if csv_file == STDOUT:
        with stdout() as stream:
            stream.write(comparison.to_csv(long))
    elif csv_file is not None:
        with whole_file(csv_file) as file:
            write_text(file, comparison.to_csv(long))


def show_text(
    table: RunTable,
    measures: Sequence[str],
    stream: IO[str],
    baseline: Baseline | None = None,
    choice: Choice | None = None,
) -> None:
    """Prints runs as tables; a single run as its summary, or as a line for each measure."""
    from flashmesh.report import comparison as comparison_report
    from flashmesh.report.measures.measure import measure_named
    from flashmesh.report.terminal import Terminal

    if table.axes or table.failures:
        comparison_report.show(table, Terminal(stream), measures, baseline, choice)
        return
    if measures:
        named = list(map(measure_named, measures))
        table.refuse_unmeasured(named)
        for measure in named:
            # Long texts are not wrapped: each measure has one line.
            stream.write(f"{measure.name.strip()}  {measure.text(table.values([measure])[0][0])}\n")
        return
    from flashmesh.report import summary
    from flashmesh.results import Result

    (document,) = table.documents([0])
    summary.show(Result.from_document(document), Terminal(stream, summary.WIDTH))
