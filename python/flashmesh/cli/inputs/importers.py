"""Command `flashmesh import-mqsim`."""

from __future__ import annotations

from pathlib import Path

import click

from flashmesh.cli.command import command
from flashmesh.cli.options.counts import Requests
from flashmesh.cli.options.parameters import out_option
from flashmesh.cli.output import require_stdout, stdout
from flashmesh.importers import mqsim


@command("import-mqsim")
@click.argument("device", type=click.Path(path_type=Path), metavar="SSDCONFIG")
@click.argument("workload", type=click.Path(path_type=Path), metavar="WORKLOAD")
@out_option("directory", "Folder to write to; created if missing.", metavar="DIR", required=True)
@click.option(
    "--physical", is_flag=True, help="Describe the drive that the files specify, not the one MQSim simulates."
)
@click.option(
    "--requests-max",
    type=Requests(min=0),
    default=mqsim.REQUESTS_MAX,
    show_default=True,
    metavar="NUMBER",
    help="Maximum number of requests of a flow that is written as a trace of the requests MQSim draws; larger flows "
    "become a synthetic workload.",
)
def import_mqsim(device: Path, workload: Path, directory: Path, physical: bool, requests_max: int) -> int:
    """Translate two XML files of MQSim into a configuration for each scenario, and report every tag.

    SSDCONFIG is the file for option -i of MQSim, WORKLOAD the file for -w. Without --physical, the translation includes
    the deviations of MQSim from its files and the exact requests that it issues, so that results are those of MQSim; it
    lists the keys in which this differs from the files.
    """
    require_stdout()
    imported = mqsim.import_mqsim(device, workload, directory, physical=physical, requests_max=requests_max)
    with stdout() as stream:
        stream.write(imported.report)
    written = ", ".join(str(path) for path in [*imported.files, *imported.traces, imported.report_file])
    click.echo(f"written: {written}", err=True)
    return 0
