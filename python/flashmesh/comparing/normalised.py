"""Ratios of runs to a baseline run of the same workload, and their means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.configuration import value_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.comparing.axes import Value


@dataclass(frozen=True)
class Baseline:
    """Baseline of a comparison: the settings that the reference run of each ratio has.

    Each run is compared with the run that has these settings and otherwise equal ones.
    """

    settings: dict[str, str]
    """Varied keys with their values as text."""

    def is_met_by(self, settings: Mapping[str, Value]) -> bool:
        """Returns whether a run with these settings is a baseline."""
        return all(value_text(settings[key]) == value for key, value in self.settings.items())

    def others(self, settings: Mapping[str, Value]) -> tuple[tuple[str, str], ...]:
        """Returns the settings of a run for the keys outside the baseline. They are the same in the baseline run."""
        return tuple((key, value_text(value)) for key, value in settings.items() if key not in self.settings)

    def own(self, settings: Mapping[str, Value]) -> str:
        """Returns the values of a run for the keys of the baseline, joined as text."""
        return ", ".join(value_text(settings[key]) for key in self.settings)

    def __str__(self) -> str:
        """Returns the settings in the notation of users."""
        return ", ".join(f"{key}={value}" for key, value in self.settings.items())


@dataclass(frozen=True)
class Means:
    """Means of the ratios of runs to their baseline runs, over all combinations of the other varied keys."""

    count: int
    """Number of ratios: runs with a value whose baseline run has one too."""
    arithmetic: float
    geometric: float
    """Geometric mean; 0 if a ratio is 0."""
    largest: float
    smallest: float
    largest_at: dict[str, Value]
    """Varied keys of the run with the largest ratio, with their values."""
    largest_in: int
    """Number of combinations of the other keys in which this group has the largest ratio of all groups, and that ratio
    exceeds 1."""


def baseline_of(given: Sequence[str], axes: Mapping[str, Sequence[Value]]) -> Baseline:
    """Returns the baseline that texts such as `fabric.kind=bus` name.

    Raises:
        ConfigError: If a key is not varied, or never has the value.
    """
    settings: dict[str, str] = {}
    for text in given:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise ConfigError(f"--baseline: {text!r} is no setting: write KEY=VALUE, such as fabric.kind=bus")
        if key not in axes:
            raise ConfigError(f"--baseline: {key} is not varied; varied are {', '.join(axes)}")
        if key in settings:
            raise ConfigError(f"--baseline: {key} is given twice")
        values = [value_text(known) for known in axes[key]]
        if value not in values:
            raise ConfigError(f"--baseline: {key} is never {value}; its values are {', '.join(values)}")
        settings[key] = value
    if not settings:
        raise ConfigError("--baseline: no setting is given: write KEY=VALUE, such as fabric.kind=bus")
    return Baseline(settings)


def partners(settings: Sequence[Mapping[str, Value]], baseline: Baseline) -> list[int | None]:
    """Returns for each run the index of its baseline run; None if there is no such run."""
    found = {baseline.others(each): number for number, each in enumerate(settings) if baseline.is_met_by(each)}
    return [found.get(baseline.others(each)) for each in settings]


def means(
    settings: Sequence[Mapping[str, Value]],
    values: Sequence[float | None],
    baseline: Baseline,
    inverse: bool = False,
) -> dict[str, Means]:
    """Returns the means of ratios to the baseline for each group of runs with the same values of the baseline's keys.

    Args:
        settings: The varied keys of each run.
        values: The compared value of each run.
        baseline: The reference of the ratios.
        inverse: Whether to divide the baseline's value by the run's, as for a speedup from times.

    Returns:
        The means of each group, by the group's values of the baseline's keys; groups without a ratio are left out.
    """
    ratios: dict[str, list[tuple[float, int]]] = {}
    for number, partner in enumerate(partners(settings, baseline)):
        if partner is None or partner == number:
            continue
        after, before = values[number], values[partner]
        if inverse:
            after, before = before, after
        if after is not None and before:
            ratios.setdefault(baseline.own(settings[number]), []).append((after / before, number))
    by_workload: dict[tuple[tuple[str, str], ...], list[float]] = {}
    for ratio, number in (pair for found in ratios.values() for pair in found):
        by_workload.setdefault(baseline.others(settings[number]), [1.0]).append(ratio)

    def is_largest(ratio: float, number: int) -> bool:
        ranked = sorted(by_workload[baseline.others(settings[number])])
        return ratio == ranked[-1] > ranked[-2]

    return {name: _means(found, settings, sum(is_largest(*pair) for pair in found)) for name, found in ratios.items()}


def _means(found: Sequence[tuple[float, int]], settings: Sequence[Mapping[str, Value]], largest_in: int) -> Means:
    ratios = [ratio for ratio, _ in found]
    largest, number = max(found, key=lambda pair: pair[0])
    logarithms = sum(math.log(ratio) for ratio in ratios if ratio > 0)
    geometric = 0.0 if min(ratios) <= 0 else math.exp(logarithms / len(ratios))
    arithmetic = sum(ratios) / len(ratios)
    return Means(len(ratios), arithmetic, geometric, largest, min(ratios), dict(settings[number]), largest_in)
