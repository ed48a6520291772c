"""Runs that differ in nothing but their seed, as one point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from flashmesh.configuration import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flashmesh.axes import Value

SEED = "seed"
T = TypeVar("T")


@dataclass(frozen=True)
class Point(Generic[T]):
    """The runs of one drive under one workload."""

    settings: dict[str, Value]
    """The varied keys without the seed, with their values."""
    runs: tuple[T, ...]
    """In the order in which they came, one for each seed."""

    @property
    def is_repeated(self) -> bool:
        """Whether there are several seeds."""
        return len(self.runs) > 1


def points_of(settings: Iterable[Mapping[str, Value]], runs: Iterable[T]) -> list[Point[T]]:
    """Groups runs by everything that is varied but the seed.

    A seed that is varied alone is what the runs are about: they stay apart.
    """
    apart = [{key: value for key, value in each.items() if key != SEED} or dict(each) for each in settings]
    return grouped(apart, runs)


def grouped(settings: Iterable[Mapping[str, Value]], runs: Iterable[T]) -> list[Point[T]]:
    """Groups runs of equal settings, in the order in which the settings come up."""
    found: dict[tuple[str, ...], tuple[dict[str, Value], list[T]]] = {}
    for setting, run in zip(settings, runs, strict=True):
        name = tuple(f"{key}={value_text(value)}" for key, value in setting.items())
        found.setdefault(name, (dict(setting), []))[1].append(run)
    return [Point(setting, tuple(group)) for setting, group in found.values()]


def keys_of(axes: Iterable[str]) -> list[str]:
    """The varied keys that set points apart: all but the seed, unless there is no other."""
    listed = list(axes)
    return [key for key in listed if key != SEED] or listed


def is_repeated(points: Sequence[Point[T]]) -> bool:
    """Whether some point has several seeds."""
    return any(point.is_repeated for point in points)
