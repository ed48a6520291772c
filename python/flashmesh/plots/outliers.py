"""Bar charts with an outlier: the axis ends before the end of the longest bar, which shows its value instead."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt

from flashmesh.plots import style

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

BARS_MIN = 3
"""Minimum number of bars of a chart for one of them to be an outlier."""
TIMES = 4.0
"""Minimum length of an outlier, as a factor of the longest other bar."""
ROOM = 1.3
"""Length of the axis of a chart with an outlier, as a factor of the longest other bar."""
TOLD = " A bar that goes on beyond the axis has its value written at the end."


@dataclass(frozen=True)
class Broken:
    """Axis that ends before the end of outliers, and the labels of the outliers."""

    domain_max: alt.ExprRef | None
    """Expression for the end of the axis by the selected choice; None if the axis fits all bars."""
    limits: dict[str, float]
    """End of the axis for each choice with an outlier."""
    layers: tuple[alt.Chart, ...]
    """Layers with the values of the bars that exceed the axis, as text."""
    datasets: style.Datasets


def limit_of(lengths: Sequence[float]) -> float | None:
    """Returns the length of an axis that cuts the longest bar off; None if no bar is an outlier."""
    if len(lengths) < BARS_MIN:
        return None
    *_, second, longest = sorted(lengths)
    return second * ROOM if second > 0 and longest >= TIMES * second else None


def ends(limits: Mapping[str, float], parameter: str) -> alt.ExprRef:
    """Returns a Vega expression for the end of the axis, by the choice selected in the field `parameter`.

    The expression has no value for choices without a limit, so that the axis then fits all bars.
    """
    return alt.ExprRef(f"({json.dumps(limits)})[{parameter}]")


def broken(
    lengths: Mapping[tuple[str, str], float], parameter: str, text: Callable[[str, float], str], y: alt.Y
) -> Broken:
    """Returns the end of the axis of a bar chart, and labels for the bars that exceed the axis.

    Args:
        lengths: The length of each bar, by choice and run.
        parameter: The name of the selection field.
        text: Returns a length of a choice as text.
        y: The position of the bar of a run.
    """
    limits: dict[str, float] = {}
    rows: style.Values = []
    for choice in dict.fromkeys(choice for choice, _ in lengths):
        own = {run: length for (of, run), length in lengths.items() if of == choice}
        limit = limit_of(list(own.values()))
        if limit is not None:
            limits[choice] = limit
        # Bars within the axis get empty texts, because browsers warn if no row is left for a choice or after a filter.
        for run, length in own.items():
            is_beyond = limit is not None and length > limit
            end, written = (limit, text(choice, length)) if is_beyond else (length, "")
            rows.append({"run": run, parameter: choice, "end": end, "text": written})
    if not limits:
        return Broken(None, {}, (), {})
    source, datasets = style.data(rows)
    base = alt.Chart(source).transform_filter(f"datum[{json.dumps(parameter)}] == {parameter}")
    base = base.encode(y=y, x=alt.X("end:Q"), text="text:N")
    edge = base.mark_text(align="right", dx=-6, fontWeight=600, stroke="white", strokeWidth=4)
    value = base.mark_text(align="right", dx=-6, fontWeight=600, fill="#000000")
    return Broken(ends(limits, parameter), limits, (edge, value), datasets)
