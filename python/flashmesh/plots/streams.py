"""Chart of the streams of a run: latency and slowdown of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import altair as alt

from flashmesh.plots import style
from flashmesh.plots.panels import facets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.runs import Run

MEASURES = {"p99 latency": "p99", "mean latency": "mean"}
SLOWDOWN = "slowdown"
STREAMS_MAX = 24
"""Maximum number of streams drawn of a run."""


def rows(runs: Sequence[Run]) -> style.Values:
    """Returns a row for each stream of each run and each measure."""
    found: style.Values = []
    for run in runs:
        fairness = run.document["fairness"]
        for number, stream in enumerate(run.document["streams"][:STREAMS_MAX]):
            common = {"panel": run.name, "stream": stream["name"]}
            latency = stream["latency_ps"]["all"]
            for measure, key in MEASURES.items() if latency is not None else ():
                found.append(common | {"measure": measure, "value": latency[key] * style.PS})
            slowdown = fairness["streams"][number]["slowdown"] if fairness is not None else None
            if slowdown is not None:
                found.append(common | {"measure": SLOWDOWN, "value": slowdown})
    return found


def streams(runs: Sequence[Run]) -> style.Plot | None:
    """Returns a bar for each stream, in a panel for each run; None if no run has several streams."""
    runs = [run for run in runs if len(run.document["streams"]) > 1]
    if not runs:
        return None
    values = rows(runs)
    named, datasets = style.data(values)
    names = list(dict.fromkeys(row["stream"] for row in values))
    measures = list(dict.fromkeys(row["measure"] for row in values))
    measures = [name for name in (SLOWDOWN, *MEASURES) if name in measures]
    labels = f"measure == '{SLOWDOWN}' ? format(datum.value, '~g') + 'x' : {style.si('s')}"
    chart: alt.Chart = (
        alt.Chart(named)
        .mark_bar(color=style.COLOURS[0])
        .encode(
            y=alt.Y("stream:N", sort=names, axis=style.NAMES),
            x=alt.X("value:Q", axis=alt.Axis(title=None, labelExpr=labels, labelOverlap="greedy")),
            tooltip=["panel:N", "stream:N", "measure:N", "value:Q"],
        )
        .transform_filter("datum.measure == measure")
    )
    choice = style.choice("measure", measures, "Show")
    text = "Each stream beside the others; a slowdown is its mean latency over that of the same stream alone."
    units = dict.fromkeys(MEASURES, "s") | {SLOWDOWN: ""}
    height = style.bar_height(names)
    if len(runs) == 1:
        whole = chart.add_params(choice)
        plot = style.finished(whole, datasets, title="Streams", description=text, height=height)
    else:
        panels = facets(chart, named, [run.name for run in runs], [choice], height)
        plot = style.finished_panels(panels, datasets, title="Streams", description=text, panels=len(runs))
    return replace(plot, units=units)
