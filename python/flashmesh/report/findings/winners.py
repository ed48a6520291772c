"""Best value of a key under each condition (a combination of the other varied keys), with the cause of its advantage.

pssd is the fastest with workload.hot-traffic=12.5%, 1.99 times as fast as bus; venice with 50%, 2.52 times as fast.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from flashmesh.keys import short_key
from flashmesh.report.findings.gains import OTHERS_MAX, Gain, binder_of, is_clear, listed, verb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.report.findings.gains import Pairing

FASTEST = ("is the fastest", "times as fast as")
LOWEST = ("has the lowest p99", "times that of")
"""Phrases on the value with the lowest p99, as in `X has the lowest p99, 0.5 times that of Y`."""
VALUES_MAX = 12
"""Maximum number of values of a key among which the best value under each condition is searched."""
AVERAGE = re.compile(r"all of them (\d+) % on average")
"""Pattern, in `bound.sentence`, of the mean utilisation of all parts of one kind, such as all dies."""
UNEVEN_MAX = 50
"""Mean utilisation of all parts of one kind (such as dies), in percent, up to which a sentence names a single busy part
as the bottleneck."""

Condition = tuple[str, ...]
"""A condition: the settings of the other varied keys as `key=value`."""


@dataclass(frozen=True)
class Winner:
    """A value of a key that is the best one under some conditions."""

    value: str
    conditions: tuple[Condition, ...]
    gain: Gain
    """Gain over the first value of the key; for the first value itself, the gain of the second best value over it."""


def winners(pairing: Pairing, texts: Sequence[str], values: Sequence[float | None], sign: int) -> list[Winner]:
    """Returns the best values of a key, each with its conditions.

    Empty if a single value is the best under all conditions, or not clearly worse than the best one.

    Args:
        pairing: The pairs of runs that differ in the key.
        texts: The values of the key.
        values: The measure, of each run.
        sign: 1 if more of the measure is better, -1 if less is.
    """
    first, *others = texts
    if len(texts) > VALUES_MAX:
        return []
    over_first = {value: pairing.ratios(first, value, values) for value in others}
    means = {value: {at: each.mean for at, each in found.items()} for value, found in over_first.items()}
    conditions = [at for at in pairing.conditions() if any(at in found for found in means.values())]
    means[first] = dict.fromkeys(conditions, 1.0)
    best = {
        at: max((value for value in texts if at in means[value]), key=lambda value: sign * means[value][at])
        for at in conditions
    }
    behind = {
        top: {value: pairing.ratios(top, value, values) for value in texts if value != top}
        for top in dict.fromkeys(best.values())
    }
    near = {
        at: {top} | {value for value, found in behind[top].items() if at in found and not is_clear(found[at])}
        for at, top in best.items()
    }
    found: dict[str, list[Condition]] = {}
    left = list(conditions)
    while left:
        # Take the value that is best under most of the remaining conditions, so that the sentence has few parts.
        value = max(texts, key=lambda value: sum(value in near[at] for at in left))
        found[value] = [at for at in left if value in near[at]]
        left = [at for at in left if value not in near[at]]
    if len(found) < 2:
        return []
    each = [Winner(value, tuple(at), gain_of(value, first, at, means, sign)) for value, at in found.items()]
    return sorted(each, key=lambda winner: conditions.index(winner.conditions[0]))


def gain_of(
    value: str, first: str, conditions: Sequence[Condition], means: dict[str, dict[Condition, float]], sign: int
) -> Gain:
    """Returns the gain of a value over the first one, under some conditions.

    For the first value itself, returns the gain of the second best value over it.
    """
    if value == first:
        others = [other for other, found in means.items() if other != first and all(at in found for at in conditions)]
        others = others or [
            other for other, found in means.items() if other != first and any(at in found for at in conditions)
        ]
        value = max(others, key=lambda other: sign * fmean(means[other][at] for at in conditions if at in means[other]))
    ratios = tuple(means[value][at] for at in conditions if at in means[value])
    return Gain(value, ratios, True)


def parts(found: Sequence[Winner], first: str, best: str, times: str, why: Sequence[str] = ()) -> list[str]:
    """Returns a part of a sentence for each winner: its conditions, its gain, and the cause of the gain.

    Args:
        found: The winners.
        first: The first value of the key.
        best: The description of a winner, such as `is the fastest`.
        times: The words after a ratio, such as `times as fast as`.
        why: A clause on the cause for each winner; empty without causes.
    """
    told: list[str] = []
    for place, (winner, where) in enumerate(zip(found, places(found), strict=True)):
        name = f"{winner.gain.value}: " if winner.value == first else ""
        size = f"{name}{winner.gain.times} {times} {first}"
        reason = f"; {why[place]}" if why and why[place] else ""
        told.append(f"{winner.value}{'' if place else f' {best}'} {where} ({size}{reason})")
    return told


def places(found: Sequence[Winner]) -> list[str]:
    """Returns the conditions of each winner as text, such as `with key=value`; later texts omit the key."""
    at = deciding(found)
    if at is None:
        total = sum(len(winner.conditions) for winner in found)
        return [place_of(winner.conditions, total) for winner in found]
    told: list[str] = []
    for winner in found:
        key, _, _ = winner.conditions[0][at].partition("=")
        values = list(dict.fromkeys(condition[at].partition("=")[2] for condition in winner.conditions))
        name = f"{short_key(key) if told else key}="
        if len(values) > OTHERS_MAX:
            told.append(f"with {len(values)} values of {key}")
        else:
            told.append(f"with {'' if told else name}{listed(values)}")
    return told


def deciding(found: Sequence[Winner]) -> int | None:
    """Returns the index, in conditions, of the key that alone determines the best value; None without such a key."""
    counts = {len(condition) for winner in found for condition in winner.conditions}
    if len(counts) != 1:
        return None
    for at in range(counts.pop()):
        groups = [{condition[at] for condition in winner.conditions} for winner in found]
        if sum(map(len, groups)) == len(set[str]().union(*groups)):
            return at
    return None


def place_of(conditions: Sequence[Condition], total: int) -> str:
    """Returns one or two conditions as text; for more conditions, their number out of `total`."""
    if len(conditions) > 2:
        return f"under {len(conditions)} of {total} conditions"
    return f"with {' and with '.join(', '.join(condition) for condition in conditions)}"


def cause(table: RunTable, pairing: Pairing, winner: Winner, first: str) -> str:
    """Returns a clause on the bottleneck of the runs with the best value.

    If the bottleneck of the winner is unknown, the clause is on the bottleneck of `first` under the same conditions.
    Empty if both bottlenecks are unknown.
    """
    for value, name in ((winner.value, "it"), (first, first)):
        numbers = pairing.runs(value, winner.conditions)
        what = binder_of(table, numbers) if numbers else ""
        if what:
            return bottleneck(table, numbers, what, name)
    return ""


def bottleneck(table: RunTable, numbers: Sequence[int], what: str, name: str) -> str:
    """Returns a clause on the bottleneck `what` of some runs, which are called `name` in it.

    If only one of many equal parts is busy, such as one channel, the clause says so.
    """
    (sentences,) = table.columns(["bound.sentence"])
    loads = [int(load[1]) for number in numbers if (load := AVERAGE.search(str(sentences[number])))]
    if not loads or fmean(loads) > UNEVEN_MAX:
        return f"{what} {verb(what)} {name}"
    return f"one of {what} binds {name}, all of them are {fmean(loads):.0f} % busy on average"
