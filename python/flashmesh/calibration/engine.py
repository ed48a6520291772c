"""Calibration of a drive in stages, as far as the time allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.calibration import BUDGET_MIN, SEED
from flashmesh.calibration.bench import Bench, Candidate
from flashmesh.calibration.determined import found_keys
from flashmesh.calibration.facts import read_facts
from flashmesh.calibration.fio_results import is_fio, read_fio
from flashmesh.calibration.outcome import Calibration, Fitted
from flashmesh.calibration.points import target_of_jobs, targets_of
from flashmesh.calibration.search import new_search
from flashmesh.validation.measurements import chosen, read
from flashmesh.validation.workload import Extent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from flashmesh.calibration.facts import Facts
    from flashmesh.calibration.points import Target
    from flashmesh.sweeps.session import Executor
    from flashmesh.sweeps.store import Store


@dataclass(frozen=True)
class Problem:
    """Input of a calibration: facts and measurements."""

    facts: Facts
    targets: tuple[Target, ...]
    measured: str
    requests: int


def read_problem(measured: Sequence[Path], facts: Path, drive: str | None, requests: int) -> Problem:
    """Reads measurements and facts.

    Args:
        measured: A table, or results of fio.
        facts: The facts of the drive.
        drive: The drive of the table; None if the table has only one.
        requests: The approximate number of simulated requests of each load.

    Raises:
        ConfigError: If one of the files is invalid.
    """
    known = read_facts(facts)
    extent = Extent(requests)
    names = ", ".join(path.name for path in measured)
    if all(map(is_fio, measured)):
        if drive is not None:
            raise ConfigError("--drive chooses a drive of a table, and results of fio have none: leave it out")
        targets = [target_of_jobs(path.stem, *read_fio(path), known.tables, extent) for path in measured]
    elif len(measured) == 1:
        table = chosen(read(measured[0]), drive, str(measured[0]))
        targets = targets_of(table, known.tables, extent)
    else:
        raise ConfigError(f"{names}: give one table, or results of fio, whose names end with .json")
    return Problem(known, tuple(targets), names, requests)


def calibrate(
    problem: Problem,
    executor: Executor,
    *,
    store: Store | None = None,
    budget_min: float = BUDGET_MIN,
    trials: int | None = None,
    seed: int = SEED,
    on_candidate: Callable[[Candidate], None] = lambda candidate: None,
) -> Calibration:
    """Fits a drive.

    The seed alone determines the sequence of tried drives; more time tries more of them. Runs in the store are reused.

    Args:
        problem: The facts and measurements.
        executor: The executor of the runs.
        store: The store of the results.
        budget_min: The time limit in minutes.
        trials: The number of drives tried in the whole space, before the best are improved; by default 8 for each key.
        seed: The seed of the search.
        on_candidate: Called after the simulation of each tried drive.

    Raises:
        ConfigError: If the drive cannot be simulated, or the time is too short.
        OutputError: If the store cannot be written.
    """
    facts = problem.facts
    bench = Bench(problem.targets, facts.software_us, executor, store, on_candidate)
    search = new_search(bench, facts.space, seed, budget_min * 60.0)
    cut: list[str] = []
    if not search.explore(facts.start(), trials):
        cut.append("the search was cut short")
    if not search.polish():
        cut.append("the improvement of the best drive was cut short")
    slopes = search.slopes_at_best()
    if facts.space.ranged and slopes is None:
        cut.append("there was no time to see which keys are determined")
    if not search.others(bench.best):
        cut.append("there was no time for every choice")
    without = search.refit(slopes)
    if without is None and len(problem.targets) > 1:
        cut.append("there was no time for the cross-validation")
    best = bench.best
    points = tuple(
        Fitted(target, best.figures[number], None if without is None else without[number].figures[number])
        for number, target in enumerate(problem.targets)
    )
    keys = tuple(found_keys(facts.space, best, slopes, bench.candidates))
    return Calibration(
        facts, problem.measured, best, keys, points, len(bench.tried), seed, problem.requests, tuple(cut)
    )
