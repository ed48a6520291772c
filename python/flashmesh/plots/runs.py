"""What charts are drawn of: runs with their names, from results of this session or from saved ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh.configuration import value_text
from flashmesh.keys import short_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.comparison import Comparison
    from flashmesh.results import Result


@dataclass(frozen=True)
class Run:
    """One run, as its JSON document has it."""

    name: str
    """What it is called beside the others."""
    settings: Mapping[str, Any]
    """The keys that set it apart, with their values."""
    document: Mapping[str, Any]
    """The JSON document of its result."""
    configuration: Mapping[str, Any]
    """Every parameter, as tables."""
    repeats: tuple[Mapping[str, Any], ...] = ()
    """The documents of its seeds, where it stands for several of which `document` has the means."""

    def setting(self, key: str) -> Any:
        """The value of a key with a dot."""
        section, _, name = key.rpartition(".")
        table: Any = self.configuration
        for part in section.split(".") if section else ():
            table = table[part]
        return table[name]


def run_of(result: Result, name: str = "", settings: Mapping[str, Any] | None = None) -> Run:
    """A result of this session as a run."""
    return Run(
        name or str(result.parameters["fabric"]["kind"]),
        settings or {},
        result.document,
        result.document["configuration"],
    )


def runs_of(comparison: Comparison) -> list[Run]:
    """The points of a comparison, named by what sets them apart, each the mean of its seeds."""
    from flashmesh.aggregate.points import points_of
    from flashmesh.plots.pooled import pooled

    points = points_of([run.settings for run in comparison.runs], [run.result.document for run in comparison.runs])
    return [pooled(label(point.settings), point.settings, point.runs) for point in points]


def label(settings: Mapping[str, Any]) -> str:
    """Returns the settings that set a run apart as `key=value`, each key as short as it can be read."""
    return named(tuple(settings), [short(value_text(value)) for value in settings.values()])


def named(keys: Sequence[str], values: Sequence[str]) -> str:
    """Returns values with their keys in front, such as `chips-per-channel=2`."""
    return ", ".join(f"{short_key(key)}={value}" for key, value in zip(keys, values, strict=True))


def values_of(settings: Mapping[str, Any]) -> str:
    """Returns the values that set a run apart, without their keys: a part of a file name."""
    return ", ".join(short(value_text(value)) for value in settings.values())


def labelled(settings: Mapping[str, Any]) -> str:
    """The settings of a run, with their keys."""
    return ", ".join(f"{key}={value_text(value)}" for key, value in settings.items())


def short(text: str) -> str:
    """A value without the folders of a path; the stroke of a rate, as in 2GB/s, is none of a path."""
    return text if text.endswith("B/s") else text.rsplit("/", 1)[-1]


def baselines(runs: Sequence[Run]) -> list[Run]:
    """For each run its baseline: the run with the first value of the first axis, and else the same settings."""
    if not runs:
        return []
    first = next(iter(runs[0].settings), None)

    def rest(run: Run) -> tuple[tuple[str, str], ...]:
        return tuple((key, value_text(value)) for key, value in run.settings.items() if key != first)

    found: dict[tuple[tuple[str, str], ...], Run] = {}
    for run in runs:
        found.setdefault(rest(run), run)
    return [found[rest(run)] for run in runs]
