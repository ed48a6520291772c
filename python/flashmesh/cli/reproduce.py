"""`flashmesh reproduce`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashmesh import simulate
from flashmesh.cli.command import command
from flashmesh.cli.output import require_stdout, stdout
from flashmesh.cli.parameters import STDOUT, output_option, settings_option
from flashmesh.cli.sweeping import announce, failure
from flashmesh.files import whole_file, write_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.reproduce.engine import Reproduction, Selection
    from flashmesh.reproduce.outcome import Outcome
    from flashmesh.reproduce.paper import Claim, Paper

RESULTS = Path("reproduction.results")


@command()
@click.argument("names", metavar="[PAPER|FIGURE|CLAIM]...", nargs=-1)
@click.option("--quick/--full", "quick", default=True, help="Few requests and seeds (default), or as many as it takes.")
@click.option(
    "--traces", type=click.Path(path_type=Path), metavar="DIR", help="Replay recorded volumes of this folder as well."
)
@settings_option("Key that says how to read the volumes of --traces, such as workload.time-unit=us.")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), metavar="DIR", help="Write a page, JSON and plots of each paper."
)
@output_option("--json", "json_file", "Write what came out as JSON; - writes it to stdout instead of the table.")
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    default=RESULTS,
    show_default=True,
    metavar="DIR",
    help="Where results of runs are kept; what is there is not run again.",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), default=simulate.cores, show_default="all cores", help="Runs at once."
)
@click.option(
    "--pages",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write the pages anew from the JSON of DIR; run nothing.",
)
@click.option(
    "--check", type=click.Path(path_type=Path), metavar="DIR", help="Fail when a page in DIR is stale; run nothing."
)
@click.option("--list", "listing", is_flag=True, help="List the claims that are meant, and run nothing.")
@click.option("--quiet", is_flag=True, help="Say nothing on stderr but errors.")
def reproduce(
    names: tuple[str, ...],
    quick: bool,
    traces: Path | None,
    settings: tuple[tuple[str, str], ...],
    out: Path | None,
    json_file: Path | None,
    results: Path,
    jobs: int,
    pages: Path | None,
    check: Path | None,
    listing: bool,
    quiet: bool,
) -> int:
    """Measure what papers publish, and say what comes out and why.

    PAPER is a paper such as venice, FIGURE a figure, table or section such as venice/9a, CLAIM a claim such as V07; all
    papers without any. Each claim has what is published, what is measured, a verdict, and the regime: as-specified, or
    another reading of the paper that the page names with its evidence. An interrupted reproduction goes on when the
    command is given again.
    """
    from flashmesh.reproduce.engine import Reproduction
    from flashmesh.reproduce.registry import papers
    from flashmesh.reproduce.selection import select

    require_stdout()
    registry = papers()
    chosen = select(registry, names)
    if listing:
        with stdout() as stream:
            for key, claims in chosen.items():
                stream.write(f"{key}: {registry[key].title}\n")
                stream.writelines(f"  {claim.id}  {claim.figure}: {claim.says}\n" for claim in claims)
        return 0
    if pages is not None or check is not None:
        return paper_pages(registry, pages, check)
    if settings and traces is None:
        raise click.UsageError("--set says how to read the volumes of --traces, which is not given")
    selections = selections_of(registry, chosen, traces, dict(settings), quiet)
    from flashmesh.sweeps.store import Store

    mode = "quick" if quick else "full"
    with ExitStack() as opened:
        # What cannot be written shows before the work, not after it.
        if out is not None:
            from flashmesh.reproduce.pages import writable_folder

            writable_folder(out)
        document = None
        if json_file is not None and json_file != STDOUT:
            document = opened.enter_context(whole_file(json_file))

        def open_store() -> Store:
            store = Store.open(results, resume=True, kind="reproduction", described={"claims": list(names)})
            opened.callback(store.close)
            return store

        reproduction = Reproduction.prepared(selections, mode, open_store, jobs)
        run(reproduction, jobs, quiet)
        outcomes = reproduction.outcomes()
        if document is not None:
            write_text(document, json_text(outcomes))
    if out is not None:
        from flashmesh.reproduce.pages import write_pages

        write_pages(outcomes, out)
    with stdout() as stream:
        if json_file == STDOUT:
            stream.write(json_text(outcomes))
        else:
            from flashmesh.report import reproduction as report
            from flashmesh.report.terminal import Terminal

            report.show(outcomes, Terminal(stream, report.WIDTH))
    if reproduction.session.failures:
        raise failure(reproduction.session.failures, len(reproduction.points), "the others are kept")
    return 0


def paper_pages(registry: dict[str, Paper], pages: Path | None, check: Path | None) -> int:
    """Writes or checks the pages of results that are there."""
    from flashmesh._native import OutputError
    from flashmesh.reproduce.pages import check_pages, stored, write_pages

    if pages is not None:
        outcomes = stored(pages, registry.values())
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
    """The claims of each paper with its recorded volumes; says which of these there are not.

    Raises:
        ConfigError: When a key that says how volumes are read does not.
        WorkloadError: When the folder of traces cannot be read, has no volume that is wanted, or one that cannot be
            replayed.
    """
    from flashmesh.reproduce.engine import Selection
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
            click.echo(f"{key}: no volume for {', '.join(volumes.missing)}: their profiles are generated", err=True)
    refuse_nothing(traces, [each.volumes for each in found])
    return found


def run(reproduction: Reproduction, places: int, quiet: bool) -> None:
    """Runs what is left, and says how far it is."""
    from flashmesh.cli.sweeping import Percents
    from flashmesh.sweeps.local import LocalThreads

    session = reproduction.session
    announce(len(session.tasks), session.kept, places, quiet)
    executor = LocalThreads(places)
    told = Percents(session, quiet)
    try:
        session.run(executor, on_end=told)
    except KeyboardInterrupt:
        if not quiet:
            kept = len(session.finished())
            click.echo(f"{kept:,} of {len(session.tasks):,} results kept; the same command goes on", err=True)
        raise
    finally:
        executor.close()


def json_text(outcomes: Sequence[Outcome]) -> str:
    """The documents of several papers as one."""
    import json

    return json.dumps([outcome.to_dict() for outcome in outcomes], indent=1, ensure_ascii=False) + "\n"
