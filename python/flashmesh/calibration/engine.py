"""Calibration of a drive: reads the problem, and runs the stages of the search within a time limit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.calibration import BUDGET_MIN, SEED
from flashmesh.calibration.advice import advise
from flashmesh.calibration.inputs.facts import read_facts
from flashmesh.calibration.inputs.fio_results import is_fio, read_fio
from flashmesh.calibration.inputs.points import (
    Length,
    critical_loads,
    name_of,
    target_of_jobs,
    targets_of,
    targets_of_rows,
)
from flashmesh.calibration.outcome import Calibration, Fitted
from flashmesh.calibration.searching.bench import Bench, Candidate
from flashmesh.calibration.searching.determined import LOSS_MAX, found_keys
from flashmesh.calibration.searching.estimates import Aim, initial_values
from flashmesh.calibration.searching.exercised import unexercised
from flashmesh.calibration.searching.search import new_search
from flashmesh.calibration.searching.throttle import with_throttle
from flashmesh.calibration.space import Space
from flashmesh.validation.engine import FULL
from flashmesh.validation.loads.workload import Extent
from flashmesh.validation.tables.measurements import chosen, read
from flashmesh.validation.tables.sheets import chosen_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from flashmesh.calibration.advice import Advice
    from flashmesh.calibration.inputs.facts import Facts
    from flashmesh.calibration.inputs.points import Target
    from flashmesh.calibration.searching.determined import KeyEstimate
    from flashmesh.calibration.searching.local import Slopes
    from flashmesh.sweeps.executors.session import Executor
    from flashmesh.sweeps.results.store import Store
    from flashmesh.validation.tables.sheets import SheetRow


@dataclass(frozen=True)
class Problem:
    """Input of a calibration: the facts of the drive, and its measured loads."""

    facts: Facts
    measured: str
    """File names of the measurements, joined by commas."""
    length: Length
    targets: tuple[Target, ...]
    coarse: tuple[Target, ...]
    """`targets` with shorter runs, for the first search and for slopes."""
    critical: tuple[str, ...] = ()
    """Names of the measured loads that are not fitted, because they are critical (`critical_loads`)."""
    rows: tuple[SheetRow, ...] = ()
    """Rows of the data sheet."""

    @cached_property
    def unexercised(self) -> dict[str, str]:
        """Keys that no load exercises, each with a sentence that says why. They keep their initial values."""
        return unexercised(self.facts.space.keys, self.targets)

    @cached_property
    def searched(self) -> Space:
        """Searched keys: those that a load exercises."""
        return Space(tuple(key for key in self.facts.space.keys if key.key not in self.unexercised))


def read_problem(
    measured: Sequence[Path],
    facts: Path,
    drive: str | None,
    requests: int | None,
    *,
    precision: str | None = None,
    data_sheet: Path | None = None,
) -> Problem:
    """Reads measurements and facts.

    Args:
        measured: One table of measurements, or any number of fio results; empty with a data sheet alone.
        facts: The facts of the drive.
        drive: The name of the drive in the tables; None if they have only one drive.
        requests: The approximate number of simulated requests of each load; None for as many as `flashmesh validate`.
        precision: The precision of the mean latency that ends a run early; None to run all requests.
        data_sheet: A table of data-sheet rows, which are fitted too; None without one.

    Raises:
        ConfigError: If one of the files is invalid, or there is neither a measurement nor a data sheet.
    """
    if not measured and data_sheet is None:
        raise ConfigError("there is nothing to fit: give measurements, a data sheet or both")
    names = ", ".join(path.name for path in (*measured, *([data_sheet] if data_sheet is not None else [])))
    if all(map(is_fio, measured)):
        if drive is not None and data_sheet is None:
            raise ConfigError("--drive chooses a drive of a table, but fio results name no drive: leave it out")
        results = [(path.stem, *read_fio(path)) for path in measured]
        table = None
    elif len(measured) == 1:
        results = []
        table = chosen(read(measured[0]), drive, str(measured[0]))
    else:
        raise ConfigError(f"{names}: give one table, or fio results, whose names end with .json")
    rows = () if data_sheet is None else chosen_rows(data_sheet, drive if table is None else table.drive)
    known = read_facts(facts, with_rows=bool(rows))
    length = Length((FULL.of(known.tables) if requests is None else Extent(requests)), precision)

    def targets(of: Length) -> tuple[Target, ...]:
        found = [] if table is None else targets_of(table, known.tables, of)
        found += [target_of_jobs(*result, known.tables, of) for result in results]
        return (*found, *targets_of_rows(rows, known.tables, of))

    fitted = targets(length)
    known = with_throttle(known, fitted)
    critical = () if table is None else tuple(name_of(point) for point in critical_loads(table))
    problem = Problem(known, names, length, fitted, targets(length.coarse), critical, rows)
    if not problem.searched.keys:
        told = "; ".join(f"{why}, as {key} needs" for key, why in problem.unexercised.items())
        raise ConfigError(f"{names}: leaves nothing to fit: {told}")
    return problem


def calibrate(
    problem: Problem,
    executor: Executor,
    *,
    store: Store | None = None,
    budget_min: float = BUDGET_MIN,
    trials: int | None = None,
    seed: int = SEED,
    on_candidate: Callable[[Candidate], None] = lambda candidate: None,
    on_stage: Callable[[str], None] = lambda name: None,
    on_wait: Callable[[], None] = lambda: None,
) -> Calibration:
    """Fits a drive to measurements.

    For the same problem and seed, a calibration tries the same drives in the same order until a stage runs out of time.
    Runs in the store are reused.

    Args:
        problem: The facts and measurements.
        executor: The executor of the runs.
        store: The store of the results; None to keep results in memory only.
        budget_min: The time limit in minutes.
        trials: The number of drives that Optuna proposes; by default 4 for each key, at least 16.
        seed: The seed of the search.
        on_candidate: Called after the simulation of each tried drive.
        on_stage: Called with the name of each stage of the search that begins.
        on_wait: Called several times a second while runs last.

    Raises:
        ConfigError: If the drive cannot be simulated, or the time is too short.
        OutputError: If the store cannot be written.
    """
    facts = problem.facts
    bench = Bench(problem.targets, facts.software_us, executor, store, on_candidate, on_wait)
    coarse = bench
    if problem.length.coarse != problem.length:
        coarse = Bench(problem.coarse, facts.software_us, executor, store, on_candidate, on_wait)
    search = new_search(bench, coarse, problem.searched, seed, budget_min * 60.0, on_stage)
    cut: list[str] = []
    start = initial_values(facts, problem.targets)

    def estimates(drive: Candidate, slopes: Slopes | None) -> list[KeyEstimate]:
        return found_keys(facts.space, drive, slopes, bench.candidates, problem.unexercised, is_cut=len(cut) > 0)

    def undetermined(drive: Candidate, slopes: Slopes | None) -> list[str]:
        found = [each.key for each in estimates(drive, slopes) if not each.is_determined]
        return [key for key in found if key not in problem.unexercised]

    is_sheet = all(target.rows for target in problem.targets)
    if not search.explore(start, trials, Aim(facts, problem.targets, start) if is_sheet else None):
        cut.append("the search ran out of time")
    if not search.has_full_runs:
        cut.append("there was no time for full runs: the figures are of runs with a quarter of the requests")
    if not search.polish():
        cut.append("the improvement of the best drive ran out of time")
    if not search.try_other_choices():
        cut.append("there was no time to try every choice")
    slopes = search.slopes_at_best()
    if problem.searched.ranged and slopes is None:
        cut.append("there was no time to decide which keys are determined")
    without = search.refit(bench.best, slopes)
    if without is None and len(problem.targets) > 1:
        cut.append("there was no time to predict each load by a fit to the other loads")
    # The cross-validation can have found a new best drive. `slopes` were taken before, at `slopes.at`.
    fitted = bench.best
    best, is_whole = search.return_to_start(start, fitted, undetermined(fitted, slopes))
    if not is_whole:
        cut.append("there was no time to return every key that is not determined to its initial value")
    if without is not None:
        without = [best if each is fitted else each for each in without]
    points = tuple(
        Fitted(
            target,
            best.figures[number],
            None if without is None else without[number].figures[number],
            is_refitted=without is not None and without[number] is not best,
        )
        for number, target in enumerate(problem.targets)
    )
    keys = tuple(found_keys(facts.space, best, slopes, bench.candidates, problem.unexercised, is_cut=len(cut) > 0))
    advice: tuple[Advice, ...] = ()
    # Without slopes, or if the best drive is far from the measurements, it is unknown which keys are determined.
    if slopes is not None and best.loss <= LOSS_MAX:
        advice, is_whole = advise(search, best.settings, undetermined(best, slopes), facts, problem.length.coarse)
        if not is_whole:
            cut.append("there was no time to find the measurements that would determine the other keys")
    tried = len(bench.tried) + (0 if coarse is bench else len(coarse.tried))
    return Calibration(facts, problem, start, best, keys, points, advice, tried, seed, tuple(cut))
