"""Result of `flashmesh ask`: the ranked effects of changes with confidence intervals, as JSON and for charts."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

from flashmesh.aggregate.estimate import Estimate
from flashmesh.asking.causes import Cause
from flashmesh.asking.changes import Change

KIND = "ask"
"""Value of the member `kind` by which `flashmesh ask` documents are recognised."""
LEAST = 0.01
"""Smallest relative change of a measure that counts as an effect with several seeds."""
LEAST_SINGLE = 0.02
"""Smallest relative change that counts as an effect with a single seed, which says nothing about other seeds."""
HIGHER_IS_BETTER = ("iops", "bandwidth_bytes_per_s", "hit_share", "requests_free_share", "links_saved_share", "hits")
"""Suffixes of the keys of measures for which higher is better; for all others, lower is better."""
BEST = 3
"""Maximum number of changes in the first list of the answer."""


def is_higher_better(keys: tuple[str, ...]) -> bool:
    """Returns whether higher values of a measure are better. `keys` are its paths in a result."""
    return any(key.endswith(HIGHER_IS_BETTER) for key in keys)


def percent(change: float) -> str:
    """Returns a relative change as text: `+38 %` for 0.38, one decimal place below 10 %."""
    return f"{change:+.0%}".replace("%", " %") if abs(change) >= 0.0995 else f"{change:+.1%}".replace("%", " %")


@dataclass(frozen=True)
class Effect:
    """Effect of a change on a measure."""

    ratio: Estimate
    """Ratio of the measure with the change to the measure without it: mean over seeds, each run paired with the run of
    the same seed. The interval is over seeds, for a single seed from the batch means of both runs."""

    @property
    def is_clear(self) -> bool:
        """Whether the change of the measure is at least `LEAST` and exceeds its interval, if there is one.

        With a single seed, the change must be at least `LEAST_SINGLE`.
        """
        least = LEAST if self.ratio.count > 1 else LEAST_SINGLE
        return abs(self.ratio.mean - 1.0) >= least and not self.ratio.contains(1.0)

    @property
    def text(self) -> str:
        """Effect as text: `+38 %`."""
        return percent(self.ratio.mean - 1.0)


@dataclass(frozen=True)
class Row:
    """A change and all its effects."""

    change: Change
    effects: dict[str, Effect]
    """Effects by measure; measures without a value are left out."""
    seeds: int
    also: str = ""
    """Change of the host capacity that follows, as text: `geometry.capacity 30GB -> 60GB`; empty if it does not
    change."""
    cause: Cause | None = None
    """The latency part that changes most in the direction of the mean latency of the requests that the measures
    describe; None if no part changes noticeably, or if the parts of these requests are unknown."""
    throughput: Effect | None = None
    """Effect on the number of requests completed per second."""
    inside: Effect | None = None
    """Effect on the mean number of requests inside the drive, without those in the host's queue or on the host link."""

    @property
    def is_less_load(self) -> bool:
        """Whether the change lowers the load: fewer requests complete per second, and fewer are in the drive.

        This distinguishes a throttled workload from a slower drive. A slower drive has at least as many requests
        inside; those of a workload throttled by a slower link, a shallower queue or a lower rate stay outside.
        """
        found = (self.throughput, self.inside)
        return all(each is not None and each.ratio.mean < 1 - LEAST for each in found)

    @property
    def has_effect(self) -> bool:
        """Whether the change has a clear effect (`Effect.is_clear`) on any measure."""
        return any(effect.is_clear for effect in self.effects.values())

    def betters(self, higher: dict[str, bool]) -> bool:
        """Returns whether a measure clearly improves; `higher` says for each measure whether higher is better."""
        return any(effect.is_clear and (effect.ratio.mean > 1) == higher[name] for name, effect in self.effects.items())

    def score(self, higher: dict[str, bool]) -> float:
        """Returns the benefit of the change over all measures; negative if clear losses outweigh clear gains.

        The benefit is the sum of the logarithms of the ratios of clear effects, negated if lower values are better.
        """
        total = 0.0
        for name, effect in self.effects.items():
            if effect.is_clear:
                total += math.log(max(effect.ratio.mean, 1e-9)) * (1.0 if higher[name] else -1.0)
        return total

    def is_helpful(self, higher: dict[str, bool]) -> bool:
        """Returns whether the benefit of the change is positive, and the change does not lower the load."""
        return self.score(higher) > 0 and not self.is_less_load


@dataclass(frozen=True)
class Bar:
    """A bar of a tornado chart: the effect of setting `key` from `before` to `value` on one measure."""

    key: str
    value: str
    before: str
    change: float
    """Relative change of the measure: 0.38 for 38 % more."""
    low: float | None
    """Lower end of the 95 % confidence interval; None for a single seed whose runs have no interval of the measure."""
    high: float | None


