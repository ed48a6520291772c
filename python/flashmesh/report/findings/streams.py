"""Effects of varied keys on the p99 of single streams, which figures of all requests together can hide.

stream.writer.replay.outstanding=32 instead of 1: 9.05 times the p99 of stream reader.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashmesh.configuration import value_text
from flashmesh.report.findings.gains import OTHERS_MAX, Gain, Pairing, listed
from flashmesh.report.measures.streams import PREFIX, stream_measure
from flashmesh.results.streams import COLUMNS_MAX, names_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.report.measures.chart_spec import ChartAxis
    from flashmesh.report.measures.measure import Measure

SUFFIX = ".p99"
LARGE = 1.5
"""Minimum ratio, or its inverse, that counts as an effect if the noise of one of the two figures is unknown."""
TOLD_MIN = 1.2
"""Minimum ratio, or its inverse, that is told of a key with a clear effect on all requests together."""


@dataclass(frozen=True)
class StreamEffect:
    """Largest effect of a varied key on the p99 of one stream."""

    stream: str
    gain: Gain

    @property
    def size(self) -> float:
        """Magnitude of the effect: the absolute logarithm of the ratio."""
        return abs(math.log(self.gain.mean))

    @property
    def text(self) -> str:
        """The effect as a part of a sentence."""
        return f"{self.gain.times} times the p99 of stream {self.stream}{self.gain.caveat}"


def measures_of_streams(table: RunTable) -> list[Measure]:
    """Returns the p99 of each stream as measures; empty unless the first run has several streams."""
    names = names_in([table.first])[:COLUMNS_MAX]
    return [stream_measure(f"{PREFIX}{name}{SUFFIX}") for name in names] if len(names) > 1 else []


def of_all(values: Mapping[str, Sequence[float | None]]) -> str:
    """Returns words that limit a claim to the figures of all requests, after a space; empty for a single stream."""
    return " of all requests together" if any(name.startswith(PREFIX) for name in values) else ""


def effects_on_streams(
    table: RunTable, axis: ChartAxis, values: Mapping[str, Sequence[float | None]]
) -> list[StreamEffect]:
    """Returns the effects of a varied key on single streams, the largest first; empty without a clear effect.

    `values` has the measures of `measures_of_streams` by their names, each with its value in each run.
    """
    first, *others = map(value_text, axis.values)
    pairing = Pairing(table, axis.key)
    found = []
    for name, known in values.items():
        if not name.startswith(PREFIX):
            continue
        gains = [gain for each in others if (gain := pairing.gain(first, each, known)) and is_effect(gain)]
        if gains:
            stream = name.removeprefix(PREFIX).removesuffix(SUFFIX)
            found.append(StreamEffect(stream, max(gains, key=lambda gain: abs(math.log(gain.mean)))))
    return sorted(found, key=lambda effect: -effect.size)


def is_effect(gain: Gain) -> bool:
    """Returns whether a gain is clear, and large if its noise is unknown."""
    return gain.is_clear and (gain.has_intervals or abs(math.log(gain.mean)) >= math.log(LARGE))


def sentences(
    table: RunTable, axes: Sequence[ChartAxis], values: Mapping[str, Sequence[float | None]], idle: Sequence[str]
) -> list[str]:
    """Returns a sentence for each key with an effect on single streams.

    `idle` are the keys without a clear effect on all requests together. Of other keys, only large effects are told.
    """
    found = []
    for axis in axes:
        least = 0.0 if axis.key in idle else math.log(TOLD_MIN)
        told = [each for each in effects_on_streams(table, axis, values) if each.size >= least][:OTHERS_MAX]
        by_value: dict[str, list[str]] = {}
        for each in told:
            by_value.setdefault(each.gain.value, []).append(each.text)
        first = value_text(axis.values[0])
        found += [f"{axis.key}={value} instead of {first}: {listed(texts)}." for value, texts in by_value.items()]
    return found[:OTHERS_MAX]
