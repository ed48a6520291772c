"""Pages of validated drives: a Markdown page, charts and a JSON file of each, and a check that they are current."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError, OutputError
from flashmesh.configuration import value_text
from flashmesh.plots.measured.validation import picture
from flashmesh.report.validation import (
    NAMES,
    SHEET_HEADINGS,
    difference,
    head,
    misses,
    number,
    percent,
    sheet_cells,
    verdicts,
)
from flashmesh.reproduce.pages.charts import require_converter, svg
from flashmesh.reproduce.pages.folder import put, writable_folder
from flashmesh.validation.figures import KINDS
from flashmesh.validation.judging.baseline import CURVE_SENTENCE
from flashmesh.validation.judging.held_out import COLUMNS as COMPARED
from flashmesh.validation.judging.held_out import all_compared
from flashmesh.validation.judging.outcome import from_dict, is_validation, to_json
from flashmesh.validation.judging.verdict import ALL_TOLERANCES, AT_SATURATION, LIGHT, SWEEPS, mean_difference
from flashmesh.validation.loads.rows import kind_of, rows_of
from flashmesh.validation.loads.skew import KIND as SKEW
from flashmesh.validation.loads.skew import SKEW_SENTENCE
from flashmesh.validation.loads.skew import TITLE as SKEW_TITLE
from flashmesh.validation.sweep_pages import sweep_tables
from flashmesh.validation.tables.measurements import FIT, HELD_OUT, SOURCE
from flashmesh.validation.tables.sheets import ROW_SENTENCE
from flashmesh.validation.tables.sweeps import DATA_SHEET as DATA_SHEET_KIND
from flashmesh.validation.tables.sweeps import SWEEP_SENTENCE, SWEEP_SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from flashmesh.validation.drives import Drive
    from flashmesh.validation.judging.outcome import Validation
    from flashmesh.validation.judging.verdict import Check

INDEX = "index.md"
WORKLOAD = (
    "The workload is 4 KiB requests, uniformly random over the whole drive, in steady state.",
    "One stream issues 10,000 requests a second at even intervals, half reads, half writes.",
    "Six streams issue the other requests as Poisson processes, 99 % writes.",
    "A stream with 64 outstanding requests waits for a completion.",
    "`offered` is the rate of all streams without the 5,000 reads a second of the first stream.",
    "A latency is the time from issue to completion, as the program sees it. The first half of a run is warm-up.",
)


def write_pages(validations: Sequence[Validation], folder: Path, drives: Mapping[str, Drive]) -> None:
    """Writes pages, charts and JSON files into a folder, and the index of all drives in the folder.

    Raises:
        ConfigError: If a drive is not a validated preset.
        OutputError: If a file cannot be written.
    """
    unknown = [each.name for each in validations if each.name not in drives]
    if unknown:
        raise ConfigError(f"{unknown[0]}: pages are only for presets with measurements: {', '.join(drives)}")
    writable_folder(folder)
    for validation in validations:
        put(folder / f"{validation.name}.json", to_json([validation]))
        put(folder / f"{validation.name}.md", page(validation, drives[validation.name]))
        for kind in KINDS if validation.points else ():
            put(folder / f"{validation.name}-{kind}s.svg", svg(picture(validation, kind)))
    put(folder / INDEX, index(stored(folder, drives)))


def rewrite_pages(folder: Path, drives: Mapping[str, Drive]) -> None:
    """Writes the pages of a folder again, from its JSON files.

    Raises:
        OutputError: If a file cannot be read or written.
    """
    require_converter()
    found = stored(folder, drives)
    if found:
        write_pages(found, folder, drives)
    else:
        writable_folder(folder)
        put(folder / INDEX, index(found))


def stored(folder: Path, drives: Iterable[str]) -> list[Validation]:
    """Returns the validations of drives that have a JSON file in a folder.

    Raises:
        OutputError: If a file cannot be read.
    """
    found: list[Validation] = []
    for name in drives:
        path = folder / f"{name}.json"
        if not path.is_file():
            continue
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if not is_validation(document):
                raise OutputError(f"{path}: is not a validation: validate the drive again")
            found += from_dict(document)
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise OutputError(f"{path}: cannot be read: {error}: validate the drive again") from error
    return found


def check_pages(folder: Path, drives: Mapping[str, Drive]) -> None:
    """Refuses stale pages: pages that differ from their JSON file, and JSON files of a changed preset.

    Raises:
        ConfigError: If a page is stale, or a drive has none.
        OutputError: If a page cannot be read.
    """
    found = {each.name: each for each in stored(folder, drives)}
    wanted = {INDEX: index(list(found.values()))}
    for name, drive in drives.items():
        if not drive.is_there:
            continue
        if name not in found:
            raise ConfigError(f"{folder}: has no page of {name}: run `make validation`")
        if found[name].values_hash != drive.values_hash():
            raise ConfigError(f"{folder / name}.json: the preset has changed since: run `make validation`")
        if tuple(each.row for each in found[name].rows) != rows_of(drive.measured):
            raise ConfigError(
                f"{folder / name}.json: the rows of the data sheet have changed since: run `make validation`"
            )
        wanted[f"{name}.json"] = to_json([found[name]])
        wanted[f"{name}.md"] = page(found[name], drive)
        for kind in KINDS if found[name].points else ():
            if not (folder / f"{name}-{kind}s.svg").is_file():
                raise OutputError(f"{folder / name}-{kind}s.svg: is missing: run `make validation`")
    for name, text in wanted.items():
        try:
            known = (folder / name).read_text(encoding="utf-8")
        except OSError as error:
            raise OutputError(f"{folder / name}: cannot be read: {error.strerror or error}") from error
        if known != text:
            raise ConfigError(f"{folder / name}: is stale: run `flashmesh validate --rewrite {folder}`")


def index(validations: Sequence[Validation]) -> str:
    """Returns the index page, with errors over all drives and a link to the page of each drive."""
    lines = [
        "# Measured drives, simulated",
        "",
        *kind_table(validations),
        *curve_table(validations),
        f"A load of {AT_SATURATION:g} of the measured saturation rate or more is at saturation.",
        f"Mean latencies of writes have a tolerance at loads below {LIGHT:g} of the saturation rate.",
        "Presets are fitted to multiples of 40,000 (`fit`), the PM9A3 to 60,000 too. Other loads are `held out`.",
        "",
        "These pages compare real drives, measured by others, with simulations of their presets.",
        "`make validation` writes the pages.",
        "`flashmesh validate` prints the same comparison, also for your own drives and measurements.",
        "",
        *WORKLOAD,
        "",
        f"Measurements: {SOURCE}, means over the last half of each run and over three repetitions.",
        "",
        f"Data sheets: {ROW_SENTENCE[0].lower()}{ROW_SENTENCE[1:]}",
        "",
    ]
    if any(sweep_tables(each) for each in validations):
        lines += [
            f"Sweeps and mixes: {SWEEP_SENTENCE[0].lower()}{SWEEP_SENTENCE[1:]} Source of the values: {SWEEP_SOURCE}.",
            "",
        ]
    if any(kind_of(row.row) == SKEW for each in validations for row in each.rows):
        lines += [f"{SKEW_TITLE}: {SKEW_SENTENCE[0].lower()}{SKEW_SENTENCE[1:]}", ""]
    if validations:
        lines += [
            "| drive | saturation rate measured | simulated | difference | tolerances met | mean error of reads |"
        ]
        lines += ["|---|---:|---:|---:|---:|---:|"]
        lines += [index_row(each) for each in validations]
    else:
        lines.append("No preset has these measurements yet.")
    return "\n".join([*lines, ""])


def kind_table(validations: Sequence[Validation]) -> list[str]:
    """Returns a table with a row for each tolerance: mean error of its figures over all drives, and how many met it."""
    checks = [check for validation in validations for check in validation.checks]
    lines = ["| figures and tolerance | mean absolute error | met |", "|---|---:|---:|"]
    for tolerance in ALL_TOLERANCES:
        held = [check for check in checks if check.tolerance == tolerance.name]
        if not held and tolerance in SWEEPS:
            continue
        lines.append(f"| {tolerance.says} | {share(mean_difference(held))} | {met(held)} |")
    return [*lines, f"| all | | {met(checks)} |", ""]


def curve_table(validations: Sequence[Validation]) -> list[str]:
    """Returns a table of the mean errors at held-out loads, of the simulation and of the baseline curve.

    Empty if no held-out load has both errors.
    """
    found = all_compared(validations)
    if not found:
        return []
    lines = [
        "| held-out loads below saturation | loads | mean error of flashmesh | mean error of the curve |",
        "|---|---:|---:|---:|",
    ]
    for each in found:
        lines.append(f"| {COMPARED[each.column]} | {each.loads} | {share(each.simulated)} | {share(each.curve)} |")
    return [*lines, "", CURVE_SENTENCE, ""]


def met(checks: Sequence[Check]) -> str:
    """Returns the number of met checks and the number of all checks, as text."""
    return f"{sum(check.is_met for check in checks)} of {len(checks)}"


def index_row(validation: Validation) -> str:
    """Returns the row of a drive in the index."""
    checks = validation.checks
    measured, simulated = validation.measurements.saturation_iops, validation.saturation_iops
    cells = [f"[{validation.title}]({validation.name}.md)", rate(measured), rate(simulated)]
    cells += [difference(measured, simulated), met(checks)]
    cells.append(share(mean_error(validation, "read_mean_us", "")))
    return f"| {' | '.join(cells)} |"


def page(validation: Validation, drive: Drive) -> str:
    """Returns the page of a drive."""
    lines = [f"# {validation.title}", "", f"Made by `flashmesh validate {validation.name}`; [index]({INDEX}).", ""]
    lines += [f"- {line}" for line in (*head(validation), f"drive: {drive.source}")]
    lines += ["", "## Measured and simulated", ""] if validation.points else [""]
    for kind in KINDS if validation.points else ():
        lines += [f"![Latency of {kind}s, measured and simulated]({validation.name}-{kind}s.svg)", ""]
        lines += latency_table(validation, kind)
    lines += ["Latencies in us. A bold difference misses its tolerance.", ""]
    lines += row_table(validation, DATA_SHEET_KIND, "Data sheet", ROW_SENTENCE)
    lines += sweep_tables(validation)
    lines += row_table(validation, SKEW, SKEW_TITLE, SKEW_SENTENCE)
    lines += ["## Tolerances", ""]
    lines += [f"- {line.strip().removeprefix('! ')}" for line in verdicts(validation, misses_of_sweeps=False)]
    lines += ["", *error_table(validation), "## Values", "", *value_table(drive)]
    return "\n".join(lines)


def latency_table(validation: Validation, kind: str) -> list[str]:
    """Returns a table of latencies, with a row for each measured load."""
    headings = [f"{name} {source}" for name in NAMES.values() for source in ("measured", "simulated", "")]
    lines = [f"| offered | role | {kind}s/s | simulated | {' | '.join(heading.strip() for heading in headings)} |"]
    lines.append("|---:|---|" + "---:|" * (2 + len(headings)))
    missed = misses(validation.checks)
    for point in validation.points:
        rates = [point.measured.figures.value(f"{kind}_iops")]
        rates.append(None if point.simulated is None else point.simulated.value(f"{kind}_iops"))
        cells = [f"{point.measured.offered_iops:,.0f}", point.role]
        cells += ["-" if each is None else f"{each:,.0f}" for each in rates]
        for statistic in NAMES:
            column = f"{kind}_{statistic}_us"
            measured = point.measured.figures.value(column)
            simulated = None if point.simulated is None else point.simulated.value(column)
            told = difference(measured, simulated).replace("%", " %")
            is_missed = (point.measured.offered_iops, column) in missed
            cells += [number(measured), number(simulated), f"**{told}**" if is_missed and told else told]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def row_table(validation: Validation, kind: str, title: str, sentence: str) -> list[str]:
    """Returns the section on rows (figures of single loads) of a kind, with a table; empty if the drive has none."""
    outcomes = [outcome for outcome in validation.rows if kind_of(outcome.row) == kind]
    if not outcomes:
        return []
    lines = [f"## {title}", "", sentence, ""]
    lines += [f"| {' | '.join(SHEET_HEADINGS)} |", "|---|---|---:|---:|---:|"]
    for outcome in outcomes:
        *cells, told = sheet_cells(outcome.check)
        told = told.replace("%", " %")
        lines.append(f"| {' | '.join(cells)} | {told if outcome.check.is_met else f'**{told}**'} |")
    return [*lines, ""]


def error_table(validation: Validation) -> list[str]:
    """Returns a table of the mean error of each latency, over fitted and over held-out loads.

    Empty if the drive was not fitted.
    """
    if not any(point.role for point in validation.points):
        return []
    columns = [f"{kind}_{statistic}_us" for kind in KINDS for statistic in NAMES]
    titles = [f"{kind}s {name}" for kind in KINDS for name in NAMES.values()]
    lines = [f"| mean error | {' | '.join(titles)} |", "|---|" + "---:|" * len(columns)]
    for role in (FIT, HELD_OUT):
        cells = [share(mean_error(validation, column, role)) for column in columns]
        lines.append(f"| {role} | {' | '.join(cells)} |")
    return [*lines, ""]


def mean_error(validation: Validation, column: str, role: str) -> float | None:
    """Returns the mean absolute relative error of a figure over the loads with a role; over all if `role` is empty.

    None if no such load has both a measured and a simulated figure.
    """
    found: list[float] = []
    for point in validation.points:
        measured = point.measured.figures.value(column)
        simulated = None if point.simulated is None else point.simulated.value(column)
        if measured and simulated is not None and role in ("", point.role):
            found.append(abs(simulated / measured - 1.0))
    return sum(found) / len(found) if found else None


def value_table(drive: Drive) -> list[str]:
    """Returns a table of the preset's values, with the origin of each."""
    lines = ["| key | value | | origin |", "|---|---|---|---|"]
    for key, value in drive.values().items():
        kind, source = drive.origins().get(key, ("assumed", ""))
        lines.append(f"| `{key}` | `{value_text(value)}` | {kind} | {' '.join(source.split())} |")
    return [*lines, ""]


def rate(iops: float | None) -> str:
    """Returns a request rate as a table cell; `-` for None."""
    return "-" if iops is None else f"{iops:,.0f}"


def share(value: float | None) -> str:
    """Returns a share as a table cell, in percent without a plus sign; `-` for None."""
    return "-" if value is None else percent(value).lstrip("+").replace("%", " %")
