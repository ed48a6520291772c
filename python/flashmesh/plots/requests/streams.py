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
"""Maximum number of streams of a run that are drawn: the first ones."""


def rows(runs: Sequence[Run]) -> style.Values:
    """Returns a row for each stream and measure of each run; from the measured window if there is one."""
    found: style.Values = []
    for run in runs:
        document = run.document
        window = document["measured"]["streams"] if document["measured"] is not None else document["streams"]
        fairness = document["fairness"]
        for number, (stream, whole) in enumerate(zip(window, document["streams"], strict=True)):
            if number == STREAMS_MAX:
                break
            common = {"panel": run.name, "stream": stream["name"]}
            latency, confidence = stream["latency_ps"]["all"], whole["confidence"]
            for measure, key in MEASURES.items() if latency is not None else ():
                row = common | {"measure": measure, "value": latency[key] * style.PS}
                interval = confidence["latency_ps"]["all"][key] if confidence is not None else None
                if interval is not None:
                    row |= {end: interval[end] * style.PS for end in ("low", "high")}
                found.append(row)
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
    has_intervals = style.with_all_ends(values, "value")
    named, datasets = style.data(values)
    names = list(dict.fromkeys(row["stream"] for row in values))
    measures = list(dict.fromkeys(row["measure"] for row in values))
    measures = [name for name in (SLOWDOWN, *MEASURES) if name in measures]
    labels = f"measure == '{SLOWDOWN}' ? format(datum.value, '~g') + 'x' : {style.si('s')}"
    axis = alt.Axis(title=None, labelExpr=labels, labelOverlap="parity")
    base = (
        alt.Chart(named)
        .transform_filter("datum.measure == measure")
        .encode(
            y=alt.Y("stream:N", sort=names, axis=style.NAMES), tooltip=["panel:N", "stream:N", "measure:N", "value:Q"]
        )
    )
    marks: list[alt.Chart] = [base.mark_bar(color=style.COLOURS[0]).encode(x=alt.X("value:Q", axis=axis))]
    text = "Each stream beside the others; a slowdown is its mean latency over that of the same stream alone."
    if has_intervals:
        rule = base.mark_rule(strokeWidth=2, color="#000000")
        marks.append(rule.encode(x=alt.X("low:Q", axis=axis), x2="high:Q"))
        text += " Black lines are 95 % intervals."
    chart = style.layered(marks)
    choice = style.choice("measure", measures, "Show")
    units = dict.fromkeys(MEASURES, "s") | {SLOWDOWN: ""}
    height = style.bar_height(names)
    if len(runs) == 1:
        whole = chart.add_params(choice)
        plot = style.finished(whole, datasets, title="Streams", description=text, height=height)
    else:
        panels = facets(chart, named, [run.name for run in runs], [choice], height)
        plot = style.finished_panels(panels, datasets, title="Streams", description=text, panels=len(runs))
    return replace(plot, units=units)
