"""Commands `flashmesh trace ...`."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import flashmesh as library
from flashmesh import _native
from flashmesh.cli.command import Group
from flashmesh.cli.options import parameters
from flashmesh.cli.options.counts import Requests
from flashmesh.cli.options.parameters import (
    STDOUT,
    completed,
    once_each,
    out_option,
    output_option,
    results_option,
    setting,
    sort_option,
    tolerate_option,
)
from flashmesh.cli.output import refuse_overwriting, refuse_stdout, require_stdout, stdout
from flashmesh.files import whole_file, write_text
from flashmesh.fitting import CHECKED_REQUESTS
from flashmesh.report import comparison_of_traces
from flashmesh.report import traces as traces_report
from flashmesh.report.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
FILE = click.Path(path_type=Path)
reading_option = parameters.settings_option(
    "Set a key for reading a trace, such as workload.format=msr or workload.time-unit=us."
)
format_option = click.option(
    "--format",
    "form",
    type=click.Choice(_native.trace_output_formats()),
    default="ascii",
    show_default=True,
    help="Format to write: the ASCII family (nanoseconds, sectors of 512 B, 1 for a read) or MSR Cambridge CSV.",
)
drop_option = click.option(
    "--drop-unwritable",
    is_flag=True,
    help="Leave out deallocations and flushes, which these formats cannot represent.",
)
seed_option = click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=1,
    show_default=True,
    help="Seed of all random numbers.",
)


def reading(settings: tuple[tuple[str, str], ...], sort: bool) -> dict[str, str]:
    """Returns the `--set` and `--sort` options as settings for the reading of a trace."""
    return dict(settings) | ({"workload.sort": "true"} if sort else {})


@click.group(cls=Group)
def trace() -> None:
    """Inspect, convert, model and compare traces."""


@trace.command()
@click.argument("files", type=FILE, nargs=-1, required=True, metavar="FILE...")
@reading_option
@tolerate_option
@sort_option
@results_option("json")
@output_option("--json", "json_file", "Write the figures as JSON; - writes them to stdout instead of the table.")
def stat(
    files: tuple[Path, ...], settings: tuple[tuple[str, str], ...], tolerate: bool, sort: bool, json_file: Path | None
) -> int:
    """Print statistics of traces side by side: requests, sizes, footprint, arrivals, streams.

    The format of each FILE is detected from its start.
    """
    refuse_overwriting({"--json": json_file}, {"a trace": list(files)})
    find_and_tell(
        json_file,
        find=lambda: [
            library.trace_summary(file, overrides=reading(settings, sort), tolerate=tolerate) for file in files
        ],
        document=lambda summaries: {"traces": [summary.document for summary in summaries]},
        show=traces_report.show,
    )
    return 0


def find_and_tell(
    json_file: Path | None,
    find: Callable[[], T],
    document: Callable[[T], dict[str, Any]],
    show: Callable[[T, Terminal], None],
) -> None:
    """Computes a result and writes it: as JSON to a file or to stdout, and as a table unless the JSON goes to stdout.

    The file is opened first, so that an unwritable path is refused before the work.
    """
    require_stdout()
    with ExitStack() as outputs:
        named = json_file if json_file is not None and json_file != STDOUT else None
        target = outputs.enter_context(whole_file(named)) if named else None
        found = find()
        text = json.dumps(document(found), indent=2) + "\n"
        if target is not None:
            write_text(target, text)
    with stdout() as stream:
        if json_file == STDOUT:
            stream.write(text)
        else:
            show(found, Terminal(stream))


@trace.command()
@click.argument("source", type=FILE, metavar="IN")
@click.argument("target", type=FILE, metavar="OUT")
@format_option
@reading_option
@tolerate_option
@sort_option
@drop_option
def convert(
    source: Path,
    target: Path,
    form: str,
    settings: tuple[tuple[str, str], ...],
    tolerate: bool,
    sort: bool,
    drop_unwritable: bool,
) -> int:
    """Write the requests of the trace IN to OUT, in order of arrival, with times relative to the first.

    OUT is compressed if its name ends with .gz, .zst or .xz. It is written completely or not at all.
    """
    refuse_stdout("OUT", target, "a trace")
    refuse_overwriting({"OUT": target}, {"IN": [source]})
    conversion = library.convert_trace(
        source, target, form, overrides=reading(settings, sort), tolerate=tolerate, drop_unwritable=drop_unwritable
    )
    text = f"{target}: {conversion.written:,} requests, read as {conversion.read.format_title}."
    click.echo(" ".join([text, *left_out(conversion.left_out), *conversion.read.remarks]), err=True)
    return 0


def left_out(requests: library.LeftOut) -> list[str]:
    """Returns sentences on the requests that were left out of an output, by kind.

    Empty if all requests were written.
    """
    counts = [
        (requests.deallocates, "that deallocate"),
        (requests.flushes, "that flush"),
        (requests.write_zeroes, "that write zeroes"),
    ]
    told = [f"{count:,} {what}" for count, what in counts if count]
    return [f"Left out: {', '.join(told)}."] if told else []


@trace.command()
@click.argument("source", type=FILE, metavar="TRACE")
@out_option("target", "The profile to write.", required=True)
@reading_option
@tolerate_option
@sort_option
@click.option(
    "--check", is_flag=True, help="Print all figures of a copy beside those of TRACE, with simulated latencies."
)
def profile(
    source: Path, target: Path, settings: tuple[tuple[str, str], ...], tolerate: bool, sort: bool, check: bool
) -> int:
    """Fit a profile to TRACE: a statistical description of at most 160 KiB.

    The profile contains counts and quantiles, but no request of the trace; `trace generate` generates traces from it,
    and `workload.fitted` in a configuration runs it. A copy of the first million requests is compared with TRACE; a
    warning names the figures that the copy misses.
    """
    refuse_stdout("--out", target, "a profile")
    refuse_overwriting({"--out": target}, {"TRACE": [source]})
    summary = library.fit_trace(source, target, overrides=reading(settings, sort), tolerate=tolerate)
    note = f"{target}: fitted to {summary.requests:,} requests, read as {summary.format_title}."
    click.echo(" ".join([note, *summary.remarks]), err=True)
    requests = CHECKED_REQUESTS if summary.requests > CHECKED_REQUESTS else None
    comparison = library.compare_profile(
        source, target, overrides=reading(settings, sort), tolerate=tolerate, requests=requests, latency=check
    )
    if comparison.misses:
        click.echo(comparison_of_traces.misses(comparison), err=True)
    if check:
        with stdout() as stream:
            comparison_of_traces.show(comparison, Terminal(stream))
    return 0


@trace.command()
@click.argument("source", type=FILE, metavar="PROFILE")
@out_option("target", "The trace to write.", required=True)
@click.option(
    "--requests", type=Requests(1, 10**12), help="Number of requests; by default as many as the original has."
)
@seed_option
@format_option
@drop_option
def generate(source: Path, target: Path, requests: int | None, seed: int, form: str, drop_unwritable: bool) -> int:
    """Generate a trace from a fitted PROFILE.

    The trace is compressed if its name ends with .gz, .zst or .xz. It is written completely or not at all.
    """
    refuse_stdout("--out", target, "a trace")
    refuse_overwriting({"--out": target}, {"PROFILE": [source]})
    generation = library.generate_trace(
        source, target, form, requests=requests, seed=seed, drop_unwritable=drop_unwritable
    )
    text = f"{target}: {generation.written:,} requests."
    click.echo(" ".join([text, *left_out(generation.left_out)]), err=True)
    return 0


@trace.command(name="compare")
@click.argument("original", type=FILE)
@click.argument("copy", type=FILE)
@reading_option
@click.option(
    "--copy-set",
    "copy_settings",
    multiple=True,
    type=setting,
    callback=once_each,
    metavar="KEY=VALUE",
    shell_complete=completed("settings"),
    help="Set a key for reading COPY; --set is for ORIGINAL.",
)
@tolerate_option
@sort_option
@click.option("--no-latency", is_flag=True, help="Do not replay the traces on the reference drives.")
@results_option("json")
@output_option("--json", "json_file", "Write the figures as JSON; - writes them to stdout instead of the table.")
def compare_two(
    original: Path,
    copy: Path,
    settings: tuple[tuple[str, str], ...],
    copy_settings: tuple[tuple[str, str], ...],
    tolerate: bool,
    sort: bool,
    no_latency: bool,
    json_file: Path | None,
) -> int:
    """Show ORIGINAL and COPY side by side, with their differences.

    ORIGINAL is a trace, COPY another one that should resemble it; the format of each is detected from its start.
    Latencies are those of the presets venice-z-nand and venice-pm9a3, at the arrival times of the traces and as fast as
    possible.
    """
    refuse_overwriting({"--json": json_file}, {"a trace": [original, copy]})
    find_and_tell(
        json_file,
        find=lambda: library.compare_traces(
            original,
            copy,
            overrides=reading(settings, sort),
            copy_overrides=reading(copy_settings, sort),
            tolerate=tolerate,
            latency=not no_latency,
        ),
        document=lambda comparison: comparison.document,
        show=comparison_of_traces.show,
    )
    return 0