@dataclass(frozen=True)
class Answer:
    """Result of `flashmesh ask`: the effects of the tried changes of a drive."""

    measures: tuple[str, ...]
    higher: dict[str, bool]
    """Whether higher is better, for each measure by name."""
    base: dict[str, Estimate]
    """Mean and interval of each measure of the unchanged drive, over seeds."""
    rows: tuple[Row, ...]
    """Tried changes: first those with an effect, in descending order of benefit, then all others."""
    unread: dict[str, str]
    """Reason why a key with a declared step was not changed (for instance, the drive does not read it), by key."""
    impossible: tuple[tuple[Change, str], ...]
    """Changes whose drive is invalid or whose run failed, each with the reason."""
    untried: tuple[Change, ...]
    """Changes without any run before the time limit."""
    seeds: int
    """Maximum number of seeds with which a change was run."""
    bound: str
    """Sentence on the bottleneck of the unchanged drive."""
    elapsed_s: float
    notes: tuple[str, ...] = ()
    """Notes on the limits of the answer, such as a fresh drive without garbage collection."""
    drives: int = 0
    """Number of drives with a result: the unchanged one and those of the tried changes."""
    unsteady: int = 0
    """Number of these drives without a steady window."""

    @property
    def helping(self) -> list[Row]:
        """Changes with a positive benefit that do not lower the load, in descending order of benefit."""
        return [row for row in self.rows if row.is_helpful(self.higher)]

    @property
    def less_load(self) -> list[Row]:
        """Changes that clearly improve a measure, but lower the load (`Row.is_less_load`)."""
        return [row for row in self.rows if row.is_less_load and row.betters(self.higher)]

    @property
    def best(self) -> list[Row]:
        """The first `BEST` helpful changes, with at most one change of each key."""
        by_key: dict[str, Row] = {}
        for row in self.helping:
            by_key.setdefault(row.change.key, row)
        return list(by_key.values())[:BEST]

    @property
    def idle(self) -> dict[str, list[Change]]:
        """Keys without any effective change, each with its tried changes."""
        by_key: dict[str, list[Row]] = {}
        for row in self.rows:
            by_key.setdefault(row.change.key, []).append(row)
        return {
            key: [row.change for row in rows] for key, rows in by_key.items() if not any(row.has_effect for row in rows)
        }

    @property
    def warning(self) -> str:
        """Warning that most drives are not steady: `36 of 40 drives are not steady`; empty if most are steady."""
        return f"{self.unsteady} of {self.drives} drives are not steady" if 2 * self.unsteady > self.drives else ""

    def sentence(self, row: Row) -> str:
        """Returns the effects of a change as text: `+38 % IOPS, -61 % p99 (1 seed): fabric.kind = pnssd`.

        The number of seeds is left out if there are several.
        """
        told = [f"{effect.text} {name}" for name, effect in row.effects.items() if effect.is_clear]
        seeds = " (1 seed)" if row.seeds == 1 else ""
        return f"{', '.join(told) or 'no effect'}{seeds}: {row.change.label}"

    def tornado(self, measure: str) -> list[Bar]:
        """Returns the bars of a tornado chart, grouped by key, the key with the largest effect first."""
        bars: dict[str, list[Bar]] = {}
        for row in self.rows:
            effect = row.effects.get(measure)
            if effect is not None:
                found = effect.ratio
                low, high = (None if end is None else end - 1.0 for end in (found.low, found.high))
                bar = Bar(row.change.key, row.change.after, row.change.before, found.mean - 1.0, low, high)
                bars.setdefault(bar.key, []).append(bar)
        ranked = sorted(bars.values(), key=lambda each: -max(abs(bar.change) for bar in each))
        return [bar for each in ranked for bar in each]

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON document."""
        return {
            "kind": KIND,
            "measures": [{"name": name, "higher_is_better": self.higher[name]} for name in self.measures],
            "base": {name: asdict(found) for name, found in self.base.items()},
            "bound": self.bound,
            "changes": [
                {
                    **asdict(row.change),
                    "seeds": row.seeds,
                    "has_effect": row.has_effect,
                    "score": row.score(self.higher),
                    "ratios": {name: asdict(effect.ratio) for name, effect in row.effects.items()},
                    "also": row.also,
                    "cause": None if row.cause is None else asdict(row.cause),
                    "throughput": None if row.throughput is None else asdict(row.throughput.ratio),
                    "inside": None if row.inside is None else asdict(row.inside.ratio),
                    "less_load": row.is_less_load,
                }
                for row in self.rows
            ],
            "unread": self.unread,
            "impossible": [{**asdict(change), "reason": reason} for change, reason in self.impossible],
            "untried": [asdict(change) for change in self.untried],
            "seeds": self.seeds,
            "notes": self.notes,
            "drives": self.drives,
            "unsteady": self.unsteady,
            "elapsed_s": self.elapsed_s,
        }

    def to_json(self) -> str:
        """Returns the JSON document as text that ends with a newline."""
        return json.dumps(self.to_dict(), indent=2) + "\n"

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Answer:
        """Creates an answer from its JSON document.

        Raises:
            KeyError: If a key is missing.
        """

        def change(each: dict[str, Any]) -> Change:
            return Change(each["key"], each["before"], each["after"])

        def effect(ratio: dict[str, Any] | None) -> Effect | None:
            return None if ratio is None else Effect(Estimate(**ratio))

        return cls(
            tuple(each["name"] for each in document["measures"]),
            {each["name"]: each["higher_is_better"] for each in document["measures"]},
            {name: Estimate(**found) for name, found in document["base"].items()},
            tuple(
                Row(
                    change(each),
                    {name: Effect(Estimate(**ratio)) for name, ratio in each["ratios"].items()},
                    each["seeds"],
                    each.get("also", ""),
                    None if each.get("cause") is None else Cause(**each["cause"]),
                    effect(each.get("throughput")),
                    effect(each.get("inside")),
                )
                for each in document["changes"]
            ),
            dict(document["unread"]),
            tuple((change(each), each["reason"]) for each in document["impossible"]),
            tuple(change(each) for each in document["untried"]),
            document["seeds"],
            document["bound"],
            document["elapsed_s"],
            tuple(document.get("notes", ())),
            document.get("drives", 0),
            document.get("unsteady", 0),
        )


def is_answer(document: Any) -> bool:
    """Returns whether a JSON document is an answer."""
    return isinstance(document, dict) and document.get("kind") == KIND
