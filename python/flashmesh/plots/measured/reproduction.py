"""Charts of a figure of a paper: published and measured values side by side."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import altair as alt

from flashmesh.plots import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.style import Chart

WIDTH = 460
CURVE = 300
"""Minimum width of a chart of curves, in pixels."""
STACKED = 2
"""Maximum number of panels for a single column; more panels are drawn in two columns."""
TITLE = 48
"""Maximum number of characters in a line of a title."""
FONT = 10
"""Font size of labels in pixels; small, since some figures have dozens of labels."""
LABEL = 6.5
"""Width of a character of a label, in pixels."""
BAR, LINE = 15, 13
"""Height of a bar, and line height in the label of a claim, in pixels."""
NAME = 26
"""Maximum number of characters in a line of the label of a claim."""
LINES = "split(datum.label, '\\n')"
"""Vega expression that breaks a label into lines."""


def figure(title: str, panels: Sequence[dict[str, Any]]) -> Chart:
    """Returns the chart of a figure of a paper, with a panel for each unit and each curve.

    Args:
        title: The name of the figure.
        panels: The arguments of `lines` for a curve, and of `bars` for claims with one unit.
    """
    shown = used([row for panel in panels for row in panel["values"]], panels[0]["sources"])
    charts = [(lines if "labels" in panel else bars)(**panel, shown=shown) for panel in panels]
    joined = alt.concat(*charts, columns=1 if len(charts) <= STACKED else 2).properties(title=title)
    return style.configured(joined.resolve_scale(color="shared"))


def bars(values: style.Values, axis: str, sources: Sequence[str], shown: Sequence[str]) -> Chart:
    """Returns a bar chart with a bar for each claim and source: the paper, or a measured regime (reading of the paper).

    Args:
        values: Rows with the claim, the source, the value, the position of its text, and the text.
        axis: The unit of the values.
        sources: All possible sources, so that each has the same colour in all charts.
        shown: The sources that the figure has.
    """
    values = [row | {"claim": "\n".join(textwrap.wrap(row["claim"], NAME))} for row in values]
    names = list(dict.fromkeys(row["claim"] for row in values))
    base = alt.Chart(alt.InlineData(values)).encode(
        y=alt.Y("claim:N", sort=names, axis=alt.Axis(title=None, labelLimit=240, labelExpr=LINES, labelFontSize=FONT)),
        yOffset=alt.YOffset("source:N", sort=list(shown)),
    )
    drawn = base.mark_bar().encode(x=alt.X("value:Q", axis=alt.Axis(title=axis)), color=colour(shown, sources))
    text = base.mark_text(align="left", dx=3, fontSize=FONT).encode(
        x=alt.X("end:Q", axis=alt.Axis(title=axis)), text="text:N"
    )
    each = max(BAR * len(shown), *(LINE * (name.count("\n") + 2) for name in names))
    sized: Chart = alt.layer(drawn, text).properties(width=WIDTH, height=max(40, each * len(names)))
    return sized


def lines(
    values: style.Values,
    title: str,
    axis: str,
    value_axis: str,
    labels: Sequence[str],
    sources: Sequence[str],
    shown: Sequence[str],
) -> Chart:
    """Returns a line chart of a curve, with a line for each source: the paper, or a measured regime (reading of it)."""
    width = max(CURVE, int(LABEL * sum(len(label) + 2 for label in labels)))
    chart: Chart = (
        alt.Chart(alt.InlineData(values))
        .mark_line(point=True)
        .encode(
            x=alt.X("label:N", sort=list(labels), axis=alt.Axis(title=axis, labelAngle=0, labelFontSize=FONT)),
            y=alt.Y("value:Q", axis=alt.Axis(title=value_axis), scale=alt.Scale(zero=True)),
            color=colour(shown, sources),
        )
        .properties(width=width, height=160, title=textwrap.wrap(title, TITLE))
    )
    return chart


def used(values: style.Values, sources: Sequence[str]) -> list[str]:
    """Returns those of `sources` that have a row in `values`, in the same order."""
    found = {row["source"] for row in values}
    return [source for source in sources if source in found]


def colour(shown: Sequence[str], sources: Sequence[str]) -> alt.Color:
    """Returns a colour for each shown source, by its index among all sources."""
    colours = [style.COLOURS[sources.index(source) % len(style.COLOURS)] for source in shown]
    scale = alt.Scale(domain=list(shown), range=colours)
    return alt.Color("source:N", scale=scale, legend=alt.Legend(title=None, columns=4))
