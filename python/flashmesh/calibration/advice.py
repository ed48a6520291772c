"""Advice on further measurements: for each key that is not determined, the load whose figures depend on it most."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh.calibration.inputs.points import ClosedLoad, Target
from flashmesh.calibration.residuals import SERVED, tolerance_of, value
from flashmesh.calibration.searching.bench import Bench, OutOfTime
from flashmesh.validation.tables.sheets import SheetLoad

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.calibration.inputs.facts import Facts
    from flashmesh.calibration.inputs.points import Length
    from flashmesh.calibration.searching.bench import Candidate, Settings
    from flashmesh.calibration.searching.search import Search
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
"""Loads that can be advised: closed loops that fio and similar programs can generate."""
FIGURES = (SERVED, "read_mean_us", "read_p99_us", "write_mean_us", "write_p99_us")
OFFSET = 0.25
"""Offset of the lower and the upper compared value from the fitted value, as a share of the key's range."""
CHANGE_MIN = 2.0
"""Minimum change of a figure between the compared values, in tolerances of the figure, for its load to be advised."""


@dataclass(frozen=True)
class Advice:
    """The load whose measurement would best determine a key."""

    key: str
    values: tuple[str, str]
    """The two values of the key whose figures are compared."""
    load: str | None
    """Label of the load; None if no figure changes by `CHANGE_MIN` tolerances under any load. `figure` and `change`
    then describe the largest change in tolerances."""
    figure: str
    change: float
    """Relative change of the figure from the first compared value to the second."""


def advise(
    search: Search, best: Settings, keys: Sequence[str], facts: Facts, length: Length
) -> tuple[tuple[Advice, ...], bool]:
    """Returns the advice for each of `keys`, and whether the time sufficed for all of them.

    There is no advice for a key if no two drives that differ by the key can be simulated.

    Args:
        search: The running search. Advice is its last stage.
        best: The settings of the best drive.
        keys: The keys that the measurements do not determine.
        facts: The facts of the drive.
        length: The length of the runs.
    """
    measured = {target.load.load for target in search.bench.targets if isinstance(target.load, ClosedLoad)}
    targets = [
        Target(load.label, (), ClosedLoad(facts.tables, load, length.extent)) for load in LOADS if load not in measured
    ]
    bench = Bench(
        targets, facts.software_us, search.bench.executor, search.bench.store, lambda _: None, search.bench.on_wait
    )
    search.begin_advice(bench)
    found: list[Advice] = []
    try:
        for key in facts.space.keys:
            advice = advice_on(key, best, bench) if key.key in keys else None
            if advice is not None:
                found.append(advice)
    except OutOfTime:
        return tuple(found), False
    return tuple(found), True


def advice_on(key: FreeKey, best: Settings, bench: Bench) -> Advice | None:
    """Returns the load under which a figure changes most if only `key` changes in the best drive, and this figure.

    Returns None if no two drives that differ by the key can be simulated.

    Raises:
        OutOfTime: If the stage runs out of time.
    """
    values = values_of(key, best[key.key])
    drives = bench.try_all([{**best, key.key: value} for value in values])
    effects = [
        (abs(change) / tolerance_of(figure), change, target.name, figure, value)
        for other, value in zip(drives[1:], values[1:], strict=True)
        for at, target in enumerate(bench.targets)
        for figure in FIGURES
        if (change := log_ratio(drives[0], other, at, figure)) is not None
    ]
    if not effects:
        return None
    strength, change, load, figure, value = max(effects)
    told = load if strength >= CHANGE_MIN else None
    return Advice(key.key, (values[0], value), told, figure, math.expm1(change))


def values_of(key: FreeKey, fitted: str) -> list[str]:
    """Returns the values to compare: in a range, below and above `fitted`; of choices, `fitted` and all others."""
    if isinstance(key.domain, tuple):
        return [fitted, *(choice for choice in key.domain if choice != fitted)]
    share = key.share_of(fitted)
    middle = 0.5 if share is None else share
    return [key.at(max(middle - OFFSET, 0.0)), key.at(min(middle + OFFSET, 1.0))]


def log_ratio(first: Candidate, other: Candidate, at: int, figure: str) -> float | None:
    """Returns log(other / first) of a figure under the load at index `at`; None if it is missing or 0 for a drive."""
    figures = (first.figures[at], other.figures[at])
    found = [None if each is None else value(each, figure) for each in figures]
    if not all(found):
        return None
    return math.log(float(found[1] or 0.0) / float(found[0] or 0.0))
