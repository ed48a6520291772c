"""Least squares around a drive. Residuals come from full runs, slopes from differences of shorter runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flashmesh.calibration.searching.bench import Bench, Candidate, Settings
    from flashmesh.calibration.space import Space

    Vector = NDArray[np.float64]

STEP = 0.05
"""Finite-difference step of a key, as a share of its range."""
NEAR = 1e-3
"""Convergence tolerance of least squares; also the minimum distance of an initial value from either end of the range of
its key, as a share of the range."""
RIDGE = 0.5
"""Ridge weight of a single step. Keeps the step small if several keys have the same effect."""


@dataclass(frozen=True)
class Slopes:
    """Jacobian of the residuals at a candidate, with respect to the keys with a range."""

    at: Candidate
    matrix: Vector
    """A row for each residual, a column for each key: change of the residual per full range of the key."""


def slopes_at(bench: Bench, coarse: Bench, space: Space, settings: Settings) -> Slopes:
    """Returns the slopes of all residuals at a drive, by finite differences.

    Args:
        bench: The bench for the residuals of the drive.
        coarse: The bench for the differences, usually with shorter runs.
        space: The searched keys.
        settings: The settings of the drive.

    Raises:
        OutOfTime: If the stage runs out of time.
    """
    shares = space.shares(settings)
    moved, steps = [], []
    for number, share in enumerate(shares):
        step = STEP if share + STEP <= 1.0 else -STEP
        steps.append(step)
        moved.append(space.moved(settings, [*shares[:number], share + step, *shares[number + 1 :]]))
    (at,) = bench.try_all([settings])
    first, *others = coarse.try_all([space.moved(settings, shares), *moved])
    columns = [(vector(other) - vector(first)) / step for other, step in zip(others, steps, strict=True)]
    return Slopes(at, np.stack(columns, axis=1))


def descend(bench: Bench, coarse: Bench, space: Space, begin: Settings, steps_max: int) -> None:
    """Improves a drive by least squares. Every tried drive becomes a candidate of `bench`.

    Args:
        bench: The bench for residuals.
        coarse: The bench for slopes.
        space: The searched keys; those without a range keep their values.
        begin: The settings of the first drive.
        steps_max: The maximum number of evaluations of the residuals.

    Raises:
        OutOfTime: If the stage runs out of time before convergence.
    """
    from scipy.optimize import least_squares

    if not space.ranged:
        return

    def residuals(shares: Vector) -> Vector:
        (candidate,) = bench.try_all([space.moved(begin, at_ends(shares))])
        return vector(candidate)

    def slopes(shares: Vector) -> Vector:
        return slopes_at(bench, coarse, space, space.moved(begin, at_ends(shares))).matrix

    first = np.clip(np.array(space.shares(begin)), NEAR, 1.0 - NEAR)
    least_squares(
        residuals,
        first,
        jac=slopes,
        bounds=(0.0, 1.0),
        loss="soft_l1",
        xtol=NEAR,
        ftol=NEAR,
        max_nfev=steps_max,
    )


def at_ends(shares: Vector) -> list[float]:
    """Returns the positions, as shares of the range, with those within `NEAR` of 0 or 1 set to 0 or 1.

    Least squares begin inside the bounds, but a mechanism that is off at the end of its range stays off.
    """
    limit = NEAR * (1.0 + 1e-6)
    return [0.0 if share <= limit else 1.0 if share >= 1.0 - limit else share for share in shares.tolist()]


def step_without(slopes: Slopes, space: Space, left_out: int | None) -> Settings:
    """Returns the settings after one least-squares step from `slopes.at` over all loads except the one at `left_out`.

    With `left_out` None, no load is left out.
    """
    owners = np.concatenate([np.full(len(row), number) for number, row in enumerate(slopes.at.rows)])
    kept = owners != left_out
    matrix, distances = slopes.matrix[kept], vector(slopes.at)[kept]
    # Large residuals weigh less, as in the soft-L1 loss.
    weights = (1.0 + distances**2) ** -0.25
    step = np.linalg.lstsq(
        np.vstack([matrix * weights[:, None], np.eye(matrix.shape[1]) * RIDGE]),
        np.concatenate([-distances * weights, np.zeros(matrix.shape[1])]),
        rcond=None,
    )[0]
    shares: Sequence[float] = np.clip(np.array(space.shares(slopes.at.settings)) + step, 0.0, 1.0).tolist()
    return space.moved(slopes.at.settings, shares)


def vector(candidate: Candidate) -> Vector:
    """Returns the residuals of a candidate in one array, load by load."""
    return np.array([each for row in candidate.rows for each in row])
