"""Report of a validation for a terminal: tables of measured and simulated figures, and verdicts on tolerances."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from flashmesh.report import quantities as q
from flashmesh.validation.figures import KINDS, STATISTICS
from flashmesh.validation.judging.held_out import COLUMNS, all_compared
from flashmesh.validation.judging.verdict import ALL_TOLERANCES, AT_SATURATION, OF_ROWS, SWEEPS
from flashmesh.validation.loads.rows import kind_of, name_of
from flashmesh.validation.loads.skew import KIND as SKEW
from flashmesh.validation.loads.skew import TITLE as SKEW_TITLE
from flashmesh.validation.tables.sheets import ROW_PRECISION
from flashmesh.validation.tables.sweeps import DATA_SHEET as DATA_SHEET_KIND
from flashmesh.validation.tables.sweeps import TITLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from flashmesh.report.terminal import Terminal
    from flashmesh.validation.judging.outcome import RowOutcome, Validation
    from flashmesh.validation.judging.verdict import Check, Tolerance

NAMES = {"mean": "mean", "p50": "p50", "p99": "p99", "p999": "p99.9"}
MISS = "!"
WIDTH = 118
SHEET_HEADINGS = ("what", "reference", "value", "simulated", "difference")


def show(validations: Sequence[Validation], terminal: Terminal, *, with_curve: bool = False) -> None:
    """Prints the validation of each drive.

    Args:
        validations: The drives.
        terminal: The terminal.
        with_curve: Whether to compare the simulation with the baseline curve.
    """
    for validation in validations:
        terminal.print(Text(f"{validation.title}: {compared(validation)}", style="bold"))
        terminal.print(Text("\n".join(head(validation))))
        for kind in KINDS if validation.points else ():
            terminal.print("", Text(f"latency of {kind}s in us"), table(validation, kind, terminal, with_curve))
        for title, outcomes in sections(validation):
            terminal.print("", Text(title), sheet_table(outcomes, terminal))
        lines = [*verdicts(validation), *(curve_lines(validation) if with_curve else [])]
        terminal.print("", Text("\n".join(lines)), "")


def compared(validation: Validation) -> str:
    """Returns what a validation compares, for headings."""
    return "data sheet and simulation" if validation.is_data_sheet else "measured and simulated"


def sections(validation: Validation) -> list[tuple[str, list[RowOutcome]]]:
    """Returns (title, rows) for the data sheet, for each kind of sweep, and for hot pages, if the drive has any."""
    titles = {DATA_SHEET_KIND: "Data sheet", **TITLES, SKEW: SKEW_TITLE}
    found = [(title, [each for each in validation.rows if kind_of(each.row) == kind]) for kind, title in titles.items()]
    return [(title, outcomes) for title, outcomes in found if outcomes]


def head(validation: Validation) -> list[str]:
    """Returns the lines above the tables: source of the measurements, figures of the whole drive, notes, failures."""
    known = validation.measurements
    lines = [f"{'data sheet' if validation.is_data_sheet else 'measurements'}: {known.drive}, {known.source}"]
    saturation = known.saturation_iops
    simulated = rate(validation.saturation_iops)
    measured = "-" if validation.write_amplification is None else f"{validation.write_amplification:.2f}"
    found = "-" if validation.amplification is None else f"{validation.amplification:.2f}"
    if validation.points:
        lines.append(f"saturation rate: {rate(saturation)} measured, {simulated} simulated")
        lines.append(f"write amplification: {measured} measured, {found} simulated")
    if validation.software_us:
        lines.append(f"host software: {validation.software_us:g} us in each simulated latency")
    shared = [point for point in validation.points if point.simulated_at not in (None, point.measured.offered_iops)]
    if shared:
        loads = ", ".join(f"{point.measured.offered_iops:,.0f}" for point in shared)
        lines.append(
            f"loads shown with results of {shared[0].simulated_at:,.0f}, because they too saturate the drive: {loads}"
        )
    unsettled = dict.fromkeys(name_of(each.row) for each in validation.rows if not each.is_settled)
    if unsettled:
        lines.append(f"request rate not settled to {100 * ROW_PRECISION:g} %: {'; '.join(unsettled)}")
    lines += validation.notes
    lines += [f"failed: {failure}" for failure in validation.failures]
    return lines


def rate(iops: float | None) -> str:
    """Returns a rate of requests per second as text."""
    return q.NONE if iops is None else f"{iops:,.0f}/s"


def table(validation: Validation, kind: str, terminal: Terminal, with_curve: bool) -> Table:
    """Returns a table with a row for each load: measured value, simulated value and difference of each statistic.

    With the baseline curve (`with_curve`), the columns are the measured value, and the differences of the simulation
    and of the curve from it.
    """
    headings = [
        cell for name in NAMES.values() for cell in ((name, "sim", "curve") if with_curve else (name, "sim", "diff"))
    ]
    found_curves = validation.curves if with_curve else {}
    roles = any(point.role for point in validation.points)
    found = terminal.table("offered", *(["role"] if roles else []), f"{kind}s/s", "sim", *headings, gap=1)
    missed = misses(validation.checks)
    for point in validation.points:
        simulated = point.simulated
        served = None if simulated is None else simulated.value(f"{kind}_iops")
        cells = [f"{point.measured.figures.value(f'{kind}_iops'):,.0f}", q.NONE if served is None else f"{served:,.0f}"]
        for statistic in STATISTICS:
            column = f"{kind}_{statistic}_us"
            measured = point.measured.figures.value(column)
            value = None if simulated is None else simulated.value(column)
            mark = MISS if (point.measured.offered_iops, column) in missed else " "
            told = f"{difference(measured, value)}{mark}"
            if with_curve:
                curve = found_curves.get((point.measured.offered_iops, column))
                cells += [number(measured), told, difference(measured, curve)]
            else:
                cells += [number(measured), number(value), told]
        found.add_row(f"{point.measured.offered_iops:,.0f}", *([point.role] if roles else []), *cells)
    return found


def sheet_table(outcomes: Sequence[RowOutcome], terminal: Terminal) -> Table:
    """Returns a table of rows of one kind: of a data sheet, of a sweep, of mixes, or of hot pages."""
    found = terminal.table(*SHEET_HEADINGS, left=2, gap=2)
    for outcome in outcomes:
        *cells, told = sheet_cells(outcome.check)
        found.add_row(*cells, f"{told}{' ' if outcome.check.is_met else MISS}")
    return found


def sheet_cells(check: Check) -> tuple[str, ...]:
    """Returns the table cells of a checked figure, in the order of `SHEET_HEADINGS`."""
    return (
        check.figure,
        check.reference,
        number(check.measured),
        number(check.simulated),
        difference_of(check),
    )


def misses(checks: Sequence[Check]) -> set[tuple[float | None, str]]:
    """Returns (offered load, name of the figure) of each check that misses its tolerance."""
    return {(check.offered_iops, check.figure) for check in checks if not check.is_met}


def number(value: float | None) -> str:
    """Returns a value as text, with one decimal place below 1,000."""
    return q.NONE if value is None else f"{value:,.1f}" if value < 999.95 else f"{value:,.0f}"


def difference(measured: float | None, simulated: float | None) -> str:
    """Returns the difference of a simulated value from the measured one in percent, as text; empty without a value."""
    return "" if not measured or simulated is None else percent(simulated / measured - 1.0)


def difference_of(check: Check) -> str:
    """Returns the difference of a check in percent, as text.

    A miss that rounds to its tolerance has decimal places, so that -15.4 % of 15 % is seen to be a miss.
    """
    found, limit = check.difference, 100 * check.limit
    if found is None or check.is_met or round(100 * abs(found)) != round(limit):
        return percent(found)
    places = next((count for count in range(1, 6) if round(100 * abs(found), count) > limit), 6)
    return f"{100 * found:+.{places}f}%"


def percent(share: float | None) -> str:
    """Returns a relative difference as text with a sign, in percent; from +999.5 % on, as a factor such as `x12`."""
    if share is None:
        return "not simulated"
    if share >= 9.995:
        return f"x{share + 1:,.0f}"
    rounded = round(100 * share)
    return f"{rounded:+d}%" if rounded else "0%"


def curve_lines(validation: Validation) -> list[str]:
    """Returns lines on the mean errors of simulation and baseline curve, at held-out loads below saturation."""
    return [
        f"{COLUMNS[each.column]}, {each.loads} held-out loads below saturation: "
        f"mean error {percent(each.simulated).lstrip('+')} simulated, {percent(each.curve).lstrip('+')} by the curve"
        for each in all_compared([validation])
    ]


def verdicts(validation: Validation, *, misses_of_sweeps: bool = True) -> list[str]:
    """Returns a line for each tolerance, followed by a line for each miss, and a line with the total.

    Args:
        validation: The validation.
        misses_of_sweeps: Whether to list misses of sweeps, mixes and hot pages.
    """
    checks = validation.checks
    lines: list[str] = []
    for tolerance in ALL_TOLERANCES:
        held = [check for check in checks if check.tolerance == tolerance.name]
        if not held and (tolerance.name in OF_ROWS or not validation.points):
            continue
        found = tolerance_lines(tolerance, held)
        lines += found if misses_of_sweeps or tolerance not in SWEEPS else found[:1]
    met = sum(check.is_met for check in checks)
    legend = f"; loads of {AT_SATURATION:g} of the measured saturation rate or more are at saturation"
    lines.append(f"{met} of {len(checks)} met{legend if validation.points else ''}")
    return lines


def tolerance_lines(tolerance: Tolerance, held: Sequence[Check]) -> list[str]:
    """Returns a line with the verdict on a tolerance, and a line for each figure that misses it."""
    if not held:
        return [f"{tolerance.says}: no load in this range"]
    missed = [check for check in held if not check.is_met]
    lines = [f"{tolerance.says}: {'met' if not missed else 'MISSED'} ({len(held) - len(missed)} of {len(held)})"]
    for check in missed:
        where = "" if check.offered_iops is None else f" at {check.offered_iops:,.0f}"
        lines.append(
            f"  {MISS} {check.name}{where}: {number(check.measured)} {check.reference}, "
            f"{number(check.simulated)} simulated, "
            f"{difference_of(check)}"
        )
    return lines
