"""Command `flashmesh optimise`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashmesh._native import ConfigError, FlashmeshError
from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import PRECISE, dask_options, precision_option, store_options
from flashmesh.cli.options.policies import trust_option
from flashmesh.cli.output import require_stdout, stdout
from flashmesh.cli.sweeps.sweep import executor_of
from flashmesh.cli.sweeps.sweeping import Lines
from flashmesh.configuration import value_text
from flashmesh.configuring.spare_space import CAPACITY, reason, shown
from flashmesh.report import quantities as q
from flashmesh.report.measures.measure import attribute
from flashmesh.report.sections.headline import interval_text
from flashmesh.results import Result
from flashmesh.running.steady import uncertain_streams
from flashmesh.sweeps.importance import importance

if TYPE_CHECKING:
    from flashmesh.report.measures.measure import Measure
    from flashmesh.report.terminal import Terminal
    from flashmesh.sweeps.inputs.searchfile import SearchFile
    from flashmesh.sweeps.search import Search


@command()
@click.argument("file", metavar="SEARCH.toml", type=click.Path(path_type=Path))
@store_options
@dask_options
@trust_option
@precision_option
@click.option("--quiet", is_flag=True, help="Print nothing but errors, no tables either: the folder has the results.")
def optimise(
    file: Path,
    out: Path | None,
    resume: bool,
    jobs: int,
    dask: str | None,
    dask_tls: Path | None,
    workers: int,
    quiet: bool,
) -> int:
    """Search a design space for the best drives under constraints.

    Prints the drives that no other drive beats in every objective (the Pareto front). The folder of results contains
    all tried drives; --resume continues a search, also with more trials. docs/sweeps.md describes SEARCH.toml.
    """
    from flashmesh.sweeps.search import searching

    require_stdout()
    folder = out if out is not None else Path(f"{file.stem}.results")
    precision = dict(click.get_current_context().meta.get(PRECISE, ()))
    with searching(file, folder, resume, overrides=precision) as search:
        executor = executor_of(dask, workers, jobs, quiet, dask_tls)
        try:
            if not quiet:
                click.echo(f"{planned(search)}, {search.settled:,} of them done; {executor.places} at once", err=True)
            try:
                search.run(executor, lambda session: Lines(session, search.store, quiet))
            except FlashmeshError:
                raise
            except BaseException:
                with suppress(FlashmeshError):
                    search.write()
                raise
            search.finish()
            if not quiet:
                tell_exhausted(search)
        finally:
            executor.close()
    if quiet:
        return 0
    from flashmesh.report.terminal import Terminal

    with stdout() as stream:
        show_front(search, search.file, Terminal(stream))
    click.echo(f"results: {folder}; flashmesh show {folder} prints all tried drives", err=True)
    return 0


def nearest(search: Search, read: SearchFile) -> list[str]:
    """Returns a line that names the tried drive closest to the constraints, and the constraints that it misses.

    Empty if no tried drive has a result.
    """
    tried = [trial for trial in search.trials() if trial["measures"] is not None]
    if not tried:
        return []
    best = min(tried, key=lambda trial: sum(max(beyond, 0.0) for beyond in trial["violations"].values()))
    drive = ", ".join(
        f"{key}={value_text(value)}" for key, value in best["settings"].items() if key not in best["idle"]
    )
    misses = [
        f"{name} {each.measure.text(best['measures'][name])}, {beyond:.0%} beyond {each.text}".replace("%", " %")
        for each in read.constraints
        if (beyond := best["violations"][f"{(name := each.measure.name.strip())} {each.text}"]) > 0
    ]
    return [f"nearest is {drive}: {'; '.join(misses)}"]


def known(measure: Measure, value: float, result: Result) -> str:
    """Returns a figure of a run as text, with its 95 % interval if the run has one."""
    interval = attribute(result, measure.interval) if measure.interval is not None else None
    return f"{measure.text(value)} {interval_text(interval, value)}".rstrip()


def planned(search: Search) -> str:
    """Returns the number of drives that the search will try, as text."""
    if search.is_enumerated:
        return f"all {search.points.count:,} points of the space (limit: {search.file.trials:,} trials)"
    return f"{search.file.trials:,} trials"


def tell_exhausted(search: Search) -> None:
    """Reports that no untried drive is left, if so, and names the keys that some drives do not read."""
    if not search.is_exhausted:
        return
    trials = search.trials()
    idle = ", ".join(dict.fromkeys(key for trial in trials for key in trial["idle"]))
    where = f"; some drives do not use {idle}: those that differ in nothing else count once" if idle else ""
    found = "all drives of the space tried" if search.points.is_listed else "no untried drive was found, drives tried"
    click.echo(f"{found}: {len(trials):,}{where}", err=True)


def show_front(search: Search, read: SearchFile, terminal: Terminal) -> None:
    """Prints the Pareto front: the settings of each drive, its objectives and constraints.

    Raises:
        ConfigError: If no drive meets the constraints.
    """
    front = search.front()
    if not front:
        asked = "; ".join(f"{each.measure.name.strip()} {each.text}" for each in read.constraints)
        told = f"none of the drives tried meets {asked}" if asked else "none of the drives tried gave a result"
        advice = "allow more trials, or loosen the constraints" if asked else "allow more trials"
        raise ConfigError("\n".join([f"{told}; {advice}", *nearest(search, read)]))
    wanted = [*(each.measure for each in read.objectives), *(each.measure for each in read.constraints)]
    measures = {measure.name.strip(): measure for measure in wanted}
    followed = [CAPACITY] if any(trial["capacity"] is not None for trial in front) else []
    table = terminal.table(*read.space, *followed, *measures, left=len(read.space))
    results = [Result.from_json(search.store.read(trial["run"]), "") for trial in front]
    for trial, result in zip(front, results, strict=True):
        settings = [q.NONE if key in trial["idle"] else value_text(value) for key, value in trial["settings"].items()]
        settings += [shown(trial["capacity"]) if trial["capacity"] is not None else q.NONE for _ in followed]
        figures = [known(measure, trial["measures"][name], result) for name, measure in measures.items()]
        table.add_row(*settings, *figures)
    terminal.print(table)
    unsteady = sum(bool(not each.steadiness.steady or uncertain_streams(each.document)) for each in results)
    if unsteady:
        drives = "drive of this front is" if len(front) == 1 else "drives of this front are"
        told = "longer runs would give other values (workload.requests), and perhaps another front"
        terminal.print("", f"{unsteady:,} of {len(front):,} {drives} not steady: {told}.")
    if followed:
        terminal.print("", f"{CAPACITY} follows the space ({reason(read.space)})")
    shares = importance(search.trials(), list(read.space))
    if shares:
        explained = terminal.table("variance explained alone by", *shares)
        for key in read.space:
            explained.add_row(key, *(q.share(found.get(key)) for found in shares.values()))
        terminal.print("", explained)
