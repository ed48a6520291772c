"""Command `flashmesh report`."""

from __future__ import annotations

from pathlib import Path

import click

from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import out_option
from flashmesh.cli.output import refuse_missing, refuse_overwriting, refuse_stdout
from flashmesh.files import whole_file, write_text


@command()
@click.argument("results", metavar="RESULT...", nargs=-1, required=True, type=click.Path(path_type=Path))
@out_option("output", "The page to write.", default=Path("report.html"), show_default=True)
@click.option("--open", "show", is_flag=True, help="Open the page in the browser.")
@click.option(
    "--plots",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Also write each chart as SVG and PDF, for one column and for two, with its data as CSV.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="With --plots, write only charts whose names begin with NAME, such as tail; repeatable.",
)
@click.option(
    "--chart",
    "charts",
    multiple=True,
    metavar="LINE",
    help="Also draw a chart, such as 'p99 over replay.outstanding by fabric.kind'; repeatable.",
)
@click.option("--title", metavar="TEXT", help="Title of the page; by default the file names.")
def report(
    results: tuple[Path, ...],
    output: Path,
    show: bool,
    plots: Path | None,
    only: tuple[str, ...],
    charts: tuple[str, ...],
    title: str | None,
) -> int:
    """Make one page of results: charts, tables and the animated network, in one self-contained file.

    RESULT is a JSON or Parquet file written by `flashmesh run`, `compare` or `ask`, or the folder of a sweep.
    """
    # Missing files are refused before the slow imports, so that a misspelt name shows at once.
    for path in results:
        refuse_missing(path)
    from dataclasses import replace

    from flashmesh.html.page import page
    from flashmesh.html.saved import SavedError, read
    from flashmesh.report.measures.chart_spec import read_chart

    if only and plots is None:
        raise click.UsageError("--only chooses among the charts of --plots: name a folder with --plots DIR")
    refuse_stdout("--out", output, "a page")
    refuse_overwriting({"--out": output}, {"a result": list(results)})
    specs = tuple(map(read_chart, charts))
    study = replace(read(results), charts=specs)
    if title is not None:
        study = replace(study, title=title)
    try:
        text = page(study)
    except KeyError as missing:
        raise SavedError(f"a result lacks {missing}: another version of flashmesh wrote it: run it again") from None
    if plots is not None:
        from flashmesh.html.figures import write_figures

        for path in write_figures(study, plots, only):
            click.echo(path)
    with whole_file(output) as target:
        write_text(target, text)
    click.echo(output)
    for note in study.notes:
        click.echo(f"warning: {note}", err=True)
    if show:
        click.launch(output.resolve().as_uri())
    return 0
