"""Chart of measured and simulated latency over the offered load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from flashmesh.plots import style

if TYPE_CHECKING:
    from flashmesh.validation.judging.outcome import Validation

STATISTICS = {"mean": "mean", "p50": "p50", "p99": "p99", "p999": "p99.9"}
SOURCES = ("measured", "simulated")
US = 1e-6
DASH_LEGEND = alt.Legend(
    title=None,
    symbolType="stroke",
    symbolStrokeColor="#444444",
    symbolStrokeWidth=3,
    symbolSize=600,
)
"""Legend of dashes, for lines of any colour; its symbols are wide enough to show the dashes."""
WIDTH, HEIGHT = 460, 300
"""Width and height of a chart on a page, in pixels."""


def rows(validation: Validation, kind: str) -> style.Values:
    """Returns a row for each load, latency statistic and source (measured, simulated). `kind` is `read` or `write`."""
    found: style.Values = []
    for point in validation.points:
        for source, figures in zip(SOURCES, (point.measured.figures, point.simulated), strict=True):
            for column, statistic in STATISTICS.items():
                value = None if figures is None else figures.value(f"{kind}_{column}_us")
                if value is not None:
                    row: dict[str, Any] = {"offered_iops": point.measured.offered_iops, "source": source}
                    found.append(row | {"statistic": statistic, "latency_s": value * US})
    return found


def curves(validation: Validation, kind: str) -> style.Plot:
    """Returns a chart of read or write latency over the load. Colours are statistics; dashed lines are simulated."""
    named, datasets = style.data(rows(validation, kind))
    names = list(STATISTICS.values())
    colour = alt.Color(
        "statistic:N", scale=alt.Scale(domain=names, range=list(style.COLOURS[: len(names)])), legend=style.LINE_LEGEND
    )
    dashes = alt.Scale(domain=list(SOURCES), range=[style.DASHES[0], style.DASHES[1]])
    base = alt.Chart(named).encode(
        x=alt.X("offered_iops:Q", axis=alt.Axis(title="offered (IOPS)", labelExpr=style.si(""))),
        y=alt.Y("latency_s:Q", scale=alt.Scale(type="log"), axis=style.log_seconds(f"latency of {kind}s")),
        color=colour,
        tooltip=["offered_iops:Q", "statistic:N", "source:N", "latency_s:Q"],
    )
    # Lines and points are separate layers: the legend of lines with points shows no dashes.
    lines = base.mark_line(strokeWidth=1.8).encode(
        strokeDash=alt.StrokeDash("source:N", scale=dashes, legend=DASH_LEGEND), detail="source:N"
    )
    chart = style.layered([lines, base.mark_point(filled=True, size=40)])
    title = f"{validation.title}: {kind}s"
    text = f"Latency of {kind}s over the offered load: measured (whole lines) and simulated (dashed lines)."
    return style.finished(chart, datasets, title=title, description=text, height=HEIGHT)


def picture(validation: Validation, kind: str) -> style.Chart:
    """Returns the chart of `curves` with a fixed size, for a page."""
    chart: style.Chart = curves(validation, kind).altair().properties(width=WIDTH)
    return chart
