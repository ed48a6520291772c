"""Command `flashmesh reproduce`.

A regime is one reading of the experiments of a paper: a set of configuration keys that the text leaves open. A fit is
the regime that a search finds; a volume is a recorded trace that replaces the profile of a workload.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import (
    STDOUT,
    jobs_option,
    kept_runs_option,
    out_option,
    output_option,
    settings_option,
)
from flashmesh.cli.output import require_stdout, stdout
from flashmesh.cli.sweeps.sweeping import announce, failure
from flashmesh.files import whole_file, write_text
from flashmesh.reproduce.registry.paper import AS_SPECIFIED, CHANGED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flashmesh.reproduce.judging.outcome import Fit, Outcome
    from flashmesh.reproduce.registry.paper import Claim, Paper
    from flashmesh.reproduce.running.engine import Reproduction, Selection
    from flashmesh.reproduce.running.fitting import FitSearch, Trial
    from flashmesh.sweeps.results.store import Store

TRIALS = 40


@command()
@click.argument("names", metavar="[PAPER|FIGURE|CLAIM]...", nargs=-1)
@click.option(
    "--quick/--full", "quick", default=True, help="Use few requests and seeds (default), or as many as needed."
)
@click.option(
    "--traces", type=click.Path(path_type=Path), metavar="DIR", help="Also replay recorded volumes in this folder."
)
@click.option("--regime", "regimes", multiple=True, metavar="NAME", help="Measure only in this regime; repeatable.")
@settings_option(
    "Also measure with this key changed, and compare claim by claim; with --traces, also keys for reading the "
    "volumes, such as workload.time-unit=us."
)
@click.option(
    "--fit", "fitting", is_flag=True, help="Search values for the keys that a paper leaves open, to fit its results."
)
@click.option(
    "--drift",
    "drifts",
    is_flag=True,
    help="Also measure the best stated reading with twice the requests, and print by how much claims drift.",
)
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    default=TRIALS,
    show_default=True,
    help="Number of readings that --fit tries.",
)
@out_option("out", "Write a page, a JSON file and plots for each paper.", metavar="DIR")
@output_option("--json", "json_file", "Write the results as JSON; - writes them to stdout instead of the table.")
@kept_runs_option("reproduction.results")
@jobs_option
@click.option(
    "--pages",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Rewrite the pages in DIR from its JSON files; run nothing.",
)
@click.option(
    "--check", type=click.Path(path_type=Path), metavar="DIR", help="Fail if a page in DIR is stale; run nothing."
)
@click.option("--list", "listing", is_flag=True, help="List the selected claims, and run nothing.")
@click.option(
    "--appendix",
    "wants_appendix",
    is_flag=True,
    help="Print the appendix of an artefact: hardware, disk, time, commands, expected results; run nothing.",
)
@click.option("--quiet", is_flag=True, help="Print only errors on stderr.")
def reproduce(
    names: tuple[str, ...],
    quick: bool,
    traces: Path | None,
    regimes: tuple[str, ...],
    settings: tuple[tuple[str, str], ...],
    fitting: bool,
    drifts: bool,
    trials: int,
    out: Path | None,
    json_file: Path | None,
    results: Path,
    jobs: int,
    pages: Path | None,
    check: Path | None,
    listing: bool,
    wants_appendix: bool,
    quiet: bool,
) -> int:
    """Measure the claims of papers, and report which hold and why.

    PAPER is a paper such as venice, FIGURE a figure, table or section such as venice/9a, CLAIM a claim such as V07; by
    default, all papers. Each claim is measured in every regime: as-specified, and other readings of the paper, listed
    in its JSON with their evidence. The number of claims that hold is counted in a single regime. An interrupted
    reproduction resumes when the command is repeated.
    """
    from flashmesh.reproduce.registry.reader import papers
    from flashmesh.reproduce.registry.selection import select

    require_stdout()
    registry = papers()
    chosen = select(registry, names)
    if listing:
        with stdout() as stream:
            for key, claims in chosen.items():
                stream.write(f"{key}: {registry[key].title}\n")
                stream.writelines(f"  {claim.id}  {claim.figure}: {claim.says}\n" for claim in claims)
        return 0
    if wants_appendix:
        from flashmesh.reproduce.pages.appendix import appendix

        with stdout() as stream:
            stream.write(appendix(registry, chosen, "quick" if quick else "full", results))
        return 0
    if pages is not None or check is not None:
        return paper_pages(registry, pages, check)
    reading, changes = told_apart(dict(settings), traces is not None)
    refuse_together(fitting, drifts, traces is not None, regimes, changes)
    base = regimes[0] if regimes else AS_SPECIFIED
    mode = "quick" if quick else "full"
    with ExitStack() as opened:
        # Files are opened before the work, so that errors show early.
        if out is not None:
            from flashmesh.reproduce.pages.folder import writable_folder

            writable_folder(out)
        document = None
        if json_file is not None and json_file != STDOUT:
            document = opened.enter_context(whole_file(json_file))
        kept: list[Store] = []

        def open_store() -> Store:
            from flashmesh.sweeps.results.store import Store

            if not kept:
                kept.append(Store.open(results, resume=True, kind="reproduction", described={"claims": list(names)}))
                opened.callback(kept[0].close)
            return kept[0]

        selections = selections_of(registry, chosen, traces, reading, quiet)
        selections = [narrowed(each, regimes, base, changes) for each in selections]
        fits = fits_of(selections, trials, mode, open_store, jobs, quiet) if fitting else [None] * len(selections)
        selections = [each if fit is None else with_fit(each, fit) for each, fit in zip(selections, fits, strict=True)]
        reproduction = run_all(selections, mode, open_store, jobs, quiet)
        outcomes = [replace(each, fit=fit) for each, fit in zip(reproduction.outcomes(), fits, strict=True)]
        failures, points = reproduction.session.failures, len(reproduction.points)
        if drifts and not failures:
            outcomes = drifted(outcomes, mode, open_store, jobs, quiet)
        if document is not None:
            write_text(document, json_text(outcomes))
    if out is not None:
        write_out(outcomes, out, base if changes else "")
    with stdout() as stream:
        if json_file == STDOUT:
            stream.write(json_text(outcomes))
        else:
            show(outcomes, stream, base if changes else "")
    if failures:
        raise failure(failures, points, "the other results are kept")
    return 0


def told_apart(settings: dict[str, str], has_traces: bool) -> tuple[dict[str, str], dict[str, str]]:
    """Splits `--set` into (keys for reading the recorded traces of `--traces`, keys that change the runs).

    Refuses keys for reading without `--traces`.
    """
    from flashmesh.configuration import READING

    reading = {key: value for key, value in settings.items() if key in {f"workload.{each}" for each in READING}}
    if reading and not has_traces:
        raise click.UsageError(
            f"--set {next(iter(reading))} is for reading the volumes of --traces, which is not given"
        )
    return reading, {key: value for key, value in settings.items() if key not in reading}


def refuse_together(
    fitting: bool, drifts: bool, has_traces: bool, regimes: tuple[str, ...], changes: dict[str, str]
) -> None:
    """Refuses options that exclude each other."""
    if fitting and (has_traces or regimes or changes):
        raise click.UsageError(
            "--fit chooses the regime and the keys by itself: leave out --regime, --set and --traces"
        )
    if drifts and (fitting or has_traces or changes):
        raise click.UsageError("--drift measures stated readings: leave --fit, --set and --traces away")
    if changes and len(regimes) > 1:
        raise click.UsageError("--set changes one reading: give one --regime")


def narrowed(selection: Selection, regimes: tuple[str, ...], base: str, changes: dict[str, str]) -> Selection:
    """Returns a selection limited to the given regimes (interpretations of the paper).

    With changed keys, limits it to the regime `base` and its changed copy.

    Raises:
        ConfigError: If a regime is unknown, or a key cannot be changed.
    """
    from flashmesh.reproduce.judging.changing import changed, require_regimes

    require_regimes(selection.paper, regimes)
    if not changes:
        return replace(selection, chosen=regimes)
    paper = changed(selection.paper, selection.claims, base, changes)
    return replace(selection, paper=paper, chosen=(base, CHANGED))


def fits_of(
    selections: Sequence[Selection], trials: int, mode: str, open_store: Callable[[], Store], places: int, quiet: bool
) -> list[Fit | None]:
    """Searches, for each paper, the regime (values of its open keys) in which most claims hold; returns these fits."""
    from flashmesh.reproduce.running.fitting import FitSearch
    from flashmesh.sweeps.executors.local import LocalThreads

    searches = [FitSearch(each.paper, each.claims, trials, open_store) for each in selections]
    executor = LocalThreads(places)
    try:
        return [search.run(mode, executor, partial(tell, search, quiet)) for search in searches]
    finally:
        executor.close()


def tell(search: FitSearch, quiet: bool, trial: Trial) -> None:
    """Prints the number of claims that hold in a regime (values of the open keys) that the search tried."""
    if not quiet:
        within = " / ".join(map(str, trial.found.within))
        told = trial.start or ", ".join(trial.choices.values())
        count = f"{len(search.trials)} of {search.count}"
        click.echo(f"{search.paper.key}: reading {count}: {within} within 10 / 25 / 50 %: {told}", err=True)


def with_fit(selection: Selection, fit: Fit) -> Selection:
    """Returns a selection with the regime added that the search found."""
    from flashmesh.reproduce.registry.openkeys import fitted

    return replace(selection, paper=selection.paper.with_regime(fitted(selection.paper, fit.choices)))


def run_all(
    selections: Sequence[Selection], mode: str, open_store: Callable[[], Store], places: int, quiet: bool
) -> Reproduction:
    """Runs all simulations of the selections (claims of papers) that have no stored result yet."""
    from flashmesh.reproduce.running.engine import Reproduction

    reproduction = Reproduction.prepared(selections, mode, open_store, places)
    run(reproduction, places, quiet)
    return reproduction


def drifted(
    outcomes: Sequence[Outcome], mode: str, open_store: Callable[[], Store], places: int, quiet: bool
) -> list[Outcome]:
    """Repeats the runs of the best stated reading (interpretation of a paper) with twice the requests.

    Returns the outcomes with the drift of each claim: the change of its measured value. A claim has no drift if a
    longer run fails, for instance because its recorded volume would take too long.
    """
    from flashmesh.reproduce.running.drift import doubled, with_drift

    longer = run_all([doubled(each) for each in outcomes], mode, open_store, places, quiet)
    if longer.session.failures:
        told = failure(longer.session.failures, len(longer.points), "their claims have no drift")
        if len(longer.session.failures) == len(longer.points):
            raise failure(longer.session.failures, len(longer.points), "no drift was measured")
        click.echo(f"--drift: {told}", err=True)
    return [with_drift(each, other) for each, other in zip(outcomes, longer.outcomes(), strict=True)]


def write_out(outcomes: Sequence[Outcome], folder: Path, base: str) -> None:
    """Writes the pages of the papers.

    If `base` names a regime with changed keys, writes its comparison with the changed copy instead.
    """
    from flashmesh.reproduce.pages.folder import put, write_pages

    if not base:
        write_pages(outcomes, folder)
        return
    from flashmesh.reproduce.judging import changing

    for outcome in outcomes:
        put(folder / f"{outcome.paper.key}-changed.md", changing.page(outcome, base))


def show(outcomes: Sequence[Outcome], stream: IO[str], base: str) -> None:
    """Prints the outcomes.

    If `base` names a regime with changed keys, prints its comparison with the changed copy instead.
    """
    if base:
        from flashmesh.reproduce.judging import changing

        for outcome in outcomes:
            stream.writelines(f"{line}\n" for line in changing.table(outcome, base))
        return
    from flashmesh.report import reproduction as report
    from flashmesh.report.terminal import Terminal

    report.show(outcomes, Terminal(stream, report.WIDTH))


def paper_pages(registry: dict[str, Paper], pages: Path | None, check: Path | None) -> int:
    """Writes pages from the stored results in `pages`, and checks the pages in `check`; returns the exit code."""
    from flashmesh._native import OutputError
    from flashmesh.reproduce.pages.folder import check_pages, stored, write_pages

    if pages is not None:
        outcomes = stored(pages, list(registry.values()))
        if not outcomes:
            raise OutputError(f"{pages}: has no reproduction of a paper")
        write_pages(outcomes, pages)
    if check is not None:
        check_pages(check, registry)
    return 0


def selections_of(
    registry: dict[str, Paper],
    chosen: dict[str, tuple[Claim, ...]],
    traces: Path | None,
    reading: dict[str, str],
    quiet: bool,
) -> list[Selection]:
    """Returns the claims of each paper with its recorded volumes (traces), and prints the missing volumes.

    Raises:
        ConfigError: If a key that configures the reading of volumes is invalid.
        WorkloadError: If the folder of traces cannot be read, lacks every volume, or a volume cannot be replayed.
    """
    from flashmesh.reproduce.running.engine import Selection
    from flashmesh.reproduce.volumes import files_in, refuse_nothing, require_readable, volumes_of

    if traces is None:
        return [Selection(registry[key], claims) for key, claims in chosen.items()]
    files = files_in(traces)
    found: list[Selection] = []
    for key, claims in chosen.items():
        paper = registry[key]
        jobs = {measurement.job for claim in claims for measurement in claim.measurements()}
        wanted = [name for job in sorted(jobs) for name in paper.jobs[job].extents["full"].workloads]
        volumes = volumes_of(paper, wanted, files, reading)
        require_readable(volumes)
        found.append(Selection(paper, claims, volumes))
        if not quiet and volumes.found and volumes.missing:
            told = "these workloads are generated from their profiles"
            click.echo(f"{key}: no volume for {', '.join(volumes.missing)}: {told}", err=True)
    refuse_nothing(traces, [each.volumes for each in found])
    return found


def run(reproduction: Reproduction, places: int, quiet: bool) -> None:
    """Runs the simulations without a stored result, and prints their progress."""
    from flashmesh.cli.sweeps.sweeping import Percents
    from flashmesh.sweeps.executors.local import LocalThreads

    session = reproduction.session
    announce(session, places, quiet)
    executor = LocalThreads(places)
    told = Percents(session, quiet)
    try:
        session.run(executor, on_end=told)
    except KeyboardInterrupt:
        if not quiet:
            kept = len(session.finished())
            click.echo(f"{kept:,} of {session.run_count:,} results kept; run the same command to continue", err=True)
        raise
    finally:
        executor.close()


def json_text(outcomes: Sequence[Outcome]) -> str:
    """Returns the JSON documents of several papers as one."""
    import json

    return json.dumps([outcome.to_dict() for outcome in outcomes], indent=1, ensure_ascii=False) + "\n"
