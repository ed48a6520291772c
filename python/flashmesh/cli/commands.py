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
    "collisions": ("flashmesh.cli.collisions", "Analyse read collisions on dies, and what replication would gain."),
    "compare": ("flashmesh.cli.compare", "Simulate drives that differ in some keys, and compare them."),
    "config": ("flashmesh.cli.lists", "Print a configuration with every parameter."),
    "import-mqsim": ("flashmesh.cli.importers", "Translate two XML files of MQSim into configurations."),
    "measures": ("flashmesh.cli.lists", "List the measures that results can be printed by."),
    "optimise": ("flashmesh.cli.optimise", "Search a design space for the best drives under constraints."),
    "presets": ("flashmesh.cli.lists", "List the presets."),
    "profiles": ("flashmesh.cli.lists", "List the published workloads, or describe one."),
    "report": ("flashmesh.cli.report", "Make an HTML page of saved results: charts, tables, the network."),
    "reproduce": ("flashmesh.cli.reproduce", "Measure what papers publish, and say what comes out and why."),
    "run": ("flashmesh.cli.run", "Simulate one drive; print its performance and what limits it."),
    "show": ("flashmesh.cli.show", "Print saved results again, with any measure."),
    "sweep": ("flashmesh.cli.sweep", "Run many points on cores or a cluster; resume after interruptions."),
    "trace": ("flashmesh.cli.traces", "Inspect, convert, model and compare traces."),
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
    """Simulate SSDs: replay a workload on a drive and see where the time goes."""
    from flashmesh import provenance

    provenance.set_command()
