"""Sections on sweeps and mixes of the page of a drive: a table of each kind, with a row for each load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.report.validation import NAMES, number, percent
from flashmesh.validation.sheets import RATE
from flashmesh.validation.sweeps import JUDGED, SWEEP_SENTENCE, TITLES, SweepLoad, SweepRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flashmesh.validation.outcome import RowOutcome, Validation

STATISTICS = {RATE: "requests/s"} | {each: NAMES[each] for each in JUDGED}
"""Statistics of a load in the order of columns, with their headings."""


def sweep_tables(validation: Validation) -> list[str]:
    """Returns the sections on the sweeps and mixes of a drive; empty if the drive has none."""
    lines: list[str] = []
    for kind, title in TITLES.items():
        rows = [each for each in validation.rows if isinstance(each.row, SweepRow) and each.row.kind == kind]
        if rows:
            # The sentence holds for every kind.
            lines += [f"## {title}", "", *([] if lines else [SWEEP_SENTENCE, ""]), *load_table(rows)]
    return lines


def load_table(outcomes: Iterable[RowOutcome]) -> list[str]:
    """Returns a table with a row for each load; of a mix, a row for reads and a row for writes.

    A host or a kind of request that all rows share is a sentence above the table instead of a column.
    """
    loads: dict[tuple[SweepLoad, str], dict[str, RowOutcome]] = {}
    for outcome in outcomes:
        row = outcome.row
        assert isinstance(row, SweepRow)
        assert isinstance(row.load, SweepLoad)
        loads.setdefault((row.load, row.of), {})[row.statistic] = outcome
    names: dict[str, Callable[[SweepLoad, str], str]] = {
        "host": lambda load, _: load.host,
        "of": lambda _, of: f"{of}s",
    }
    values = {name: {text(load, of) for load, of in loads} for name, text in names.items()}
    varied = {name: text for name, text in names.items() if len(values[name]) > 1}
    is_random = all(load.pattern == "random" for load, _ in loads)
    sentences = {"host": "The host of all loads is {}.", "of": "All figures are of {}."}
    shared = [sentences[name].format(*values[name]) for name in names if name not in varied]
    shared += ["All loads are random."] if is_random else []
    lines = [" ".join(shared), ""] if shared else []
    headings = [cell for name in STATISTICS.values() for cell in (name, "simulated", "")]
    lines += [f"| {' | '.join(['load', *varied, *headings])} |"]
    lines += ["|---|" + "---|" * len(varied) + "---:|" * len(headings)]
    for (load, of), found in loads.items():
        title = load.title.removeprefix("random ") if is_random else load.title
        cells = [title, *(text(load, of) for text in varied.values())]
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
    told = percent(check.difference).replace("%", " %")
    return [number(check.measured), number(check.simulated), told if check.is_met else f"**{told}**"]
