"""Search for the drive with the least loss, in stages that each have a share of the time.

1. Short runs: for a data sheet alone, drives by closed forms that simulations correct; if a load mixes reads and
   writes, alternative choices of one key and of two in the initial drive; then least squares from the best drive,
   alternative choices of one key in its result, least squares again, and drives that Optuna proposes.
2. Full runs: the best of these drives, then least squares from the best one.
3. Each alternative choice in full runs, and slopes at the best drive, from which follows which keys are determined.
4. Cross-validation: for each load, the best drive moved by one step of least squares over the other loads.
5. Return of keys that the measurements do not determine to their initial values, if the drive then fits as well.
6. Advice on further measurements (`advice.py`).
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.calibration.inputs.points import COARSER
from flashmesh.calibration.searching.bench import OutOfTime, key_of
from flashmesh.calibration.searching.determined import LOSS_MARGIN
from flashmesh.calibration.searching.exercised import MIX
from flashmesh.calibration.searching.local import STEP, descend, slopes_at, step_without
from flashmesh.calibration.searching.proposer import proposer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flashmesh.calibration.searching.bench import Bench, Candidate, Settings
    from flashmesh.calibration.searching.estimates import Aim
    from flashmesh.calibration.searching.local import Slopes
    from flashmesh.calibration.space import Space

TRIALS_A_KEY = 4
"""Default number of proposed drives for each key."""
TRIALS_MIN = 16
"""Minimum default number of proposed drives."""
COARSE_STEPS = 3
"""Maximum number of least-squares steps in each of the two descents in short runs."""
AIMS = 4
"""Maximum number of drives with settings from closed forms, including the initial drive if it has such."""
STEPS_MAX = 8
"""Maximum number of least-squares steps in full runs."""
FINALISTS = 4
"""Number of drives of the first stage that are repeated in full runs."""
STAGES = ("short runs", "full runs", "slopes", "cross-validation", "return to initial values", "advice")
"""Names of the stages in progress lines."""
SHARES = (0.40, 0.72, 0.81, 0.89, 0.95, 1.0)
"""End of each stage in `STAGES`, as a share of the budget."""
DRIVES_FEW = 6
"""Minimum number of drives that must fit the stage of short runs; otherwise the time of full runs is added."""
DRIVES_MIN = 1 + COARSER
"""Minimum budget for the short and full runs of one drive, as a multiple of the time of the short runs alone."""


@dataclass(frozen=True)
class Search:
    """State of a search: two benches, the searched keys, and the time budget.

    A bench simulates drives under all measured loads, and keeps their residuals.
    """

    bench: Bench
    coarse: Bench
    """Bench with short runs; `bench` itself if full runs are as short."""
    space: Space
    seed: int
    budget_s: float
    begun: float
    on_stage: Callable[[str], None] = lambda name: None
    """Called with the name of each stage that begins."""

    def stage(self, number: int) -> None:
        """Begins a stage, by its index in `SHARES`: sets the deadline of both benches to the end of the stage."""
        self.on_stage(STAGES[number])
        self.bench.until = self.coarse.until = self.begun + SHARES[number] * self.budget_s

    def begin_advice(self, bench: Bench) -> None:
        """Begins the advice stage. `bench`, which simulates the loads to advise, gets the deadline of this stage."""
        self.stage(5)
        bench.until = self.bench.until

    def explore(self, start: Settings, trials: int | None, aim: Aim | None = None) -> bool:
        """Tries drives in short runs, and the best of them in full runs. Returns whether the time sufficed.

        Args:
            start: The settings of the initial drive.
            trials: The number of drives to propose; None for the default.
            aim: Closed forms for the figures, to be corrected by simulations; None to try none.

        Raises:
            ConfigError: If Optuna is not installed, the initial drive cannot be simulated, or the time does not suffice
            for a single drive.
        """
        propose = proposer(self.space, start, self.seed)
        self.bench.until = self.coarse.until = self.begun + self.budget_s
        try:
            (first,) = self.coarse.try_all([start])
        except OutOfTime:
            raise self.too_short(self.coarse) from None
        if all(each is None for each in first.figures) and self.coarse.failure is not None:
            raise self.coarse.failure
        self.begin_short_runs(time.monotonic() - self.begun)
        count = trials if trials is not None else max(TRIALS_MIN, TRIALS_A_KEY * len(self.space.keys))
        is_whole = True
        try:
            if aim is not None:
                self.take_aim(aim)
            # If reads are measured beside writes, choices come first: least squares would compensate for a wrong
            # choice with wrong values in the ranges. Otherwise, figures depend more on the ranges.
            if any(MIX in each for each in self.coarse.traits):
                self.coarse.try_all(self.other_pairs(first))
            descend(self.coarse, self.coarse, self.space, self.coarse.best.settings, COARSE_STEPS)
            if self.coarse.try_all(self.other_choices(self.coarse.best)):
                descend(self.coarse, self.coarse, self.space, self.coarse.best.settings, COARSE_STEPS)
            propose(self.coarse, count)
        except OutOfTime:
            is_whole = False
        return self.promote() and is_whole

    def begin_short_runs(self, drive_s: float) -> None:
        """Begins the stage of short runs, with the time of full runs added if the stage has time for few drives only.

        Short runs then stand in for full runs that do not end in time, since a better drive is worth more.

        Args:
            drive_s: The time in seconds that the initial drive took.
        """
        self.stage(0)
        if drive_s * DRIVES_FEW > SHARES[0] * self.budget_s:
            self.bench.until = self.coarse.until = self.begun + SHARES[1] * self.budget_s

    def take_aim(self, aim: Aim) -> None:
        """Tries drives by closed forms, each corrected by the one before, up to `AIMS` drives or the first worse one.

        Raises:
            OutOfTime: If the stage runs out of time.
        """
        for _ in range(AIMS):
            (candidate,) = self.coarse.try_all([aim.settings()])
            if candidate is not self.coarse.best:
                return
            aim.correct(candidate)

    def promote(self) -> bool:
        """Repeats the best drives of the first stage in full runs. Returns whether the time sufficed.

        The first of them has all the time that is left. If even this does not suffice, its short runs take the place of
        full runs.
        """
        self.stage(1)
        ranked = sorted(self.coarse.candidates, key=lambda each: each.loss)[:FINALISTS]
        self.bench.until = self.coarse.until = self.begun + self.budget_s
        try:
            for candidate in ranked:
                self.bench.try_all([candidate.settings])
                self.stage(1)
        except OutOfTime:
            if not self.bench.tried:
                self.bench.tried[key_of(ranked[0].settings)] = ranked[0]
            return False
        return True

    @property
    def has_full_runs(self) -> bool:
        """Whether the best drive has full runs."""
        return self.bench is self.coarse or all(self.bench.best is not each for each in self.coarse.candidates)

    def too_short(self, bench: Bench) -> ConfigError:
        """Returns the error for a budget that is too short to simulate a single drive on a bench.

        The error has an amount that is likely to be enough, by the share of the runs that ended in time.
        """
        # If no run has ended, half a run is assumed to be done.
        ended = max(len(bench.known), 0.5)
        drive_s = (time.monotonic() - self.begun) * len(bench.targets) / ended
        minutes = math.ceil(max(drive_s * DRIVES_MIN, 2.0 * self.budget_s) / 60.0)
        told = f"{self.budget_s / 60:g} minutes are too short for a single drive"
        return ConfigError(f"{told}: allow some {minutes} with --budget, or fewer --requests")

    def polish(self) -> bool:
        """Improves the best drive by least squares in full runs. Returns whether the time sufficed."""
        self.stage(1)
        try:
            descend(self.bench, self.coarse, self.space, self.bench.best.settings, STEPS_MAX)
        except OutOfTime:
            return False
        return True

    def slopes_at_best(self) -> Slopes | None:
        """Returns the slopes at the best drive, after further steps of least squares while these improve it.

        If the time runs out after a step, the slopes are those before the step. Returns None if the time ran out before
        the first slopes, or no key has a range.
        """
        if not self.space.ranged:
            return None
        self.stage(2)
        found: Slopes | None = None
        try:
            while found is None or self.bench.best is not found.at:
                found = slopes_at(self.bench, self.coarse, self.space, self.bench.best.settings)
                self.bench.try_all([step_without(found, self.space, None)])
        except OutOfTime:
            pass
        return found

    def try_other_choices(self) -> bool:
        """Tries each alternative choice of each key in the best drive. Returns whether the time sufficed."""
        self.stage(2)
        try:
            self.bench.try_all(self.other_choices(self.bench.best))
        except OutOfTime:
            return False
        return True

    def other_choices(self, best: Candidate) -> list[Settings]:
        """Returns the drives that differ from `best` by the choice of one key."""
        found = [{**best.settings, **change} for change in self.changes(best)]
        return [drive for drive in found if self.has_effect(drive, best)]

    def other_pairs(self, best: Candidate) -> list[Settings]:
        """Returns the drives that differ from `best` by the choices of one or two keys.

        Two choices can belong together: suspension helps reads only if a full write buffer does not prevent it.
        """
        pairs = itertools.combinations(self.changes(best), 2)
        two = [{**best.settings, **first, **other} for first, other in pairs if first.keys() != other.keys()]
        return [*self.other_choices(best), *(drive for drive in two if self.has_effect(drive, best))]

    def changes(self, best: Candidate) -> list[Settings]:
        """Returns, for each key, the choices that differ from the value of the key in `best`."""
        keys = self.space.keys
        return [{key.key: each} for key in keys for each in key.choices if each != best.settings[key.key]]

    def has_effect(self, drive: Settings, best: Candidate) -> bool:
        """Returns whether no key in which `drive` differs from `best` is disabled by another key of `drive`."""
        without = self.space.without_effect(drive)
        return all(value == best.settings[key] for key, value in drive.items() if key in without)

    def return_to_start(self, start: Settings, best: Candidate, keys: Sequence[str]) -> tuple[Candidate, bool]:
        """Sets keys back to their initial values as far as the fit does not get worse by more than `LOSS_MARGIN`.

        Tries choices and slightly moved keys together, then all others, and halves of a group that makes the fit worse.
        Returns the drive, and whether the time sufficed.

        Args:
            start: The settings of the initial drive.
            best: The best drive.
            keys: The keys that the measurements do not determine.
        """
        self.stage(4)
        kept = best
        near = [key.key for key in self.space.keys if key.distance(best.settings[key.key], start[key.key]) < STEP]
        moved = [key for key in keys if best.settings[key] != start[key]]
        # The last group is tried first.
        waiting = [[key for key in moved if key not in near], [key for key in moved if key in near]]
        try:
            while waiting:
                group = waiting.pop()
                if not group:
                    continue
                settings = {**kept.settings, **{key: start[key] for key in group}}
                settings |= {key: start[key] for key in self.space.without_effect(settings)}
                (candidate,) = self.bench.try_all([settings])
                if candidate.loss <= best.loss + LOSS_MARGIN:
                    kept = candidate
                elif len(group) > 1:
                    middle = len(group) // 2
                    waiting += [group[middle:], group[:middle]]
        except OutOfTime:
            return kept, False
        return kept, True

    def refit(self, best: Candidate, slopes: Slopes | None) -> list[Candidate] | None:
        """Returns, for each load, the best drive moved by one least-squares step over the other loads.

        Returns the best drive itself if the step does not improve the loss over the other loads. If no key has a range,
        returns the tried drive with the least loss over the other loads. Returns None if no fit to the other loads was
        made: with a single load, if the time ran out, or if a single drive was tried.
        """
        self.stage(3)
        count = len(self.bench.targets)
        if count < 2:
            return None
        if slopes is None:
            tried = self.bench.candidates
            if self.space.ranged or len(tried) < 2:
                return None
            return [min(tried, key=lambda each: each.loss_without(number)) for number in range(count)]
        try:
            moved = self.bench.try_all([step_without(slopes, self.space, number) for number in range(count)])
        except OutOfTime:
            return None
        # A step can overshoot, because slopes hold only for small changes.
        return [min((each, best), key=lambda drive: drive.loss_without(at)) for at, each in enumerate(moved)]


def new_search(
    bench: Bench,
    coarse: Bench,
    space: Space,
    seed: int,
    budget_s: float,
    on_stage: Callable[[str], None] = lambda name: None,
) -> Search:
    """Returns a search whose time budget begins now."""
    return Search(bench, coarse, space, seed, budget_s, time.monotonic(), on_stage)
