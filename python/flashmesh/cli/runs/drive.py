"""Functions shared by `run` and `compare`: the drive, and the fio jobs to run on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from flashmesh.importers.fio import FioJobs
    from flashmesh.results import Result

DRIVE = "preset:venice-z-nand"
"""Default drive of fio jobs: the drive of the default configuration."""


def drive_of(config: str | None, fio_file: Path | None) -> str:
    """Returns the configuration of a run; by default `DRIVE` for fio jobs.

    Raises:
        click.UsageError: If neither a configuration nor a job file is given.
    """
    if config is None and fio_file is None:
        raise click.UsageError("Missing argument 'CONFIG'.")
    return config or DRIVE


def jobs_of(fio_file: Path | None, quiet: bool) -> FioJobs | None:
    """Reads the jobs of a fio job file, and prints the notes on them to stderr; None without a file."""
    if fio_file is None:
        return None
    from flashmesh.importers.fio import read_jobs

    jobs = read_jobs(fio_file)
    if not quiet:
        for note in jobs.notes:
            click.echo(f"{fio_file}: {note}", err=True)
    return jobs


def tell_lonely(results: Iterable[Result], fairness: bool, quiet: bool) -> None:
    """Warns on stderr if fairness, which compares streams with each other, is requested for a single stream."""
    if fairness and not quiet and all(len(result.streams) == 1 for result in results):
        click.echo("--fairness has no effect: the run has a single stream.", err=True)
