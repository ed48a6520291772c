"""What one value of a key brings over another, and what binds the runs that have it."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh.aggregate.estimate import estimate
from flashmesh.aggregate.points import SEED
from flashmesh.configuration import value_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.axes import Value

CLEAR = 0.02
"""A difference below says nothing."""
BOUND = re.compile(r"^bound by (?P<what>the [^:,]+)")
"""The sentence of a result that a part of the drive bounds."""
OTHERS_MAX = 4
"""Values that a sentence names beside the best."""


@dataclass(frozen=True)
class Gain:
    """What one value of a key brings over another, over everything else that is varied."""

    value: str
    ratios: tuple[float, ...]
    """One for each combination of the other keys: the mean over its seeds."""
    is_clear: bool
    """Whether it is more than seeds explain."""

    @property
    def mean(self) -> float:
        """The geometric mean."""
        return math.exp(sum(map(math.log, self.ratios)) / len(self.ratios))

    @property
    def times(self) -> str:
        """How many times, with the range where there are several combinations."""
        least, most = f"{min(self.ratios):.2f}", f"{max(self.ratios):.2f}"
        return least if least == most else f"{least} to {most}"


def gain_of(table: RunTable, key: str, first: str, value: str, values: Sequence[float | None]) -> Gain | None:
    """The ratio of what the runs with one value have to those with the first, seed by seed."""
    pairs: dict[tuple[str, ...], list[float]] = {}
    numbered = list(enumerate(table.settings))
    by_setting = {others(settings, key): number for number, settings in numbered if text(settings, key) == first}
    for number, settings in numbered:
        partner = by_setting.get(others(settings, key))
        if text(settings, key) != value or partner is None:
            continue
        after, before = values[number], values[partner]
        if after and before:
            point = tuple(f"{name}={value_text(each)}" for name, each in settings.items() if name not in (key, SEED))
            pairs.setdefault(point, []).append(after / before)
    if not pairs:
        return None
    estimates = [estimate(ratios) for ratios in pairs.values()]
    known = [each for each in estimates if each is not None]
    is_clear = any(
        abs(each.mean - 1) >= CLEAR and (each.low is None or each.high is None or not each.low <= 1 <= each.high)
        for each in known
    )
    return Gain(value, tuple(each.mean for each in known), is_clear)


def others(settings: Mapping[str, Value], key: str) -> tuple[str, ...]:
    """All settings of a run but one, its seed among them."""
    return tuple(f"{name}={value_text(value)}" for name, value in settings.items() if name != key)


def text(settings: Mapping[str, Value], key: str) -> str:
    """A setting of a run as text."""
    return value_text(settings[key])


def binder(table: RunTable, key: str, value: str) -> str:
    """Returns the part of the drive that bounds most runs with one value of a key; empty if there is none."""
    return binder_of(table, [number for number, each in enumerate(table.settings) if text(each, key) == value])


def binder_of(table: RunTable, numbers: Sequence[int]) -> str:
    """Returns the part of the drive that bounds more than half of the runs `numbers`; empty if there is none."""
    (sentences,) = table.columns(["bound.sentence"])
    named = [found["what"] if (found := BOUND.match(str(sentences[number]))) else "" for number in numbers]
    what, count = Counter(named).most_common(1)[0]
    return what if count * 2 > len(named) else ""


def verb(what: str) -> str:
    """Returns the verb that goes with a part of the drive."""
    return "bind" if what.endswith("s") and not what.endswith("ss") else "binds"


def listed(values: Sequence[str]) -> str:
    """Values in a sentence."""
    if len(values) > OTHERS_MAX:
        return f"{', '.join(values[:OTHERS_MAX])} and {len(values) - OTHERS_MAX} more"
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"
