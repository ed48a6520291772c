"""Command `flashmesh init`."""

from __future__ import annotations

from pathlib import Path

import click

from flashmesh._native import OutputError, former_presets, presets
from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import STDOUT
from flashmesh.cli.output import stdout

DEFAULT = "venice-z-nand"
SCHEMA = "config.schema.json"


class Preset(click.Choice[str]):
    """Option type of a preset name; replaces a former name and prints a note."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Returns the current name of a preset."""
        if value in former_presets():
            from flashmesh.configuration import read

            read(f"preset:{value}", [])
            value = former_presets()[value]
        return super().convert(value, param, ctx)


@command()
@click.argument("file", metavar="[FILE]", default="drive.toml", type=click.Path(path_type=Path))
@click.option("--preset", type=Preset(list(presets())), default=DEFAULT, show_default=True, help="The drive.")
@click.option("--schema", is_flag=True, help=f"Also write {SCHEMA}, and refer editors to it.")
def init(file: Path, preset: str, schema: bool) -> None:
    """Write a commented configuration to start from.

    FILE is drive.toml by default; - writes to standard output. An existing file is never overwritten.
    """
    from flashmesh.configuring import starter

    if file == STDOUT:
        with stdout() as stream:
            stream.write(starter.starter(preset))
        return
    written = {file: starter.starter(preset, SCHEMA if schema else None)}
    if schema:
        written[file.parent / SCHEMA] = starter.schema()
    for path in written:
        if path.exists() or path.is_symlink():
            raise OutputError(f"{path}: exists already: name another file, or remove it first")
    for path, text in written.items():
        from flashmesh.files import whole_file, write_text

        with whole_file(path) as target:
            write_text(target, text)
    click.echo(
        f"{file}: a {preset} drive; flashmesh run {file} simulates it, flashmesh explain KEY says what a key means"
    )
