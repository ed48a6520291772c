"""How all charts look: colours that the colour-blind tell apart, dashes for print, SI units."""

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
"""A picosecond, in seconds."""

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#000000", "#8c6d31", "#7f7f7f", "#f0e442")
"""Okabe and Ito's colours, which nearly all kinds of colour-blindness tell apart, and two more."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 1], [1, 3], [10, 4], [3, 1, 1, 1], [12, 2], [5, 5])
"""A dash for each colour, so that lines can be told apart without any."""
HEAT: Literal["blues"] = "blues"
"""A scale from light to dark that reads the same with every kind of colour-blindness, and in grey."""
HEIGHT = 280
PANEL_WIDTH = 200
"""How wide one of several panels is, until a page knows how many stand beside each other."""

NAMES = alt.Axis(title=None, labelLimit=340)
"""An axis of names of runs."""
LINE_LEGEND = alt.Legend(title=None, symbolType="stroke", symbolStrokeWidth=3, symbolSize=300, symbolOpacity=1)
PERCENT = "~%"
"""Shares as percentages with the digits they need: ticks of a small range stay apart."""

Values = list[dict[str, Any]]
Datasets = dict[str, Values]
Chart = alt.Chart | alt.LayerChart | alt.FacetChart


@dataclass(frozen=True)
class Plot:
    """A chart beside its data, which it names: so data can be shared, and need not be copied with the chart."""

    chart: Chart
    datasets: Datasets
    text: str
    """What it shows, for those who cannot see it."""
    units: Mapping[str, str] = field(default_factory=dict)
    """The units of the choices of the field `measure`, where it decides what an axis shows; `%` for shares."""
    panels: int = 0
    """How many panels it has; 0 for a chart that fills its width by itself."""
    panel_of: Mapping[str, str] = field(default_factory=dict)
    """The panel of each run, where the rows do not have it."""

    def altair(self) -> Chart:
        """The chart with its data in it."""
        chart: Chart = self.chart.properties(datasets=self.datasets)
        return chart

    def spec(self) -> dict[str, Any]:
        """The chart without its data, as Vega-Lite."""
        return self.chart.to_dict(validate=False)


def data(values: Values) -> tuple[alt.NamedData, Datasets]:
    """Rows for a chart, under a name that says what they are: equal rows are there once on a page."""
    name = "data-" + hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
    return alt.NamedData(name), {name: values}


def finished(chart: Chart, datasets: Datasets, *, title: str, description: str, height: int = HEIGHT) -> Plot:
    """A chart with its data, size, title and a description for those who cannot see it."""
    sized = chart.properties(width="container", height=height, title=title, description=description)
    return Plot(configured(sized), datasets, description)


def finished_panels(chart: alt.FacetChart, datasets: Datasets, *, title: str, description: str, panels: int) -> Plot:
    """The same for a chart of several panels, each of which has a size of its own."""
    return Plot(
        configured(chart.properties(title=title, description=description)), datasets, description, panels=panels
    )


def configured(chart: Chart) -> Chart:
    """A chart with what all have alike."""
    done: Chart = chart.configure(
        font="system-ui, sans-serif",
        background="white",
        axis=alt.AxisConfig(labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridColor="#e4e4e4"),
        axisQuantitative=alt.AxisConfig(labelOverlap="greedy", labelSeparation=8),
        legend=alt.LegendConfig(labelFontSize=12, titleFontSize=12, labelLimit=260, orient="bottom", columns=4),
        title=alt.TitleConfig(anchor="start", fontSize=14, fontWeight=600),
        view=alt.ViewConfig(stroke="#cccccc"),
    )
    return done


def si(unit: str) -> str:
    """The labels of an axis in a unit with SI prefixes; numbers without a unit have none below one."""
    labels = f"format(datum.value, '~s') + '{unit}'"
    return labels if unit else f"abs(datum.value) < 1 ? format(datum.value, '~g') : {labels}"


def seconds(title: str) -> alt.Axis:
    """An axis of times in seconds."""
    return alt.Axis(title=title, labelExpr=si("s"), labelOverlap="greedy", labelSeparation=10)


def log_seconds(title: str) -> alt.Axis:
    """A logarithmic axis of times in seconds."""
    return log_axis(title, "s")


def log_axis(title: str | None, unit: str) -> alt.Axis:
    """A logarithmic axis in a unit with SI prefixes, with a label at 1, 2 and 5 of each power of ten."""
    label = f"test(/^[125][.]0/, format(datum.value, '.1e')) ? {si(unit)} : ''"
    return alt.Axis(title=title, labelExpr=label, labelOverlap="greedy", labelSeparation=4)


def by_run(runs: Sequence[Run]) -> tuple[alt.Color, alt.StrokeDash]:
    """A colour and a dash for each run, with one legend for both.

    Where several keys set runs apart, the colour stands for the first key and the dash for the others.
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
    """A colour and a dash for each value of a field, with one legend for both; none for a single one."""
    drawn = LINE_LEGEND if symbol == "stroke" else alt.Legend(title=None, symbolType=symbol)
    legend = drawn if len(names) > 1 and has_legend else None
    colours = [COLOURS[number % len(COLOURS)] for number in range(len(names))]
    dashes = [DASHES[number % len(DASHES)] for number in range(len(names))]
    return (
        alt.Color(f"{field}:N", scale=alt.Scale(domain=list(names), range=colours), legend=legend),
        alt.StrokeDash(f"{field}:N", scale=alt.Scale(domain=list(names), range=dashes), legend=legend),
    )


def _numbered(values: Iterable[T]) -> dict[T, int]:
    """A number for each value, in the order in which they first come."""
    return {value: number for number, value in enumerate(dict.fromkeys(values))}


def by_part(parts: Mapping[str, str], title: str | None = None) -> alt.Color:
    """A colour for each part of a stacked bar."""
    scale = alt.Scale(domain=list(parts), range=list(parts.values()))
    return alt.Color("part:N", scale=scale, legend=alt.Legend(title=title, symbolType="square"))


def choice(name: str, options: Sequence[str], text: str) -> alt.Parameter:
    """A field to choose one of several with, by mouse or keyboard."""
    return alt.param(name=name, value=options[0], bind=alt.binding_select(options=list(options), name=f"{text} "))


def layered(layers: Sequence[alt.Chart]) -> alt.LayerChart:
    """Charts above each other."""
    return cast("alt.LayerChart", alt.layer(*layers))


def bars(values: Values, names: Sequence[str], color: alt.Color, x: alt.X, tooltip: Sequence[str]) -> alt.Chart:
    """Stacked bars, one for each run."""
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
    """How high a chart with a bar for each run is."""
    return max(60, 26 * len(names))
