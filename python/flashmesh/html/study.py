"""Content of a report: points, each of which is a drive under a workload with all its seeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flashmesh.aggregate.points import Point
from flashmesh.html.documents import DocumentRuns
from flashmesh.html.validation import finding_of
from flashmesh.plots.pooled import pooled
from flashmesh.plots.runs import label
from flashmesh.report.findings.sentences import findings, of_answer, of_run, of_seeds
from flashmesh.report.measures.measure import measure_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.asking.answer import Answer
    from flashmesh.html.search import Found
    from flashmesh.plots.runs import Run
    from flashmesh.report.measures.chart_spec import ChartSpec
    from flashmesh.validation.judging.outcome import Validation

DRAWN_MAX = 24
"""Maximum number of points of a report for which every point has charts of its own."""
BEST, WORST = 8, 4
"""Number of points with the lowest and with the highest tail latency that are drawn if there are more than
`DRAWN_MAX`."""
SEEDS_MAX = 20
"""Maximum number of seeds of a point that detailed charts average."""
RANKED_BY = "p99"


@dataclass(frozen=True)
class Shown:
    """A point of a report: the runs of one drive under one workload, one run for each seed."""

    name: str
    """Unique name of the point."""
    settings: Mapping[str, Any]
    table: RunTable
    runs: tuple[int, ...]
    """Indices of the point's runs in `table`, one for each seed."""
    read: Mapping[str, Any] | None = None
    """Settings for charts, with `-` for keys that the drive does not read; None if charts show `settings`."""

    def run(self) -> Run:
        """Returns the point as one run, averaged over seeds, for charts."""
        return pooled(self.name, self.read or self.settings, self.table.documents(self.runs[:SEEDS_MAX]))

    @property
    def document(self) -> Mapping[str, Any]:
        """The JSON document of the first run."""
        (found,) = self.table.documents(self.runs[:1])
        return found

    @cached_property
    def is_steady(self) -> bool | None:
        """Whether the measured windows of all runs of the point were steady; None if this is unknown for all runs."""
        return self.table.whether_steady(Point(dict(self.settings), self.runs))


@dataclass(frozen=True)
class Study:
    """Content of a report, from all files and folders that it shows."""

    title: str
    points: tuple[Shown, ...]
    tables: tuple[RunTable, ...]
    """Runs of the points: one table for each file or folder."""
    notes: tuple[str, ...] = ()
    """Notes at the head of the report, such as on failed or missing runs."""
    searches: tuple[Found, ...] = ()
    charts: tuple[ChartSpec, ...] = ()
    """Charts that the user requested."""
    answers: tuple[Answer, ...] = ()
    """Answers of `flashmesh ask`: changes that help."""
    validations: tuple[Validation, ...] = ()
    """Validations of drives against measurements."""

    @cached_property
    def findings(self) -> list[str]:
        """Sentences that sum up the report: its searches, else its comparison or run, else its answers and validations.

        Empty if the runs come from several files.
        """
        if self.searches:
            return [search.answer for search in self.searches]
        if not self.tables:
            return [*map(of_answer, self.answers), *map(finding_of, self.validations)]
        if len(self.tables) != 1:
            return []
        (table,) = self.tables
        return of_run(table) if len(table) == 1 else findings(table) or of_seeds(table)

    @property
    def run_count(self) -> int:
        """The number of runs."""
        return sum(map(len, self.tables))

    @property
    def is_repeated(self) -> bool:
        """Whether some point has several seeds."""
        return any(len(point.runs) > 1 for point in self.points)

    @cached_property
    def chosen(self) -> tuple[Shown, ...]:
        """Points with charts of their own: all, if there are at most `DRAWN_MAX`.

        Of more points, the `BEST` with the lowest and the `WORST` with the highest p99, or the first `BEST + WORST` if
        they come from a search or none has a p99.
        """
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
        """The chosen points as runs, for charts."""
        return tuple(point.run() for point in self.chosen)

    @property
    def not_drawn(self) -> str:
        """Sentences on the points without charts of their own; empty if all points have charts."""
        left = len(self.points) - len(self.chosen)
        if not left:
            return ""
        which = (
            "those of the front, and then others that meet the constraints"
            if self.searches
            else f"the {BEST} with the shortest and the {WORST} with the longest {RANKED_BY}"
        )
        told = f"The sections from Speedup on draw {len(self.chosen)} of {len(self.points):,} points: {which}. "
        return told + f"The table above and the charts over keys have the other {left:,} too."

    def means(self, name: str) -> list[float | None]:
        """Returns the mean of a measure over the seeds of each point; None for a point without a value."""
        measure = measure_named(name)
        known = {id(table): table.values([measure])[0] for table in self.tables}
        found: list[float | None] = []
        for point in self.points:
            values = [value for number in point.runs if (value := known[id(point.table)][number]) is not None]
            found.append(sum(values) / len(values) if values else None)
        return found


def documents_of(points: Sequence[Shown]) -> list[dict[str, Any]]:
    """Returns the JSON documents of the first runs of points. Each table is read once: it unpacks runs in batches."""
    by_table: dict[int, list[Shown]] = {}
    for point in points:
        by_table.setdefault(id(point.table), []).append(point)
    return [
        document
        for same in by_table.values()
        for document in same[0].table.documents([point.runs[0] for point in same])
    ]


def points_in(table: RunTable, prefix: str = "", name: str = "") -> list[Shown]:
    """Returns the points of a table.

    Args:
        table: The runs.
        prefix: The prefix of all names.
        name: The name of a run without varied keys.
    """
    found = []
    for number, point in enumerate(table.points):
        called = label(point.settings) or name or f"run {number}"
        found.append(Shown(f"{prefix}{called}", point.settings, table, point.runs))
    return found


def points_of_runs(runs: Sequence[Run]) -> tuple[Shown, ...]:
    """Returns runs in memory as points of a report, with unique names."""
    table = DocumentRuns([run.settings for run in runs], [dict(run.document) for run in runs])
    if len(runs) == 1:
        return (Shown(runs[0].name, runs[0].settings, table, (0,)),)
    return unique(points_in(table))


def unique(points: Sequence[Shown]) -> tuple[Shown, ...]:
    """Returns the points, with a number appended to each repeated name."""
    seen: dict[str, int] = {}
    found: list[Shown] = []
    for point in points:
        seen[point.name] = count = seen.get(point.name, 0) + 1
        found.append(point if count == 1 else replace(point, name=f"{point.name} ({count})"))
    return tuple(found)
