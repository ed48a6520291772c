"""Ratios of runs to the run of the same workload with a baseline's settings, and their means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.configuration import value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashmesh.axes import Value
    from flashmesh.comparison import ComparedRun, Comparison
    from flashmesh.results import Result


@dataclass(frozen=True)
class Baseline:
    """The settings that make a run the baseline of those that differ from it in nothing else."""

    settings: dict[str, str]
    """Varied keys with a value of each, as text."""

    def is_met_by(self, run: ComparedRun) -> bool:
        """Whether a run is a baseline."""
        return all(value_text(run.settings[key]) == value for key, value in self.settings.items())

    def others(self, run: ComparedRun) -> tuple[tuple[str, str], ...]:
        """What a run has in common with its baseline: every other varied key, with its value."""
        return tuple((key, value_text(value)) for key, value in run.settings.items() if key not in self.settings)

    def own(self, run: ComparedRun) -> str:
        """The values of the run where the baseline has its own."""
        return ", ".join(value_text(run.settings[key]) for key in self.settings)

    def __str__(self) -> str:
        """As it is given."""
        return ", ".join(f"{key}={value}" for key, value in self.settings.items())


@dataclass(frozen=True)
class Means:
    """Ratios to the baseline over all workloads."""

    count: int
    """Runs that have a ratio."""
    arithmetic: float
    geometric: float
    """0 where a ratio is."""
    largest: float
    smallest: float
    largest_at: dict[str, Value]
    """The varied keys, with their values in the run of the largest ratio."""
    largest_in: int
    """Of these runs, those with the largest ratio of all that have the same workload, the baseline's 1 among them."""


def baseline_of(given: Sequence[str], axes: Mapping[str, Sequence[Value]]) -> Baseline:
    """The baseline that texts such as `fabric.kind=bus` name.

    Raises:
        ConfigError: When a key is not varied, or not over that value.
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


def partners(comparison: Comparison, baseline: Baseline) -> list[ComparedRun | None]:
    """For each run its baseline; None where that run gave no result."""
    found = {baseline.others(run): run for run in comparison.runs if baseline.is_met_by(run)}
    return [found.get(baseline.others(run)) for run in comparison.runs]


def means(
    comparison: Comparison, baseline: Baseline, value: Callable[[Result], float | None], inverse: bool = False
) -> dict[str, Means]:
    """The means of ratios to the baseline over everything else that is varied, for each other value in place of it.

    Args:
        comparison: The runs.
        baseline: What the ratios are against.
        value: What of a result is compared.
        inverse: Whether a ratio is the baseline's value over the run's, as a speedup is of times.

    Returns:
        By the values that stand in place of the baseline's; those without any ratio are left out.
    """
    ratios: dict[str, list[tuple[float, ComparedRun]]] = {}
    for run, partner in zip(comparison.runs, partners(comparison, baseline), strict=True):
        if partner is None or partner is run:
            continue
        after, before = value(run.result), value(partner.result)
        if inverse:
            after, before = before, after
        if after is not None and before:
            ratios.setdefault(baseline.own(run), []).append((after / before, run))
    by_workload: dict[tuple[tuple[str, str], ...], list[float]] = {}
    for ratio, run in (pair for found in ratios.values() for pair in found):
        by_workload.setdefault(baseline.others(run), [1.0]).append(ratio)

    def is_largest(ratio: float, run: ComparedRun) -> bool:
        ranked = sorted(by_workload[baseline.others(run)])
        return ratio == ranked[-1] > ranked[-2]

    return {name: _means(found, sum(is_largest(*pair) for pair in found)) for name, found in ratios.items()}


def _means(found: Sequence[tuple[float, ComparedRun]], largest_in: int) -> Means:
    ratios = [ratio for ratio, _ in found]
    largest, run = max(found, key=lambda pair: pair[0])
    logarithms = sum(math.log(ratio) for ratio in ratios if ratio > 0)
    geometric = 0.0 if min(ratios) <= 0 else math.exp(logarithms / len(ratios))
    arithmetic = sum(ratios) / len(ratios)
    return Means(len(ratios), arithmetic, geometric, largest, min(ratios), dict(run.settings), largest_in)
