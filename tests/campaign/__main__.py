"""Entry point of `make campaign`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from campaign import campaign as engine
from flashmesh import FlashmeshError
from flashmesh.cli.progress import watched

FAILED = 3


@click.command()
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
def main(runs: int | None, seed: int, minutes: float | None, folder: Path, failure: Path | None) -> None:
    """Simulate random drives under all oracles, and check their results independently.

    Any declared parameter is drawn. What a drive reports is checked against its log of requests and its configuration.
    A drive that fails is shrunk to a small configuration, which --repeat runs again.
    """
    if failure is None and runs is None and minutes is None:
        raise click.UsageError("say --runs, --minutes, or both")
    try:
        has_failed = repeat(failure) if failure is not None else run(runs, seed, minutes, folder)
    except FlashmeshError as error:
        raise click.ClickException(str(error)) from error
    sys.exit(FAILED if has_failed else 0)


def repeat(failure: Path) -> bool:
    """Runs the configuration of a failure again. Returns whether it still fails."""
    found = engine.repeat(failure)
    click.echo(f"{failure}: {found or 'nothing is wrong'}")
    return found is not None


def run(runs: int | None, seed: int, minutes: float | None, folder: Path) -> bool:
    """Runs a campaign and prints its counts. Returns whether a drive failed."""

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
    click.echo(f"seed {seed}: {state.runs:,} runs, {state.requests:,} requests, {len(state.failures)} failures")
    click.echo(
        f"  {state.cuts:,} power cuts, {state.stepped:,} drives stepped and restored, {state.files:,} hostile files"
    )
    for name in state.failures:
        click.echo(f"  {name}")
    return bool(state.failures)


if __name__ == "__main__":
    main()
