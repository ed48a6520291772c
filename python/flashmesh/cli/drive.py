"""What `run` and `compare` share: the drive, the jobs to run on it, and what is said about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from flashmesh.importers.fio import FioJobs
    from flashmesh.results import Result

DRIVE = "preset:venice-z-nand"
"""The drive of jobs that come without one: that of the defaults."""


def drive_of(config: str | None, fio_file: Path | None) -> str:
    """The configuration of a run, which jobs may come without.

    Raises:
        click.UsageError: When nothing says what to run.
    """
    if config is None and fio_file is None:
        raise click.UsageError("Missing argument 'CONFIG'.")
    return config or DRIVE


def jobs_of(fio_file: Path | None, quiet: bool) -> FioJobs | None:
    """The jobs of fio to run, if there are any; what is to be said about them goes to stderr."""
    if fio_file is None:
        return None
    from flashmesh.importers.fio import read_jobs

    jobs = read_jobs(fio_file)
    if not quiet:
        for note in jobs.notes:
            click.echo(f"{fio_file}: {note}", err=True)
    return jobs


def tell_lonely(results: Iterable[Result], fairness: bool, quiet: bool) -> None:
    """Says on stderr that fairness is a matter of several streams, where there is one."""
    if fairness and not quiet and all(len(result.streams) == 1 for result in results):
        click.echo("--fairness has no effect: the run has a single stream.", err=True)
