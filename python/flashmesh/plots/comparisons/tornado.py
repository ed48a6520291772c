"""Tornado chart of `flashmesh ask`: a bar for the effect of each change on a measure, to the right for increases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from flashmesh.plots import style

if TYPE_CHECKING:
    from flashmesh.asking.answer import Answer

GAIN, LOSS, NOTHING = "better", "worse", "no clear effect"
COLOURS = {GAIN: style.COLOURS[0], LOSS: style.COLOURS[3], NOTHING: "#999999"}
BARS_MAX = 40
"""Maximum number of changes drawn: those of the keys with the largest effects."""


def rows(answer: Answer, measure: str) -> style.Values:
    """Returns a row for each change, at most `BARS_MAX`, grouped by key, the key with the largest effect first."""
    clear = {
        (row.change.key, row.change.after): effect.is_clear
        for row in answer.rows
        if (effect := row.effects.get(measure)) is not None
    }
    found: style.Values = []
    for bar in answer.tornado(measure)[:BARS_MAX]:
        is_better = (bar.change > 0) == answer.higher[measure]
        kind = NOTHING if not clear[bar.key, bar.value] else GAIN if is_better else LOSS
        row = {"change": f"{bar.key} = {bar.value}", "now": bar.before, "effect": bar.change, "kind": kind}
        if bar.low is not None and bar.high is not None:
            row |= {"low": bar.low, "high": bar.high}
        found.append(row)
    return found


def tornado(answer: Answer, measure: str) -> style.Plot | None:
    """Returns a chart of the effect of each change on a measure; None if no change has a value of the measure."""
    values = rows(answer, measure)
    if not values:
        return None
    named, datasets = style.data(values)
    names = [row["change"] for row in values]
    kinds = [kind for kind in COLOURS if any(row["kind"] == kind for row in values)]
    scale = alt.Scale(domain=kinds, range=[COLOURS[kind] for kind in kinds])
    base = alt.Chart(named).encode(
        y=alt.Y("change:N", sort=names, axis=alt.Axis(title=None, labelLimit=300)),
        tooltip=["change:N", "now:N", alt.Tooltip("effect:Q", format="+.1%"), "kind:N"],
    )
    label = f"(datum.value > 0 ? '+' : '') + format(datum.value, '{style.PERCENT}')"
    # Few ticks, so that the labels have room and none is left out.
    x = alt.X("effect:Q", axis=alt.Axis(title=f"change of {measure}", labelExpr=label, tickCount=6))
    legend = alt.Legend(title=None, symbolType="square")
    layers = [base.mark_bar().encode(x=x, color=alt.Color("kind:N", scale=scale, legend=legend))]
    if any("low" in row for row in values):
        rule = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5, color="#000000")
        layers.append(rule.encode(x="low:Q", x2="high:Q"))
    text = f"What each single change does to {measure}; black lines are 95 % intervals, over the seeds if several."
    if len(answer.tornado(measure)) > len(values):
        text += f" Only {BARS_MAX} changes are drawn, of the keys with the largest effects."
    height = style.bar_height(names)
    title = f"What would change {measure}"
    return style.finished(style.layered(layers), datasets, title=title, description=text, height=height)
