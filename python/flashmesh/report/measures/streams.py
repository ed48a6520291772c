"""Measures of single streams: `streams.NAME.MEASURE`, such as `streams.reader.read p99`."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError, quantities
from flashmesh.report import quantities as q
from flashmesh.report.measures.measure import OF_RUN, Measure, in_unit
from flashmesh.results.streams import (
    FAIRNESS_STREAMS,
    STREAM_PREFIXES,
    STREAMS,
    WINDOW_STREAMS,
    types_of_stream,
    value_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from flashmesh._native import Config

HOST = ("host",)
"""Name of the only stream of a configuration that defines none."""
PREFIX = f"{STREAMS}."
FORM = "streams.NAME.MEASURE"
OF_STREAM = (
    f"{FORM} is a measure of the stream NAME alone, such as streams.reader.p99: IOPS, bandwidth, a latency, its"
    " slowdown, or one of its values by key."
)
"""Description of measures of streams, for the list of measures."""
SLOWDOWN = "slowdown"
OF_FAIRNESS = "fairness."
"""Beginning of the keys of a result that have values only if each stream was also run alone."""
WINDOW_START = "measured.start_ps"
"""Key of a result that has a value if the run has a measured window."""
LISTED_MAX = 12
"""Maximum number of streams that an error lists."""


@cache
def of_one() -> dict[str, Measure]:
    """Returns the measures of a run that also exist for a stream, by name; their keys are relative to the stream."""
    types = types_of_stream()[WINDOW_STREAMS]
    return {each.name: each for each in OF_RUN if len(each.keys) == 1 and each.keys[0] in types}


def names() -> list[str]:
    """Returns the names of the measures of a stream."""
    return [*of_one(), SLOWDOWN]


def stream_measure(name: str) -> Measure:
    """Returns the measure of a stream by its name: `streams.NAME.MEASURE`, or any single value by its dotted key.

    Measures cover the measured window if the run has one. A dotted key itself selects the window or the whole run.

    Raises:
        ConfigError: If the name does not have this form, or a stream has no such measure or value.
    """
    place = next(prefix for prefix in STREAM_PREFIXES if name.startswith(prefix))
    stream, _, what = name.removeprefix(place).partition(".")
    if not stream or not what:
        raise ConfigError(f"there is no measure {name!r}: measures of a stream are {FORM}, such as streams.reader.p99")
    types = types_of_stream()[place.removesuffix(".")]
    if place == PREFIX and what in names():
        return of_slowdown(name, stream) if what == SLOWDOWN else of_stream(of_one()[what], name, stream)
    key = what if what in types else what.replace("-", "_")
    if key in types:
        unit = unit_of(key)
        return Measure(name, (f"{place}{stream}.{key}",), in_unit(unit), unit, stream=stream)
    from flashmesh.importers.problems import suggestion

    near = suggestion(what, [*names(), *types])
    told = f"did you mean {near!r}?" if near else f"a stream has {', '.join(names())}"
    raise ConfigError(f"{name}: there is no measure {what!r} of a stream: {told}")


def of_stream(measure: Measure, name: str, stream: str) -> Measure:
    """Returns `measure`, which reads a single key, for one stream, with the name `name`.

    It covers the measured window of a run, or the whole run if there is no window.
    """
    (key,) = measure.keys
    return replace(
        measure,
        name=name,
        keys=(WINDOW_START, f"{WINDOW_STREAMS}.{stream}.{key}", f"{PREFIX}{stream}.{key}"),
        text=or_dash(measure.text),
        of=of_window_or_run,
        interval=measure.interval and f"{PREFIX}{stream}.{measure.interval}",
        stream=stream,
    )


def of_window_or_run(start: float | None, of_window: float | None, of_run: float | None) -> float | None:
    """Returns the value of the measured window if the window has a start, else that of the whole run."""
    return of_run if start is None else of_window


def or_dash(text: Callable[[float | None], str]) -> Callable[[float | None], str]:
    """Returns the function that formats values as text, and a missing value as a dash."""
    return lambda value: q.NONE if value is None else text(value)


def of_slowdown(name: str, stream: str) -> Measure:
    """Returns the measure of the slowdown of a stream; `name` is its name."""
    key = f"{FAIRNESS_STREAMS}.{stream}.{SLOWDOWN}"
    return Measure(name, (key,), or_dash(lambda value: f"{value:.2f}"), ratio=False, stream=stream)


def unit_of(key: str) -> str:
    """Returns the unit of a value of a stream: that of the same value of a run or, if there is none, by its suffix."""
    known = {name: unit for name, unit, _ in quantities()}
    if key in known:
        return known[key]
    return "B" if key.endswith("_bytes") else "ps" if key.endswith("_ps") or "_ps." in key else ""


def refuse_unknown_streams(measures: Iterable[Measure], streams: Sequence[str]) -> None:
    """Refuses measures of streams that no run has.

    Raises:
        ConfigError: If there is such a measure; the message lists the streams of the runs.
    """
    for measure in measures:
        if measure.stream is None or measure.stream in streams:
            continue
        more = f" and {len(streams) - LISTED_MAX:,} more" if len(streams) > LISTED_MAX else ""
        told = ", ".join(streams[:LISTED_MAX]) or "none"
        noun = "stream is" if len(streams) == 1 else "streams are"
        raise ConfigError(f"{measure.name}: there is no stream {measure.stream!r}; the {noun} {told}{more}")


def needs_fairness(measure: Measure) -> bool:
    """Returns whether a measure compares streams with runs of each stream alone."""
    return any(key.startswith(OF_FAIRNESS) for key in measure.keys)


def refuse_slowdowns(measures: Iterable[Measure], remedy: str) -> None:
    """Refuses measures that need a run of each stream alone.

    Raises:
        ConfigError: If there is such a measure; the message ends with `remedy`.
    """
    for measure in measures:
        if needs_fairness(measure):
            raise ConfigError(f"{measure.name.strip()} needs a run of each stream alone: {remedy}")


def refuse_unconfigured_streams(measures: Sequence[Measure], configs: Iterable[Config]) -> None:
    """Refuses measures of streams that no configuration has, before any run.

    Raises:
        ConfigError: If there is such a measure; the message lists the streams of the configurations.
    """
    if any(measure.stream is not None for measure in measures):
        found = [tomllib.loads(config.to_toml()).get("stream") or HOST for config in configs]
        refuse_unknown_streams(measures, list(dict.fromkeys(name for names in found for name in names)))


def most_slowed(streams: Sequence[Any] | None) -> Any:
    """Returns the name of the stream with the largest slowdown, as text; None without slowdowns."""
    found = [each for each in streams or () if value_of(each, SLOWDOWN) is not None]
    return value_of(max(found, key=lambda each: value_of(each, SLOWDOWN)), "name") if found else None


MOST_SLOWED = Measure("  of the stream", (FAIRNESS_STREAMS,), or_dash(str), of=most_slowed, ratio=False)
"""Name of the stream with the largest slowdown; tables show it below this slowdown."""
