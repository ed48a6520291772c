"""Table of runs whose JSON documents are in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.aggregate.table import RunTable, axes_of
from flashmesh.results.streams import entry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.comparing.axes import Value


class DocumentRuns(RunTable):
    """Runs with documents in memory."""

    def __init__(self, settings: Sequence[Mapping[str, Value]], documents: Sequence[dict[str, Any]]) -> None:
        """Creates a table of runs from the varied keys and the JSON result of each run."""
        self.settings = [dict(each) for each in settings]
        self.axes = axes_of(self.settings)
        self.of_runs = list(documents)

    def columns(self, keys: Sequence[str]) -> list[list[Any]]:
        """Returns columns as described in `RunTable`."""
        return [[at(document, key) for document in self.of_runs] for key in keys]

    def documents(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """Returns documents as described in `RunTable`."""
        return [self.of_runs[number] for number in numbers]


def at(document: Mapping[str, Any], key: str) -> Any:
    """Returns the value of a dotted key; None if a part of the path is None or a stream is missing."""
    value: Any = document
    for part in key.split("."):
        if value is None:
            return None
        value = entry(value, part) if isinstance(value, list) else value[part]
    return value
