"""Commands that list presets, published workloads and measures."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import click

import flashmesh as library
from flashmesh._native import former_presets
from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import STDOUT, completed, output_option, results_option
from flashmesh.cli.output import stdout

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

JSON_HELP = "Write the list as JSON, to stdout instead of the text if no FILE is given."


@command()
@results_option("json")
@output_option("--json", "json_file", JSON_HELP, bare=True)
def presets(json_file: Path | None) -> None:
    """List the presets."""
    summaries = library.presets()
    former = former_presets()
    listed = [
        {"name": name, "summary": summary, "former_names": [old for old, now in former.items() if now == name]}
        for name, summary in summaries.items()
    ]
    width = max(map(len, summaries)) + 2
    lines = [beside(name, summary, width) for name, summary in summaries.items()]
    told = ", ".join(f"{old} for {name}" for old, name in former.items())
    write_list(json_file, listed, [*lines, f"\nOlder names are accepted: {told}.\n"])


@command()
@click.argument("name", required=False, shell_complete=completed("profiles"))
@results_option("json")
@output_option("--json", "json_file", JSON_HELP, bare=True)
def profiles(name: str | None, json_file: Path | None) -> None:
    """List the published workloads by paper, or describe NAME: the published and the assumed figures."""
    papers = library.profiles_by_paper()
    listed = [
        {"name": profile, "paper": paper, "summary": summary}
        for paper, summaries in papers.items()
        for profile, summary in summaries.items()
    ]
    if name is None and json_file is not None and str(json_file) in {each["name"] for each in listed}:
        raise click.UsageError(
            f"--json would write to a file named {json_file}, which is a workload: put the workload before --json"
        )
    if name is not None:
        text = library.describe_profile(name).rstrip("\n") + "\n"
        found = [each | {"description": text} for each in listed if each["name"] == name]
        write_list(json_file, found, [text])
        return
    width = max(len(each["name"]) for each in listed)
    sections = [
        f"{paper}\n" + "".join(f"  {profile:<{width}}  {summary}\n" for profile, summary in summaries.items())
        for paper, summaries in papers.items()
    ]
    write_list(json_file, listed, ["\n".join(sections)])


@command()
@results_option("json")
@output_option("--json", "json_file", JSON_HELP, bare=True)
def measures(json_file: Path | None) -> None:
    """List the measures for --measure of compare, sweep and show.

    Lists the measures shown in tables, then every single value of a result by its key, with unit and meaning. A
    measure of one stream is streams.NAME.MEASURE, such as streams.reader.p99, where NAME is the name of the stream.
    """
    from flashmesh._native import quantities
    from flashmesh.report.measures.meanings import meaning
    from flashmesh.report.measures.measure import MEASURES
    from flashmesh.report.measures.streams import OF_STREAM

    listed: list[dict[str, Any]] = [
        {"name": measure.name.strip(), "unit": measure.unit, "meaning": meaning(measure)} for measure in MEASURES
    ]
    width = max(len(each["name"]) for each in listed) + 2
    lines = [beside(each["name"], each["meaning"], width) for each in listed]
    lines.append(f"\n{textwrap.fill(OF_STREAM, 78, initial_indent='  ', subsequent_indent='  ')}\n")
    for key, unit, told in quantities():
        listed.append({"name": key, "unit": unit, "meaning": told})
        lines.append(f"\n{key}{f'  [{unit}]' if unit else ''}\n")
        lines.append(beside("", told, 2))
    write_list(json_file, listed, lines)


def beside(name: str, text: str, width: int) -> str:
    """Returns a text in a column to the right of its name, in lines that fit a terminal of 80 columns."""
    lines = textwrap.fill(text, 78, initial_indent=f"{name:<{width}}", subsequent_indent=" " * width)
    return f"{lines}\n"


def write_list(json_file: Path | None, listed: list[dict[str, Any]], lines: Iterable[str]) -> None:
    """Writes `listed` as JSON to the file or to stdout, and `lines` to stdout unless the JSON goes there."""
    text = json.dumps(listed, indent=2, ensure_ascii=False) + "\n"
    if json_file is not None and json_file != STDOUT:
        from flashmesh.files import whole_file, write_text

        with whole_file(json_file) as target:
            write_text(target, text)
    with stdout() as stream:
        stream.writelines([text] if json_file == STDOUT else lines)
