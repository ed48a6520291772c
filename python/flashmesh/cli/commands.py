"""The command line as a whole; each command is imported when it is asked for."""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import Any

import click

from flashmesh._native import __version__
from flashmesh.cli.parameters import EXIT_CODES

COMMANDS = {
    "campaign": ("flashmesh.cli.campaign", "Simulate random drives under all oracles, and check their results."),
    "collisions": ("flashmesh.cli.collisions", "Say which reads collide on a die, and what copies would gain."),
    "compare": ("flashmesh.cli.compare", "Simulate drives that differ in some keys, side by side."),
    "config": ("flashmesh.cli.lists", "Print a configuration with every parameter."),
    "import-mqsim": ("flashmesh.cli.importers", "Translate two XML files of MQSim."),
    "measures": ("flashmesh.cli.lists", "List the measures that results can be printed by."),
    "optimise": ("flashmesh.cli.optimise", "Search a space of drives for the best under constraints."),
    "presets": ("flashmesh.cli.lists", "List the presets."),
    "profiles": ("flashmesh.cli.lists", "List the named workloads, or describe one."),
    "report": ("flashmesh.cli.report", "Make one page of saved results: charts, tables, the moving network."),
    "reproduce": ("flashmesh.cli.reproduce", "Measure what papers publish, and say what comes out and why."),
    "run": ("flashmesh.cli.run", "Simulate one drive and print what came out and why."),
    "show": ("flashmesh.cli.show", "Print saved results again, with any measure, without simulating."),
    "sweep": ("flashmesh.cli.sweep", "Run many points, keep each result, go on where it was interrupted."),
    "trace": ("flashmesh.cli.traces", "Look at traces, or write them in another format."),
}
"""The module that defines each command, and what it does."""


class LazyCommands(UserDict[str, Any]):
    """Commands by their names, imported when they are asked for."""

    def __getitem__(self, name: str) -> click.Command:
        """The command of this name."""
        module, _ = self.data[name]
        command: click.Command = getattr(import_module(module), name.replace("-", "_"))
        return command


class LazyGroup(click.Group):
    """A group that says what its commands do without importing them."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes a line for each command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    commands=LazyCommands(COMMANDS),
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="flashmesh %(version)s")
def flashmesh() -> None:
    """Simulate SSDs: replay a workload on a drive and read where the time went."""
    from flashmesh import provenance

    provenance.set_command()
