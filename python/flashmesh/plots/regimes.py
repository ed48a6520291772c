"""Detection of a change of throughput within a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from flashmesh.plots.runs import Run

EPOCHS_MIN = 4
"""Minimum number of whole epochs for a detection."""
CHANGE_MIN = 0.1
"""Minimum change of mean throughput, as a share of the larger mean."""
DEVIATIONS_MIN = 5.0
"""Minimum change of mean throughput, in standard deviations of the difference of two means."""


@dataclass(frozen=True)
class Change:
    """A change of throughput: its time, and the mean before and after it."""

    run: str
    at_ps: int
    before: float
    after: float
    is_in_warm_up: bool = False
    """Whether the change is before the measured window, so that no figure contains it."""

    @property
    def text(self) -> str:
        """Description of the change."""
        verb = "falls" if self.after < self.before else "rises"
        rates = f"from {q.scaled(self.before)} to {q.scaled(self.after)} IOPS"
        where = ", in the warm-up" if self.is_in_warm_up else ""
        return f"throughput {verb} {rates} at {q.time(self.at_ps)}{where}"


def change_of(run: Run) -> Change | None:
    """Returns the clearest change in a run; None if its throughput has no two distinct levels."""
    # Leave out the last epoch: it is shorter, and the drive drains in it.
    epochs: Sequence[Mapping[str, Any]] = run.document["epochs"][:-1]
    rates = [float(epoch["iops"]) for epoch in epochs]
    if len(rates) < EPOCHS_MIN:
        return None
    place = min(range(1, len(rates)), key=lambda place: spread(rates, place))
    before, after = fmean(rates[:place]), fmean(rates[place:])
    difference = abs(before - after)
    # Standard deviation of the difference of the two means. It falls with the number of epochs, so that a change can be
    # clear even if it is smaller than the scatter of single epochs.
    deviation = spread(rates, place) * math.sqrt(1 / place + 1 / (len(rates) - place))
    if difference < CHANGE_MIN * max(before, after) or difference < DEVIATIONS_MIN * deviation:
        return None
    at_ps = int(epochs[place]["start_ps"])
    return Change(run.name, at_ps, before, after, is_in_warm_up(run, at_ps))


def is_in_warm_up(run: Run, at_ps: int) -> bool:
    """Returns whether a time is before the measured window of a run."""
    window = run.document["measured"]
    return window is not None and at_ps < int(window["start_ps"])


def spread(rates: Sequence[float], place: int) -> float:
    """Returns the standard deviation within two parts of `rates`, which are split at index `place`."""
    parts = rates[:place], rates[place:]
    return math.sqrt(math.fsum(len(part) * pstdev(part) ** 2 for part in parts) / len(rates))


def changes(runs: Sequence[Run]) -> list[Change]:
    """Returns the changes of all runs with epochs."""
    return [found for run in runs if (found := change_of(run)) is not None]
