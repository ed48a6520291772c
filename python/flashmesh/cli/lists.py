"""The commands that list: presets, published workloads, measures."""

from __future__ import annotations

import click

import flashmesh as library
from flashmesh._native import former_presets
from flashmesh.cli.command import command
from flashmesh.cli.output import stdout
from flashmesh.cli.parameters import completed


@command()
def presets() -> None:
    """List the presets."""
    summaries = library.presets()
    width = max(map(len, summaries))
    with stdout() as stream:
        stream.writelines(f"{name:<{width}}  {summary}\n" for name, summary in summaries.items())
        former = ", ".join(f"{old} for {name}" for old, name in former_presets().items())
        stream.write(f"\nOlder names are accepted: {former}.\n")


@command()
@click.argument("name", required=False, shell_complete=completed("profiles"))
def profiles(name: str | None) -> None:
    """List the published workloads by paper, or describe the one called NAME: what is published, what is assumed."""
    if name is not None:
        with stdout() as stream:
            stream.write(library.describe_profile(name).rstrip("\n") + "\n")
        return
    papers = library.profiles_by_paper()
    width = max(len(profile) for summaries in papers.values() for profile in summaries)
    sections = [
        f"{paper}\n" + "".join(f"  {profile:<{width}}  {summary}\n" for profile, summary in summaries.items())
        for paper, summaries in papers.items()
    ]
    with stdout() as stream:
        stream.write("\n".join(sections))


@command()
def measures() -> None:
    """List the measures that --measure of compare, sweep and show takes.

    First the measures that tables show, then every single value of a result by its key, with its unit and meaning.
    """
    import textwrap

    from flashmesh._native import quantities
    from flashmesh.report.measures import NAMES

    with stdout() as stream:
        stream.writelines(f"{name}\n" for name in NAMES)
        for key, unit, meaning in quantities():
            stream.write(f"\n{key}{f'  [{unit}]' if unit else ''}\n")
            stream.write(textwrap.fill(meaning, 78, initial_indent="  ", subsequent_indent="  ") + "\n")
