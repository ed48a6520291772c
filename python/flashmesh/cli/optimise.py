"""`flashmesh optimise`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashmesh import configuration
from flashmesh._native import ConfigError, FlashmeshError
from flashmesh.cli.command import command
from flashmesh.cli.output import require_stdout, stdout
from flashmesh.cli.parameters import dask_options, store_options
from flashmesh.cli.sweep import executor_of
from flashmesh.cli.sweeping import Lines

if TYPE_CHECKING:
    from flashmesh._native import Config
    from flashmesh.report.terminal import Terminal
    from flashmesh.sweep.search import Search
    from flashmesh.sweep.searchfile import SearchFile


@command()
@click.argument("file", metavar="SEARCH.toml", type=click.Path(path_type=Path))
@store_options
@dask_options
@click.option("--quiet", is_flag=True, help="Print only errors on stderr.")
def optimise(file: Path, out: Path | None, resume: bool, jobs: int, dask: str | None, workers: int, quiet: bool) -> int:
    """Search a design space for the best drives under constraints.

    Prints the drives that no other beats in every objective (the Pareto front). The folder of results holds them with
    all others that were tried; a search goes on with --resume, also for more trials. docs/sweeps.md says what
    SEARCH.toml holds.
    """
    from flashmesh.sweep.finish import gather
    from flashmesh.sweep.search import Search
    from flashmesh.sweep.searchfile import read_search
    from flashmesh.sweep.store import Store

    require_stdout()
    read = read_search(file)

    def load(settings: dict[str, str]) -> Config:
        return configuration.load(read.config, overrides=read.overrides, varied=settings)

    executor = executor_of(dask, workers, jobs, quiet)
    folder = out if out is not None else Path(f"{file.stem}.results")
    described = {"file": str(file), "search": read.tables, "axes": list(read.space)}
    store = Store.open(folder, resume=resume, kind="search", described=described)
    try:
        search = Search(read, store, load)
        if not quiet:
            click.echo(f"{read.trials:,} trials, {search.settled:,} of them done; {executor.places} at once", err=True)
        try:
            search.run(executor, lambda session: Lines(session, store, quiet))
        except FlashmeshError:
            raise
        except BaseException:
            with suppress(FlashmeshError):
                search.write()
            raise
        search.write()
        gather(search.tried(), store)
    finally:
        executor.close()
        store.close()
    from flashmesh.report.terminal import Terminal

    with stdout() as stream:
        show_front(search, read, Terminal(stream))
    if not quiet:
        click.echo(f"results: {folder}; flashmesh show {folder} prints all that were tried", err=True)
    return 0


def show_front(search: Search, read: SearchFile, terminal: Terminal) -> None:
    """Prints the Pareto front: the settings of each drive, its objectives, and what it must keep to.

    Raises:
        ConfigError: When no drive keeps to the constraints.
    """
    from flashmesh.configuration import value_text

    front = search.front()
    if not front:
        nearest = "; ".join(f"{each.measure.name.strip()} {each.text}" for each in read.constraints)
        told = f"none of the drives tried keeps to {nearest}" if nearest else "none of the drives tried gave a result"
        raise ConfigError(f"{told}: {search.store.folder / 'log.txt'} says what they gave; try more, or ask for less")
    wanted = [*(each.measure for each in read.objectives), *(each.measure for each in read.constraints)]
    measures = {measure.name.strip(): measure for measure in wanted}
    table = terminal.table(*read.space, *measures, left=len(read.space))
    for trial in front:
        settings = [value_text(value) for value in trial["settings"].values()]
        table.add_row(*settings, *(measure.text(trial["measures"][name]) for name, measure in measures.items()))
    terminal.print(table)
