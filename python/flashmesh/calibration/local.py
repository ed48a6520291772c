"""Least squares around a drive: full runs give its figures; short runs, whose bias cancels out, the slopes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flashmesh.calibration.bench import Bench, Candidate, Settings
    from flashmesh.calibration.space import Space

    Vector = NDArray[np.float64]

STEP = 0.05
"""Change of a key to compute slopes, as a share of the key's range."""
NEAR = 1e-3
RIDGE = 0.5
"""Weight that keeps a single step small, where several keys have the same effect."""


@dataclass(frozen=True)
class Slopes:
    """Derivatives of the residuals with respect to the keys that have a range, at a candidate."""

    at: Candidate
    matrix: Vector
    """Derivatives: a row for each residual, a column for each key, per whole range of the key."""


def slopes_at(bench: Bench, coarse: Bench, space: Space, settings: Settings) -> Slopes:
    """Returns the slopes of all residuals at a drive.

    Args:
        bench: The bench of the drive itself.
        coarse: The bench of the drives beside it.
        space: The searched keys.
        settings: The drive.

    Raises:
        OutOfTime: If there was not enough time.
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
    """Improves a drive by least squares; all tried drives are candidates of `bench`.

    Args:
        bench: The bench of the figures.
        coarse: The bench of the slopes.
        space: The searched keys; those without a range keep their values.
        begin: The drive.
        steps_max: The maximum number of steps.

    Raises:
        OutOfTime: If there was no time to converge.
    """
    from scipy.optimize import least_squares

    if not space.ranged:
        return

    def residuals(shares: Vector) -> Vector:
        (candidate,) = bench.try_all([space.moved(begin, shares.tolist())])
        return vector(candidate)

    def slopes(shares: Vector) -> Vector:
        return slopes_at(bench, coarse, space, space.moved(begin, shares.tolist())).matrix

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


def step_without(slopes: Slopes, space: Space, left_out: int) -> Settings:
    """Returns the drive of the slopes moved by one least-squares step over all loads except one."""
    owners = np.concatenate([np.full(len(row), number) for number, row in enumerate(slopes.at.rows)])
    kept = owners != left_out
    matrix, distances = slopes.matrix[kept], vector(slopes.at)[kept]
    # Large residuals weigh less, as in the loss.
    weights = (1.0 + distances**2) ** -0.25
    step = np.linalg.lstsq(
        np.vstack([matrix * weights[:, None], np.eye(matrix.shape[1]) * RIDGE]),
        np.concatenate([-distances * weights, np.zeros(matrix.shape[1])]),
        rcond=None,
    )[0]
    shares: Sequence[float] = np.clip(np.array(space.shares(slopes.at.settings)) + step, 0.0, 1.0).tolist()
    return space.moved(slopes.at.settings, shares)


def vector(candidate: Candidate) -> Vector:
    """Returns all residuals of a candidate."""
    return np.array([each for row in candidate.rows for each in row])
