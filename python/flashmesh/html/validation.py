"""Validation as a section of a page: measured and simulated values side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh.report.findings.gains import listed
from flashmesh.report.validation import (
    NAMES,
    SHEET_HEADINGS,
    difference,
    head,
    number,
    percent,
    sections,
    sheet_cells,
    verdicts,
)
from flashmesh.validation.figures import KINDS
from flashmesh.validation.loads.rows import rows_of

if TYPE_CHECKING:
    from flashmesh.validation.judging.outcome import Validation


@dataclass(frozen=True)
class Listed:
    """A table of texts; the first column names the rows."""

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def comparison_of(validation: Validation) -> Listed:
    """Returns a table with a row for each load and kind of request.

    The columns are measured and simulated statistics of the latency in microseconds, and their differences.
    """
    headings = ["offered (IOPS)", "role", "latency (us)"]
    headings += [f"{name} {source}" for name in NAMES.values() for source in ("measured", "simulated", "difference")]
    rows = []
    for point in validation.points:
        for kind in KINDS:
            cells = [f"{point.measured.offered_iops:,.0f}", point.role, f"{kind}s"]
            for statistic in NAMES:
                column = f"{kind}_{statistic}_us"
                measured = point.measured.figures.value(column)
                simulated = None if point.simulated is None else point.simulated.value(column)
                cells += [number(measured), number(simulated), difference(measured, simulated)]
            rows.append(tuple(cells))
    return Listed(f"{validation.title}, measured and simulated", tuple(headings), tuple(rows))


def finding_of(validation: Validation) -> str:
    """Returns a sentence with the number of figures within their tolerances, and the names of the others."""
    missed = [
        f"{check.name}"
        f"{'' if check.offered_iops is None else f' at {check.offered_iops:,.0f} IOPS'} ({percent(check.difference)})"
        for check in validation.checks
        if not check.is_met
    ]
    met = f"{len(validation.checks) - len(missed)} of {len(validation.checks)} figures are within their tolerances"
    return f"{validation.title}: {met}{f'; not {listed(missed)}' if missed else ''}."


def sheets_of(validation: Validation) -> dict[str, Listed]:
    """Returns a table for each of the `sections` of a validation, by its title in lower case."""
    return {
        title.lower(): Listed(
            f"{validation.title}, {title.lower()}",
            SHEET_HEADINGS,
            tuple(sheet_cells(outcome.check) for outcome in outcomes),
        )
        for title, outcomes in sections(validation)
    }


def has_bundled_rows(validation: Validation) -> bool:
    """Returns whether the validation has rows that come with flashmesh, not only rows of the user."""
    return any(outcome.row in rows_of(outcome.row.drive) for outcome in validation.rows)


def sentence_of(validation: Validation) -> str:
    """Returns the source of the measurements, the saturation and the verdicts as one paragraph."""
    lines = [line.strip() for line in (*head(validation), *verdicts(validation))]
    return " ".join(f"{line[0].upper()}{line[1:]}." for line in lines)
