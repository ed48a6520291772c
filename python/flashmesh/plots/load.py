"""Latency against load: how a drive behaves as more is asked of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import altair as alt

from flashmesh.configuration import value_text
from flashmesh.plots import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.runs import Run

LOADS = ("replay.outstanding", "replay.time-scale", "workload.interarrival", "replay.think-time")
"""Keys that say how much is asked of a drive, the clearest first."""
MEASURES = {"mean": "mean", "median": "p50", "p99": "p99", "p99.9": "p99_9"}


def load_axis(runs: Sequence[Run]) -> str | None:
    """The axis along which the load changes; None where none does."""
    for key in LOADS:
        if len({value_text(run.settings[key]) for run in runs if key in run.settings}) > 1:
            return key
    return None


def rows(runs: Sequence[Run], axis: str) -> style.Values:
    """A row for each run and measure of its latency."""
    found: style.Values = []
    ranks = ranks_of([run.settings[axis] for run in runs if axis in run.settings])
    for run in runs:
        latency = run.document["latency_ps"]["all"]
        if latency is None or axis not in run.settings:
            continue
        others = [value_text(value) for key, value in run.settings.items() if key != axis]
        for name, key in MEASURES.items():
            found.append(
                {
                    "run": ", ".join(others) or "drive",
                    "load": value_text(run.settings[axis]),
                    "rank": ranks[value_text(run.settings[axis])],
                    "iops": run.document["iops"],
                    "measure": name,
                    "latency_s": latency[key] * style.PS,
                }
            )
    return found


def ranks_of(loads: Sequence[Any]) -> dict[str, int]:
    """The places of loads in a line: numbers by their size, others, such as times with units, as they come."""
    if all(isinstance(load, int | float) for load in loads):
        loads = sorted(loads)
    return {text: rank for rank, text in enumerate(dict.fromkeys(map(value_text, loads)))}


def load_latency(runs: Sequence[Run]) -> style.Plot | None:
    """Latency over the throughput that was reached, a line for each drive; None where the load does not change."""
    axis = load_axis(runs)
    if axis is None:
        return None
    values = rows(runs, axis)
    named, datasets = style.data(values)
    names = dict.fromkeys(row["run"] for row in values)
    color, dash = style.by_run([replace(runs[0], name=name, settings={}) for name in names])
    base = alt.Chart(named).encode(
        x=alt.X("iops:Q", axis=alt.Axis(title="throughput (IOPS)", format="~s")),
        y=alt.Y("latency_s:Q", scale=alt.Scale(type="log"), axis=style.log_seconds("completion latency")),
        color=color,
        # Not by throughput: beyond saturation it stays, or falls, while the latency goes on rising.
        order="rank:Q",
        tooltip=["run:N", alt.Tooltip("load:N", title=axis), "iops:Q", "measure:N", "latency_s:Q"],
    )
    lines = base.mark_line(strokeWidth=1.8).encode(strokeDash=dash)
    marks = base.mark_point(filled=True, size=45)
    measure = style.choice("measure", list(MEASURES), "Latency")
    layers = alt.layer(lines, marks).add_params(measure).transform_filter("datum.measure == measure")
    text = f"Completion latency over throughput, as {axis} changes; a line for each drive, up to where it saturates."
    return style.finished(layers, datasets, title="Latency under load", description=text, height=320)
