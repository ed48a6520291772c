"""Command `flashmesh serve`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click

from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import STDOUT, config_argument, output_option, results_option, settings_option
from flashmesh.cli.output import inputs, refuse_overwriting, refuse_stdout, require_stdout
from flashmesh.cli.runs.run import show_result
from flashmesh.files import text_file

SCALE_MIN, SCALE_MAX = 0.001, 1e6
DEPTH_MAX = 1024
WITHOUT_PROBE = ("socket", "size", "data", "time_scale", "out_file", "json_file", "log_file")
"""Options without effect with --probe."""


def size(ctx: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    """Parses an amount of data, such as 1GiB."""
    from flashmesh.texts.sizes import size_of

    try:
        return None if text is None else size_of(text)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, parameter) from error


def scale(ctx: click.Context, parameter: click.Parameter, value: float) -> float:
    """Refuses an invalid scale of time."""
    if value != 0 and not SCALE_MIN <= value <= SCALE_MAX:
        raise click.BadParameter(
            f"{value:g}: expected 0 for virtual time, or {SCALE_MIN:g} to {SCALE_MAX:,.0f}", ctx, parameter
        )
    return value


def refuse_with_probe(ctx: click.Context) -> None:
    """Refuses options without effect with --probe."""
    for parameter in ctx.command.params:
        given = parameter.name and ctx.get_parameter_source(parameter.name) == click.core.ParameterSource.COMMANDLINE
        if given and parameter.name in WITHOUT_PROBE:
            raise click.UsageError(f"{parameter.opts[-1]} has no effect with --probe", ctx)


@command()
@config_argument
@click.option("--socket", type=click.Path(path_type=Path), metavar="PATH", help="Unix socket to create and listen on.")
@click.option(
    "--size", callback=size, metavar="SIZE", help="Size that clients see, such as 10G; by default the whole drive."
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Store the data in this sparse file instead of in memory.",
)
@click.option(
    "--time-scale",
    type=float,
    default=1.0,
    show_default=True,
    callback=scale,
    metavar="FACTOR",
    help="Duration of a simulated second in seconds; 0 for virtual time, as fast as possible.",
)
@click.option(
    "--queue-depth",
    type=click.IntRange(1, DEPTH_MAX),
    default=16,
    show_default=True,
    help="Maximum number of outstanding requests of a connection; 1 gives the lowest transport latency.",
)
@settings_option("Override a key of the configuration.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Seed of all random numbers.")
@results_option("json")
@output_option(
    "--json", "json_file", "Write the report as JSON at the end; - writes it to stdout instead of the summary."
)
@output_option("--log", "log_file", "Log the requests as a trace (fio iolog) as they arrive.")
@click.option(
    "--probe", is_flag=True, help="Measure the lowest drive latency that real time allows on this machine, and exit."
)
@click.option("--quiet", is_flag=True, help="Print only errors on stderr.")
@click.pass_context
def serve(
    ctx: click.Context,
    config: str,
    socket: Path | None,
    size: int | None,
    data: Path | None,
    time_scale: float,
    queue_depth: int,
    settings: tuple[tuple[str, str], ...],
    seed: int | None,
    json_file: Path | None,
    log_file: Path | None,
    probe: bool,
    quiet: bool,
) -> int:
    """Serve a drive as a block device (NBD) for other programs.

    The drive stores data, and completes each request when the simulated drive does. Needs nbdkit. An interrupt (Ctrl-C)
    or SIGTERM ends the command, which then prints the report; the exit code is 0.

    CONFIG is a configuration file, preset:NAME, or - for standard input.
    """
    from flashmesh import configuration
    from flashmesh.cli.runs.serving import served, show_probe
    from flashmesh.installation import memory
    from flashmesh.serving.nbdkit import check_config, programs
    from flashmesh.serving.server import Settings

    require_stdout()
    if probe:
        refuse_with_probe(ctx)
    elif socket is None:
        raise click.UsageError("Missing option '--socket'.", ctx)
    loaded = configuration.load(config, overrides=dict(settings), seed=seed, runs=False)
    check_config(loaded)
    programs()
    memory.require([loaded])
    if probe:
        return show_probe(loaded, queue_depth, quiet)
    assert socket is not None
    refuse_stdout("--log", log_file, "the log")
    named = inputs(config, dict(settings), None, None)
    refuse_overwriting({"--json": json_file, "--log": log_file}, named | {"the data": [data] if data else []})
    asked = Settings(socket, size, data, time_scale, queue_depth, log_file)
    with ExitStack() as files:
        write = files.enter_context(text_file(json_file)) if json_file is not None and json_file != STDOUT else None
        result = served(loaded, config, asked, quiet)
        if write is not None:
            write(result.to_json())
    show_result(result, json_file == STDOUT)
    return 0
