"""The tables of a page: what came out, and how the configurations differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh.configuration import value_text
from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashmesh.plots.runs import Run


@dataclass(frozen=True)
class Column:
    """A measure of the headline table."""

    key: str
    """Its key in the JSON of the result, with dots."""
    heading: str
    text: Callable[[Any], str]


COLUMNS = (
    Column("iops", "IOPS", lambda value: q.scaled(value)),
    Column("bandwidth_bytes_per_s", "bandwidth", lambda value: q.bandwidth(value)),
    Column("makespan_ps", "execution time", q.time),
    Column("latency_ps.all.mean", "mean latency", q.time),
    Column("latency_ps.all.p50", "median", q.time),
    Column("latency_ps.all.p99", "p99", q.time),
    Column("latency_ps.all.p99_9", "p99.9", q.time),
    Column("latency_ps.all.max", "maximum", q.time),
    Column("path_conflict.requests_free_share", "free of path conflicts", q.share),
    Column("write_amplification", "write amplification", lambda value: q.NONE if value is None else f"{value:.2f}"),
    Column("utilisation.links_mean", "links busy", q.share),
    Column("utilisation.dies_mean", "dies busy", q.share),
    Column("lower_bound.distance", "distance to the bound", q.share),
    Column("power.energy_j.total", "energy of events", q.energy),
)
"""What is shown of every run."""


@dataclass(frozen=True)
class Cell:
    """A number as it is shown, with where it is from."""

    key: str
    value: Any
    text: str


def at(document: Mapping[str, Any], key: str) -> Any:
    """The value of a key with dots; None where a part on the way to it is absent."""
    value: Any = document
    for part in key.split("."):
        if value is None:
            return None
        value = value[part]
    return value


def headline(runs: Sequence[Run]) -> list[tuple[Run, list[Cell]]]:
    """A row for each run; columns of which no run has a value are left out by `headings`."""
    chosen = columns(runs)
    rows = []
    for run in runs:
        values = [(column, at(run.document, column.key)) for column in chosen]
        rows.append((run, [Cell(column.key, value, column.text(value)) for column, value in values]))
    return rows


def columns(runs: Sequence[Run]) -> list[Column]:
    """The columns of which some run has a value."""
    return [column for column in COLUMNS if any(at(run.document, column.key) is not None for run in runs)]


def flat(tables: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """The parameters of a configuration by their dotted keys, as texts."""
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


def differences(runs: Sequence[Run]) -> list[tuple[str, list[str]]]:
    """The keys in which the configurations differ, with the value of each run."""
    tables = [flat(run.configuration) for run in runs]
    keys = dict.fromkeys(key for table in tables for key in table)
    rows = [(key, [table.get(key, q.NONE) for table in tables]) for key in keys]
    return [(key, values) for key, values in rows if len(set(values)) > 1]
