"""The commands."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

import flashmesh as library
from flashmesh import configuration
from flashmesh.axes import refuse_clashes
from flashmesh.cli.importers import import_mqsim_command
from flashmesh.cli.output import (
    STDOUT,
    TRACE,
    inputs,
    refuse_overwriting,
    refuse_stdout,
    require_stdout,
    stdout,
)
from flashmesh.cli.parameters import (
    EXIT_CODES,
    axis,
    config_argument,
    drive_argument,
    output_option,
    setting,
    workload_options,
)
from flashmesh.cli.progress import ProgressBar
from flashmesh.cli.traces import trace
from flashmesh.execution import Interrupted
from flashmesh.files import whole_file, write_text
from flashmesh.importers.fio import read_jobs
from flashmesh.report import comparison as comparison_report
from flashmesh.report import summary as summary_report
from flashmesh.report.terminal import Terminal
from flashmesh.simulate import cores

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from flashmesh.importers.fio import FioJobs

DRIVE = "preset:z-nand"
"""The drive of jobs that come without one: that of the defaults."""


@click.group(epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(library.__version__, message="flashmesh %(version)s")
def flashmesh() -> None:
    """Simulate SSDs: replay a workload on a drive and read where the time went."""


flashmesh.add_command(trace)
flashmesh.add_command(import_mqsim_command)


def drive_of(config: str | None, fio_file: Path | None) -> str:
    """The configuration of a run, which jobs may come without.

    Raises:
        click.UsageError: When nothing says what to run.
    """
    if config is None and fio_file is None:
        raise click.UsageError("Missing argument 'CONFIG'.")
    return config or DRIVE


def jobs_of(fio_file: Path | None, quiet: bool) -> FioJobs | None:
    """The jobs of fio to run, if there are any; what is to be said about them goes to stderr."""
    if fio_file is None:
        return None
    jobs = read_jobs(fio_file)
    if not quiet:
        for note in jobs.notes:
            click.echo(f"{fio_file}: {note}", err=True)
    return jobs


def tell_lonely(results: Iterable[library.Result], fairness: bool, quiet: bool) -> None:
    """Says on stderr that fairness is a matter of several streams, where there is one."""
    if fairness and not quiet and all(len(result.streams) == 1 for result in results):
        click.echo("--fairness: there is one stream, and nothing beside it that could slow it down.", err=True)


@flashmesh.command(epilog=EXIT_CODES)
@drive_argument
@workload_options
@output_option("--json", "json_file", "Write the results as JSON; - writes them to stdout instead of the summary.")
@output_option("--requests", "requests_file", "Write a Parquet file with a row for every request.")
@output_option(
    "--epochs",
    "epochs_file",
    "Write a row for every epoch to a .csv or .parquet file; needs --set measure.epoch=TIME, how long one is.",
)
def run(
    config: str | None,
    fio_file: Path | None,
    json_file: Path | None,
    requests_file: Path | None,
    epochs_file: Path | None,
    fairness: bool,
    quiet: bool,
    settings: tuple[tuple[str, str], ...],
    **options: Any,
) -> int:
    """Simulate one drive and print what came out and why.

    CONFIG is a configuration file, or preset:NAME. With --fio it may be left out, for the drive of the defaults.
    """
    config = drive_of(config, fio_file)
    refuse_stdout("--requests", requests_file)
    refuse_stdout("--epochs", epochs_file, "epochs")
    refuse_overwriting(
        {"--json": json_file, "--requests": requests_file, "--epochs": epochs_file},
        inputs(config, dict(settings), options["trace"], fio_file),
    )
    require_stdout()
    jobs = jobs_of(fio_file, quiet)
    json_stdout = json_file == STDOUT
    with ExitStack() as files:
        target = files.enter_context(whole_file(json_file)) if json_file and not json_stdout else None
        bar = files.enter_context(ProgressBar(quiet=quiet))
        try:
            result = library.run(
                config,
                overrides=dict(settings),
                fio=jobs,
                fairness=fairness,
                requests_file=requests_file,
                epochs_file=epochs_file,
                progress=bar,
                on_open=bar.on_open,
                **options,
            )
        except Interrupted as interrupted:
            bar.bar.stop()
            if isinstance(interrupted.partial, library.Result):
                show_result(interrupted.partial, json_stdout)
            raise
        if target is not None:
            write_text(target, result.to_json())
    tell_lonely([result], fairness, quiet)
    show_result(result, json_stdout)
    return 0


def show_result(result: library.Result, as_json: bool) -> None:
    """Writes a result to stdout."""
    with stdout() as stream:
        if as_json:
            stream.write(result.to_json())
        else:
            summary_report.show(result, Terminal(stream))


@flashmesh.command(epilog=EXIT_CODES)
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
@click.option("--jobs", type=click.IntRange(min=1), default=cores, show_default="all cores", help="Runs at once.")
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

    CONFIG is a configuration file, or preset:NAME. With --fio it may be left out, for the drive of the defaults. Ratios
    are against the first run.
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
            comparison = library.compare(
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
            bar.bar.stop()
            if isinstance(interrupted.partial, library.Comparison):
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


def show_comparison(comparison: library.Comparison, form: str, measure: str | None) -> None:
    """Writes a comparison to stdout."""
    with stdout() as stream:
        match form:
            case "json":
                stream.write(comparison.to_json())
            case "csv":
                stream.write(comparison.frame().to_csv(index=False))
            case _:
                comparison_report.show(comparison, Terminal(stream), measure)


@flashmesh.command(epilog=EXIT_CODES)
@config_argument
@click.option("--set", "settings", multiple=True, type=setting, metavar="KEY=VALUE", help="Override a key.")
def config(config: str, settings: tuple[tuple[str, str], ...]) -> None:
    """Print a configuration with every parameter and its value, as TOML.

    CONFIG is a configuration file, or preset:NAME.
    """
    with stdout() as stream:
        stream.write(configuration.load(config, overrides=dict(settings)).to_toml())


@flashmesh.command(epilog=EXIT_CODES)
def presets() -> None:
    """List the presets."""
    summaries = library.presets()
    width = max(map(len, summaries))
    with stdout() as stream:
        stream.writelines(f"{name:<{width}}  {summary}\n" for name, summary in summaries.items())


@flashmesh.command(epilog=EXIT_CODES)
@click.argument("name", required=False)
def profiles(name: str | None) -> None:
    """List the named workloads by paper, or say what is published and what is assumed of the one called NAME."""
    if name is not None:
        with stdout() as stream:
            stream.write(library.describe_profile(name).rstrip("\n") + "\n")
        return
    papers = library.profiles_by_paper()
    width = max(len(profile) for summaries in papers.values() for profile in summaries)
    sections = [
        f"{paper}\n" + "".join(f"  {profile:<{width}}  {summary}\n" for profile, summary in summaries.items())
        for paper, summaries in papers.items()
    ]
    with stdout() as stream:
        stream.write("\n".join(sections))
