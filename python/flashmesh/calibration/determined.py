"""Determination of keys: a key is determined if any large change of it would move a figure beyond its tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flashmesh.calibration.local import vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.calibration.bench import Candidate
    from flashmesh.calibration.local import Slopes
    from flashmesh.calibration.space import FreeKey, Space

UNIFORM = 0.29
"""Standard deviation of a uniformly distributed value, as a share of its range."""
NOISE = 0.25
"""Minimum noise of a figure, as a share of its tolerance. Runs of finite length have noise."""
DEVIATIONS = 2.0
NARROW = 0.5
"""Width of the interval below which a key is determined, as a share of the key's range."""
FELT = 0.5
"""Effect of half of a key's range on a figure, in tolerances of the figure, below which the key has no effect."""
CHOICE = 0.05
"""Loss by which every other choice must be worse for a choice to be determined."""
FAR = 2.5
"""Loss above which the best drive is about two tolerances off: its slopes then differ from those of the real drive."""
PARTNER = 0.5
"""Correlation from which two keys count as having the same effect."""


@dataclass(frozen=True)
class Found:
    """Knowledge about a key from the measurements."""

    key: str
    value: str
    low: str | None
    high: str | None
    """Interval `low` to `high` that the measurements allow; None for a choice, or if unknown."""
    is_determined: bool
    reason: str
    """Reason why the key is not determined; empty if it is determined."""

    @property
    def sentence(self) -> str:
        """A sentence about a key that is not determined."""
        return f"{self.key} is not determined by these measurements: {self.reason}"


def found_keys(space: Space, best: Candidate, slopes: Slopes | None, tried: Sequence[Candidate]) -> list[Found]:
    """Returns for each key whether it is determined."""
    if best.loss > FAR:
        told = "no drive that was tried is near the measurements, so the facts or the ranges do not fit the drive"
        return [Found(key.key, best.settings[key.key], None, None, False, told) for key in space.keys]
    ranged = dict(zip((key.key for key in space.ranged), of_ranges(space.ranged, best, slopes), strict=True))
    return [ranged[key.key] if key.is_ranged else of_choice(key, best, tried) for key in space.keys]


def of_ranges(keys: Sequence[FreeKey], best: Candidate, slopes: Slopes | None) -> list[Found]:
    """Returns whether keys with a range are determined, from the slopes of all figures at the best drive."""
    if slopes is None:
        told = "there was not enough time to decide: allow more with --budget"
        return [Found(key.key, best.settings[key.key], None, None, False, told) for key in keys]
    distances = vector(slopes.at)
    weights = (1.0 + distances**2) ** -0.25
    noise = max(float(np.sqrt(np.mean((distances * weights) ** 2))), NOISE)
    weighted = slopes.matrix * weights[:, None] / noise
    covariance = np.linalg.inv(weighted.T @ weighted + np.eye(len(keys)) / UNIFORM**2)
    deviations = np.sqrt(np.diag(covariance))
    correlations = covariance / np.outer(deviations, deviations)
    found: list[Found] = []
    for number, key in enumerate(keys):
        share = key.share_of(best.settings[key.key])
        middle = 0.5 if share is None else share
        reach = DEVIATIONS * float(deviations[number])
        low, high = max(middle - reach, 0.0), min(middle + reach, 1.0)
        is_narrow = 2.0 * reach < NARROW
        reason = ""
        if not is_narrow:
            span = f"{key.at(low)} to {key.at(high)} fits as well"
            others = np.abs(np.delete(correlations[number], number))
            if np.max(np.abs(slopes.matrix[:, number]), initial=0.0) / 2.0 < FELT:
                reason = f"no figure depends on it, {span}"
            elif len(others) and float(np.max(others)) >= PARTNER:
                names = [other.key for other in keys if other is not key]
                reason = f"{names[int(np.argmax(others))]} does the same to the figures, {span}"
            else:
                reason = f"the fit is not close enough to decide, {span}"
            reason += f"; give {key.key} in the facts"
        found.append(Found(key.key, best.settings[key.key], key.at(low), key.at(high), is_narrow, reason))
    return found


def of_choice(key: FreeKey, best: Candidate, tried: Sequence[Candidate]) -> Found:
    """Returns whether a choice is determined, from the smallest loss with each choice."""
    chosen = best.settings[key.key]
    losses: dict[str, float] = {}
    for candidate in tried:
        choice = candidate.settings[key.key]
        losses[choice] = min(losses.get(choice, float("inf")), candidate.loss)
    assert isinstance(key.domain, tuple)
    near = [each for each in key.domain if each != chosen and losses.get(each, best.loss) < best.loss + CHOICE]
    reason = f"{', '.join(near)} fits as well; give {key.key} in the facts" if near else ""
    return Found(key.key, chosen, None, None, not near, reason)
