"""Options shared by several commands, and the types of their values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from flashmesh.cli.options.counts import Requests
from flashmesh.cli.options.outfile import STDOUT as STDOUT
from flashmesh.cli.options.outfile import out_option as out_option
from flashmesh.cli.options.outfile import output_option as output_option
from flashmesh.cli.options.outfile import results_option as results_option
from flashmesh.cli.options.policies import NAMED, policy_options

PRECISE = "flashmesh.precision"
"""Key in Click's context by which `--precision` passes its settings to `--set`."""
PRECISION = "measure.precision"
PRECISION_OF = "measure.precision-of"
COMPLETING = "_FLASHMESH_COMPLETE"
"""Environment variable that is set if the shell asks for completions, not for a run of the command."""
F = TypeVar("F", bound=Callable[..., Any])


def completed(name: str) -> Callable[[click.Context, click.Parameter, str], list[Any]]:
    """Returns a function that calls the completion function `name`.

    The module of the completion functions is imported at the first call, since only shells need it.
    """

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
        from flashmesh.cli import completion

        found: list[Any] = getattr(completion, name)(context, parameter, incomplete)
        return found

    return complete


def setting(text: str) -> tuple[str, str]:
    """Parses `key=value`, the argument of `--set`, into the key and the text of the value."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise click.BadParameter(f"{text!r}: expected key=value, such as fabric.kind=ideal")
    from flashmesh.keys import key_of

    return key_of(key), value.strip()


def once_each(
    ctx: click.Context, parameter: click.Parameter, settings: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """Refuses a key that is set twice, since one of the values would have no effect.

    Options such as `--policy` and `--precision` set keys, too.
    """
    settings = (*settings, *ctx.meta.get(NAMED, ()), *ctx.meta.get(PRECISE, ()))
    seen: dict[str, str] = {}
    for key, value in settings:
        if key in seen:
            raise click.BadParameter(f"{key} is set twice, to {seen[key]} and to {value}", ctx, parameter)
        seen[key] = value
    return settings


def precise(ctx: click.Context, parameter: click.Parameter, text: str | None) -> None:
    """Parses the argument of `--precision`, and stores the resulting settings in the context for `--set`."""
    if text is None or ctx.resilient_parsing:
        return
    figure, equals, share = map(str.strip, text.rpartition("="))
    if not share or (equals and not figure):
        raise click.BadParameter(f"{text!r}: expected a share, such as 2%, or a figure with one, such as p99=5%")
    named = ((PRECISION_OF, figure_of(figure)),) if equals else ()
    from flashmesh._native import Config, ConfigError

    try:
        Config.from_str("", "", [f"{PRECISION}={share}"])
    except ConfigError as error:
        told = str(error).splitlines()[0].removeprefix("error: ").removeprefix(f"{PRECISION}: ")
        raise click.BadParameter(f"{text!r}: {told}") from None
    ctx.meta[PRECISE] = ((PRECISION, share), *named)


def figure_of(name: str) -> str:
    """Returns the value of `measure.precision-of` for a figure, whose name may be spelled as in tables: `IOPS`.

    Raises:
        BadParameter: If the precision of the figure cannot be asked for; the message lists the figures.
    """
    from flashmesh.keys import find

    figure = name.lower().replace(" ", "-")
    figures = find(PRECISION_OF).choices
    if figure not in figures:
        raise click.BadParameter(
            f"{name!r} is no figure with a precision; the figures are {', '.join(figures)}, each of all requests "
            "together, and not of a single stream, of reads or of writes"
        )
    return figure


def precision_option(command: F) -> F:
    """Adds `--precision`, which must be read before the settings."""
    option: Callable[[F], F] = click.option(
        "--precision",
        is_eager=True,
        expose_value=False,
        callback=precise,
        metavar="[FIGURE=]SHARE",
        help="End a run once the 95 % confidence interval of IOPS, or of a FIGURE such as p99, is within SHARE of its "
        "value, such as 2%; workload.requests is the limit.",
    )
    return option(command)


def settings_option(text: str) -> Callable[[F], F]:
    """Returns the decorator that adds `--set`."""
    return click.option(
        "--set",
        "settings",
        multiple=True,
        type=setting,
        callback=once_each,
        metavar="KEY=VALUE",
        shell_complete=completed("settings"),
        help=text,
    )


def axis(text: str) -> tuple[str, list[str]]:
    """Parses `key=a,b,c`, the argument of `--vary`, into the key and its values; brackets and quotes protect commas.

    A range, such as `1..64 x2`, becomes its values.
    """
    from flashmesh.sweeps.inputs.ranges import is_range, read_range

    key, value = setting(text)
    values = split(value)
    if not all(values):
        raise click.BadParameter(f"{text!r}: a value is empty")
    return key, [each for part in values for each in (read_range(key, part).values() if is_range(part) else [part])]


def split(text: str) -> list[str]:
    """Splits a text at commas outside brackets and quotes."""
    values, depth, quoted = [""], 0, False
    for character in text:
        quoted ^= character == '"'
        if not quoted:
            depth += (character in "[{(") - (character in "]})")
        if character == "," and depth == 0 and not quoted:
            values.append("")
        else:
            values[-1] += character
    return [value.strip() for value in values]


def config_argument(command: F) -> F:
    """Adds the configuration argument."""
    return click.argument("config", metavar="CONFIG", shell_complete=completed("configs"))(command)


def drive_argument(command: F) -> F:
    """Adds the optional configuration argument of a command with a default drive."""
    complete = completed("configs")
    return click.argument("config", metavar="[CONFIG]", required=False, shell_complete=complete)(command)


def tolerate_option(command: F) -> F:
    """Adds `--tolerate`."""
    text = "Skip any number of unusable lines of a trace."
    return click.option("--tolerate", is_flag=True, help=text)(command)


def sort_option(command: F) -> F:
    """Adds `--sort`."""
    text = "Accept a trace that is out of order: sort lines that are up to 256 requests and 10 s late."
    return click.option("--sort", is_flag=True, help=text)(command)


def baseline_option(command: F) -> F:
    """Adds `--baseline`."""
    text = (
        "Print ratios to the run with this value of a varied key and otherwise the same settings, and their means; "
        "give it once for each key."
    )
    return click.option("--baseline", multiple=True, metavar="KEY=VALUE", help=text)(command)


def workload_options(command: F) -> F:
    """Adds the options shared by `run` and `compare`."""
    trace = click.Path(path_type=Path)
    options = [
        click.option("--trace", type=trace, metavar="FILE", help="Replay this trace, at its time stamps."),
        click.option(
            "--profile", metavar="NAME", help="Replay this named workload.", shell_complete=completed("profiles")
        ),
        click.option("--fio", "fio_file", type=trace, metavar="FILE", help="Run the jobs of this fio file as streams."),
        policy_options,
        precision_option,
        settings_option("Override a key of the configuration."),
        click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Seed of all random numbers."),
        tolerate_option,
        sort_option,
        click.option("--check", is_flag=True, help="Check the simulation against its oracles as it runs."),
        click.option(
            "--fairness",
            is_flag=True,
            help="Also run each stream alone and report its slowdown; needs several streams.",
        ),
        *STEADY_OPTIONS,
        click.option("--quiet", is_flag=True, help="Print only errors on stderr."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


STEADY_OPTIONS = (
    click.option(
        "--until-steady",
        is_flag=True,
        help="Double the number of requests, and the stop times, until the measured window is steady.",
    ),
    click.option(
        "--steady-limit",
        type=Requests(min=1),
        metavar="REQUESTS",
        help="Maximum number of requests of a run with --until-steady, warm-up included; "
        "by default 64 times those of the first run.",
    ),
)


def steady_options(command: F) -> F:
    """Adds `--until-steady` and `--steady-limit`."""
    for option in reversed(STEADY_OPTIONS):
        command = option(command)
    return command


def until_steady(options: dict[str, Any]) -> bool | int:
    """Removes both steadiness options from `options`, and returns the argument `until_steady` of `run`.

    The argument is the maximum number of requests if given, else whether runs continue until they are steady.
    """
    wanted, limit = options.pop("until_steady"), options.pop("steady_limit")
    if limit is not None and not wanted:
        raise click.UsageError("--steady-limit has no effect without --until-steady")
    goal: bool | int = limit if limit is not None else wanted
    return goal


def keep_option(command: F) -> F:
    """Adds `--keep`."""
    from flashmesh.configuring.spare_space import KEEP

    text = (
        "Quantity to keep if a varied key changes the raw capacity: the over-provisioning (geometry.capacity grows "
        "with it) or the capacity."
    )
    return click.option("--keep", type=click.Choice(KEEP), default=KEEP[0], show_default=True, help=text)(command)


def jobs_option(command: F) -> F:
    """Adds `--jobs`."""
    from flashmesh import simulate

    option: Callable[[F], F] = click.option(
        "--jobs",
        type=click.IntRange(min=1),
        default=simulate.cores,
        show_default="all cores",
        help="Number of parallel runs.",
    )
    return option(command)


def kept_runs_option(default: str) -> Callable[[F], F]:
    """Returns a decorator that adds `--results`, a folder that keeps the results of runs; `default` is its path."""
    return click.option(
        "--results",
        type=click.Path(path_type=Path),
        default=Path(default),
        show_default=True,
        metavar="DIR",
        help="Folder with the results of runs; runs with results there are not repeated.",
    )


def store_options(command: F) -> F:
    """Adds the options of a folder of results: `--out`, `--resume` and `--jobs`."""
    options = [
        out_option(
            "out", "Folder of the results, created if missing; by default FILE.results for FILE.toml.", metavar="DIR"
        ),
        click.option("--resume", is_flag=True, help="Keep finished results and run only what is missing."),
        jobs_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


def dask_options(command: F) -> F:
    """Adds the options of a cluster."""
    command = click.option(
        "--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Number of Slurm jobs to request."
    )(command)
    text = "Run on a Dask cluster: the address of its scheduler, or slurm to start a cluster in Slurm jobs."
    command = click.option(
        "--dask-tls",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Connect to the cluster over TLS with ca.pem, cert.pem and key.pem from this folder.",
    )(command)
    return click.option("--dask", metavar="ADDRESS|slurm", help=text)(command)
