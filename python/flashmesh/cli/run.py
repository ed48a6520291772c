"""`flashmesh run`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from flashmesh import simulate
from flashmesh.cli.drive import drive_of, jobs_of, tell_lonely
from flashmesh.cli.output import (
    STDOUT,
    inputs,
    refuse_overwriting,
    refuse_stdout,
    refuse_suffix,
    require_stdout,
    stdout,
)
from flashmesh.cli.parameters import EXIT_CODES, drive_argument, output_option, workload_options
from flashmesh.cli.progress import ProgressBar
from flashmesh.execution import Interrupted
from flashmesh.files import whole_file, write_text
from flashmesh.results import Result

if TYPE_CHECKING:
    from pathlib import Path


@click.command(epilog=EXIT_CODES)
@drive_argument
@workload_options
@output_option("--json", "json_file", "Write the results as JSON; - writes them to stdout instead of the summary.")
@output_option("--request-log", "requests_file", "Write a Parquet file with a row for every request.")
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

    CONFIG is a configuration file, preset:NAME, or - for standard input. With --fio it may be left out, for the
    drive of the defaults.
    """
    config = drive_of(config, fio_file)
    refuse_stdout("--request-log", requests_file)
    refuse_suffix("--request-log", requests_file, ".parquet")
    refuse_stdout("--epochs", epochs_file, "epochs")
    refuse_overwriting(
        {"--json": json_file, "--request-log": requests_file, "--epochs": epochs_file},
        inputs(config, dict(settings), options["trace"], fio_file),
    )
    require_stdout()
    jobs = jobs_of(fio_file, quiet)
    json_stdout = json_file == STDOUT
    with ExitStack() as files:
        target = files.enter_context(whole_file(json_file)) if json_file and not json_stdout else None
        bar = files.enter_context(ProgressBar(quiet=quiet))
        try:
            result = simulate.run(
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
            bar.stop()
            if isinstance(interrupted.partial, Result):
                show_result(interrupted.partial, json_stdout)
            raise
        if target is not None:
            write_text(target, result.to_json())
    tell_lonely([result], fairness, quiet)
    show_result(result, json_stdout)
    return 0


def show_result(result: Result, as_json: bool) -> None:
    """Writes a result to stdout."""
    with stdout() as stream:
        if as_json:
            stream.write(result.to_json())
        else:
            from flashmesh.report import summary
            from flashmesh.report.terminal import Terminal

            summary.show(result, Terminal(stream))
