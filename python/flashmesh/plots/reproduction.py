"""Charts of a paper: published values beside measured ones."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import altair as alt

from flashmesh.plots import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.style import Chart

WIDTH = 460
TITLE = 72
"""Maximum length of a line in a title."""
NAME = 26
"""Maximum length of a line in the label of a bar."""
LINES = "split(datum.label, '\\n')"
"""Vega expression that breaks a label into lines."""


def bars(values: style.Values, title: str, axis: str, sources: Sequence[str]) -> Chart:
    """Returns a bar chart with a bar for each claim and source. A source is the paper or a regime.

    Args:
        values: Rows with the claim, the source, the value, the position of its text, and the text.
        title: The name of the figure.
        axis: The unit of the values.
        sources: All possible sources, so that each has the same colour in all charts.
    """
    values = [row | {"claim": "\n".join(textwrap.wrap(row["claim"], NAME))} for row in values]
    names = list(dict.fromkeys(row["claim"] for row in values))
    shown = used(values, sources)
    base = alt.Chart(alt.InlineData(values)).encode(
        y=alt.Y("claim:N", sort=names, axis=alt.Axis(title=None, labelLimit=240, labelExpr=LINES)),
        yOffset=alt.YOffset("source:N", sort=shown),
    )
    drawn = base.mark_bar().encode(x=alt.X("value:Q", axis=alt.Axis(title=axis)), color=colour(shown, sources))
    text = base.mark_text(align="left", dx=3, fontSize=10).encode(
        x=alt.X("end:Q", axis=alt.Axis(title=axis)), text="text:N"
    )
    height = max(40, 15 * len(shown) * len(names))
    return framed(alt.layer(drawn, text), title, height)


def lines(
    values: style.Values, title: str, axis: str, value_axis: str, labels: Sequence[str], sources: Sequence[str]
) -> Chart:
    """Returns a line chart with a line for each source."""
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values))
        .mark_line(point=True)
        .encode(
            x=alt.X("label:N", sort=list(labels), axis=alt.Axis(title=axis, labelAngle=0)),
            y=alt.Y("value:Q", axis=alt.Axis(title=value_axis), scale=alt.Scale(zero=True)),
            color=colour(used(values, sources), sources),
        )
    )
    return framed(chart, title, 160)


def used(values: style.Values, sources: Sequence[str]) -> list[str]:
    """Returns the sources that occur in `values`."""
    found = {row["source"] for row in values}
    return [source for source in sources if source in found]


def colour(shown: Sequence[str], sources: Sequence[str]) -> alt.Color:
    """Returns a colour for each shown source, by its index among all sources."""
    colours = [style.COLOURS[sources.index(source) % len(style.COLOURS)] for source in shown]
    scale = alt.Scale(domain=list(shown), range=colours)
    return alt.Color("source:N", scale=scale, legend=alt.Legend(title=None, columns=4))


def framed(chart: Chart, title: str, height: int) -> Chart:
    """Returns a chart with its size and title."""
    lines = textwrap.wrap(title, TITLE)
    done: Chart = chart.properties(width=WIDTH, height=height, title=lines).configure(
        font="sans-serif",
        background="white",
        legend=alt.LegendConfig(orient="bottom"),
        title=alt.TitleConfig(anchor="start", fontSize=13),
        view=alt.ViewConfig(stroke="#cccccc"),
    )
    return done
