"""Points: groups of runs that differ only in their seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from flashmesh.configuration import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flashmesh.comparing.axes import Value

SEED = "seed"
T = TypeVar("T")


@dataclass(frozen=True)
class Point(Generic[T]):
    """Runs of one drive under one workload, with different seeds."""

    settings: dict[str, Value]
    """The varied keys without the seed, with their values."""
    runs: tuple[T, ...]
    """Runs of the point, one for each seed, in the order of the table."""

    @property
    def is_repeated(self) -> bool:
        """Whether the point has runs with several seeds."""
        return len(self.runs) > 1


def points_of(settings: Iterable[Mapping[str, Value]], runs: Iterable[T]) -> list[Point[T]]:
    """Returns one point for each combination of the varied keys other than the seed, with its runs.

    If only the seed is varied, each run is a point of its own.
    """
    apart = [{key: value for key, value in each.items() if key != SEED} or dict(each) for each in settings]
    return grouped(apart, runs)


def grouped(settings: Iterable[Mapping[str, Value]], runs: Iterable[T]) -> list[Point[T]]:
    """Returns one point for each distinct table in `settings`, with its runs, in order of first occurrence."""
    found: dict[tuple[str, ...], tuple[dict[str, Value], list[T]]] = {}
    for setting, run in zip(settings, runs, strict=True):
        name = tuple(f"{key}={value_text(value)}" for key, value in setting.items())
        found.setdefault(name, (dict(setting), []))[1].append(run)
    return [Point(setting, tuple(group)) for setting, group in found.values()]


def keys_of(axes: Iterable[str]) -> list[str]:
    """Returns the varied keys by which points differ: all except the seed, or the seed if it is the only one."""
    listed = list(axes)
    return [key for key in listed if key != SEED] or listed


def is_repeated(points: Sequence[Point[T]]) -> bool:
    """Returns whether any of the points has runs with several seeds."""
    return any(point.is_repeated for point in points)
