"""The answer of a comparison over all of its axes, in one sentence.

chips-per-channel=8 instead of 2 (4 times the dies): 2.07 times the throughput; among interconnects, pssd is 1.05 times
as fast as bus: the dies, not the paths, are the limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh.configuration import value_text
from flashmesh.keys import short_key
from flashmesh.report.findings.gains import CLEAR, Gain, Pairing, binder_of, limits, verb
from flashmesh.report.findings.streams import of_all
from flashmesh.report.findings.winners import FASTEST, LOWEST, parts, winners
from flashmesh.report.streams.replay import is_open

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.report.findings.winners import Winner
    from flashmesh.report.measures.chart_spec import ChartAxis

CONDITIONS = ("workload.", "replay.time-scale")
"""Prefixes of keys that change the workload, not the drive. An answer states no effect of such keys."""
OF_DIES = ("geometry.channels", "geometry.chips-per-channel", "geometry.dies-per-chip")
"""Keys whose product is the number of dies."""
FABRIC, IDEAL = "fabric.kind", "ideal"
PATHS_GAIN = 0.15
"""Minimum relative gain of the `ideal` interconnect over the first one (in throughput or, in open replay, in p99), for
the paths to count as a bottleneck."""


MEASURES = (("IOPS", 1), ("p99", -1))
"""Measures of an effect in order of preference, each with 1 if higher is better, -1 if lower is."""


@dataclass(frozen=True)
class Effect:
    """Effect of one varied key: its best value compared with its first value."""

    axis: ChartAxis
    first: str
    gain: Gain
    """Ratio of the measure with the best value to the measure with the first value. If the first value is the best, the
    worst value replaces the best."""
    measure: str
    """`IOPS`, or `p99` if throughput hardly changes, or follows the arrivals of an open replay."""
    winners: tuple[Winner, ...] = ()
    """Best values, each with its conditions (settings of the other varied keys), if the best value depends on these;
    otherwise empty."""

    @property
    def size(self) -> float:
        """Magnitude of the effect: the absolute logarithm of the ratio."""
        return abs(math.log(self.gain.mean))

    @property
    def text(self) -> str:
        """The effect as a part of a sentence."""
        key, value, times = self.axis.key, self.gain.value, self.gain.times
        values = "interconnects" if key == FABRIC else key
        if self.winners:
            best = FASTEST if self.measure == "IOPS" else LOWEST
            return f"among {values}, {' and '.join(parts(self.winners, self.first, *best))}"
        if self.axis.numbers is None and self.measure == "p99":
            if self.gain.mean > 1:
                return f"among {values}, {self.first} has the lowest p99 ({value}: {times} times it)"
            return f"among {values}, {value} has the lowest p99 ({times} times that of {self.first})"
        if self.axis.numbers is None:
            if self.gain.mean < 1:
                return f"among {values}, {self.first} is the fastest ({value}: {times} times its throughput)"
            return f"among {values}, {value} is {times} times as fast as {self.first}"
        what = "throughput" if self.measure == "IOPS" else "p99"
        return f"{short_key(key)}={value} instead of {self.first}{self.dies}: {times} times the {what}"

    @property
    def dies(self) -> str:
        """Ratio of the numbers of dies, as ` (4 times the dies)`; empty if the axis does not change the dies."""
        if self.axis.key not in OF_DIES or self.axis.numbers is None:
            return ""
        numbers = dict(zip(map(value_text, self.axis.values), self.axis.numbers, strict=True))
        return f" ({numbers[self.gain.value] / numbers[self.first]:g} times the dies)"


def answer(table: RunTable, axes: Mapping[str, ChartAxis], values: Mapping[str, Sequence[float | None]]) -> str | None:
    """Returns a sentence on the effects of all varied keys; None if fewer than two of them change the drive.

    `values` has, by the name of a measure, its value in each run.
    """
    chosen = [axis for key, axis in axes.items() if not key.startswith(CONDITIONS)]
    if len(chosen) < 2:
        return None
    effects = [found for axis in chosen if (found := effect(table, axis, values)) is not None]
    effects.sort(key=lambda each: -each.size)
    whole = of_all(values)
    if not effects:
        return f"{', '.join(axis.key for axis in chosen)}: no clear effect on throughput or p99{whole}."
    idle = [axis.key for axis in chosen if all(axis is not each.axis for each in effects)]
    told = "; ".join(each.text for each in effects)
    if idle:
        told += f"; {' and '.join(idle)} {'has' if len(idle) == 1 else 'have'} no clear effect"
        told += f" on throughput or p99{whole}" if whole else ""
    # Capitalise only this word: a key at the start of the sentence keeps its case.
    told = f"A{told[1:]}" if told.startswith("among ") else told
    why = limit(table, values)
    return f"{told}{f': {why}' if why else ''}."


def effect(table: RunTable, axis: ChartAxis, values: Mapping[str, Sequence[float | None]]) -> Effect | None:
    """Returns the effect of a varied key on throughput or, if throughput does not change clearly, on p99.

    None if neither changes clearly. In open replay the arrivals set the throughput, so that only p99 counts.
    """
    first, *others = map(value_text, axis.values)
    pairing = Pairing(table, axis.key)
    for measure, sign in MEASURES[is_open_in(table) :]:
        gains = [gain for each in others if (gain := pairing.gain(first, each, values[measure]))]
        if not any(gain.is_clear for gain in gains):
            continue
        best = winners(pairing, [first, *others], values[measure], sign)
        if best:
            gained = max((each.gain for each in best), key=lambda gain: abs(math.log(gain.mean)))
            return Effect(axis, first, gained, measure, tuple(best))
        most = max(gains, key=lambda gain: sign * gain.mean)
        if sign * math.log(most.mean) <= 0:
            return Effect(axis, first, min(gains, key=lambda gain: sign * gain.mean), measure)
        # The first value with a gain within `CLEAR` of the largest gain; later values add no clear gain.
        near = next(gain for gain in gains if abs(math.log(gain.mean / most.mean)) < CLEAR)
        return Effect(axis, first, near, measure)
    return None


def is_open_in(table: RunTable) -> bool:
    """Returns whether the first run of a table, and so all of them, uses open replay."""
    return is_open(table.first["configuration"])


def limit(table: RunTable, values: Mapping[str, Sequence[float | None]]) -> str:
    """Returns a clause on the bottleneck of most runs, and on whether it is the paths; empty if both are unknown."""
    what = binder_of(table, range(len(table)))
    kinds = [value_text(kind) for kind in table.axes.get(FABRIC, ())]
    pairing = Pairing(table, FABRIC) if IDEAL in kinds[1:] else None
    if pairing is not None and is_open_in(table):
        shorter = pairing.gain(kinds[0], IDEAL, values["p99"])
        if shorter is not None and shorter.mean <= 1 / (1 + PATHS_GAIN):
            return f"the paths are a limit, for ideal ones have {shorter.times} times the p99"
        pairing = None
    ideal = pairing.gain(kinds[0], IDEAL, values["IOPS"]) if pairing is not None else None
    if ideal is not None and ideal.mean >= 1 + PATHS_GAIN:
        return f"the paths are a limit, for ideal ones are {ideal.times} times as fast"
    are = "are" if verb(what) == "bind" else "is"
    if ideal is not None:
        told = f"{what}, not the paths, {are} the limit" if what else "the paths are not the limit"
        return f"{told} (ideal paths: {ideal.times} times)"
    return f"{what} {are} the limit" if what else limits(table)
