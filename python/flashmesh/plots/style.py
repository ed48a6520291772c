"""Style of all charts: colours for the colour-blind, dashes for print, SI units."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import altair as alt

from flashmesh.configuration import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flashmesh.plots.runs import Run

T = TypeVar("T")

PS = 1e-12
"""A picosecond in seconds."""

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#000000", "#8c6d31", "#7f7f7f", "#f0e442")
"""Colours of Okabe and Ito, distinguishable for most colour-blind people, and two more."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 1], [1, 3], [10, 4], [3, 1, 1, 1], [12, 2], [5, 5])
"""Dashes that accompany the colours, so that lines are distinguishable without colour."""
HEAT: Literal["blues"] = "blues"
"""Colour scale from light to dark, readable in greyscale and for the colour-blind."""
FONT_OF_FILES = "Helvetica, Arial, sans-serif"
"""Font of charts in files. Labels are placed by the widths of this font, before a browser draws them."""
HEIGHT = 280
PANEL_WIDTH = 200
"""Initial width of a panel in pixels. A page adapts it to the number of panels in a row."""

NAMES = alt.Axis(title=None, labelLimit=340)
"""Axis with the names of runs."""
LINE_LEGEND = alt.Legend(title=None, symbolType="stroke", symbolStrokeWidth=3, symbolSize=300, symbolOpacity=1)
PERCENT = "~%"
"""Format of percentages with as many digits as needed to distinguish the labels of a small range."""

Values = list[dict[str, Any]]
Datasets = dict[str, Values]
Chart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.ConcatChart


@dataclass(frozen=True)
class Plot:
    """A chart that refers to its data by name, so that several charts can share data."""

    chart: Chart
    datasets: Datasets
    text: str
    """Description for screen readers."""
    units: Mapping[str, str] = field(default_factory=dict)
    """Unit of each choice of the selection field `measure`; empty if the chart has no such field. `%` stands for
    shares."""
    panels: int = 0
    """Number of panels; 0 for a chart without panels, which fills its width."""
    panel_of: Mapping[str, str] = field(default_factory=dict)
    """Name of the panel that shows each run, by the name of the run; empty unless the chart computes the field `panel`
    of its rows from the run."""
    line_of: Mapping[str, str] = field(default_factory=dict)
    """Name of the line that shows each run, by the name of the run; empty unless the chart computes the field `line` of
    its rows from the run."""

    def altair(self) -> Chart:
        """Returns the chart with its data embedded."""
        chart: Chart = self.chart.properties(datasets=self.datasets)
        return chart

    def spec(self) -> dict[str, Any]:
        """Returns the Vega-Lite specification of the chart without its data."""
        return self.chart.to_dict(validate=False)


def data(values: Values) -> tuple[alt.NamedData, Datasets]:
    """Returns rows as (reference by name, datasets by name).

    The name is a hash of the rows, so that a page stores equal rows once.
    """
    name = "data-" + hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
    return alt.NamedData(name), {name: values}


def finished(chart: Chart, datasets: Datasets, *, title: str, description: str, height: int = HEIGHT) -> Plot:
    """Returns a chart with its data, size, title and description for screen readers."""
    sized = chart.properties(width="container", height=height, title=title, description=description)
    return Plot(configured(sized), datasets, description)


def finished_panels(chart: alt.FacetChart, datasets: Datasets, *, title: str, description: str, panels: int) -> Plot:
    """Returns a chart of several panels of fixed size, with its data, title and description."""
    return Plot(
        configured(chart.properties(title=title, description=description)), datasets, description, panels=panels
    )


def configured(chart: Chart) -> Chart:
    """Returns a chart with the common configuration."""
    done: Chart = chart.configure(
        font="system-ui, sans-serif",
        background="white",
        axis=alt.AxisConfig(labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor="#e4e4e4"),
        axisQuantitative=alt.AxisConfig(labelOverlap="parity", labelSeparation=8),
        # A label that reaches beyond the margin of the drawing would be cut.
        axisXQuantitative=alt.AxisConfig(labelBound=5),
        legend=alt.LegendConfig(labelFontSize=12, titleFontSize=12, labelLimit=260, orient="bottom", columns=4),
        title=alt.TitleConfig(anchor="start", fontSize=14, fontWeight=600),
        view=alt.ViewConfig(stroke="#cccccc"),
    )
    return done


def si(unit: str) -> str:
    """Returns a Vega expression for labels in `unit` with SI prefixes.

    Without a unit, numbers below 1 have no prefix.
    """
    labels = f"format(datum.value, '~s') + '{unit}'"
    return labels if unit else f"abs(datum.value) < 1 ? format(datum.value, '~g') : {labels}"


def seconds(title: str) -> alt.Axis:
    """Returns an axis of times in seconds."""
    return alt.Axis(title=title, labelExpr=si("s"), labelOverlap="parity", labelSeparation=10)


