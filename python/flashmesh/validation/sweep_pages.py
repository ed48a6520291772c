"""Sections on sweeps and mixes of the page of a drive: a table of each kind, with a row for each load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.report.validation import NAMES, difference_of, number
from flashmesh.validation.tables.sheets import RATE
from flashmesh.validation.tables.sweeps import JUDGED, SWEEP_SENTENCE, TITLES, SweepLoad, SweepRow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashmesh.validation.judging.outcome import RowOutcome, Validation

STATISTICS = {RATE: "requests/s"} | {each: NAMES[each] for each in JUDGED}
"""Statistics of a load in the order of columns, with their headings."""

SHARED = {
    "pattern": "All loads are {}.",
    "host": "The host of all loads is {}.",
    "of": "All figures are of {}.",
}
"""Columns of texts, each with the sentence that replaces it if all rows have the same text."""


def sweep_tables(validation: Validation) -> list[str]:
    """Returns the sections on the sweeps and mixes of a drive; empty if the drive has none."""
    lines: list[str] = []
    for kind, title in TITLES.items():
        rows = [each for each in validation.rows if isinstance(each.row, SweepRow) and each.row.kind == kind]
        if rows:
            # The sentence applies to all kinds, so only the first section has it.
            lines += [f"## {title}", "", *([] if lines else [SWEEP_SENTENCE, ""]), *load_table(rows)]
    return lines


def load_table(outcomes: Iterable[RowOutcome]) -> list[str]:
    """Returns a table with a row for each load; of a mix, a row for reads and a row for writes.

    A pattern, a host or a kind of request that all rows share is a sentence above the table instead of a column.
    """
    loads: dict[tuple[SweepLoad, str], dict[str, RowOutcome]] = {}
    for outcome in outcomes:
        row = outcome.row
        assert isinstance(row, SweepRow)
        assert isinstance(row.load, SweepLoad)
        loads.setdefault((row.load, row.of), {})[row.statistic] = outcome
    named = [
        (
            {"pattern": load.pattern, "host": load.host, "of": f"{of}s"},
            load.title.removeprefix(f"{load.pattern} "),
            found,
        )
        for (load, of), found in loads.items()
    ]
    values = {name: {texts[name] for texts, _, _ in named} for name in SHARED}
    varied = [name for name in SHARED if len(values[name]) > 1]
    shared = [SHARED[name].format(*values[name]) for name in SHARED if name not in varied]
    lines = [" ".join(shared), ""] if shared else []
    headings = [cell for name in STATISTICS.values() for cell in (name, "simulated", "")]
    lines += [f"| {' | '.join(['load', *varied, *headings])} |"]
    lines += ["|---|" + "---|" * len(varied) + "---:|" * len(headings)]
    for texts, title, found in named:
        cells = [title, *(texts[name] for name in varied)]
        for statistic in STATISTICS:
            cells += figure_cells(found.get(statistic))
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def figure_cells(outcome: RowOutcome | None) -> list[str]:
    """Returns the cells of a figure: measured, simulated, and the difference, in bold if it misses its tolerance.

    The cells are empty if `outcome` is None.
    """
    if outcome is None:
        return ["", "", ""]
    check = outcome.check
    told = difference_of(check).replace("%", " %")
    return [number(check.measured), number(check.simulated), told if check.is_met else f"**{told}**"]
