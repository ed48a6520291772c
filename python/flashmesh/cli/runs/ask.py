"""Command `flashmesh ask`: ranks the changes of a drive by their gain."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from flashmesh.asking.engine import LIMIT_S, MEASURES, SEEDS
from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import (
    STDOUT,
    completed,
    drive_argument,
    jobs_option,
    keep_option,
    output_option,
    precision_option,
    results_option,
    settings_option,
    sort_option,
    tolerate_option,
)
from flashmesh.cli.options.policies import policy_options
from flashmesh.cli.output import inputs, refuse_overwriting, require_stdout, stdout
from flashmesh.cli.progress import ProgressBar
from flashmesh.cli.runs.drive import drive_of, jobs_of
from flashmesh.files import text_file


@command()
@drive_argument
@click.option(
    "--measure",
    "measures",
    multiple=True,
    default=MEASURES,
    show_default=True,
    metavar="NAME",
    shell_complete=completed("measures"),
    help="Measure to improve; repeat the option to rank by several measures together.",
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="KEY",
    shell_complete=completed("keys"),
    help="Change only this key; repeatable. By default, all keys with a step.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=SEEDS,
    show_default=True,
    help="Maximum number of seeds for each change.",
)
@click.option(
    "--limit",
    "limit_s",
    type=click.FloatRange(min=0, min_open=True),
    default=LIMIT_S,
    show_default=True,
    metavar="SECONDS",
    help="Time limit; names the work that did not fit into it.",
)
@keep_option
@jobs_option
@click.option("--trace", type=click.Path(path_type=Path), metavar="FILE", help="Replay this trace, at its time stamps.")
@click.option("--profile", metavar="NAME", help="Replay this named workload.", shell_complete=completed("profiles"))
@click.option(
    "--fio",
    "fio_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Run the jobs of this fio file as streams.",
)
@policy_options
@precision_option
@settings_option("Override a key of the configuration.")
@tolerate_option
@sort_option
@results_option("json")
@output_option("--json", "json_file", "Write the answer as JSON; - writes it to stdout instead of the table.")
@click.option("--quiet", is_flag=True, help="Print only errors on stderr.")
def ask(
    config: str | None,
    fio_file: Path | None,
    measures: tuple[str, ...],
    keys: tuple[str, ...],
    json_file: Path | None,
    quiet: bool,
    settings: tuple[tuple[str, str], ...],
    **options: Any,
) -> int:
    """Find the changes to a drive that help most.

    Changes one key at a time, by its declared step (flashmesh explain KEY), and ranks the changes by their benefit,
    with intervals. CONFIG is a configuration file, preset:NAME, or - for standard input.
    """
    from flashmesh.asking.engine import ask as find_changes
    from flashmesh.report import asking
    from flashmesh.report.terminal import Terminal

    config = drive_of(config, fio_file)
    refuse_overwriting({"--json": json_file}, inputs(config, dict(settings), options["trace"], fio_file))
    require_stdout()
    listed = jobs_of(fio_file, quiet)
    with ExitStack() as files:
        write = files.enter_context(text_file(json_file)) if json_file is not None and json_file != STDOUT else None
        with ProgressBar(quiet=quiet) as bar:
            answer = find_changes(
                config,
                measures=measures,
                keys=keys or None,
                overrides=dict(settings),
                fio=listed,
                progress=bar,
                **options,
            )
        if write is not None:
            write(answer.to_json())
    with stdout() as stream:
        if json_file == STDOUT:
            stream.write(answer.to_json())
        else:
            asking.show(answer, Terminal(stream))
    return 0
