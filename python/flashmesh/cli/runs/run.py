"""Command `flashmesh run`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from flashmesh import simulate
from flashmesh._native import OutputError
from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import (
    STDOUT,
    drive_argument,
    output_option,
    results_option,
    until_steady,
    workload_options,
)
from flashmesh.cli.output import (
    inputs,
    refuse_overwriting,
    refuse_stdout,
    refuse_suffix,
    require_stdout,
    stdout,
    tell_nothing,
)
from flashmesh.cli.progress import ProgressBar
from flashmesh.cli.runs.drive import drive_of, jobs_of, tell_lonely
from flashmesh.execution import Interrupted, Unwritten
from flashmesh.files import OutputFiles, text_file
from flashmesh.results import Result
from flashmesh.running.steady import sentence

if TYPE_CHECKING:
    from pathlib import Path


@command()
@drive_argument
@workload_options
@results_option("json")
@output_option("--json", "json_file", "Write the results as JSON; - writes them to stdout instead of the summary.")
@output_option("--fio-json", "fio_json_file", "Write the results in fio's JSON format, for jobs of --fio.")
@output_option("--request-log", "requests_file", "Write a Parquet file with a row for every request.")
@output_option(
    "--epochs",
    "epochs_file",
    "Write a row for every epoch to a .csv or .parquet file; needs --set measure.epoch=TIME.",
)
@output_option("--timeline", "timeline_file", "Write a timeline for Perfetto (ui.perfetto.dev).")
def run(
    config: str | None,
    fio_file: Path | None,
    json_file: Path | None,
    fio_json_file: Path | None,
    requests_file: Path | None,
    epochs_file: Path | None,
    timeline_file: Path | None,
    fairness: bool,
    quiet: bool,
    settings: tuple[tuple[str, str], ...],
    **options: Any,
) -> int:
    """Simulate one drive; print its performance and its bottleneck.

    CONFIG is a configuration file, preset:NAME, or - for standard input. With --fio it is optional,
    and stands for the default drive.
    """
    goal = until_steady(options)
    config = drive_of(config, fio_file)
    if fio_json_file is not None and fio_file is None:
        raise click.UsageError("--fio-json shows jobs of fio: give them with --fio FILE")
    refuse_stdout("--fio-json", fio_json_file, "fio's JSON")
    refuse_stdout("--request-log", requests_file)
    refuse_suffix("--request-log", requests_file, ".parquet")
    refuse_stdout("--epochs", epochs_file, "epochs")
    refuse_stdout("--timeline", timeline_file, "a timeline")
    refuse_overwriting(
        {
            "--json": json_file,
            "--fio-json": fio_json_file,
            "--request-log": requests_file,
            "--epochs": epochs_file,
            "--timeline": timeline_file,
        },
        inputs(config, dict(settings), options["trace"], fio_file),
    )
    require_stdout()
    jobs = jobs_of(fio_file, quiet)
    json_stdout = json_file == STDOUT
    failures: list[str] = []
    with OutputFiles() as files, ProgressBar(quiet=quiet) as bar:
        write_fio = files.open(text_file(fio_json_file)) if fio_json_file else None
        write_json = files.open(text_file(json_file)) if json_file and not json_stdout else None
        try:
            result = simulate.run(
                config,
                overrides=dict(settings),
                fio=jobs,
                fairness=fairness,
                until_steady=goal,
                requests_file=requests_file,
                epochs_file=epochs_file,
                timeline_file=timeline_file,
                on_full_timeline=None if quiet else tell_full,
                progress=bar,
                on_open=bar.on_open,
                on_trouble=bar.say,
                **options,
            )
        except Unwritten as unwritten:
            failures.append(str(unwritten))
            result = unwritten.result
        except KeyboardInterrupt as interrupted:
            bar.stop()
            found = interrupted.partial if isinstance(interrupted, Interrupted) else None
            if not isinstance(found, Result):
                tell_nothing()
            else:
                partial = as_incomplete(found)
                if write_json is not None:
                    write_json(partial.to_json())
                    failures += files.close()
                show_result(partial, json_stdout)
            for failure in failures:
                click.echo(f"error: {failure}", err=True)
            raise
        if write_json is not None:
            write_json(result.to_json())
        if write_fio is not None and jobs is not None:
            from flashmesh.importers.fio.output import fio_json

            write_fio(fio_json(result, jobs))
        failures += files.close()
    tell_lonely([result], fairness, quiet)
    if goal is not False and not quiet:
        click.echo(sentence(result.document), err=True)
    # The result is shown even if a file could not be written: the run may have taken days.
    show_result(result, json_stdout)
    if failures:
        raise OutputError("\n".join(failures))
    return 0


def as_incomplete(result: Result) -> Result:
    """Returns the result of an interrupted run, marked as incomplete like an interrupted comparison."""
    return replace(result, document=result.document | {"complete": False})


def tell_full(end_ps: int) -> None:
    """Warns that a timeline was full before the end of the run."""
    from flashmesh.report import quantities as q

    click.echo(
        f"the timeline is full at {q.time(end_ps)}: choose a later start or a shorter part with measure.window-start "
        "and measure.window-length, or raise measure.timeline-events-max",
        err=True,
    )


def show_result(result: Result, as_json: bool) -> None:
    """Writes a result to stdout."""
    with stdout() as stream:
        if as_json:
            stream.write(result.to_json())
        else:
            from flashmesh.report import summary
            from flashmesh.report.terminal import Terminal

            summary.show(result, Terminal(stream, summary.WIDTH))
