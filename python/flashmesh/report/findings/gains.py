"""Gains of one value of a key over another, and the bottleneck of the runs with a value."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh.aggregate.estimate import Estimate, estimate, ratio_of
from flashmesh.aggregate.points import SEED
from flashmesh.configuration import value_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.comparing.axes import Value
    from flashmesh.report.measures.measure import Measure

CLEAR = 0.02
"""Minimum relative difference that counts as a gain."""
BOUND = re.compile(r"^bound by (?P<what>the [^:,]+)")
"""Pattern of the bottleneck in `bound.sentence` of a result."""
LATENCY_BOUND = "bound by latency"
"""Start of `bound.sentence` of a run without a bottleneck in which requests do not wait for each other."""
QUEUEING = "requests wait for each other"
"""Start of `bound.sentence` of a run without a bottleneck in which requests wait for each other."""
LIMITS_MAX = 3
"""Maximum number of different bottlenecks that a sentence lists."""
SMALL = 0.1
"""Ratio below which a text has two significant digits instead of two decimals."""
LARGE = 99.995
"""Ratio from which on a text has no decimals."""
OTHERS_MAX = 4
"""Maximum number of values that a sentence lists; also the maximum number of curves that get a sentence each."""


@dataclass(frozen=True)
class Gain:
    """Gain of one value of a key over another value, in runs with otherwise equal settings."""

    value: str
    ratios: tuple[float, ...]
    """Ratio of the measure, as the mean over seeds, for each combination of the other varied keys."""
    is_clear: bool
    """Whether any of the ratios differs from 1 by `CLEAR` or more, and by more than its 95 % interval."""
    has_intervals: bool = True
    """Whether every ratio has a 95 % interval, so that its noise is known."""
    is_certain: bool = False
    """Whether the 95 % interval of at least one ratio excludes 1, even if the difference is small."""

    @property
    def mean(self) -> float:
        """Geometric mean of the ratios."""
        return math.exp(sum(map(math.log, self.ratios)) / len(self.ratios))

    @property
    def caveat(self) -> str:
        """Words on unknown noise for the end of a clause, after a space; empty if the noise is known."""
        return "" if self.has_intervals else " (its noise is unknown)"

    @property
    def times(self) -> str:
        """The ratio as text, or the range of the ratios."""
        least, most = ratio(min(self.ratios)), ratio(max(self.ratios))
        return least if least == most else f"{least} to {most}"


class Figures(list[float | None]):
    """A measure of each run of a table, with the 95 % intervals that runs have from their batch means."""

    def __init__(self, values: Iterable[float | None], ends: Sequence[Sequence[float | None]] = ()) -> None:
        """Creates the figures. `ends` are the lower and the upper ends of the intervals; empty without intervals."""
        super().__init__(values)
        self.ends = ends

    def estimate(self, number: int) -> Estimate | None:
        """Returns the value of the run with index `number` with its interval; None without a value above zero."""
        value = self[number]
        if not value or value < 0:
            return None
        low, high = (each[number] for each in self.ends) if self.ends else (None, None)
        return Estimate(value, low, high, 1, "single" if low is None else "batches")


def figures_of(table: RunTable, measures: Sequence[Measure]) -> dict[str, Figures]:
    """Returns measures of all runs by their names, with intervals where the table has columns of these."""
    keys = {each.name: [f"{each.interval}.{end}" for end in ("low", "high")] for each in measures if each.interval}
    there = [name for name, pair in keys.items() if table.has_columns(pair)]
    columns = iter(table.columns([key for name in there for key in keys[name]]))
    ends = {name: (next(columns), next(columns)) for name in there}
    values = zip(measures, table.values(measures), strict=True)
    return {each.name: Figures(found, ends.get(each.name, ())) for each, found in values}


class Pairing:
    """Pairs of runs that differ in a single key."""

    def __init__(self, table: RunTable, key: str) -> None:
        """Groups the runs of `table` by their other settings.

        Args:
            table: The runs.
            key: A key that every run sets.
        """
        self.key = key
        self._by_value: dict[str, dict[tuple[str, ...], int]] = {}
        """Indices of the runs, by the value of the key, then by all other settings including the seed."""
        self._points: list[tuple[str, ...]] = []
        """Settings of each run as `key=value`, without the key and the seed."""
        for number, settings in enumerate(table.settings):
            texts = {name: f"{name}={value_text(value)}" for name, value in settings.items() if name != key}
            others = tuple(texts.values())
            self._by_value.setdefault(text(settings, key), {})[others] = number
            self._points.append(tuple(each for name, each in texts.items() if name != SEED))

    def ratios(self, first: str, value: str, values: Sequence[float | None]) -> dict[tuple[str, ...], Estimate]:
        """Returns the ratio of `value` to `first` over the seeds, by the other settings as `key=value`.

        Each ratio compares two runs with equal other settings and seeds, whose measures are above zero. The interval of
        the ratio of a single pair follows from the intervals of its two runs, if `values` are `Figures`.

        Args:
            first: The value of the key in the denominator.
            value: Another value of the key.
            values: The measure, of each run of the table.
        """
        partners = self._by_value.get(first, {})
        pairs: dict[tuple[str, ...], list[tuple[int, int]]] = {}
        for others, number in self._by_value.get(value, {}).items():
            partner = partners.get(others)
            if partner is None:
                continue
            if values[number] and values[partner]:
                pairs.setdefault(self._points[number], []).append((number, partner))
        estimates = {others: ratio_over_seeds(values, found) for others, found in pairs.items()}
        return {others: found for others, found in estimates.items() if found is not None}

    def gain(self, first: str, value: str, values: Sequence[float | None]) -> Gain | None:
        """Returns the gain of `value` over `first`; None if no pair of runs has both values."""
        known = self.ratios(first, value, values).values()
        if not known:
            return None
        has_intervals = all(each.low is not None for each in known)
        is_certain = any(each.low is not None and not each.contains(1) for each in known)
        return Gain(value, tuple(each.mean for each in known), any(map(is_clear, known)), has_intervals, is_certain)

    def conditions(self) -> list[tuple[str, ...]]:
        """Returns the combinations of the other settings as `key=value`, in the order of the runs."""
        return list(dict.fromkeys(self._points))

    def runs(self, value: str, conditions: Collection[tuple[str, ...]]) -> list[int]:
        """Returns the indices of the runs with `value` whose other settings are among `conditions`."""
        return [number for number in self._by_value.get(value, {}).values() if self._points[number] in conditions]


def ratio_over_seeds(values: Sequence[float | None], pairs: Sequence[tuple[int, int]]) -> Estimate | None:
    """Returns the mean ratio of pairs of runs that differ only in a key, with its 95 % interval.

    The interval is that of the ratios over the seeds; for a single pair, it is that of the batch means of both runs.
    """
    if len(pairs) == 1 and isinstance(values, Figures):
        after, before = (values.estimate(number) for number in pairs[0])
        if after is not None and before is not None:
            return ratio_of(after, before)
    known = [(values[number], values[partner]) for number, partner in pairs]
    return estimate([after / before for after, before in known if after and before])


def is_clear(found: Estimate) -> bool:
    """Returns whether a ratio differs from 1 by `CLEAR` or more, and by more than its 95 % interval, if it has one."""
    return abs(found.mean - 1) >= CLEAR and not found.contains(1)


def ratio(value: float) -> str:
    """Returns a ratio as text with two decimals, below `SMALL` with two digits, from `LARGE` on without decimals."""
    if value >= LARGE:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value >= SMALL else f"{value:.2g}"


def text(settings: Mapping[str, Value], key: str) -> str:
    """Returns the value of a setting as text."""
    return value_text(settings[key])


def binder(table: RunTable, key: str, value: str) -> str:
    """Returns the part of the drive that is the bottleneck of most runs with a value of a key; empty if none is."""
    return binder_of(table, [number for number, each in enumerate(table.settings) if text(each, key) == value])


def binder_of(table: RunTable, numbers: Sequence[int]) -> str:
    """Returns the part of the drive that limits most of the runs with indices `numbers`; empty if no part does."""
    (sentences,) = table.columns(["bound.sentence"])
    named = [found["what"] if (found := BOUND.match(str(sentences[number]))) else "" for number in numbers]
    what, count = Counter(named).most_common(1)[0]
    return what if count * 2 > len(named) else ""


def limits(table: RunTable) -> str:
    """Returns a clause with the number of runs for each bottleneck; empty if no run has a known bottleneck."""
    (sentences,) = table.columns(["bound.sentence"])
    found: Counter[str] = Counter()
    for sentence in map(str, sentences):
        if (part := BOUND.match(sentence)) is not None:
            found[part["what"]] += 1
        elif sentence.startswith(LATENCY_BOUND):
            found["latency"] += 1
        elif sentence.startswith(QUEUEING):
            found["queueing"] += 1
    if len(found) == 1 and found.total() == len(table):
        return f"{'both' if len(table) == 2 else 'all'} runs are bound by {next(iter(found))}"
    told = [f"{count} {'is' if count == 1 else 'are'} bound by {what}" for what, count in found.most_common(LIMITS_MAX)]
    return f"of {len(table)} runs, {', '.join(told)}" if told else ""


def verb(what: str) -> str:
    """Returns `bind` or `binds`, to agree in number with a part of the drive."""
    return "bind" if what.endswith("s") and not what.endswith("ss") else "binds"


def listed(values: Sequence[str]) -> str:
    """Returns `values` joined for a sentence; values beyond the first `OTHERS_MAX` are only counted."""
    if len(values) > OTHERS_MAX:
        return f"{', '.join(values[:OTHERS_MAX])} and {len(values) - OTHERS_MAX} more"
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"
