"""Tables of a page: results, and differences of configurations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh.aggregate.estimate import Estimate, estimate
from flashmesh.configuration import value_text
from flashmesh.plots.runs import labelled
from flashmesh.report import quantities as q
from flashmesh.report.measures.meanings import meaning
from flashmesh.report.measures.measure import MEASURES, Measure, of_window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.html.study import Shown
    from flashmesh.plots.runs import Run


@dataclass(frozen=True)
class Column:
    """A column of the result table: a measure of a result, its heading, and its format."""

    key: str
    """Dotted key of the measure in the JSON of the result."""
    heading: str
    text: Callable[[Any], str]
    unit: str = ""
    """Unit of the measure in the JSON of the result."""

    @property
    def meaning(self) -> str:
        """The meaning of the measure, in a sentence or two."""
        return meaning(self.measure)

    @property
    def measure(self) -> Measure:
        """The measure of the column, over the measured window of a run if there is one."""
        named = next((measure for measure in MEASURES if self.key in measure.keys), None)
        return named or of_window(Measure(self.key, (self.key,), self.text, self.unit))


COLUMNS = (
    Column("iops", "IOPS", lambda value: q.scaled(value)),
    Column("bandwidth_bytes_per_s", "bandwidth", lambda value: q.bandwidth(value), "B/s"),
    Column("makespan_ps", "execution time", q.time, "ps"),
    Column("latency_ps.all.mean", "mean latency", q.time, "ps"),
    Column("latency_ps.all.p50", "median", q.time, "ps"),
    Column("latency_ps.all.p99", "p99", q.time, "ps"),
    Column("latency_ps.all.p99_9", "p99.9", q.time, "ps"),
    Column("latency_ps.all.max", "maximum", q.time, "ps"),
    Column("path_conflict.requests_free_share", "free of path conflicts", q.share, "share"),
    Column("write_amplification", "write amplification", lambda value: q.NONE if value is None else f"{value:.2f}"),
    Column("utilisation.links_mean", "links busy", q.share, "share"),
    Column("utilisation.dies_mean", "dies busy", q.share, "share"),
    Column("lower_bound.distance", "distance to the bound", q.share, "share"),
    Column("power.energy_j.total", "energy of events", q.energy, "J"),
)
"""Columns that the result table can have, in their order."""


@dataclass(frozen=True)
class Cell:
    """A cell of the result table: a number with its text and the key of its column."""

    key: str
    value: Any
    text: str


@dataclass(frozen=True)
class Row:
    """A row of the result table: one point."""

    name: str
    seeds: int
    is_steady: bool | None
    """Whether the measured windows of all runs of the point were steady; None if this is unknown for all runs."""
    is_interrupted: bool
    settings: str
    """The varied keys with their values as text, which the filter of the page searches."""
    cells: tuple[Cell, ...]


def rows(points: Sequence[Shown]) -> list[Row]:
    """Returns a row for each point, with means and intervals; omits columns that are empty in all rows."""
    found = {id(table): Values(table) for table in {id(point.table): point.table for point in points}.values()}
    shown = [column for column in COLUMNS if any(values.has(column) for values in found.values())]
    return [
        Row(
            point.name,
            len(point.runs),
            point.is_steady,
            any(found[id(point.table)].interrupted[number] for number in point.runs),
            labelled(point.settings),
            tuple(cell(column, found[id(point.table)].estimate(column, point.runs)) for column in shown),
        )
        for point in points
    ]


class Values:
    """Values of all `COLUMNS` for all runs of a `RunTable`."""

    def __init__(self, table: RunTable) -> None:
        """Reads the columns of a table.

        The confidence interval of a point with a single run comes from the table. If the table lacks the columns for
        the ends of intervals, such points have none.
        """
        measures = [column.measure for column in COLUMNS]
        self.of_column = dict(zip((column.key for column in COLUMNS), table.values(measures), strict=True))
        keys = [f"{measure.interval}.{end}" for measure in measures if measure.interval for end in ("low", "high")]
        self.ends = dict(zip(keys, table.columns(keys), strict=True)) if table.has_columns(keys) else {}
        (self.interrupted,) = table.columns(["interrupted"])

    def has(self, column: Column) -> bool:
        """Returns whether any run of the table has a value of a column."""
        return any(value is not None for value in self.of_column[column.key])

    def estimate(self, column: Column, runs: Sequence[int]) -> Estimate | None:
        """Returns the mean of a column over the seeds of a point, with its interval (from batch means for one run)."""
        found = estimate([self.of_column[column.key][number] for number in runs])
        interval = column.measure.interval
        if found is None or len(runs) > 1 or interval is None or not self.ends:
            return found
        low, high = (self.ends[f"{interval}.{end}"][runs[0]] for end in ("low", "high"))
        return found if low is None or high is None else Estimate(found.mean, low, high, 1, "batches")


def cell(column: Column, found: Estimate | None) -> Cell:
    """Returns the cell of a column with the mean of a point; a dash if `found` is None."""
    if found is None:
        return Cell(column.key, None, q.NONE)
    value = int(found.mean) if float(found.mean).is_integer() else found.mean
    return Cell(column.key, value, f"{column.text(value)} {found.spread_text}".strip())


def columns(shown: Sequence[Row]) -> list[Column]:
    """Returns the columns that the rows have cells for."""
    keys = {cell.key for cell in shown[0].cells} if shown else set()
    return [column for column in COLUMNS if column.key in keys]


def compact(shown: Sequence[Row]) -> dict[str, Any]:
    """Returns the rows in a compact form, which the page embeds for sorting and filtering."""
    return {
        "columns": [{"key": column.key, "heading": column.heading, "unit": column.unit} for column in columns(shown)],
        "names": [row.name for row in shown],
        "settings": [row.settings for row in shown],
        "seeds": [row.seeds for row in shown],
        "marks": [mark(row) for row in shown],
        "values": [[rounded(cell.value) for cell in row.cells] for row in shown],
        "texts": [[cell.text for cell in row.cells] for row in shown],
    }


def mark(row: Row) -> str:
    """Returns warnings about the point of a row: interrupted runs, or a measured window that is not steady.

    Empty if there is nothing to warn about.
    """
    marks = [*(["interrupted"] if row.is_interrupted else []), *(["not steady"] if row.is_steady is False else [])]
    return ", ".join(marks)


def rounded(value: Any) -> Any:
    """Returns a number rounded to seven digits, which are enough for sorting; other values stay unchanged."""
    return float(f"{value:.7g}") if isinstance(value, float) else value


def flat(tables: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Returns the parameters in nested tables as texts, by their dotted keys."""
    found: dict[str, str] = {}
    for key, value in tables.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            found |= flat(value, f"{name}.")
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            for number, item in enumerate(value):
                found |= (
                    flat(item, f"{name}[{number}].") if isinstance(item, dict) else {f"{name}[{number}]": str(item)}
                )
        elif isinstance(value, list):
            found[name] = ", ".join(map(str, value))
        else:
            found[name] = value_text(value)
    return found


@dataclass(frozen=True)
class Difference:
    """A key whose value differs between configurations."""

    key: str
    values: list[str]
    """Value of the key in each run; with `is_short`, each distinct value once."""


def differences(runs: Sequence[Run], is_short: bool) -> list[Difference]:
    """Returns the keys in which the configurations differ.

    Args:
        runs: The runs to compare.
        is_short: Whether to list each distinct value once, instead of one for each run.
    """
    tables = [flat(run.configuration) for run in runs]
    keys = dict.fromkeys(key for table in tables for key in table)
    found = [Difference(key, [table.get(key, q.NONE) for table in tables]) for key in keys]
    differing = [each for each in found if len(set(each.values)) > 1]
    return [Difference(each.key, list(dict.fromkeys(each.values))) for each in differing] if is_short else differing
