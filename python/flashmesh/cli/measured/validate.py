"""Command `flashmesh validate`."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flashmesh.cli.command import command
from flashmesh.cli.measured.validating import Held, is_file, subjects_of, warn_of_contradictions
from flashmesh.cli.options.counts import Requests
from flashmesh.cli.options.parameters import (
    STDOUT,
    completed,
    jobs_option,
    kept_runs_option,
    out_option,
    output_option,
    settings_option,
)
from flashmesh.cli.options.policies import trust_option
from flashmesh.cli.output import refuse_overwriting, refuse_stdout, require_stdout, stdout

if TYPE_CHECKING:
    from flashmesh.sweeps.executors.session import Session
    from flashmesh.sweeps.results.store import Store
    from flashmesh.validation.engine import Validating
    from flashmesh.validation.judging.outcome import Validation

CHECK_FAILED = 3


@command()
@click.argument("names", metavar="[DRIVE]...", nargs=-1, shell_complete=completed("configs"))
@click.option(
    "--points",
    type=click.Path(path_type=Path),
    metavar="CSV",
    help="Table of measurements to use instead of the bundled ones and their data sheets.",
)
@click.option(
    "--data-sheet",
    type=click.Path(path_type=Path),
    metavar="CSV",
    help="Table of data-sheet rows, rates and latencies of single loads, to use instead of the bundled measurements. "
    "Needs DRIVE. With --points, both tables are used.",
)
@click.option(
    "--drive",
    metavar="NAME",
    help="Name of the drive in the measurements or the data sheet. Required if they have several drives and DRIVE is "
    "not a preset with measurements.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Simulate 40,000 requests for each load, too few for a steady write amplification, "
    "and at most as many for each row of a data sheet. Writes to hot pages are left out.",
)
@click.option(
    "--requests",
    type=Requests(min=1000),
    metavar="N",
    help="Approximate number of requests for each load; by default 25,000 for each die, at least 400,000. Runs of "
    "data sheets end once their request rate is settled, at the latest after N (400,000 by default) for random writes "
    "and a quarter of N or less for others, or 20 times their depth if that is more. Writes to hot pages are left out.",
)
@click.option(
    "--software-time",
    metavar="TIME",
    help="Host software time to add to each simulated latency, such as 5us; by default that of the preset, or 0 for "
    "other drives.",
)
@trust_option
@settings_option("Set a key of every drive.")
@output_option("--json", "json_file", "Write the results as JSON; - writes them to stdout instead of the tables.")
@out_option("report_file", "Write an HTML page.")
@kept_runs_option("validation.results")
@jobs_option
@click.option(
    "--pages",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write a Markdown page, a JSON file and charts for each preset into DIR.",
)
@click.option(
    "--rewrite",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write the pages in DIR again from its JSON files, without runs.",
)
@click.option(
    "--check", type=click.Path(path_type=Path), metavar="DIR", help="Fail if a page in DIR is stale, without runs."
)
@click.option(
    "--baseline",
    is_flag=True,
    help="Compare the simulation with a curve through the measured latencies of the fitted loads, or, without fitted "
    "loads, of all other loads.",
)
@click.option("--quiet", is_flag=True, help="Print only errors on stderr.")
def validate(
    names: tuple[str, ...],
    points: Path | None,
    data_sheet: Path | None,
    drive: str | None,
    quick: bool,
    requests: int | None,
    software_time: str | None,
    settings: tuple[tuple[str, str], ...],
    json_file: Path | None,
    report_file: Path | None,
    results: Path,
    jobs: int,
    pages: Path | None,
    rewrite: Path | None,
    check: Path | None,
    baseline: bool,
    quiet: bool,
) -> int:
    """Compare simulated drives with measurements of real ones.

    Simulates the measured workload at every load, and prints measured and simulated figures side by side. The workload
    is 4 KiB random requests over the whole drive in steady state: one stream reads and writes at even intervals, and
    six streams write as Poisson processes. DRIVE is a preset with measurements, such as samsung-pm9a3, or preset:NAME,
    or a configuration file, whose workload is ignored; by default, all presets with measurements.

    Bundled measurements also have rows of data sheets: closed loops on the full drive, until their request rate is
    settled. A row has the value of the manufacturer, or a measured value of SSD-iq. samsung-980-pro was measured by
    sweeps of depths and block sizes and by mixes, which replace the loads above. Writes to hot pages run on a small
    model of the drive until they have written it over several times, which takes minutes.

    A data sheet of your own (--data-sheet) has the same columns as the bundled ones, and needs no measurements.

    The exit code is 3 if a tolerance is missed. An interrupted validation resumes when the command is repeated.
    """
    from flashmesh.validation.engine import FULL, QUICK, Validating
    from flashmesh.validation.judging.outcome import to_json
    from flashmesh.validation.loads.workload import Extent

    if quick and requests is not None:
        raise click.UsageError("--quick and --requests exclude each other: give one of them")
    if data_sheet is not None:
        refuse_without_drive(names, pages)
    require_stdout()
    if rewrite is not None or check is not None:
        return kept_pages(rewrite, check)
    if report_file is not None:
        refuse_stdout("--out", report_file, "a page")
    held = Held(points, data_sheet, drive, software_time, with_hot_pages=not quick and requests is None)
    subjects = subjects_of(names, held)
    if data_sheet is not None and not quiet:
        from flashmesh.validation.tables.sheets import SheetRow

        warn_of_contradictions(
            dict.fromkeys(row for each in subjects for row in each.rows if isinstance(row, SheetRow))
        )
    read = {"the measurements": [points] if points is not None else []}
    read["the data sheet"] = [data_sheet] if data_sheet is not None else []
    read["a configuration"] = [Path(str(each.config)) for each in subjects if is_file(each)]
    refuse_overwriting({"--json": json_file, "--out": report_file}, read)
    extent = Extent(requests) if requests is not None else QUICK if quick else FULL
    with ExitStack() as opened:
        from flashmesh.files import whole_file, write_text

        # Opens files before the runs, so that errors show early.
        document = None
        if json_file is not None and json_file != STDOUT:
            document = opened.enter_context(whole_file(json_file))
        page = opened.enter_context(whole_file(report_file)) if report_file is not None else None
        if pages is not None:
            from flashmesh.reproduce.pages.folder import writable_folder

            writable_folder(pages)
        store = open_store(results)
        opened.callback(store.close)
        validating = Validating(subjects, extent, dict(settings), store)
        run(validating, jobs, quiet)
        validations = validating.validations()
        if document is not None:
            write_text(document, to_json(validations))
        if page is not None:
            write_text(page, page_of(validations))
        if pages is not None:
            from flashmesh.validation.drives import drives
            from flashmesh.validation.pages import write_pages

            write_pages(validations, pages, drives())
    with stdout() as stream:
        if json_file == STDOUT:
            stream.write(to_json(validations))
        else:
            from flashmesh.report import validation as report
            from flashmesh.report.terminal import Terminal

            report.show(validations, Terminal(stream, report.WIDTH), with_curve=baseline)
    return 0 if all(each.is_met for each in validations) else CHECK_FAILED


def refuse_without_drive(names: tuple[str, ...], pages: Path | None) -> None:
    """Refuses a data sheet without a drive, and pages of a drive that is compared with a data sheet.

    Raises:
        click.UsageError: If the combination is refused.
    """
    if not names:
        raise click.UsageError("--data-sheet needs DRIVE: a configuration file or a preset to compare with the sheet")
    if pages is not None:
        raise click.UsageError("--pages writes pages of the bundled measurements, which --data-sheet replaces")


def kept_pages(rewrite: Path | None, check: Path | None) -> int:
    """Rewrites the pages in `rewrite`, or checks those in `check`, from stored JSON; returns the exit code."""
    from flashmesh.validation.drives import drives
    from flashmesh.validation.pages import check_pages, rewrite_pages

    if rewrite is not None:
        rewrite_pages(rewrite, drives())
    if check is not None:
        check_pages(check, drives())
    return 0


def open_store(folder: Path) -> Store:
    """Opens the store of the results."""
    from flashmesh.sweeps.results.store import Store

    return Store.open(folder, resume=True, kind="validation", described={})


def run(validating: Validating, places: int, quiet: bool) -> None:
    """Runs the validation, and prints its progress."""
    from flashmesh.cli.sweeps.sweeping import Lines, announce
    from flashmesh.sweeps.executors.local import LocalThreads

    executor = LocalThreads(places)
    store = validating.store
    assert store is not None

    def told(session: Session) -> Lines:
        announce(session, places, quiet)
        return Lines(session, store, quiet)

    try:
        validating.run(executor, told)
    except KeyboardInterrupt:
        if not quiet:
            kept = f"{len(validating.found)} of {len(validating.configs)} results kept"
            click.echo(f"{kept}; run the same command to continue", err=True)
        raise
    finally:
        executor.close()


def page_of(validations: list[Validation]) -> str:
    """Returns the HTML page of some validations."""
    from flashmesh.html.page import page
    from flashmesh.html.study import Study

    title = ", ".join(each.title for each in validations)
    return page(Study(title, (), (), validations=tuple(validations)))
