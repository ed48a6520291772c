"""Runs of JSON files as a table: their documents as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.aggregate.table import RunTable, axes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.axes import Value


class DocumentRuns(RunTable):
    """Runs whose documents are in memory."""

    def __init__(self, settings: Sequence[Mapping[str, Value]], documents: Sequence[dict[str, Any]]) -> None:
        """Of documents, each with the varied keys of its run."""
        self.settings = [dict(each) for each in settings]
        self.axes = axes_of(self.settings)
        self.of_runs = list(documents)

    def columns(self, keys: Sequence[str]) -> list[list[Any]]:
        """See `RunTable`."""
        return [[at(document, key) for document in self.of_runs] for key in keys]

    def documents(self, numbers: Sequence[int]) -> list[dict[str, Any]]:
        """See `RunTable`."""
        return [self.of_runs[number] for number in numbers]


def at(document: Mapping[str, Any], key: str) -> Any:
    """The value of a key with dots; None where a part on the way to it is absent."""
    value: Any = document
    for part in key.split("."):
        if value is None:
            return None
        value = value[part]
    return value
