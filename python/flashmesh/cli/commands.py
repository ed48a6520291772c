"""Root of the command line; each command is imported on first use."""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import Any

import click

from flashmesh.cli.command import Group

COMMANDS = {
    "ask": ("flashmesh.cli.runs.ask", "Find the changes to a drive that help most."),
    "bundle": ("flashmesh.cli.results.bundle", "Pack results and all files needed to repeat them into one file."),
    "cache": ("flashmesh.cli.installation.cache", "List and remove the saved states of full drives."),
    "calibrate": ("flashmesh.cli.measured.calibrate", "Fit a drive to measurements or to a data sheet."),
    "collisions": ("flashmesh.cli.runs.collisions", "Analyse read collisions on dies, and the gain of replication."),
    "compare": ("flashmesh.cli.runs.compare", "Simulate drives that differ in some keys, and compare them."),
    "completion": ("flashmesh.cli.completion", "Print the completion script of a shell."),
    "config": ("flashmesh.cli.inputs.config", "Print a configuration with every parameter, or compare several."),
    "doctor": ("flashmesh.cli.installation.doctor", "Check the installation and the resources of the machine."),
    "examples": ("flashmesh.cli.inputs.examples", "Write the examples of the documentation."),
    "explain": ("flashmesh.cli.inputs.explain", "Print the meaning and the values of a configuration key."),
    "import-mqsim": ("flashmesh.cli.inputs.importers", "Translate two XML files of MQSim into configurations."),
    "init": ("flashmesh.cli.inputs.init", "Write a commented configuration to start from."),
    "measures": ("flashmesh.cli.inputs.lists", "List the measures of results."),
    "optimise": ("flashmesh.cli.sweeps.optimise", "Search a design space for the best drives under constraints."),
    "presets": ("flashmesh.cli.inputs.lists", "List the presets."),
    "profiles": ("flashmesh.cli.inputs.lists", "List the published workloads, or describe one."),
    "report": ("flashmesh.cli.results.report", "Make an HTML page of saved results: charts, tables, the network."),
    "reproduce": ("flashmesh.cli.measured.reproduce", "Measure the claims of papers, and report which hold and why."),
    "run": ("flashmesh.cli.runs.run", "Simulate one drive; print its performance and its bottleneck."),
    "serve": ("flashmesh.cli.runs.serve", "Serve a drive as a block device (NBD) for other programs."),
    "show": ("flashmesh.cli.results.show", "Print saved results again, with any measure."),
    "sweep": ("flashmesh.cli.sweeps.sweep", "Run many points on cores or a cluster; resume after interruptions."),
    "trace": ("flashmesh.cli.inputs.traces", "Inspect, convert, model and compare traces."),
    "validate": ("flashmesh.cli.measured.validate", "Compare simulated drives with measurements of real ones."),
}
"""Module and summary of each command."""


class LazyCommands(UserDict[str, Any]):
    """Commands by name, imported on first use."""

    def __getitem__(self, name: str) -> click.Command:
        """Imports and returns a command."""
        module, _ = self.data[name]
        command: click.Command = getattr(import_module(module), name.replace("-", "_"))
        return command


class LazyGroup(Group):
    """A group that lists its commands without importing them."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Returns the completions of a command name with their summaries, without importing the commands."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=about) for name, (_, about) in COMMANDS.items() if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the name and the summary of each command."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


def print_version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    """Prints the version and build of this installation, and ends the command."""
    if wanted and not ctx.resilient_parsing:
        from flashmesh.installation.facts import text

        click.echo(text())
        ctx.exit()


@click.group(
    cls=LazyGroup,
    commands=LazyCommands(COMMANDS),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=print_version,
    help="Print the version and what it is built of.",
)
def flashmesh() -> None:
    """Simulate SSDs: replay a workload on a drive and see where the time goes."""
    from flashmesh import provenance

    provenance.set_command()
