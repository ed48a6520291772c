"""Tables of runs, read by column: a query over ten thousand saved results reads only the requested values."""

from __future__ import annotations

import itertools
import json
from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flashmesh.aggregate.points import Point, points_of
from flashmesh.report.measures.measure import attribute
from flashmesh.report.measures.streams import needs_fairness, refuse_slowdowns, refuse_unknown_streams
from flashmesh.results.streams import names_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from flashmesh.comparing.axes import Value
    from flashmesh.comparison import Comparison, FailedRun
    from flashmesh.report.measures.measure import Measure


STEADY = "steadiness.steady"
BATCH_RUNS = 256
"""Number of runs whose JSON results are in memory at once while streams are looked up."""


class RunTable(ABC):
    """Runs of a comparison, a sweep or a search, by index."""

    axes: dict[str, tuple[Value, ...]]
    """All values of each varied key."""
    settings: Sequence[dict[str, Value]]
    """Varied keys of each run, with the values of the run."""
    failures: tuple[FailedRun, ...] = ()
    """Planned runs that ended with an error and have no result."""
    complete: bool = True
    """Whether every planned run has a result."""
    planned: int | None = None
    """Number of planned runs; None if unknown."""
    unfinished: Sequence[int] = ()
    """Indices of runs that were interrupted, so that their results are not final."""
    until_steady: bool = False
    """Whether `--until-steady` has extended the runs, so that it is no advice for those that are not steady."""

    def __len__(self) -> int:
        """Returns the number of runs."""
        return len(self.settings)

    @abstractmethod
    def columns(self, keys: Sequence[str]) -> list[list[Any]]:
        """Returns the values of some dotted keys for all runs, a list for each key; None for missing values."""

    def has_columns(self, keys: Sequence[str]) -> bool:
        """Returns whether the values of these dotted keys can be read without parsing the JSON results of the runs."""
        return True

    @abstractmethod
    def documents(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """Returns the JSON results of the runs with these indices."""

    @cached_property
    def first(self) -> Mapping[str, Any]:
        """The JSON result of the first run."""
        (found,) = self.documents([0])
        return found

    def values(self, measures: Sequence[Measure]) -> list[list[float | None]]:
        """Returns a list for each measure with its value in every run; None where a run has no value."""
        keys = list(dict.fromkeys(key for measure in measures for key in measure.keys))
        columns = dict(zip(keys, self.columns(keys), strict=True))
        return [
            [measure.made_of(row) for row in zip(*(columns[key] for key in measure.keys), strict=True)]
            for measure in measures
        ]

    def refuse_unknown_streams(self, measures: Sequence[Measure]) -> None:
        """Refuses measures of streams that no run has. Reads the results of as few runs as possible.

        Raises:
            ConfigError: If there is such a measure; the message lists the streams of the runs.
        """
        wanted = {measure.stream for measure in measures if measure.stream is not None}
        found: list[str] = []
        ends = [0, *range(1, len(self), BATCH_RUNS), len(self)]
        for first, end in itertools.pairwise(ends if wanted else ()):
            found = list(dict.fromkeys([*found, *names_in(self.documents(range(first, end)))]))
            if wanted <= set(found):
                return
        if len(self):
            refuse_unknown_streams(measures, found)

    def refuse_unmeasured(self, measures: Sequence[Measure]) -> None:
        """Refuses measures of streams that no run has, and measures of slowdowns that no run has measured.

        Raises:
            ConfigError: If there is such a measure.
        """
        self.refuse_unknown_streams(measures)
        wanted = [measure for measure in measures if needs_fairness(measure)]
        values = self.values(wanted) if wanted else []
        missing = [measure for measure, known in zip(wanted, values, strict=True) if set(known) == {None}]
        refuse_slowdowns(missing, "no run has measured it; run several streams with --fairness")

    @cached_property
    def points(self) -> list[Point[int]]:
        """The points of the table: indices of the runs that differ only in their seed."""
        return points_of(self.settings, range(len(self)))

    def whether_steady(self, point: Point[int]) -> bool | None:
        """Returns whether the measured windows of all runs of a point are steady; None if this is unknown for all.

        Ignores runs for which this is unknown. Applies the criterion of `flashmesh run`, even to runs without a
        warm-up.
        """
        said = [found for number in point.runs if (found := self._steady[number]) is not None]
        return all(said) if said else None

    @cached_property
    def _steady(self) -> list[bool | None]:
        return self.columns([STEADY])[0]


def axes_of(settings: Iterable[dict[str, Value]]) -> dict[str, tuple[Value, ...]]:
    """Returns the distinct values of each key, in the order of their first use."""
    found: dict[str, dict[tuple[type, Value], Value]] = {}
    for setting in settings:
        for key, value in setting.items():
            found.setdefault(key, {})[type(value), value] = value
    return {key: tuple(values.values()) for key, values in found.items()}


class ComparedRuns(RunTable):
    """Runs of a comparison in memory."""

    def __init__(self, comparison: Comparison) -> None:
        """Creates a table of the runs of a comparison."""
        self.comparison = comparison
        self.axes = comparison.axes
        self.settings = [run.settings for run in comparison.runs]
        self.results = [run.result for run in comparison.runs]
        self.failures = comparison.failures
        self.complete = comparison.complete
        self.until_steady = comparison.until_steady
        self.unfinished = [number for number, run in enumerate(comparison.runs) if run.is_partial]

    def columns(self, keys: Sequence[str]) -> list[list[Any]]:
        """Returns the values of some dotted keys, as described in `RunTable.columns`."""
        return [[attribute(result, key) for result in self.results] for key in keys]

    def documents(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """Returns the JSON results of the runs with these indices."""
        return [self.results[number].document for number in numbers]


class TableOfRuns(RunTable):
    """Runs in a table of `flashmesh.sweeps.results.table`, in memory."""

    def __init__(self, table: pa.Table) -> None:
        """Creates a table of the runs in an Arrow table from `flashmesh.sweeps.results.table.table_of`."""
        self.table = table
        about = json.loads(table.schema.metadata[b"flashmesh"])
        self.settings = table.select(about["axes"]).to_pylist()
        self.axes = axes_of(self.settings)

    def columns(self, keys: Sequence[str]) -> list[list[Any]]:
        """Returns the values of some dotted keys, as described in `RunTable.columns`."""
        return columns_of(self.table, keys)

    def documents(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """Returns the JSON results of the runs with these indices."""
        texts = self.table["document"]
        # Reads cell by cell, because `take` of pyarrow would import pandas.
        return [json.loads(texts[number].as_py()) for number in numbers]


class SavedRuns(RunTable):
    """Runs in a Parquet file, read by column."""

    def __init__(self, path: Path) -> None:
        """Opens an existing Parquet file, and reads the varied keys of its runs.

        Raises:
            OutputError: If the file is no table of results.
        """
        from flashmesh.sweeps.results.table import TableFile

        self.file = TableFile(path)
        self.settings = self.file.columns(self.file.axes).to_pylist() if self.file.axes else [{}] * len(self.file)
        self.axes = axes_of(self.settings)

    def has_columns(self, keys: Sequence[str]) -> bool:
        """Returns whether the file has a column for each of these dotted keys."""
        return self.file.names >= set(keys)

    def columns(self, keys: Sequence[str]) -> list[list[Any]]:
        """Returns the values of some dotted keys, as described in `RunTable.columns`."""
        from flashmesh.saved import read_document

        return columns_of(self.file.columns(keys), keys, lambda text: read_document(self.file.path, text))

    def documents(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """Returns the JSON results of the runs with these indices."""
        from flashmesh.saved import read_document

        return [read_document(self.file.path, text) for text in self.file.documents(numbers)]


def columns_of(
    table: pa.Table, keys: Sequence[str], read: Callable[[str], Mapping[str, Any]] = json.loads
) -> list[list[Any]]:
    """Returns a list for each dotted key with its value in every run: from a column, or else from the JSON results."""
    from flashmesh.sweeps.results.table import DOCUMENT, lists

    there = set(table.column_names)
    beside = [key for key in keys if key not in there]
    found = lists(table[DOCUMENT].to_pylist(), beside, read) if beside else {}
    return [table[key].to_pylist() if key in there else found[key] for key in keys]
