"""Figures of single streams: their dotted keys, such as `streams.reader.latency_ps.all.p99`, and columns of tables."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from flashmesh._results import MeasuredStream, StreamFairness, StreamResult
from flashmesh.results.build import column_types

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

STREAMS = "streams"
"""Key of the list of streams in a result; `streams.NAME.KEY` stands for a value of the stream with this name."""
WINDOW_STREAMS = f"measured.{STREAMS}"
FAIRNESS_STREAMS = f"fairness.{STREAMS}"
STREAM_PREFIXES = tuple(f"{place}." for place in (STREAMS, WINDOW_STREAMS, FAIRNESS_STREAMS))
"""Beginnings of the dotted keys of values of streams."""
COLUMNS_MAX = 16
"""Maximum number of streams with columns in tables: the first ones. The other streams have no intervals either."""
LEFT_OUT = ("name", "breakdown_ps.")
"""Prefixes of keys of a stream that have no columns."""


def entry(streams: Sequence[Any], name: str) -> Any:
    """Returns the stream with this name in a list of records or JSON objects; None if the list lacks the stream."""
    return next((each for each in streams if value_of(each, "name") == name), None)


def value_of(each: Any, key: str) -> Any:
    """Returns the value of a key of a record or a JSON object of a stream."""
    return each.get(key) if isinstance(each, dict) else getattr(each, key)


def window_streams(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Returns the streams of a result: over its measured window if there is one, else over the whole run."""
    window = document["measured"]
    found: Sequence[Mapping[str, Any]] = document[STREAMS] if window is None else window[STREAMS]
    return found


def configured_streams(document: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Returns the pairs (stream of `window_streams`, its tables in the configuration) of a result."""
    tables = document["configuration"]
    named = tables.get("stream", {})
    return [(stream, named.get(stream["name"], tables)) for stream in window_streams(document)]


def names_in(documents: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns the names of the streams in the JSON of some results, in the order of their first use."""
    return list(dict.fromkeys(stream["name"] for document in documents for stream in document[STREAMS]))


@cache
def types_of_stream() -> dict[str, dict[str, type]]:
    """Returns the types of the values of a stream by their keys, for each list of streams in a result."""
    lists = {STREAMS: StreamResult, WINDOW_STREAMS: MeasuredStream, FAIRNESS_STREAMS: StreamFairness}
    return {
        name: {key: of for key, of in column_types(kind).items() if not key.startswith(LEFT_OUT)}
        for name, kind in lists.items()
    }


def stream_columns(documents: Sequence[Mapping[str, Any] | None]) -> dict[str, tuple[type, list[Any]]]:
    """Returns the columns of the streams of some results: the type and the values, by the dotted key.

    Empty if no result has several streams; None stands for a result without several streams.
    """
    several = [document for document in documents if document is not None and len(document[STREAMS]) > 1]
    names = names_in(several)[:COLUMNS_MAX]
    found: dict[str, tuple[type, list[Any]]] = {}
    for name in names:
        for place, types in types_of_stream().items():
            entries = [None if document is None else in_list(document, place, name) for document in documents]
            for key, kind in types.items():
                path = key.split(".")
                found[f"{place}.{name}.{key}"] = (kind, [below(each, path) for each in entries])
    return found


def in_list(document: Mapping[str, Any], place: str, name: str) -> Any:
    """Returns a stream in the list with the dotted key `place` in the JSON of a result; None if there is none."""
    streams = below(document, place.split("."))
    return None if streams is None else entry(streams, name)


def below(value: Any, path: Sequence[str]) -> Any:
    """Returns the value at a path of keys in JSON objects; None if a part of the path is missing."""
    for key in path:
        value = None if value is None else value.get(key)
    return value
