"""Chart of a run over time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import altair as alt

from flashmesh.plots import style
from flashmesh.plots.panels import lines
from flashmesh.plots.requests.regimes import changes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashmesh.plots.runs import Run


def _latency(statistic: str) -> Callable[[Mapping[str, Any]], float | None]:
    def value(epoch: Mapping[str, Any]) -> float | None:
        found = epoch["latency_ps"]["all"]
        return found[statistic] * style.PS if found else None

    return value


MEASURES: dict[str, tuple[str, Callable[[Mapping[str, Any]], float | None]]] = {
    "throughput": (" IOPS", lambda epoch: epoch["iops"]),
    "bandwidth": ("B/s", lambda epoch: epoch["bandwidth_bytes_per_s"]),
    "queue depth": ("", lambda epoch: epoch["occupancy_mean"]),
    "mean latency": ("s", _latency("mean")),
    "p99 latency": ("s", _latency("p99")),
    "dies busy": ("%", lambda epoch: epoch["utilisation"]["dies_mean"]),
    "links busy": ("%", lambda epoch: epoch["utilisation"]["links_mean"]),
    "write amplification": ("", lambda epoch: epoch["write_amplification"]),
}
"""Measures over time by name, each with its unit and its function of an epoch."""


def rows(runs: Sequence[Run]) -> style.Values:
    """Returns a row for each epoch of each run, with all measures.

    `change` marks the first epoch after a change of throughput.
    """
    found: style.Values = []
    starts = {(change.run, change.at_ps) for change in changes(runs)}
    for run in runs:
        for epoch in run.document["epochs"]:
            row: dict[str, Any] = {"run": run.name}
            row["start_s"], row["end_s"] = (float(f"{epoch[key] * style.PS:.7g}") for key in ("start_ps", "end_ps"))
            for measure, (_, value) in MEASURES.items():
                at = value(epoch)
                row[measure] = None if at is None else float(f"{at:.5g}")
            if (run.name, epoch["start_ps"]) in starts:
                row["change"] = True
            found.append(row)
    return found


def over_time(runs: Sequence[Run]) -> style.Plot | None:
    """Returns a chart of measures by epoch, with a choice of the measure; None if no run has epochs."""
    runs = [run for run in runs if run.document["epochs"]]
    if not runs:
        return None
    values = rows(runs)
    named, datasets = style.data(values)
    measures = [measure for measure in MEASURES if any(row[measure] is not None for row in values)]
    units = "{" + ", ".join(f"'{name}': '{unit}'" for name, (unit, _) in MEASURES.items()) + "}"
    others = f"format(datum.value, '~s') + {units}[measure]"
    label = f"{units}[measure] == '%' ? format(datum.value, '{style.PERCENT}') : {others}"
    x = alt.X("start_s:Q", axis=style.seconds("simulated time"))
    base = alt.Chart(named).encode(x=x, tooltip=["run:N", "start_s:Q", "end_s:Q", "value:Q"])
    base = base.transform_calculate(value="datum[measure]")
    line = base.mark_line(interpolate="step-after", strokeWidth=1.5)
    line = line.encode(y=alt.Y("value:Q", axis=alt.Axis(title=None, labelExpr=label)), order="start_s:Q")
    marks = [line]
    has_change = any("change" in row for row in values)
    if has_change:
        # Draw all rows, those without a change invisibly: if a filter left no row of the layer, the browser would warn.
        shown = alt.when("datum.change").then(alt.value(1)).otherwise(alt.value(0))
        marks.append(base.mark_rule(strokeWidth=1.5, strokeDash=[2, 3]).encode(opacity=shown))
    measure = style.choice("measure", measures, "Show")
    text = "Throughput, queue depth and more over the simulated time; a line for each run, a step for each epoch."
    text += " Dotted rules: from there on a run has another throughput." if has_change else ""
    plot = lines(runs, marks, named, datasets, title="Over time", description=text, height=300, choices=[measure])
    return replace(plot, units={name: unit.strip() for name, (unit, _) in MEASURES.items()})
