"""What is in the way of transfers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from flashmesh.plots import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.runs import Run

CAUSES = {
    "channel": ("channel or pins taken", "#0072b2"),
    "controller": ("controllers taken", "#e69f00"),
    "link": ("links on the way taken", "#d55e00"),
}
SHARE, WAIT = "share of transfers", "wait per transfer"


def rows(runs: Sequence[Run]) -> style.Values:
    """A row for each cause in each run."""
    found: style.Values = []
    for run in runs:
        conflict = run.document["path_conflict"]
        transfers = conflict["transfers"]
        for order, (cause, (name, _)) in enumerate(CAUSES.items()):
            of = conflict["causes"][cause]
            row = {"run": run.name, "part": name, "order": order}
            found.append(row | {"measure": SHARE, "value": of["transfers"] / transfers if transfers else 0.0})
            found.append(row | {"measure": WAIT, "value": of["wait_ps"] * style.PS / transfers if transfers else 0.0})
    return found


def conflicts(runs: Sequence[Run]) -> style.Plot:
    """How many transfers find something in their way, by what it is; a bar for each run."""
    values = rows(runs)
    _, datasets = style.data(values)
    names = [run.name for run in runs]
    labels = f"measure == '{SHARE}' ? format(datum.value, '.0%') : {style.si('s')}"
    x = alt.X("value:Q", stack="zero", axis=alt.Axis(title=None, labelExpr=labels))
    colours = style.by_part(dict(CAUSES.values()))
    chart = style.bars(values, names, colours, x, ["run:N", "part:N", "measure:N", "value:Q"])
    measure = style.choice("measure", [SHARE, WAIT], "Show")
    chart = chart.add_params(measure).transform_filter("datum.measure == measure")
    text = (
        "Transfers that found their path taken, by what was in the way; a bar for each run. A transfer counts for each "
    )
    text += "cause that it met, so a bar may exceed 100 %."
    height = style.bar_height(names)
    return style.finished(chart, datasets, title="Path conflicts by cause", description=text, height=height)
