"""Command `flashmesh bundle`."""

from __future__ import annotations

from pathlib import Path

import click

from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import out_option
from flashmesh.cli.output import refuse_missing, refuse_overwriting, refuse_stdout, refuse_suffix


@command()
@click.argument("results", metavar="RESULT...", nargs=-1, required=True, type=click.Path(path_type=Path))
@out_option("target", "The bundle to write.", default=Path("bundle.zip"), show_default=True)
def bundle(results: tuple[Path, ...], target: Path) -> int:
    """Pack results and all files needed to repeat them into one file, as an artefact of a paper.

    RESULT is a JSON or Parquet file written by a command, or the folder of a sweep. The bundle contains the results,
    the configuration of each run, commands, versions, traces by their hashes, and a README with a program that repeats
    the runs and compares them.
    """
    for path in results:
        refuse_missing(path)
    refuse_stdout("--out", target, "a bundle")
    refuse_suffix("--out", target, ".zip")
    refuse_overwriting({"--out": target}, {"a result": list(results)})
    from flashmesh.bundling.archive import write_bundle

    click.echo(write_bundle(results, target))
    return 0
