"""`flashmesh campaign`."""

from __future__ import annotations

from pathlib import Path

import click

from flashmesh.cli.command import command
from flashmesh.cli.output import stdout
from flashmesh.cli.progress import watched

FAILED = 3


@command()
@click.option(
    "--runs", type=click.IntRange(min=1), help="Total number of runs; without it, until --minutes have passed."
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=1, show_default=True, help="Seed of the random drives."
)
@click.option("--minutes", type=click.FloatRange(min=0), help="Time limit.")
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("campaign"),
    show_default=True,
    metavar="DIR",
    help="Folder of the state; a stopped campaign continues from it.",
)
@click.option(
    "--repeat", "failure", type=click.Path(path_type=Path), metavar="FILE", help="Repeat the run of a failure."
)
def campaign(runs: int | None, seed: int, minutes: float | None, folder: Path, failure: Path | None) -> int:
    """Simulate random drives under all oracles, and check their results independently.

    Any declared parameter is drawn. What a drive reports is checked against its log of requests and its configuration.
    A drive that fails is shrunk to a small configuration, which --repeat runs again.
    """
    import sys

    from flashmesh.campaign import campaign as engine

    if failure is not None:
        found = engine.repeat(failure)
        with stdout() as stream:
            stream.write(f"{failure}: {found or 'nothing is wrong'}\n")
        return FAILED if found else 0
    if runs is None and minutes is None:
        raise click.UsageError("say --runs, --minutes, or both")

    def show(state: engine.State) -> None:
        if watched(sys.stderr):
            click.echo(
                f"\r{state.runs:,} runs, {state.requests:,} requests, {len(state.failures)} failures",
                err=True,
                nl=False,
            )

    try:
        state = engine.campaign(runs, seed, folder, minutes=minutes, on_run=show)
    finally:
        if watched(sys.stderr):
            click.echo(err=True)
    with stdout() as stream:
        stream.write(f"seed {seed}: {state.runs:,} runs, {state.requests:,} requests, {len(state.failures)} failures\n")
        stream.writelines(f"  {name}\n" for name in state.failures)
    return FAILED if state.failures else 0
