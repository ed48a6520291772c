"""What a report shows: points, each a drive under a workload with all its seeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flashmesh.aggregate.points import Point
from flashmesh.html.documents import DocumentRuns
from flashmesh.plots.pooled import pooled
from flashmesh.plots.runs import label
from flashmesh.report.findings import findings
from flashmesh.report.measures import measure_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.asking.answer import Answer
    from flashmesh.html.search import Found
    from flashmesh.plots.runs import Run
    from flashmesh.report.chart_spec import ChartSpec
    from flashmesh.validation.outcome import Validation

DRAWN_MAX = 24
"""The most points of which every chart is drawn."""
BEST, WORST = 8, 4
"""Where there are more, those with the shortest and those with the longest tail are."""
SEEDS_MAX = 20
"""The most seeds of a point that charts of its details take together."""
RANKED_BY = "p99"


@dataclass(frozen=True)
class Shown:
    """A point of a report."""

    name: str
    """What it is called, different from all others."""
    settings: Mapping[str, Any]
    table: RunTable
    runs: tuple[int, ...]
    """Its runs in the table, one for each seed."""

    def run(self) -> Run:
        """The means of its seeds, for charts."""
        return pooled(self.name, self.settings, self.table.documents(self.runs[:SEEDS_MAX]))

    @cached_property
    def is_steady(self) -> bool | None:
        """Whether the measured windows of its runs were steady; None where they do not say."""
        return self.table.whether_steady(Point(dict(self.settings), self.runs))


@dataclass(frozen=True)
class Study:
    """What a report is made of."""

    title: str
    """What it is called."""
    points: tuple[Shown, ...]
    tables: tuple[RunTable, ...]
    """The runs of the points, from each file or folder."""
    notes: tuple[str, ...] = ()
    """What is to be known about them first: runs that failed, or are missing."""
    searches: tuple[Found, ...] = ()
    """The searches among them."""
    charts: tuple[ChartSpec, ...] = ()
    """Charts that were asked for."""
    answers: tuple[Answer, ...] = ()
    """What was asked of drives: which changes help."""
    validations: tuple[Validation, ...] = ()
    """Drives that were held to measurements."""

    @cached_property
    def findings(self) -> list[str]:
        """Sentences that say what came out: of searches, or of a single comparison; several have nothing in common."""
        if self.searches:
            return [search.answer for search in self.searches]
        return findings(self.tables[0]) if len(self.tables) == 1 else []

    @property
    def run_count(self) -> int:
        """How many runs there are."""
        return sum(map(len, self.tables))

    @property
    def is_repeated(self) -> bool:
        """Whether some point has several seeds."""
        return any(len(point.runs) > 1 for point in self.points)

    @cached_property
    def chosen(self) -> tuple[Shown, ...]:
        """The points of which all charts are drawn: of many those at the ends, or those that a search is about."""
        if len(self.points) <= DRAWN_MAX:
            return self.points
        if self.searches:
            return self.points[: BEST + WORST]
        p99 = self.means(RANKED_BY)
        ranked = sorted((value, number) for number, value in enumerate(p99) if value is not None)
        ends = {number for _, number in [*ranked[:BEST], *ranked[-WORST:]]} or set(range(BEST + WORST))
        return tuple(point for number, point in enumerate(self.points) if number in ends)

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """What is drawn of the chosen points."""
        return tuple(point.run() for point in self.chosen)

    @property
    def not_drawn(self) -> str:
        """A sentence on points that have no charts of their own; empty where all have."""
        left = len(self.points) - len(self.chosen)
        if not left:
            return ""
        which = (
            "those of the front, and then others that keep to the constraints"
            if self.searches
            else f"the {BEST} with the shortest and the {WORST} with the longest {RANKED_BY}"
        )
        told = f"The sections from Speedup on draw {len(self.chosen)} of {len(self.points):,} points: {which}. "
        return told + f"The table above and the charts over keys have the other {left:,} too."

    def means(self, name: str) -> list[float | None]:
        """A measure of all points, the mean over seeds."""
        measure = measure_named(name)
        known = {id(table): table.values([measure])[0] for table in self.tables}
        found: list[float | None] = []
        for point in self.points:
            values = [value for number in point.runs if (value := known[id(point.table)][number]) is not None]
            found.append(sum(values) / len(values) if values else None)
        return found


def points_in(table: RunTable, prefix: str = "", name: str = "") -> list[Shown]:
    """The points of a table.

    Args:
        table: The runs.
        prefix: What stands before all names.
        name: What a run that nothing sets apart is called.
    """
    found = []
    for number, point in enumerate(table.points):
        called = label(point.settings) or name or f"run {number}"
        found.append(Shown(f"{prefix}{called}", point.settings, table, point.runs))
    return found


def points_of_runs(runs: Sequence[Run]) -> tuple[Shown, ...]:
    """Runs of this session as points."""
    table = DocumentRuns([run.settings for run in runs], [dict(run.document) for run in runs])
    if len(runs) == 1:
        return (Shown(runs[0].name, runs[0].settings, table, (0,)),)
    return unique(points_in(table))


def unique(points: Sequence[Shown]) -> tuple[Shown, ...]:
    """The points, with a number behind names that come again."""
    seen: dict[str, int] = {}
    found: list[Shown] = []
    for point in points:
        seen[point.name] = count = seen.get(point.name, 0) + 1
        found.append(point if count == 1 else replace(point, name=f"{point.name} ({count})"))
    return tuple(found)
