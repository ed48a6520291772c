"""Command `flashmesh config`, which prints and compares configurations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from flashmesh.cli.command import Group
from flashmesh.cli.options.parameters import (
    STDOUT,
    completed,
    config_argument,
    output_option,
    results_option,
    settings_option,
)
from flashmesh.cli.output import refuse_overwriting, stdout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PRINT = "print"
"""Default command for a configuration."""
SAVED = (".json", ".parquet")


class Printing(Group):
    """A group whose first argument may be a configuration to print."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Inserts `print` before an argument that is not a command."""
        is_command = bool(args) and (args[0] in self.commands or args[0] in (*ctx.help_option_names, "--schema"))
        # During completion, an empty line may still become a command.
        if not is_command and (args or not ctx.resilient_parsing):
            args = [PRINT, *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Returns the commands, and the configurations to print."""
        from flashmesh.cli.completion import configs

        return [*super().shell_complete(ctx, incomplete), *configs(ctx, None, incomplete)]


def print_schema(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    """Prints the schema, and ends the command."""
    if wanted and not ctx.resilient_parsing:
        from flashmesh.configuring.starter import schema

        with stdout() as stream:
            stream.write(schema())
        ctx.exit()


@click.group(cls=Printing)
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_schema,
    help="Print the JSON Schema of configurations, for editors.",
)
def config() -> None:
    """Print a configuration with every parameter, or compare several.

    `flashmesh config CONFIG` is short for `flashmesh config print CONFIG`.
    """


@config.command(PRINT)
@config_argument
@settings_option("Override a key.")
def print_config(config: str, settings: tuple[tuple[str, str], ...]) -> None:
    """Print a configuration with every parameter and its value, as TOML.

    CONFIG is a configuration file, preset:NAME, or - for standard input.
    """
    from flashmesh import configuration
    from flashmesh.installation import memory

    loaded = configuration.load(config, overrides=dict(settings), runs=False)
    need = memory.need([loaded])
    of_it = f", {memory.size(need.preconditioned)} of it for preconditioning" if need.preconditioned else ""
    with stdout() as stream:
        stream.write(loaded.to_toml())
        stream.write(f"\n# A run takes at most about {memory.size(need.used)} of memory{of_it}.\n")


@config.command()
@click.argument("sources", metavar="CONFIG...", nargs=-1, required=True, shell_complete=completed("configs_and_saved"))
@results_option("json")
@output_option("--json", "json_file", "Write the differences as JSON; - writes them to stdout instead of the table.")
def diff(sources: tuple[str, ...], json_file: Path | None) -> None:
    """Print the keys in which configurations differ.

    Each CONFIG is a configuration file, preset:NAME, - for standard input, or a file or folder of saved results, which
    stands for the configuration of each of its runs.
    """
    from flashmesh.configuring.missing import PRESET_PREFIX
    from flashmesh.keys import differences

    files = [Path(source) for source in sources if not source.startswith(PRESET_PREFIX) and Path(source) != STDOUT]
    refuse_overwriting({"--json": json_file}, {"a configuration": files})
    columns = [column for source in sources for column in columns_of(source)]
    if len(columns) < 2:
        raise click.UsageError(f"{sources[0]} is one configuration: name another one to compare it with")
    names = [name for name, _ in columns]
    found = differences([tables for _, tables in columns])
    document = json.dumps({"configurations": names, "differences": found}, indent=2, ensure_ascii=False) + "\n"
    if json_file is not None and json_file != STDOUT:
        from flashmesh.files import whole_file, write_text

        with whole_file(json_file) as target:
            write_text(target, document)
    with stdout() as stream:
        if json_file == STDOUT:
            stream.write(document)
        else:
            show(names, found, stream)


def columns_of(source: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Returns the configurations that a command-line argument names, as (column name, tables) pairs.

    Raises:
        FlashmeshError: If the argument is neither a configuration nor a saved result.
    """
    path = Path(source)
    if path.suffix.lower() in SAVED or path.is_dir():
        from flashmesh.comparison import Comparison
        from flashmesh.saved import load

        found = load(path)
        if not isinstance(found, Comparison):
            return [(path.stem, found.document["configuration"])]
        return [(named(run.settings) or path.stem, run.result.document["configuration"]) for run in found.runs]
    from flashmesh import configuration

    return [(source, json.loads(configuration.load(source, runs=False).to_json()))]


def named(settings: Mapping[str, Any]) -> str:
    """Returns the varied values of a run, joined as the name of its column."""
    from flashmesh.configuration import value_text

    return ", ".join(value_text(value) for value in settings.values())


def show(names: Sequence[str], found: Mapping[str, Sequence[Any]], stream: IO[str]) -> None:
    """Prints a row for each key in which the configurations differ, with a column for each configuration."""
    from flashmesh.keys import toml_text
    from flashmesh.report.terminal import Terminal

    if not found:
        stream.write("the configurations are the same\n")
        return
    terminal = Terminal(stream)
    table = terminal.table("key", *names, left=1 + len(names))
    for key, values in found.items():
        table.add_row(key, *map(toml_text, values))
    terminal.print(table)
