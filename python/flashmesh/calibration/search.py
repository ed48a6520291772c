"""Search for the drive with the least loss: first in the whole space, then around the best drive found.

Optuna proposes drives from the whole space. Then least squares (SciPy) improve the best one, with the slopes of
all figures over all keys with a range.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from flashmesh._native import ConfigError
from flashmesh.calibration.bench import OutOfTime
from flashmesh.extras import install

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flashmesh.calibration.bench import Bench, Candidate, Settings
    from flashmesh.calibration.space import Space

    Vector = NDArray[np.float64]

AT_ONCE = 4
"""Number of drives that are proposed at a time, before their results are known; the same on all machines."""
TRIALS_A_KEY = 8
TRIALS_MIN = 16
STEP = 0.05
"""Change of a key to compute slopes, as a share of the key's range."""
POLISHES_MAX = 8
NEAR = 1e-3
SHARES = (0.45, 0.75, 0.88, 1.0)
"""Time at which each stage ends, as a share of the budget: whole space, best drive, slopes, cross-validation."""


@dataclass(frozen=True)
class Slopes:
    """Derivatives of the residuals with respect to the keys that have a range, at a candidate."""

    at: Candidate
    matrix: Vector
    """Derivatives: a row for each residual, a column for each key, per whole range of the key."""


