"""How much faster than the first run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from flashmesh.plots import style
from flashmesh.plots.runs import baselines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.runs import Run

MEASURES = ("execution time", "mean latency", "p99 latency")


def values_of(run: Run) -> dict[str, float | None]:
    """What speedups are taken of."""
    latency = run.document["latency_ps"]["all"]
    mean, p99 = (latency["mean"], latency["p99"]) if latency else (None, None)
    return dict(zip(MEASURES, (run.document["makespan_ps"], mean, p99), strict=True))


def rows(runs: Sequence[Run]) -> style.Values:
    """A row for each run and measure: how many times faster than its baseline it is."""
    found: style.Values = []
    for run, baseline in zip(runs, baselines(runs), strict=True):
        before, after = values_of(baseline), values_of(run)
        for measure in MEASURES:
            was, now = before[measure], after[measure]
            if was and now:
                row = {"run": run.name, "baseline": baseline.name, "measure": measure, "speedup": was / now}
                found.append(row | {"text": f"{was / now:.2f}x", "from": min(1.0, was / now)})
    return found


def speedups(runs: Sequence[Run]) -> style.Plot:
    """How many times faster than its baseline each run is, a bar for each run that starts at 1."""
    values = rows(runs)
    named, datasets = style.data(values)
    names = [run.name for run in runs]
    base = alt.Chart(named).encode(
        y=alt.Y("run:N", sort=names, axis=alt.Axis(title=None, labelLimit=220)),
        tooltip=["run:N", "baseline:N", "measure:N", "speedup:Q"],
    )
    # A bar from 1: what is slower than the baseline goes to the left.
    scale = alt.Scale(type="log", nice=False, padding=45)
    axis = alt.Axis(title="times faster", format="~g", labelOverlap="greedy", labelSeparation=10)
    x = alt.X("speedup:Q", scale=scale, axis=axis)
    bars = base.mark_bar().encode(
        x=x,
        x2=alt.X2(datum=1),
        color=alt.condition("datum.speedup >= 1", alt.value("#0072b2"), alt.value("#d55e00")),
    )
    text = base.mark_text(align="left", dx=4, fontSize=12).encode(
        x=alt.X("label:Q", scale=scale, axis=axis), text="text:N"
    )
    measure = style.choice("measure", MEASURES, "Speedup in")
    layers = alt.layer(bars, text.transform_calculate(label="max(1, datum.speedup)"))
    layers = layers.add_params(measure).transform_filter("datum.measure == measure")
    told = "How many times faster than its baseline each run is: right of 1 faster, left of 1 slower."
    height = style.bar_height(names)
    return style.finished(layers, datasets, title="Speedup", description=told, height=height)
