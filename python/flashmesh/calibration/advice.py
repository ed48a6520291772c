"""Further measurements: for each key that is not determined, the single load whose figures depend on it most."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh.calibration.bench import Bench, OutOfTime
from flashmesh.calibration.points import ClosedLoad, Target
from flashmesh.calibration.residuals import SERVED, TOLERANCES, value
from flashmesh.validation.sheets import SheetLoad

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.calibration.bench import Candidate, Settings
    from flashmesh.calibration.facts import Facts
    from flashmesh.calibration.points import Length
    from flashmesh.calibration.search import Search
    from flashmesh.calibration.space import FreeKey

KIB = 2**10
LOADS = (
    SheetLoad(1.0, 4 * KIB, "random", 1),
    SheetLoad(1.0, 4 * KIB, "random", 256),
    SheetLoad(0.7, 4 * KIB, "random", 32),
    SheetLoad(0.0, 4 * KIB, "random", 128),
    SheetLoad(0.0, 4 * KIB, "sequential", 1),
    SheetLoad(1.0, 128 * KIB, "sequential", 32),
    SheetLoad(0.0, 128 * KIB, "sequential", 32),
)
"""Loads that a measurement can add, as programs such as fio make them."""
FIGURES = (SERVED, "read_mean_us", "read_p99_us", "write_mean_us", "write_p99_us")
ASIDE = 0.25
"""Distance of the two compared values of a key from the fitted one, as a share of the key's range."""
FELT = 2.0
"""Change of a figure between the two values, in tolerances, from which the load determines the key."""


@dataclass(frozen=True)
class Advice:
    """Load that would determine a key."""

    key: str
    values: tuple[str, str]
    """Values of the key between which the figure changes."""
    load: str | None
    """Label of the load; None if no figure of any load depends on the key enough."""
    figure: str
    change: float
    """Ratio of the figure at the second value to the figure at the first, minus 1."""


def advise(search: Search, keys: Sequence[str], facts: Facts, length: Length) -> tuple[tuple[Advice, ...], bool]:
    """Returns the advice on some keys, and whether there was time for all of it.

    Args:
        search: The search, with its best drive.
        keys: The keys that the measurements do not determine.
        facts: The facts of the drive.
        length: The simulated length of the loads.
    """
    measured = {target.load.load for target in search.bench.targets if isinstance(target.load, ClosedLoad)}
    targets = [
        Target(load.label, (), ClosedLoad(facts.tables, load, length.extent)) for load in LOADS if load not in measured
    ]
    bench = Bench(targets, facts.software_us, search.bench.executor, search.bench.store, lambda _: None)
    search.begin_advice(bench)
    best = search.bench.best.settings
    found: list[Advice] = []
    try:
        for key in facts.space.keys:
            if key.key in keys:
                found.append(advice_on(key, best, bench))
    except OutOfTime:
        return tuple(found), False
    return tuple(found), True


def advice_on(key: FreeKey, best: Settings, bench: Bench) -> Advice:
    """Returns the load and the figure that depend on a key most, of drives that differ only by the key.

    Raises:
        OutOfTime: If the time has ended.
    """
    values = values_of(key, best[key.key])
    drives = bench.try_all([{**best, key.key: value} for value in values])
    first, other = drives[0], drives[-1]
    effects = [
        (abs(change) / TOLERANCES[figure.removesuffix("_us").rpartition("_")[2]], change, target.name, figure)
        for at, target in enumerate(bench.targets)
        for figure in FIGURES
        if (change := log_ratio(first, other, at, figure)) is not None
    ]
    strength, change, load, figure = max(effects, default=(0.0, 0.0, "", SERVED))
    told = load if strength >= FELT else None
    return Advice(key.key, (values[0], values[-1]), told, figure, math.expm1(change))


def values_of(key: FreeKey, fitted: str) -> list[str]:
    """Returns values of a key on both sides of the fitted one; of a choice, the fitted one and another."""
    if isinstance(key.domain, tuple):
        return [fitted, next(choice for choice in key.domain if choice != fitted)]
    share = key.share_of(fitted)
    middle = 0.5 if share is None else share
    return [key.at(max(middle - ASIDE, 0.0)), key.at(min(middle + ASIDE, 1.0))]


def log_ratio(first: Candidate, other: Candidate, at: int, figure: str) -> float | None:
    """Returns the logarithm of the ratio of a figure of two drives under a load; None if one does not have it."""
    figures = (first.figures[at], other.figures[at])
    found = [None if each is None else value(each, figure) for each in figures]
    if not all(found):
        return None
    return math.log(float(found[1] or 0.0) / float(found[0] or 0.0))
