"""Detection of a change of throughput between two levels within a run."""

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
"""Minimum number of epochs, without the last, in which a change is searched."""
CHANGE_MIN = 0.1
"""Minimum difference of the mean throughputs before and after a change, as a share of the larger one."""
DEVIATIONS_MIN = 5.0
"""Minimum difference of the mean throughputs before and after a change, in standard deviations of this difference."""


@dataclass(frozen=True)
class Change:
    """A change of throughput: its time, and the mean before and after it."""

    run: str
    at_ps: int
    before: float
    after: float
    is_in_warm_up: bool = False
    """Whether the change is before the measured window, so that the measured figures are not affected."""

    @property
    def text(self) -> str:
        """The change as text: throughput before and after it, and its time."""
        verb = "falls" if self.after < self.before else "rises"
        rates = f"from {q.scaled(self.before)} to {q.scaled(self.after)} IOPS"
        where = ", in the warm-up" if self.is_in_warm_up else ""
        return f"throughput {verb} {rates} at {q.time(self.at_ps)}{where}"


def change_of(run: Run) -> Change | None:
    """Returns the clearest change of throughput in a run; None if the throughput has no two distinct levels."""
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
    """Returns whether a time in picoseconds is before the measured window of a run; False without a window."""
    window = run.document["measured"]
    return window is not None and at_ps < int(window["start_ps"])


def spread(rates: Sequence[float], place: int) -> float:
    """Returns the standard deviation of `rates` around two means, one before index `place` and one from it on."""
    parts = rates[:place], rates[place:]
    return math.sqrt(math.fsum(len(part) * pstdev(part) ** 2 for part in parts) / len(rates))


def changes(runs: Sequence[Run]) -> list[Change]:
    """Returns the change of throughput of each run that has one."""
    return [found for run in runs if (found := change_of(run)) is not None]
