"""Writes docs/cli.md, the reference of the command line. --check compares the page instead."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashmesh.cli.command import EXIT_CODES
from flashmesh.cli.commands import flashmesh
from flashmesh.cli.shown_examples import examples_of

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE = Path(__file__).parents[1] / "docs" / "cli.md"
HEAD = """<!-- Generated from the commands by tools/cli_reference.py. -->

# Command line

Results go to stdout, everything else to stderr. `flashmesh COMMAND --help` shows the same text as this page.

## Exit codes

| code | meaning |
|---|---|
"""


def reference() -> str:
    """Returns the text of docs/cli.md."""
    codes = re.findall(r"(\d+) ([^;]+)[;.]", " ".join(EXIT_CODES.partition(":")[2].split()) + ";")
    rows = "".join(f"| {code} | {meaning.removesuffix('.')} |\n" for code, meaning in codes)
    return HEAD + rows + "".join(sections(flashmesh, None, "flashmesh"))


def sections(command: click.Command, parent: click.Context | None, name: str) -> Iterator[str]:
    """Yields the section of a command, then the sections of its subcommands."""
    context = click.Context(command, info_name=name, parent=parent)
    if parent is not None:
        yield section(command, context)
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            if found is not None and not found.hidden:
                yield from sections(found, context, below)


def section(command: click.Command, context: click.Context) -> str:
    """Returns the section of one command, with its options."""
    usage = " ".join(context.get_usage().removeprefix("Usage: ").split())
    parts = [f"\n## {context.command_path}\n\n", f"```text\n{usage}\n```\n\n", f"{paragraphs(command.help or '')}\n"]
    records = [
        record
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option) and "--help" not in parameter.opts
        if (record := parameter.get_help_record(context)) is not None
    ]
    if records:
        parts.append("\n| option | meaning |\n|---|---|\n")
        parts += [f"| `{cell(names)}` | {cell(meaning)} |\n" for names, meaning in records]
    shown = examples_of(context.command_path)
    if shown:
        parts.append("\n```text\n" + "".join(f"{line}\n" for line in shown) + "```\n")
    return "".join(parts)


def paragraphs(text: str) -> str:
    """Returns a help text with each paragraph on a single line."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", text.strip()))


def cell(text: str) -> str:
    """Returns a text as a cell of a table."""
    return re.sub(r"(?<=[x\d])(<=|>=)(?=[x\d])", r" \1 ", " ".join(text.split())).replace("|", "\\|")


def main() -> None:
    """Writes the page or, with --check, compares it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when the page is stale, and write nothing")
    check = parser.parse_args().check
    text = reference()
    if not check:
        FILE.write_text(text, encoding="utf-8")
    elif FILE.read_text(encoding="utf-8") != text:
        sys.exit("docs/cli.md is stale: run make generate")


if __name__ == "__main__":
    main()
