"""Determination of keys: which keys the measurements determine.

A key with a range is determined if the 95 % interval of its value is narrower than half the range. The intervals follow
from the slopes of the figures at the best drive, as in linear regression, so that keys with the same effect widen each
other's interval. A choice is determined if every other choice fits worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flashmesh.calibration.searching.local import vector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.calibration.searching.bench import Candidate
    from flashmesh.calibration.searching.local import Slopes
    from flashmesh.calibration.space import FreeKey, Space

PRIOR_DEVIATION = 0.29
"""Prior standard deviation of a key, as a share of its range: that of a uniform distribution."""
NOISE_MIN = 0.25
"""Minimum standard deviation of a residual, since runs of finite length are noisy."""
DEVIATIONS = 2.0
"""Half-width of the interval of a key, in standard deviations: about 95 %."""
WIDTH_MAX = 0.5
"""Width of the interval below which a key is determined, as a share of its range."""
EFFECT_MIN = 0.5
"""Minimum change of a figure, in tolerances, over half the range of a key. Below it, the figure does not depend on the
key."""
LOSS_MARGIN = 0.05
"""Minimum difference between the least loss and the loss with any other choice of a key, for the key to be
determined."""
LOSS_MAX = 2.5
"""Loss above which no key is determined. Figures are then about two tolerances off, so slopes are not reliable."""
FAR = "no tried drive is near the measurements: a fact or a range may be wrong"
FAR_AND_CUT = "the search ran out of time before it found a drive near the measurements: allow more with --budget"
"""Texts for the report if the loss exceeds `LOSS_MAX`: of a search that ended in time, and of one that did not."""
CORRELATION_MIN = 0.5
"""Absolute correlation between the estimates of two keys, from which the report says that both have the same effect."""


@dataclass(frozen=True)
class KeyEstimate:
    """Fitted value of a key, its interval, and whether the measurements determine the key."""

    key: str
    value: str
    low: str | None
    high: str | None
    """95 % interval of the value, `low` to `high`; None for a key with choices, or if the interval is unknown."""
    is_determined: bool
    reason: str
    """Reason why the key is not determined; empty if it is determined."""

    @property
    def sentence(self) -> str:
        """Sentence for the report, if the key is not determined."""
        return f"{self.key} is not determined by these measurements: {self.reason}"


def found_keys(
    space: Space,
    best: Candidate,
    slopes: Slopes | None,
    tried: Sequence[Candidate],
    unexercised: Mapping[str, str],
    *,
    is_cut: bool,
) -> list[KeyEstimate]:
    """Returns the fitted value of each key, and whether the measurements determine the key.

    No key is determined if the loss of the best drive exceeds `LOSS_MAX`.

    Args:
        space: All keys that the facts leave open.
        best: The best drive.
        slopes: The slopes at the best drive, for keys with a range; None if they are not known.
        tried: The drives tried in full runs, for choices.
        unexercised: The keys of `space` that were not searched because no load exercises them, each with the reason.
        is_cut: Whether a stage of the search ran out of time.
    """
    found = {key: KeyEstimate(key, best.settings[key], None, None, False, why) for key, why in unexercised.items()}
    searched = [key for key in space.keys if key.key not in unexercised]
    if best.loss > LOSS_MAX:
        told = FAR_AND_CUT if is_cut else FAR
        found |= {key.key: KeyEstimate(key.key, best.settings[key.key], None, None, False, told) for key in searched}
    else:
        ranged = [key for key in searched if key.is_ranged]
        found |= {each.key: each for each in of_ranges(ranged, best, slopes)}
        found |= {key.key: of_choice(key, best, tried) for key in searched if not key.is_ranged}
    return [found[key.key] for key in space.keys]


def of_ranges(keys: Sequence[FreeKey], best: Candidate, slopes: Slopes | None) -> list[KeyEstimate]:
    """Returns the interval of each key with a range, from `slopes`, and whether the key is determined.

    Without slopes, no key has an interval or is determined.
    """
    if slopes is None:
        told = "there was no time to decide: allow more with --budget"
        return [KeyEstimate(key.key, best.settings[key.key], None, None, False, told) for key in keys]
    distances = vector(slopes.at)
    weights = (1.0 + distances**2) ** -0.25
    noise = max(float(np.sqrt(np.mean((distances * weights) ** 2))), NOISE_MIN)
    weighted = slopes.matrix * weights[:, None] / noise
    covariance = np.linalg.inv(weighted.T @ weighted + np.eye(len(keys)) / PRIOR_DEVIATION**2)
    deviations = np.sqrt(np.diag(covariance))
    correlations = covariance / np.outer(deviations, deviations)
    found: list[KeyEstimate] = []
    for number, key in enumerate(keys):
        share = key.share_of(best.settings[key.key])
        middle = 0.5 if share is None else share
        reach = DEVIATIONS * float(deviations[number])
        low, high = max(middle - reach, 0.0), min(middle + reach, 1.0)
        is_narrow = 2.0 * reach < WIDTH_MAX
        reason = ""
        if not is_narrow:
            span = f"{key.at(low)} to {key.at(high)} fits as well"
            others = np.abs(np.delete(correlations[number], number))
            if np.max(np.abs(slopes.matrix[:, number]), initial=0.0) / 2.0 < EFFECT_MIN:
                reason = f"no figure depends on it, {span}"
            elif len(others) and float(np.max(others)) >= CORRELATION_MIN:
                names = [other.key for other in keys if other is not key]
                reason = f"{names[int(np.argmax(others))]} has the same effect on the figures, {span}"
            else:
                reason = f"the residuals are too large to decide, {span}"
            reason += f"; give {key.key} in the facts"
        found.append(KeyEstimate(key.key, best.settings[key.key], key.at(low), key.at(high), is_narrow, reason))
    return found


def of_choice(key: FreeKey, best: Candidate, tried: Sequence[Candidate]) -> KeyEstimate:
    """Returns the best choice of a key, and whether the choice is determined: whether all other choices fit worse.

    The loss of a choice is the least loss in `tried` with this choice; a choice that was not tried may fit as well.
    """
    chosen = best.settings[key.key]
    losses: dict[str, float] = {}
    for candidate in tried:
        choice = candidate.settings[key.key]
        losses[choice] = min(losses.get(choice, float("inf")), candidate.loss)
    assert isinstance(key.domain, tuple)
    others = [each for each in key.domain if each != chosen]
    near = [each for each in others if each in losses and losses[each] < best.loss + LOSS_MARGIN]
    untried = [each for each in others if each not in losses]
    reasons = [f"{', '.join(near)} fits as well"] if near else []
    reasons += [f"there was no time to try {', '.join(untried)}"] if untried else []
    reason = f"{'; '.join(reasons)}; give {key.key} in the facts" if reasons else ""
    return KeyEstimate(key.key, chosen, None, None, not reasons, reason)