@dataclass(frozen=True)
class Search:
    """A search over the keys of a space."""

    bench: Bench
    space: Space
    seed: int
    budget_s: float
    begun: float

    def stage(self, number: int) -> None:
        """Begins a stage and sets the time at which it ends."""
        self.bench.until = self.begun + SHARES[number] * self.budget_s

    def explore(self, start: Settings, trials: int | None) -> bool:
        """Tries the initial drive and drives from the whole space. Returns whether there was time for all.

        Raises:
            ConfigError: If Optuna is not installed, the initial drive cannot be simulated, or the time is too short for
            one.
        """
        try:
            import optuna
        except ImportError as error:
            raise ConfigError(f"a calibration needs Optuna, which is not installed: {install('search')}") from error
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=self.seed))
        self.bench.until = self.begun + self.budget_s
        try:
            (first,) = self.bench.try_all([start])
        except OutOfTime:
            told = f"{self.budget_s / 60:g} minutes are too short for a single drive"
            raise ConfigError(f"{told}: allow more with --budget, or fewer --requests") from None
        if all(each is None for each in first.figures) and self.bench.failure is not None:
            raise self.bench.failure
        study.enqueue_trial(self.enqueued(start))
        self.stage(0)
        count = trials if trials is not None else max(TRIALS_MIN, TRIALS_A_KEY * len(self.space.keys))
        try:
            for begin in range(0, count, AT_ONCE):
                asked = [study.ask() for _ in range(min(AT_ONCE, count - begin))]
                candidates = self.bench.try_all([self.proposed(trial) for trial in asked])
                for trial, candidate in zip(asked, candidates, strict=True):
                    study.tell(trial, candidate.loss)
        except OutOfTime:
            return False
        return True

    def enqueued(self, settings: Settings) -> dict[str, Any]:
        """Returns the settings as parameters of an Optuna trial."""
        shares = dict(zip((key.key for key in self.space.ranged), self.space.shares(settings), strict=True))
        return {key.key: shares.get(key.key, settings[key.key]) for key in self.space.keys}

    def proposed(self, trial: Any) -> Settings:
        """Returns the settings that an Optuna trial proposes."""
        found: Settings = {}
        for key in self.space.keys:
            if isinstance(key.domain, tuple):
                found[key.key] = trial.suggest_categorical(key.key, list(key.domain))
            else:
                found[key.key] = key.at(trial.suggest_float(key.key, 0.0, 1.0))
        return found

    def polish(self) -> bool:
        """Improves the best drive by least squares. Returns whether there was time to converge."""
        from scipy.optimize import least_squares

        if not self.space.ranged:
            return True
        self.stage(1)
        base = self.bench.best.settings

        def residuals(shares: Vector) -> Vector:
            (candidate,) = self.bench.try_all([self.space.moved(base, shares.tolist())])
            return vector(candidate)

        def slopes(shares: Vector) -> Vector:
            return self.slopes(self.space.moved(base, shares.tolist()), shares.tolist()).matrix

        begin = np.clip(np.array(self.space.shares(base)), NEAR, 1.0 - NEAR)
        try:
            least_squares(
                residuals,
                begin,
                jac=slopes,
                bounds=(0.0, 1.0),
                loss="soft_l1",
                xtol=NEAR,
                ftol=NEAR,
                max_nfev=POLISHES_MAX,
            )
        except OutOfTime:
            return False
        return True

    def slopes_at_best(self) -> Slopes | None:
        """Returns the slopes at the best drive; None for lack of time, or if no key has a range."""
        if not self.space.ranged:
            return None
        self.stage(2)
        try:
            while True:
                best = self.bench.best
                found = self.slopes(best.settings, self.space.shares(best.settings))
                if self.bench.best is best:
                    return found
        except OutOfTime:
            return None

    def slopes(self, settings: Settings, shares: Sequence[float]) -> Slopes:
        """Returns the slopes of all residuals at a drive.

        Raises:
            OutOfTime: If there was not enough time.
        """
        moved = []
        steps = []
        for number, share in enumerate(shares):
            step = STEP if share + STEP <= 1.0 else -STEP
            steps.append(step)
            moved.append([*shares[:number], share + step, *shares[number + 1 :]])
        first, *others = self.bench.try_all([settings, *(self.space.moved(settings, each) for each in moved)])
        columns = [(vector(other) - vector(first)) / step for other, step in zip(others, steps, strict=True)]
        return Slopes(first, np.stack(columns, axis=1))

    def others(self, best: Candidate) -> bool:
        """Tries every other choice of each key in the best drive. Returns whether there was time for all."""
        proposed = [
            {**best.settings, key.key: choice}
            for key in self.space.keys
            if isinstance(key.domain, tuple)
            for choice in key.domain
        ]
        try:
            self.bench.try_all(proposed)
        except OutOfTime:
            return False
        return True

    def refit(self, slopes: Slopes | None) -> list[Candidate] | None:
        """Returns, for each load, the best tried drive by the loss over the other loads.

        First tries a least-squares step for each left-out load. None for lack of time, or with a single load.
        """
        self.stage(3)
        count = len(self.bench.targets)
        if count < 2:
            return None
        if slopes is not None:
            proposed = [self.step_without(slopes, number) for number in range(count)]
            try:
                self.bench.try_all(proposed)
            except OutOfTime:
                return None
        tried = self.bench.candidates
        return [min(tried, key=lambda each: each.loss_without(number)) for number in range(count)]

    def step_without(self, slopes: Slopes, left_out: int) -> Settings:
        """Returns the best drive moved by one least-squares step over all loads except one."""
        owners = np.concatenate([np.full(len(row), number) for number, row in enumerate(slopes.at.rows)])
        kept = owners != left_out
        matrix, distances = slopes.matrix[kept], vector(slopes.at)[kept]
        # Large residuals weigh less, as in the loss.
        weights = (1.0 + distances**2) ** -0.25
        step = np.linalg.lstsq(
            np.vstack([matrix * weights[:, None], np.eye(matrix.shape[1]) * 0.5]),
            np.concatenate([-distances * weights, np.zeros(matrix.shape[1])]),
            rcond=None,
        )[0]
        shares = np.clip(np.array(self.space.shares(slopes.at.settings)) + step, 0.0, 1.0)
        return self.space.moved(slopes.at.settings, shares.tolist())


def vector(candidate: Candidate) -> Vector:
    """Returns all residuals of a candidate."""
    return np.array([each for row in candidate.rows for each in row])


def new_search(bench: Bench, space: Space, seed: int, budget_s: float) -> Search:
    """Returns a search whose time budget starts now."""
    return Search(bench, space, seed, budget_s, time.monotonic())
