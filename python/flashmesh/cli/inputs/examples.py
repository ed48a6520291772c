"""Command `flashmesh examples`."""

from __future__ import annotations

from pathlib import Path

import click

from flashmesh.cli.command import command
from flashmesh.cli.output import stdout


@command()
@click.argument("folder", metavar="[DIR]", default="examples", type=click.Path(path_type=Path, file_okay=False))
def examples(folder: Path) -> int:
    """Write the examples of the documentation: configurations, sweeps, jobs, traces, policies, notebooks.

    DIR is the folder, by default examples, as in the commands of the documentation. An existing file that differs is
    never overwritten.
    """
    from flashmesh import example_files

    written = example_files.copy(folder)
    source = example_files.folder()
    assert source is not None
    listed = example_files.names(source)
    with stdout() as stream:
        stream.writelines(f"{folder / name}\n" for name in listed)
    there = f", {len(listed) - len(written)} of them unchanged" if len(written) < len(listed) else ""
    click.echo(f"{len(listed)} files{there}; try: flashmesh run {folder / 'demo.toml'}", err=True)
    return 0
