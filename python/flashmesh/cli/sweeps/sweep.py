"""Command `flashmesh sweep`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flashmesh._native import ConfigError, FlashmeshError
from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import (
    dask_options,
    precision_option,
    settings_option,
    steady_options,
    store_options,
    until_steady,
)
from flashmesh.cli.options.policies import policy_options
from flashmesh.cli.output import require_stdout, stdout
from flashmesh.cli.sweeps.slurm import Wanted, refuse_mixed, run_array, slurm_options
from flashmesh.cli.sweeps.sweeping import Lines, announce, failure, first_line, planned, tell_idle
from flashmesh.simulate import goal_of

if TYPE_CHECKING:
    from flashmesh.sweeps.executors.session import Executor, Session
    from flashmesh.sweeps.results.store import Store


def shard(text: str) -> tuple[int, int]:
    """Parses `PART/PARTS`, the argument of `--shard`."""
    part, slash, parts = text.partition("/")
    if not slash or not part.isdecimal() or not parts.isdecimal() or not 1 <= int(part) <= int(parts):
        raise click.BadParameter(f"{text!r}: expected PART/PARTS, such as 1/4 for the first of four")
    return int(part), int(parts)


@command()
@click.argument("file", metavar="[SWEEP.toml]", required=False, type=click.Path(path_type=Path))
@store_options
@click.option(
    "--watch",
    "watched",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Show the progress of the sweep or search in this folder, and run nothing.",
)
@click.option("--keep-going", is_flag=True, help="Skip points that cannot be configured instead of stopping.")
@click.option(
    "--shard", type=shard, default="1/1", metavar="I/N", help="Run only every N-th run, starting with the I-th."
)
@slurm_options
@dask_options
@policy_options
@precision_option
@settings_option("Override a key of all runs.")
@click.option("--check", is_flag=True, help="Check the simulations against their oracles as they run.")
@click.option("--fairness", is_flag=True, help="Also run each stream alone and report its slowdown.")
@steady_options
@click.option("--dry-run", is_flag=True, help="Check all runs and summarise them, but start none.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors, no tables either: the folder has the results.")
@click.pass_context
def sweep(
    ctx: click.Context,
    /,
    file: Path | None,
    out: Path | None,
    resume: bool,
    watched: Path | None,
    keep_going: bool,
    shard: tuple[int, int],
    slurm_array: Wanted | None,
    submit: bool,
    slurm_partition: str | None,
    slurm_time: str | None,
    slurm_memory: str | None,
    slurm_cpus: int,
    slurm_more: tuple[tuple[str, str | None], ...],
    slurm_log: Path | None,
    jobs: int,
    dask: str | None,
    dask_tls: Path | None,
    workers: int,
    settings: tuple[tuple[str, str], ...],
    check: bool,
    fairness: bool,
    dry_run: bool,
    quiet: bool,
    **steady: Any,
) -> int:
    """Run every point of a sweep; save each result as soon as it exists.

    The folder of results contains a JSON file for each run, a Parquet file with all runs, and a log. --resume continues
    an interrupted or killed sweep without repeating runs. docs/sweeps.md describes SWEEP.toml.
    """
    from flashmesh.sweeps.executors.session import Session
    from flashmesh.sweeps.front import store_of, tasks_in
    from flashmesh.sweeps.inputs.sweepfile import read_sweep

    require_stdout()
    refuse_mixed(ctx)
    if watched is not None:
        from flashmesh.cli.sweeps.watching import show_progress

        if file is not None:
            raise click.UsageError("--watch only shows progress: leave SWEEP.toml out")
        show_progress(watched)
        return 0
    if file is None:
        raise click.UsageError("Missing argument 'SWEEP.toml'.")
    read = read_sweep(file)
    misfits: list[tuple[dict[str, str], ConfigError]] = []

    def on_misfit(point: dict[str, str], error: ConfigError) -> None:
        misfits.append((point, error))

    tasks = tasks_in(
        read,
        dict(settings),
        check=check,
        fairness=fairness,
        until_steady=goal_of(until_steady(steady)),
        on_misfit=on_misfit if keep_going else None,
    )
    folder = out if out is not None else Path(f"{file.stem}.results")
    if slurm_array is not None:
        from flashmesh.sweeps.executors.jobarray import Resources

        resources = Resources(slurm_partition, slurm_time, slurm_memory, slurm_cpus, slurm_more)
        tell_idle(tasks, quiet)
        run_array(ctx, read, tasks, folder, resume, slurm_array, resources, slurm_log, submit, dry_run)
        return 0
    if dry_run:
        with stdout() as stream:
            stream.writelines(f"{line}\n" for line in planned(tasks, folder, jobs))
        tell_idle(tasks, quiet)
        return 0
    executor = executor_of(dask, workers, jobs, quiet, dask_tls)
    store = store_of(read, folder, tasks, resume)
    try:
        session = Session(tasks, store, shard)
        announce(session, executor.places, quiet)
        tell_idle(tasks, quiet)
        for point, error in misfits:
            told = ", ".join(f"{key}={value}" for key, value in point.items())
            store.tell(f"{told}: left out: {first_line(error)}")
            if not quiet:
                click.echo(f"{told}: left out: {first_line(error)}", err=True)
        run_all(session, store, executor, quiet)
    finally:
        executor.close()
        store.close()
    if session.failures:
        advice = f"{folder / 'log.txt'} lists them; the other results are kept, and --resume repeats the failed runs"
        raise failure(session.failures, len(tasks), advice)
    return 0


def executor_of(dask: str | None, workers: int, jobs: int, quiet: bool, tls: Path | None = None) -> Executor:
    """Returns the executor of the tasks.

    Raises:
        ConfigError: If the cluster cannot be reached, or certificates are given without a cluster.
    """
    if dask is None:
        if tls is not None:
            raise ConfigError("--dask-tls is for a cluster: name it with --dask")
        from flashmesh.sweeps.executors.local import LocalThreads

        return LocalThreads(jobs)
    from flashmesh.sweeps.executors.cluster import DaskCluster

    return DaskCluster(dask, workers, lambda words: None if quiet else click.echo(words, err=True), tls)


def run_all(session: Session, store: Store, executor: Executor, quiet: bool) -> None:
    """Runs the pending tasks, and writes the table of all results, even after an interrupt.

    Prints the table at the end, unless `quiet`.
    """
    from flashmesh.sweeps.executors.heartbeat import Heartbeat
    from flashmesh.sweeps.results.finish import gather

    beat = Heartbeat(session, store.folder)
    try:
        session.run(executor, on_end=Lines(session, store, quiet), on_progress=beat)
    except FlashmeshError:
        raise
    except BaseException:
        # After an interrupt or a termination, the table is optional: all results are stored already.
        with suppress(FlashmeshError):
            gather(session.tasks, store)
        if not quiet:
            click.echo(
                f"{len(session.finished()):,} of {len(session.tasks):,} results kept; continue with --resume", err=True
            )
        raise
    finally:
        beat.end()
    table = gather(session.tasks, store)
    if quiet:
        return
    if table.num_rows:
        from flashmesh.aggregate.table import TableOfRuns
        from flashmesh.report.comparison import show_sweep
        from flashmesh.report.terminal import Terminal

        with stdout() as stream:
            shown = TableOfRuns(table)
            shown.until_steady = session.until_steady
            show_sweep(shown, Terminal(stream))
    click.echo(f"results: {store.folder}; flashmesh show {store.folder} --measure NAME prints others", err=True)
