"""Charts selected by a short text: a measure over one axis as lines or bars, over two axes as a heat map."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt

from flashmesh.configuration import value_text
from flashmesh.plots import style
from flashmesh.plots.panels import facets
from flashmesh.plots.runs import label, named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.report.measures.chart_spec import ChartData, ChartPoint

LOG_RANGE = 20
"""Ratio of the largest to the smallest value from which a scale is logarithmic."""
CELLS_WITH_TEXT = 120
"""Maximum number of cells of a heat map that shows the value of each cell as text."""
TICKS_MAX = 12
"""Maximum number of values of an axis on which each value has a label."""
LEGEND_MAX = 24
"""Maximum number of names in a legend."""
SHOWN = {"ps": "s", "B": "B", "B/s": "B/s", "J": "J", "W": "W"}
"""Unit on a chart for each unit of results; SI prefixes are added."""


def selected(data: ChartData) -> style.Plot:
    """Returns the chart of the selected data: lines, bars or a heat map."""
    draw = {"lines": lines, "bars": bars, "heat map": heat_map}[data.kind]
    return draw(data)


def scale_of(unit: str) -> float:
    """Returns the factor from values in a unit of results to drawn values: results have picoseconds, charts seconds."""
    return style.PS if unit == "ps" else 1.0


def axis_in(unit: str, title: str | None, **more: Any) -> alt.Axis:
    """Returns an axis for values in a unit of results."""
    if unit == "share":
        return alt.Axis(title=title, format=style.PERCENT, **more)
    shown = SHOWN.get(unit)
    if shown is not None:
        return alt.Axis(title=title, labelExpr=style.si(shown), labelOverlap="parity", labelSeparation=6, **more)
    told = f"{title} ({unit})" if unit and title else title
    return alt.Axis(title=told, labelExpr=style.si(""), labelOverlap="parity", labelSeparation=6, **more)


def log_in(unit: str, title: str) -> alt.Axis:
    """Returns a logarithmic axis for values in a unit of results."""
    return axis_in(unit, title) if unit == "share" else style.log_axis(title, SHOWN.get(unit, ""))


def is_wide(values: Sequence[float]) -> bool:
    """Returns whether values need a logarithmic scale: the largest is at least `LOG_RANGE` times the smallest."""
    return min(values) > 0 and max(values) / min(values) >= LOG_RANGE


def row_of(point: ChartPoint, data: ChartData) -> dict[str, Any]:
    """Returns the fields that the row of a point has in every kind of chart."""
    scale = scale_of(data.spec.measure.unit)
    found = point.estimate
    row: dict[str, Any] = {"at": value_text(point.at[0]), "value": found.mean * scale, "point": name_of(point, data)}
    if data.spec.by:
        row["by"] = named(data.spec.by, point.by)
    if data.spec.each:
        row["panel"] = named(data.spec.each, point.each)
    if found.low is not None and found.high is not None:
        row |= {"low": found.low * scale, "high": found.high * scale, "seeds": found.count}
    if point.is_steady is False:
        row["unsteady"] = True
    told = data.spec.measure.text(found.mean)
    return row | {"text": f"{told} {found.spread_text}".strip()}


def name_of(point: ChartPoint, data: ChartData) -> str:
    """Returns the settings of a point as its name, as in the report."""
    spec = data.spec
    given = dict(zip((*spec.by, *spec.each), (*point.by, *point.each), strict=True)) | dict(spec.where)
    given |= dict(zip(spec.over, map(value_text, point.at), strict=True))
    return label({key: given[key] for key in data.keys if key in given})


def tooltip(data: ChartData, keys: Sequence[str]) -> list[alt.Tooltip]:
    """Returns the tooltip of a point: the values of `keys`, of `by` (lines) and `each` (panels), and the measure."""
    shown = [alt.Tooltip(f"{name}:N", title=key) for name, key in zip(("at", "at2"), keys, strict=False)]
    shown += [alt.Tooltip("by:N", title=", ".join(data.spec.by))] if data.spec.by else []
    shown += [alt.Tooltip("panel:N", title=", ".join(data.spec.each))] if data.spec.each else []
    return [*shown, alt.Tooltip("text:N", title=data.spec.measure.name.strip())]


def title_of(data: ChartData) -> str:
    """Returns the title of a chart: measure, keys of the axes, and conditions."""
    spec = data.spec
    where = ", ".join(f"{key} = {value}" for key, value in spec.where.items())
    named = f"{spec.measure.name.strip()} over {' and '.join(spec.over)}"
    return f"{named}, {where}" if where else named


def description(data: ChartData, marks: str) -> str:
    """Returns the description of a chart for screen readers, with notes on points that are not drawn."""
    spec = data.spec
    by = f" for each {', '.join(spec.by)}" if spec.by else ""
    told = [f"{title_of(data)}; {marks}{by}."]
    if data.is_repeated:
        told.append("Values are means over seeds, with their 95 % interval.")
    return " ".join([*told, *data.notes])


def finished(
    data: ChartData,
    chart: alt.Chart | alt.LayerChart,
    source: alt.NamedData,
    datasets: style.Datasets,
    *,
    marks: str,
    height: int,
) -> style.Plot:
    """Returns the finished chart, split into panels if the data have panels."""
    title, told = title_of(data), description(data, marks)
    if len(data.panels) < 2:
        return style.finished(chart, datasets, title=title, description=told, height=height)
    panels = [named(data.spec.each, panel) for panel in data.panels]
    faceted = facets(chart, source, panels, height=min(height, 200))
    title = f"{title}, for each {', '.join(data.spec.each)}"
    return style.finished_panels(faceted, datasets, title=title, description=told, panels=len(panels))


def by_line(data: ChartData) -> tuple[alt.Color, alt.StrokeDash] | None:
    """Returns colours and dashes by the values of `by`, the keys with a line for each value; None without such keys."""
    names = [named(data.spec.by, line) for line in data.lines]
    if not data.spec.by:
        return None
    return style.by_name("by", names, has_legend=len(names) <= LEGEND_MAX)


def lines(data: ChartData) -> style.Plot:
    """Returns a line chart over an axis of numbers: a line for each combination of values of the keys `by`."""
    (axis,) = data.axes
    scale = scale_of(axis.unit)
    numbers = dict(zip(map(value_text, axis.values), axis.numbers or (), strict=True))
    values = [{"x": numbers[value_text(point.at[0])] * scale} | row_of(point, data) for point in data.points]
    source, datasets = style.data(values)
    ticks = [number * scale for number in axis.numbers or ()]
    x_axis = axis_in(axis.unit, axis.key)
    if axis.is_logarithmic:
        # Label each value if there is room.
        is_short = len(ticks) <= (TICKS_MAX if len(data.panels) < 2 else TICKS_MAX // 2)
        x_axis = axis_in(axis.unit, axis.key, values=ticks) if is_short else log_in(axis.unit, axis.key)
    x_scale = (
        alt.Scale(type="log", nice=False, padding=12) if axis.is_logarithmic else alt.Scale(zero=False, padding=12)
    )
    ends = [row[key] for row in values for key in ("value", "low") if key in row]
    measure = data.spec.measure
    has_log = is_wide(ends)
    y_scale = alt.Scale(type="log") if has_log else alt.Scale(zero=True)
    y_axis = (log_in if has_log else axis_in)(measure.unit, measure.name.strip())
    base = alt.Chart(source).encode(
        x=alt.X("x:Q", scale=x_scale, axis=x_axis),
        tooltip=tooltip(data, data.spec.over),
    )
    y = alt.Y("value:Q", scale=y_scale, axis=y_axis)
    band = base.mark_area(opacity=0.18, strokeWidth=0).encode(y=alt.Y("low:Q", scale=y_scale), y2="high:Q")
    line = base.mark_line(strokeWidth=1.8).encode(y=y)
    marks = base.mark_point(filled=True, size=40).encode(y=y)
    coloured = by_line(data)
    if coloured is not None:
        color, dash = coloured
        band, line, marks = (
            band.encode(color=color),
            line.encode(color=color, strokeDash=dash),
            marks.encode(color=color),
        )
    layers = [band.transform_filter("isValid(datum.low)")] if data.is_repeated else []
    layers += [line, marks]
    if any("unsteady" in row for row in values):
        layers.append(unsteady(base.encode(y=y)))
    return finished(data, style.layered(layers), source, datasets, marks="a line", height=320)


def unsteady(base: alt.Chart) -> alt.Chart:
    """Returns marks on the points whose measured window was not steady."""
    cross = base.transform_filter("datum.unsteady").mark_point(shape="cross", size=130, filled=False, strokeWidth=1.5)
    marked: alt.Chart = cross.encode(color=alt.value("#000000"))
    return marked


def bars(data: ChartData) -> style.Plot:
    """Returns a bar chart over an axis without numbers: a bar for each value and each combination of the keys `by`."""
    (axis,) = data.axes
    values = [row_of(point, data) for point in data.points]
    for row in values:
        row["at"] = named((axis.key,), (row["at"],))
    source, datasets = style.data(values)
    measure, names = data.spec.measure, [named((axis.key,), (value_text(value),)) for value in axis.values]
    groups = [named(data.spec.by, line) for line in data.lines] if data.spec.by else []
    base = alt.Chart(source).encode(
        y=alt.Y("at:N", sort=names, axis=style.NAMES, scale=alt.Scale(paddingInner=0.2)),
        tooltip=tooltip(data, data.spec.over),
    )
    if groups:
        base = base.encode(yOffset=alt.YOffset("by:N", sort=groups))
    x = alt.X("value:Q", stack=None, axis=axis_in(measure.unit, measure.name.strip()))
    bar = base.mark_bar(color=style.COLOURS[0]).encode(x=x)
    if groups:
        bar = bar.encode(color=style.by_name("by", groups, symbol="square")[0])
    layers = [bar]
    if data.is_repeated:
        rule = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2, color="#000000")
        layers.append(rule.encode(x="low:Q", x2="high:Q"))
    if any("unsteady" in row for row in values):
        layers.append(unsteady(base.encode(x=x)))
    height = max(60, len(names) * (26 if not groups else 14 * len(groups) + 6))
    return finished(data, style.layered(layers), source, datasets, marks="a bar", height=height)


def heat_map(data: ChartData) -> style.Plot:
    """Returns a heat map: a cell for each pair of values of two axes, darker for larger measures."""
    across, up = data.axes
    values = [row_of(point, data) | {"at2": value_text(point.at[1])} for point in data.points]
    measure = data.spec.measure
    found = [row["value"] for row in values]
    is_logarithmic = is_wide(found)
    middle = math.sqrt(min(found) * max(found)) if is_logarithmic else (min(found) + max(found)) / 2
    shown = measure.text
    for row, point in zip(values, data.points, strict=True):
        row["cell"] = shown(point.estimate.mean) + ("*" if point.is_steady is False else "")
        row["dark"] = row["value"] > middle
    source, datasets = style.data(values)
    legend = alt.Legend(title=measure.name.strip(), gradientLength=200, **legend_in(measure.unit))
    color = alt.Color(
        "value:Q", scale=alt.Scale(type="log" if is_logarithmic else "linear", scheme=style.HEAT), legend=legend
    )
    base = alt.Chart(source).encode(
        x=alt.X("at:O", sort=list(map(value_text, across.values)), axis=alt.Axis(title=across.key, labelAngle=0)),
        # The largest value is at the top, as on an axis of numbers.
        y=alt.Y("at2:O", sort=list(map(value_text, up.values))[::-1], axis=alt.Axis(title=up.key)),
        tooltip=tooltip(data, data.spec.over),
    )
    layers = [base.mark_rect().encode(color=color)]
    cells = len(across.values) * len(up.values)
    if cells <= CELLS_WITH_TEXT and len(data.panels) < 2:
        text_color = alt.condition("datum.dark", alt.value("#fefefe"), alt.value("#1a1a1a"))
        layers.append(base.mark_text(fontSize=11).encode(text="cell:N", color=text_color))
    height = max(120, 30 * len(up.values))
    marks = "a cell"
    if any("unsteady" in row for row in values):
        marks += " (* is of a window that was not steady)"
    return finished(data, style.layered(layers), source, datasets, marks=marks, height=height)


def legend_in(unit: str) -> dict[str, Any]:
    """Returns the number format for a colour legend of values in `unit`."""
    shown = SHOWN.get(unit)
    if shown is not None:
        return {"labelExpr": style.si(shown)}
    return {"format": style.PERCENT if unit == "share" else "~s"}
