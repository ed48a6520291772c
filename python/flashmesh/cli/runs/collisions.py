"""Command `flashmesh collisions`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from flashmesh import simulate
from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import (
    STDOUT,
    drive_argument,
    output_option,
    results_option,
    until_steady,
    workload_options,
)
from flashmesh.cli.output import inputs, refuse_overwriting, require_stdout, stdout, tell_nothing
from flashmesh.cli.progress import ProgressBar
from flashmesh.cli.runs.drive import jobs_of
from flashmesh.execution import Interrupted
from flashmesh.files import whole_file, write_text
from flashmesh.results import Result

if TYPE_CHECKING:
    from pathlib import Path

DRIVE = "preset:collisions"
"""Default drive: that of the paper Patterned Read Collisions (IEEE Access 2023)."""
SWITCH = "measure.collisions"


@command()
@drive_argument
@workload_options
@results_option("json")
@output_option("--json", "json_file", "Write the results as JSON; - writes them to stdout instead of the tables.")
def collisions(
    config: str | None,
    fio_file: Path | None,
    json_file: Path | None,
    fairness: bool,
    quiet: bool,
    settings: tuple[tuple[str, str], ...],
    **options: Any,
) -> int:
    """Simulate one drive and print how many of its reads collide on a die.

    CONFIG is a configuration file, preset:NAME, or - for standard input. With --trace, --profile or --fio it is
    optional; the default is the drive of the paper (preset:collisions).

    Prints the values of Tables 2 and 3 and Figures 2 to 6 of Patterned Read Collisions (IEEE Access 2023), and the
    possible gain of replicating pages (replication.enabled).
    """
    if config is None and fio_file is None and options["trace"] is None and options["profile"] is None:
        raise click.UsageError("Missing argument 'CONFIG', or a workload: --trace, --profile or --fio.")
    goal = until_steady(options)
    config = config or DRIVE
    overrides = dict(settings)
    if overrides.get(SWITCH, "true") != "true":
        raise click.BadParameter(f"{SWITCH} is set by this command: leave it out", param_hint="--set")
    refuse_overwriting({"--json": json_file}, inputs(config, overrides, options["trace"], fio_file))
    require_stdout()
    jobs = jobs_of(fio_file, quiet)
    json_stdout = json_file == STDOUT
    with ExitStack() as files:
        target = files.enter_context(whole_file(json_file)) if json_file and not json_stdout else None
        bar = files.enter_context(ProgressBar(quiet=quiet))
        try:
            result = simulate.run(
                config,
                overrides=overrides | {SWITCH: "true"},
                fio=jobs,
                fairness=fairness,
                until_steady=goal,
                progress=bar,
                on_open=bar.on_open,
                **options,
            )
        except KeyboardInterrupt as interrupted:
            bar.stop()
            found = interrupted.partial if isinstance(interrupted, Interrupted) else None
            if isinstance(found, Result):
                show_collisions(found, json_stdout)
            else:
                tell_nothing()
            raise
        if target is not None:
            write_text(target, result.to_json())
    show_collisions(result, json_stdout)
    return 0


def show_collisions(result: Result, as_json: bool) -> None:
    """Writes the collisions of a run to stdout."""
    with stdout() as stream:
        if as_json:
            stream.write(result.to_json())
        else:
            from flashmesh.report import collisions as report
            from flashmesh.report.summary import WIDTH
            from flashmesh.report.terminal import Terminal

            report.show(result, Terminal(stream, WIDTH))
