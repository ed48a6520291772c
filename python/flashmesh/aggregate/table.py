"""Many runs by columns: of ten thousand saved results nothing is read but the values that are asked for."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flashmesh.aggregate.points import Point, points_of
from flashmesh.report.measures import attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from flashmesh.axes import Value
    from flashmesh.comparison import Comparison, FailedRun
    from flashmesh.report.measures import Measure


STEADY = "steadiness.steady"
WARM = "warm_up.converged"


class RunTable(ABC):
    """The runs of a comparison, a sweep or a search, by their number."""

    axes: dict[str, tuple[Value, ...]]
    """The varied keys, each with all its values."""
    settings: Sequence[dict[str, Value]]
    """The varied keys of each run."""
    failures: tuple[FailedRun, ...] = ()
    """The runs that gave no result."""
    complete: bool = True
    """Whether there are all runs that were planned."""
    planned: int | None = None
    """How many runs were planned; None where nothing says."""

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self.settings)

    @abstractmethod
    def columns(self, keys: Sequence[str]) -> list[list[Any]]:
        """The values of all runs of some dotted keys of results, a list for each key; None where a run has none."""

    def has_columns(self, keys: Sequence[str]) -> bool:
        """Whether some dotted keys can be had of all runs without reading their documents."""
        return True

    @abstractmethod
    def documents(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """The JSON documents of some runs."""

    def values(self, measures: Sequence[Measure]) -> list[list[float | None]]:
        """Some measures of all runs, a list for each."""
        keys = list(dict.fromkeys(key for measure in measures for key in measure.keys))
        columns = dict(zip(keys, self.columns(keys), strict=True))
        return [
            [measure.made_of(row) for row in zip(*(columns[key] for key in measure.keys), strict=True)]
            for measure in measures
        ]

    @cached_property
    def points(self) -> list[Point[int]]:
        """The numbers of the runs, those of the same point together."""
        return points_of(self.settings, range(len(self)))

    def whether_steady(self, point: Point[int]) -> bool | None:
        """Whether the measured windows of all runs of a point were steady; None where none of them says."""
        said = [found for number in point.runs if (found := self._steady[number]) is not None]
        return all(said) if said else None

    @cached_property
    def _steady(self) -> list[bool | None]:
        # A run without a warm-up claims nothing.
        steady, warm = self.columns([STEADY, WARM])
        return [None if is_warm is None else is_steady for is_steady, is_warm in zip(steady, warm, strict=True)]


def axes_of(settings: Iterable[dict[str, Value]]) -> dict[str, tuple[Value, ...]]:
    """The values of each key in the order in which they come up, each once."""
    found: dict[str, dict[tuple[type, Value], Value]] = {}
    for setting in settings:
        for key, value in setting.items():
            found.setdefault(key, {})[type(value), value] = value
    return {key: tuple(values.values()) for key, values in found.items()}


class ComparedRuns(RunTable):
    """The runs of a comparison of this session."""

    def __init__(self, comparison: Comparison) -> None:
        """Of results that are there."""
        self.axes = comparison.axes
        self.settings = [run.settings for run in comparison.runs]
        self.results = [run.result for run in comparison.runs]
        self.failures = comparison.failures
        self.complete = comparison.complete

    def columns(self, keys: Sequence[str]) -> list[list[Any]]:
        """See `RunTable`."""
        return [[attribute(result, key) for result in self.results] for key in keys]

    def documents(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """See `RunTable`."""
        return [self.results[number].document for number in numbers]


class TableOfRuns(RunTable):
    """Rows as `flashmesh.sweeps.table` makes them, in memory."""

    def __init__(self, table: pa.Table) -> None:
        """Of such a table."""
        self.table = table
        about = json.loads(table.schema.metadata[b"flashmesh"])
        self.settings = table.select(about["axes"]).to_pylist()
        self.axes = axes_of(self.settings)

    def columns(self, keys: Sequence[str]) -> list[list[Any]]:
        """See `RunTable`."""
        return columns_of(self.table, keys)

    def documents(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """See `RunTable`."""
        return [json.loads(text) for text in self.table["document"].take(list(numbers)).to_pylist()]


class SavedRuns(RunTable):
    """The rows of a Parquet file, read by column."""

    def __init__(self, path: Path) -> None:
        """Of a file that is there.

        Raises:
            OutputError: When it is no table of results.
        """
        from flashmesh.sweeps.table import TableFile

        self.file = TableFile(path)
        self.settings = self.file.columns(self.file.axes).to_pylist() if self.file.axes else [{}] * len(self.file)
        self.axes = axes_of(self.settings)

    def has_columns(self, keys: Sequence[str]) -> bool:
        """See `RunTable`."""
        return self.file.names >= set(keys)

    def columns(self, keys: Sequence[str]) -> list[list[Any]]:
        """See `RunTable`."""
        from flashmesh.saved import read_document

        return columns_of(self.file.columns(keys), keys, lambda text: read_document(self.file.path, text))

    def documents(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """See `RunTable`."""
        from flashmesh.saved import read_document

        return [read_document(self.file.path, text) for text in self.file.documents(numbers)]


def columns_of(
    table: pa.Table, keys: Sequence[str], read: Callable[[str], Mapping[str, Any]] = json.loads
) -> list[list[Any]]:
    """The values of some dotted keys: of the columns of a table, and of its documents what has no column."""
    from flashmesh.sweeps.table import DOCUMENT, lists

    there = set(table.column_names)
    beside = [key for key in keys if key not in there]
    found = lists(table[DOCUMENT].to_pylist(), beside, read) if beside else {}
    return [table[key].to_pylist() if key in there else found[key] for key in keys]
