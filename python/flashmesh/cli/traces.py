"""The commands about traces on their own."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import click

import flashmesh as library
from flashmesh import _native
from flashmesh.cli.output import STDOUT, refuse_overwriting, refuse_stdout, require_stdout, stdout
from flashmesh.cli.parameters import EXIT_CODES, output_option, setting, tolerate_option
from flashmesh.files import whole_file, write_text
from flashmesh.report import traces as traces_report
from flashmesh.report.terminal import Terminal

FILE = click.Path(path_type=Path)
settings_option = click.option(
    "--set",
    "settings",
    multiple=True,
    type=setting,
    metavar="KEY=VALUE",
    help="How to read a trace, such as workload.format=msr or workload.time-unit=us.",
)


@click.group()
def trace() -> None:
    """Look at traces, or write them in another format."""


@trace.command(epilog=EXIT_CODES)
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="FILE...")
@settings_option
@tolerate_option
@output_option("--json", "json_file", "Write the same as JSON; - writes it to stdout instead of the table.")
def stat(files: tuple[Path, ...], settings: tuple[tuple[str, str], ...], tolerate: bool, json_file: Path | None) -> int:
    """Say what is in traces, side by side: requests, sizes, footprint, arrivals, streams.

    The format of each FILE is found from its start.
    """
    refuse_overwriting({"--json": json_file}, {"a trace": list(files)})
    require_stdout()
    with ExitStack() as outputs:
        named = json_file if json_file is not None and json_file != STDOUT else None
        target = outputs.enter_context(whole_file(named)) if named else None
        summaries = [library.trace_summary(file, overrides=dict(settings), tolerate=tolerate) for file in files]
        text = json.dumps({"traces": [summary.document for summary in summaries]}, indent=2) + "\n"
        if target is not None:
            write_text(target, text)
    with stdout() as stream:
        if json_file == STDOUT:
            stream.write(text)
        else:
            traces_report.show(summaries, Terminal(stream))
    return 0


@trace.command(epilog=EXIT_CODES)
@click.argument("source", type=FILE, metavar="IN")
@click.argument("target", type=FILE, metavar="OUT")
@click.option(
    "--format",
    "form",
    type=click.Choice(_native.trace_output_formats()),
    default="ascii",
    show_default=True,
    help="What to write: the ASCII family (nanoseconds, sectors of 512 B, 1 for a read) or MSR Cambridge CSV.",
)
@settings_option
@tolerate_option
@click.option("--drop-deallocates", is_flag=True, help="Leave out requests that deallocate.")
def convert(
    source: Path,
    target: Path,
    form: str,
    settings: tuple[tuple[str, str], ...],
    tolerate: bool,
    drop_deallocates: bool,
) -> int:
    """Write the requests of the trace IN to OUT, in the order of their arrivals, counted from the first.

    OUT is packed when its name ends with .gz, .zst or .xz; it appears whole or not at all.
    """
    refuse_stdout("OUT", target, "a trace")
    refuse_overwriting({"OUT": target}, {"IN": [source]})
    conversion = library.convert_trace(
        source, target, form, overrides=dict(settings), tolerate=tolerate, drop_deallocates=drop_deallocates
    )
    click.echo(report(conversion, target), err=True)
    return 0


def report(conversion: library.TraceConversion, target: Path) -> str:
    """What was written, and what was not."""
    parts = [f"{target}: {conversion.written:,} requests, read as {conversion.read.format_title}."]
    if conversion.deallocates_left_out:
        parts.append(f"{conversion.deallocates_left_out:,} requests that deallocate left out.")
    return " ".join([*parts, *conversion.read.remarks])
