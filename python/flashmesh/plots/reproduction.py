"""The figures of a paper: published values beside measured ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from flashmesh.plots import style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.style import Chart

WIDTH = 460


def bars(values: style.Values, title: str, axis: str, sources: Sequence[str]) -> Chart:
    """A bar for each claim and source, which is what was published or a regime."""
    names = list(dict.fromkeys(row["claim"] for row in values))
    base = alt.Chart(alt.InlineData(values)).encode(
        y=alt.Y("claim:N", sort=names, axis=alt.Axis(title=None, labelLimit=240)),
        yOffset=alt.YOffset("source:N", sort=list(sources)),
    )
    drawn = base.mark_bar().encode(x=alt.X("value:Q", axis=alt.Axis(title=axis)), color=colour(sources))
    text = base.mark_text(align="left", dx=3, fontSize=10).encode(
        x=alt.X("end:Q", axis=alt.Axis(title=axis)), text="text:N"
    )
    height = max(40, 15 * len(sources) * len(names))
    return framed(alt.layer(drawn, text), title, height)


def lines(values: style.Values, title: str, axis: str, labels: Sequence[str], sources: Sequence[str]) -> Chart:
    """A line for each source along an axis."""
    chart: alt.Chart = (
        alt.Chart(alt.InlineData(values))
        .mark_line(point=True)
        .encode(
            x=alt.X("label:N", sort=list(labels), axis=alt.Axis(title=axis, labelAngle=0)),
            y=alt.Y("value:Q", axis=alt.Axis(title=None), scale=alt.Scale(zero=True)),
            color=colour(sources),
        )
    )
    return framed(chart, title, 160)


def colour(sources: Sequence[str]) -> alt.Color:
    """A colour for each source."""
    scale = alt.Scale(domain=list(sources), range=list(style.COLOURS[: len(sources)]))
    return alt.Color("source:N", scale=scale, legend=alt.Legend(title=None))


def framed(chart: Chart, title: str, height: int) -> Chart:
    """A chart with its size and title."""
    done: Chart = chart.properties(width=WIDTH, height=height, title=title).configure(
        font="sans-serif",
        background="white",
        legend=alt.LegendConfig(orient="bottom"),
        title=alt.TitleConfig(anchor="start", fontSize=13),
        view=alt.ViewConfig(stroke="#cccccc"),
    )
    return done
