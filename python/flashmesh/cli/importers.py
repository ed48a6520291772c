"""The commands that read what other simulators are configured with."""

from __future__ import annotations

from pathlib import Path

import click

from flashmesh.cli.output import require_stdout, stdout
from flashmesh.cli.parameters import EXIT_CODES
from flashmesh.importers.mqsim import import_mqsim


@click.command("import-mqsim", epilog=EXIT_CODES)
@click.argument("device", type=click.Path(path_type=Path), metavar="SSDCONFIG")
@click.argument("workload", type=click.Path(path_type=Path), metavar="WORKLOAD")
@click.option(
    "-o",
    "--output",
    "directory",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="Where to write; made when it is not there.",
)
@click.option("--physical", is_flag=True, help="Describe the drive that the files mean, not the one MQSim simulates.")
def import_mqsim_command(device: Path, workload: Path, directory: Path, physical: bool) -> int:
    """Translate two XML files of MQSim: a configuration for each scenario, and what became of every tag.

    SSDCONFIG is the file MQSim takes with -i, WORKLOAD that with -w. Without --physical the habits of MQSim are written
    too, so that the results are MQSim's; the keys in which that differs from what the files mean are listed.
    """
    require_stdout()
    imported = import_mqsim(device, workload, directory, physical=physical)
    with stdout() as stream:
        stream.write(imported.report)
    written = ", ".join(str(path) for path in [*imported.files, imported.report_file])
    click.echo(f"written: {written}", err=True)
    return 0
