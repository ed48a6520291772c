"""`flashmesh sweep`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from flashmesh import configuration
from flashmesh._native import ConfigError, FlashmeshError
from flashmesh.cli.command import command
from flashmesh.cli.output import require_stdout, stdout
from flashmesh.cli.parameters import dask_options, settings_option, store_options
from flashmesh.cli.sweeping import Lines, announce, failure, first_line

if TYPE_CHECKING:
    from flashmesh._native import Config
    from flashmesh.sweep.session import Executor, Session
    from flashmesh.sweep.store import Store


def shard(text: str) -> tuple[int, int]:
    """Splits `i/n`."""
    part, slash, parts = text.partition("/")
    if not slash or not part.isdecimal() or not parts.isdecimal() or not 1 <= int(part) <= int(parts):
        raise click.BadParameter(f"{text!r}: expected PART/PARTS, such as 1/4 for the first of four")
    return int(part), int(parts)


@command()
@click.argument("file", metavar="SWEEP.toml", type=click.Path(path_type=Path))
@store_options
@click.option("--keep-going", is_flag=True, help="Skip points that cannot be configured instead of stopping.")
@click.option(
    "--shard", type=shard, default="1/1", metavar="I/N", help="Run only every N-th run, starting with the I-th."
)
@dask_options
@settings_option("Override a key of all runs.")
@click.option("--check", is_flag=True, help="Check the simulations against their oracles as they run.")
@click.option("--fairness", is_flag=True, help="Also run each stream alone and report its slowdown.")
@click.option("--dry-run", is_flag=True, help="Check and count all runs, but start none.")
@click.option("--quiet", is_flag=True, help="Print only errors on stderr.")
def sweep(
    file: Path,
    out: Path | None,
    resume: bool,
    keep_going: bool,
    shard: tuple[int, int],
    jobs: int,
    dask: str | None,
    workers: int,
    settings: tuple[tuple[str, str], ...],
    check: bool,
    fairness: bool,
    dry_run: bool,
    quiet: bool,
) -> int:
    """Run every point of a sweep; save each result as soon as it exists.

    The folder of results holds a JSON file for each run, one Parquet file of all of them, and a log. A sweep that was
    interrupted or killed goes on with --resume and repeats nothing. docs/sweeps.md says what SWEEP.toml holds.
    """
    from flashmesh.sweep.session import Session
    from flashmesh.sweep.store import Store
    from flashmesh.sweep.sweepfile import read_sweep
    from flashmesh.sweep.tasks import tasks_of

    require_stdout()
    read = read_sweep(file)
    overrides = read.overrides | dict(settings)
    for key, _ in settings:
        if key in read.plan.keys:
            raise ConfigError(f"{key} is varied and given by --set: drop one of them")
    misfits: list[tuple[dict[str, str], ConfigError]] = []

    def load(values: dict[str, str]) -> Config:
        return configuration.load(read.config, overrides=overrides, varied=values)

    def on_misfit(point: dict[str, str], error: ConfigError) -> None:
        misfits.append((point, error))

    tasks = tasks_of(
        read.plan.points(), load, check=check, fairness=fairness, on_misfit=on_misfit if keep_going else None
    )
    configuration.refuse_unread([task.config for task in tasks], [*read.plan.keys, *overrides])
    if dry_run:
        with stdout() as stream:
            stream.write(f"{len(tasks):,} runs\n")
            stream.writelines(f"{task.name[:12]}  {task.label}\n" for task in tasks)
        return 0
    executor = executor_of(dask, workers, jobs, quiet)
    folder = out if out is not None else Path(f"{file.stem}.results")
    described: dict[str, Any] = {
        "file": str(file),
        "sweep": read.tables,
        "axes": list(read.plan.keys),
        "points": len(tasks),
    }
    store = Store.open(folder, resume=resume, kind="sweep", described=described)
    try:
        session = Session(tasks, store, shard)
        store.write_plan([(task.name, task.settings) for task in tasks])
        announce(len(tasks), session.kept, executor.places, quiet)
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
        advice = f"{folder / 'log.txt'} names them; the others are kept, and --resume tries these again"
        raise failure(session.failures, len(tasks), advice)
    return 0


def executor_of(dask: str | None, workers: int, jobs: int, quiet: bool) -> Executor:
    """Who runs the tasks.

    Raises:
        ConfigError: When a cluster cannot be reached.
    """
    if dask is None:
        from flashmesh.sweep.local import LocalThreads

        return LocalThreads(jobs)
    from flashmesh.sweep.cluster import DaskCluster

    return DaskCluster(dask, workers, lambda words: None if quiet else click.echo(words, err=True))


def run_all(session: Session, store: Store, executor: Executor, quiet: bool) -> None:
    """Runs what is left, and shows the table of all results, however the runs end."""
    from flashmesh.sweep.finish import gather

    try:
        session.run(executor, on_end=Lines(session, store, quiet))
    except FlashmeshError:
        raise
    except BaseException:
        # Interrupted or terminated: the results are kept already, the table of them is worth a last effort.
        with suppress(FlashmeshError):
            gather(session.tasks, store)
        if not quiet:
            click.echo(
                f"{len(session.finished()):,} of {len(session.tasks):,} results kept; --resume goes on", err=True
            )
        raise
    table = gather(session.tasks, store)
    if table.num_rows:
        from flashmesh.report import sweeps
        from flashmesh.report.terminal import Terminal

        with stdout() as stream:
            sweeps.show(table, Terminal(stream))
    if not quiet:
        click.echo(f"results: {store.folder}; flashmesh show {store.folder} --measure NAME prints others", err=True)