def log_seconds(title: str) -> alt.Axis:
    """Returns a logarithmic axis of times in seconds."""
    return log_axis(title, "s")


def log_axis(title: str | None, unit: str) -> alt.Axis:
    """Returns a logarithmic axis in a unit with SI prefixes, with labels at 1, 2 and 5 of each power of ten."""
    label = f"test(/^[125][.]0/, format(datum.value, '.1e')) ? {si(unit)} : ''"
    return alt.Axis(title=title, labelExpr=label, labelOverlap="greedy", labelSeparation=8)


def by_run(runs: Sequence[Run]) -> tuple[alt.Color, alt.StrokeDash]:
    """Returns the colour and the dash of the line of each run, with one legend for both.

    If several keys are varied, the colour shows the first key and the dash the other keys.
    """
    first = next(iter(runs[0].settings), "") if runs else ""
    names = [run.name for run in runs]
    heads = [value_text(run.settings[first]) if first in run.settings else run.name for run in runs]
    rests = [tuple(value_text(value) for key, value in run.settings.items() if key != first) for run in runs]
    hue, stroke = _numbered(heads), _numbered(rests)
    if len(stroke) == 1:
        stroke = {}
    colours = [COLOURS[hue[head] % len(COLOURS)] for head in heads]
    dashes = [
        DASHES[(stroke[rest] if stroke else hue[head]) % len(DASHES)] for head, rest in zip(heads, rests, strict=True)
    ]
    legend = LINE_LEGEND if len(names) > 1 else None
    return (
        alt.Color("run:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
        alt.StrokeDash("run:N", scale=alt.Scale(domain=names, range=dashes), legend=legend),
    )


def by_name(
    field: str, names: Sequence[str], *, has_legend: bool = True, symbol: Literal["stroke", "square"] = "stroke"
) -> tuple[alt.Color, alt.StrokeDash]:
    """Returns the colour and the dash of each value of a field, with one legend for both.

    No legend for a single value.
    """
    drawn = LINE_LEGEND if symbol == "stroke" else alt.Legend(title=None, symbolType=symbol)
    legend = drawn if len(names) > 1 and has_legend else None
    colours = [COLOURS[number % len(COLOURS)] for number in range(len(names))]
    dashes = [DASHES[number % len(DASHES)] for number in range(len(names))]
    return (
        alt.Color(f"{field}:N", scale=alt.Scale(domain=list(names), range=colours), legend=legend),
        alt.StrokeDash(f"{field}:N", scale=alt.Scale(domain=list(names), range=dashes), legend=legend),
    )


def _numbered(values: Iterable[T]) -> dict[T, int]:
    """Returns consecutive numbers for the distinct values, in the order of their first occurrence."""
    return {value: number for number, value in enumerate(dict.fromkeys(values))}


def by_part(parts: Mapping[str, str], title: str | None = None) -> alt.Color:
    """Returns the colour of each part of a stacked bar. `parts` has the colours by name."""
    scale = alt.Scale(domain=list(parts), range=list(parts.values()))
    return alt.Color("part:N", scale=scale, legend=alt.Legend(title=title, symbolType="square"))


def choice(name: str, options: Sequence[str], text: str) -> alt.Parameter:
    """Returns a selection field labelled `text`; the first option is selected."""
    return alt.param(name=name, value=options[0], bind=alt.binding_select(options=list(options), name=f"{text} "))


def layered(layers: Sequence[alt.Chart]) -> alt.LayerChart:
    """Returns charts drawn over each other."""
    return cast("alt.LayerChart", alt.layer(*layers))


def with_all_ends(values: Values, value: str, low: str = "low", high: str = "high") -> bool:
    """Adds intervals of zero width to rows without an interval, if any row has one. Returns whether any row has one.

    Otherwise, a filter could leave no row in the layer of intervals, and the browser would warn.
    """
    has_intervals = any(low in row for row in values)
    for row in values if has_intervals else ():
        row.setdefault(low, row[value])
        row.setdefault(high, row[value])
    return has_intervals


def bars(values: Values, names: Sequence[str], color: alt.Color, x: alt.X, tooltip: Sequence[str]) -> alt.Chart:
    """Returns stacked bars, one for each run; the rows are the parts of the bars."""
    named, _ = data(values)
    chart: alt.Chart = (
        alt.Chart(named)
        .mark_bar(stroke="white", strokeWidth=0.5, clip=True)
        .encode(
            y=alt.Y("run:N", sort=list(names), axis=NAMES),
            x=x,
            color=color,
            order=alt.Order("order:Q"),
            tooltip=list(tooltip),
        )
    )
    return chart


def bar_height(names: Sequence[str]) -> int:
    """Returns the height in pixels of a chart with a bar for each run."""
    return max(60, 26 * len(names))
