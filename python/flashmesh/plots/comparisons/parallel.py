"""Chart of many keys at once (parallel coordinates): a line for each drive, an axis for each key and measure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt

from flashmesh.configuration import value_text
from flashmesh.plots import style
from flashmesh.plots.comparisons.pareto import KINDS
from flashmesh.plots.runs import label
from flashmesh.report.measures.chart_spec import axis_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.comparing.axes import Value
    from flashmesh.report.measures.measure import Measure

DRIVES_MAX = 600
"""Maximum number of lines, each for a drive. More lines would merge into a solid area."""
LABELS_MAX = 9
"""Maximum number of labels on an axis."""
ALL = "drives"
PARTS = re.compile(r"[^._-]+[._-]*")
PADDING = 0.4
"""Room to the left and right of the outer axes, in distances between two axes."""
BESIDE = 5
"""Distance of a label from its axis, in pixels."""
SIZE, SIZE_MIN = 11, 6
"""Font sizes of labels on a wide and on a narrow page, in pixels."""
LETTER = 0.65
"""Mean width of a bold letter, as a factor of the font size."""
LINE = 14
"""Height of a line of text in the name of an axis, in pixels."""
WORDS = r"split(replace(datum.label, /([._-])/g, '$1\n'), '\n')"
"""Vega expression that breaks the name of a key into lines, so that names of neighbouring axes do not overlap."""


@dataclass(frozen=True)
class Drive:
    """A line of the chart: the settings and measures of a drive."""

    settings: Mapping[str, Value]
    measures: Mapping[str, float]
    kind: str = ALL
    """Outcome of the drive in a search, a key of `pareto.KINDS`; `ALL` without a search."""


@dataclass(frozen=True)
class Upright:
    """A vertical axis: the position of each value from 0 (bottom) to 1 (top), and the labels at some positions."""

    name: str
    at: Mapping[str, float]
    labels: Sequence[tuple[float, str]]


def of_key(key: str, drives: Sequence[Drive]) -> Upright:
    """Returns the axis of a varied key, with its values evenly spaced."""
    texts = list(map(value_text, axis_of(key, [drive.settings[key] for drive in drives]).values))
    at = {text: place / max(1, len(texts) - 1) for place, text in enumerate(texts)}
    step = max(1, -(-len(texts) // LABELS_MAX))
    return Upright(key, at, [(at[text], text) for text in texts[::step]])


def of_measure(measure: Measure, name: str, drives: Sequence[Drive]) -> Upright:
    """Returns the axis of a measure, from its minimum to its maximum over the drives."""
    values = sorted({drive.measures[name] for drive in drives})
    low, high = values[0], values[-1]
    at = {repr(value): (value - low) / (high - low) if high > low else 0.5 for value in values}
    ends = [low + (high - low) * share / 2 for share in range(3)] if high > low else [low]
    return Upright(name, at, [((end - low) / (high - low) if high > low else 0.5, measure.text(end)) for end in ends])


def ends_of(values: style.Values, axis: str) -> list[tuple[int, float]]:
    """Returns (index of the drive, position on the axis) for each drive and the axis `axis`."""
    return [(int(row["drive"]), float(row["at"])) for row in values if row["axis"] == axis]


def parallel(drives: Sequence[Drive], measures: Mapping[str, Measure]) -> style.Plot | None:
    """Returns a chart with a line for each drive and an axis for each key and measure; None for fewer than two axes.

    Args:
        drives: The drives, the most interesting first; only the first `DRIVES_MAX` are drawn.
        measures: The measures with an axis, in addition to the varied keys.
    """
    shown = list(drives[:DRIVES_MAX])
    keys = [key for key in shown[0].settings if len({value_text(drive.settings[key]) for drive in shown}) > 1]
    uprights = [of_key(key, shown) for key in keys]
    uprights += [of_measure(measure, name, shown) for name, measure in measures.items()]
    if len(uprights) < 2:
        return None
    values: list[dict[str, Any]] = []
    # Draw the most interesting drives last, on top of the others.
    for number, drive in reversed(list(enumerate(shown))):
        places = [axis.at[value_text(drive.settings[key])] for key, axis in zip(keys, uprights, strict=False)]
        places += [axis.at[repr(drive.measures[axis.name])] for axis in uprights[len(keys) :]]
        shown_values = [value_text(drive.settings[key]) for key in keys]
        shown_values += [measure.text(drive.measures[name]) for name, measure in measures.items()]
        for axis, place, text in zip(uprights, places, shown_values, strict=True):
            row: dict[str, Any] = {"drive": number, "axis": axis.name, "at": round(place, 4), "value": text}
            row["point"] = label(drive.settings)
            values.append(row | ({} if drive.kind == ALL else {"kind": drive.kind}))
    kinds = [kind for kind in KINDS if any(drive.kind == kind for drive in shown)]
    if not kinds:
        ends = dict(ends_of(values, uprights[-1].name))
        for row in values:
            row["last"] = ends[row["drive"]]
    named, datasets = style.data(values)
    marked, more = style.data(
        [{"axis": axis.name, "at": at, "text": text} for axis in uprights for at, text in axis.labels]
    )
    names = [axis.name for axis in uprights]
    x = alt.X(
        "axis:N",
        sort=names,
        scale=alt.Scale(type="point", padding=PADDING),
        axis=alt.Axis(
            title=None,
            labelAngle=0,
            labelLimit=130,
            labelExpr=WORDS,
            # A name of several lines extends downwards: more padding keeps the name off the top values.
            labelPadding=12 + LINE * (max(len(PARTS.findall(name)) for name in names) - 1),
            orient="top",
            domain=False,
            ticks=False,
            grid=True,
        ),
    )
    y = alt.Y("at:Q", axis=None, scale=alt.Scale(domain=[0, 1]))
    line = alt.Chart(named).mark_line(strokeWidth=1.2, opacity=0.5).encode(x=x, y=y, detail="drive:N")
    if kinds:
        scale = alt.Scale(domain=kinds, range=[KINDS[kind][0] for kind in kinds])
        line = line.encode(color=alt.Color("kind:N", scale=scale, legend=style.LINE_LEGEND))
        is_front = f"datum.kind === '{next(iter(KINDS))}'"
        line = line.encode(strokeWidth=alt.condition(is_front, alt.value(2.4), alt.value(0.9)))
    else:
        # Colour lines by their position on the last axis, so that the eye can follow a line to that axis.
        line = line.encode(
            color=alt.Color("last:Q", scale=alt.Scale(scheme="viridis"), legend=None), opacity=alt.value(0.6)
        )
    line = line.encode(tooltip=["drive:N", "axis:N", "value:N"])
    base = alt.Chart(marked).encode(x=x, y=y, text="text:N")
    longest = max((len(text) for axis in uprights[:-1] for _, text in axis.labels), default=1)
    room = f"width / {len(uprights) - 1 + 2 * PADDING:g} - {2 * BESIDE}"
    # On a narrow page the labels get smaller, so that none reaches the next axis.
    size = alt.ExprRef(f"clamp(({room}) / {longest * LETTER:g}, {SIZE_MIN}, {SIZE})")
    text = base.mark_text(align="left", dx=BESIDE, fontSize=size, fontWeight=600)
    # Labels overlap lines, so each has an outline in the colour of the page.
    edge = base.mark_text(align="left", dx=BESIDE, fontSize=size, fontWeight=600, stroke="white", strokeWidth=3.5)
    told = (
        "A line for each drive through its values: keys first, then measures, each from its least value at the bottom "
    )
    told += "to its largest at the top."
    if len(shown) < len(drives):
        told += f" The first {len(shown)} of {len(drives):,} drives are drawn."
    return style.finished(
        alt.layer(line, edge, text), datasets | more, title="All keys at once", description=told, height=340
    )
