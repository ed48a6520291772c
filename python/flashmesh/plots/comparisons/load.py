"""Chart of latency over load."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import altair as alt

from flashmesh.aggregate.estimate import estimate
from flashmesh.configuration import value_text
from flashmesh.plots import style
from flashmesh.plots.panels import lines
from flashmesh.plots.runs import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.runs import Run

LOADS = ("replay.outstanding", "replay.time-scale", "workload.interarrival", "replay.think-time")
"""Keys that set the load of a drive; if several are varied, the first of them is the load of a chart."""
MEASURES = {"mean": "mean", "median": "p50", "p99": "p99", "p99.9": "p99_9"}
WIDE = 30
"""Ratio of the largest to the smallest throughput above which their axis is logarithmic."""
LABELS_MAX = 40
"""Maximum number of points that all have labels. Beyond it, only the first and the last of each line have one."""


def load_axis(runs: Sequence[Run]) -> str | None:
    """Returns the first key of `LOADS` with several values among the runs; None if there is none."""
    for key in LOADS:
        if len({value_text(run.settings[key]) for run in runs if key in run.settings}) > 1:
            return key
    return None


def drives(runs: Sequence[Run], axis: str) -> list[Run]:
    """Returns a run for each line of the chart: the first run of each drive, without the load key in its settings."""
    found: dict[str, Run] = {}
    for run in runs:
        if axis in run.settings:
            settings = {key: value for key, value in run.settings.items() if key != axis}
            found.setdefault(drive_name(run, axis), replace(run, name=drive_name(run, axis), settings=settings))
    return list(found.values())


def drive_name(run: Run, axis: str) -> str:
    """Returns the name of the drive of a run: the settings other than the load key `axis`."""
    return label({key: value for key, value in run.settings.items() if key != axis}) or "drive"


def rows(runs: Sequence[Run], axis: str) -> style.Values:
    """Returns a row for each run and latency statistic, with throughput, latency and label."""
    found: style.Values = []
    there = [run for run in runs if axis in run.settings and run.document["latency_ps"]["all"] is not None]
    ranks = ranks_of([run.settings[axis] for run in there])
    ends: dict[str, list[int]] = {}
    for run in there:
        ends.setdefault(drive_name(run, axis), []).append(ranks[value_text(run.settings[axis])])
    for run in there:
        name, load = drive_name(run, axis), value_text(run.settings[axis])
        is_labelled = len(there) <= LABELS_MAX or ranks[load] in (min(ends[name]), max(ends[name]))
        for measure, key in MEASURES.items():
            row: dict[str, Any] = {"run": name, "load": load, "rank": ranks[load], "iops": run.document["iops"]}
            row |= {"measure": measure, "latency_s": run.document["latency_ps"]["all"][key] * style.PS}
            if bounds := interval(run, key):
                row |= {"low_s": bounds[0] * style.PS, "high_s": bounds[1] * style.PS}
            found.append(row | {"label": load if is_labelled else "", "point": run.name})
    return found


def interval(run: Run, key: str) -> tuple[float, float] | None:
    """Returns the ends of the 95 % interval of a latency statistic in picoseconds; None without an interval.

    The interval is over seeds or, for a single run, from batch means.
    """
    if len(run.repeats) > 1:
        found = estimate([seed["latency_ps"]["all"][key] for seed in run.repeats])
        return None if found is None or found.low is None or found.high is None else (found.low, found.high)
    of_run = run.document["confidence"]["latency_ps"]["all"][key]
    return None if of_run is None else (of_run["low"], of_run["high"])


def ranks_of(loads: Sequence[Any]) -> dict[str, int]:
    """Returns the rank of each load by its text.

    Numbers are ranked in ascending order, other loads (such as times) in the given order.
    """
    if all(isinstance(load, int | float) for load in loads):
        loads = sorted(loads)
    return {text: rank for rank, text in enumerate(dict.fromkeys(map(value_text, loads)))}


def rates(iops: Sequence[float]) -> alt.X:
    """Returns the x axis of throughputs; logarithmic if the largest exceeds `WIDE` times the smallest."""
    title, low = "throughput (IOPS)", min(iops, default=0)
    if low > 0 and max(iops) > WIDE * low:
        return alt.X("iops:Q", scale=alt.Scale(type="log", padding=20), axis=style.log_axis(title, ""))
    return alt.X("iops:Q", axis=alt.Axis(title=title, labelExpr=style.si("")))


def load_latency(runs: Sequence[Run], first: str = "mean") -> style.Plot | None:
    """Returns a chart of latency over throughput, with a line for each drive; None if no load key is varied.

    Raises:
        ValueError: If `first`, the initially selected measure, is unknown.
    """
    if first not in MEASURES:
        raise ValueError(f"there is no measure {first!r} of latency under load: there are {', '.join(MEASURES)}")
    axis = load_axis(runs)
    if axis is None:
        return None
    values = rows(runs, axis)
    has_intervals = style.with_all_ends(values, "latency_s", "low_s", "high_s")
    named, datasets = style.data(values)
    base = alt.Chart(named).encode(
        x=rates([row["iops"] for row in values]),
        y=alt.Y("latency_s:Q", scale=alt.Scale(type="log"), axis=style.log_seconds("completion latency")),
        # Connect points by load: beyond saturation, throughput stagnates or falls while latency rises.
        order="rank:Q",
        tooltip=["run:N", alt.Tooltip("load:N", title=axis), "iops:Q", "measure:N", "latency_s:Q"],
    )
    marks = [base.mark_line(strokeWidth=1.8), base.mark_point(filled=True, size=45)]
    if has_intervals:
        rule = base.mark_rule(strokeWidth=1.5)
        marks.append(rule.encode(y=alt.Y("low_s:Q"), y2="high_s:Q"))
    marks.append(base.mark_text(align="left", dx=6, dy=-6, fontSize=10).encode(text="label:N"))
    choice = style.choice("measure", sorted(MEASURES, key=lambda name: name != first), "Latency")
    text = f"Completion latency over throughput, as {axis} changes; a line for each drive, up to where it saturates. "
    text += f"The numbers at the points are {axis}."
    if has_intervals:
        text += " Upright bars are 95 % intervals."
    marks = [mark.transform_filter("datum.measure == measure") for mark in marks]
    title = "Latency under load"
    return lines(
        drives(runs, axis), marks, named, datasets, title=title, description=text, height=320, choices=[choice]
    )
