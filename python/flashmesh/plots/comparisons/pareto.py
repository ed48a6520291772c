"""Chart of a search: every tried drive by two objectives, and the Pareto front."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import altair as alt

from flashmesh.plots import style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KINDS = {
    "on the front": ("#0072b2", "circle"),
    "within the constraints": ("#56b4e9", "square"),
    "beyond a constraint": ("#d55e00", "cross"),
}
"""Outcomes of a drive in a search, with the colour and shape of its mark."""

LOG_RANGE = 20
"""Ratio of the largest to the smallest value from which a scale is logarithmic."""


@dataclass(frozen=True)
class Trial:
    """A tried drive of a search."""

    settings: str
    """Settings of the drive as text, which identify it."""
    measures: Mapping[str, float]
    """Values of the objectives and constrained measures, by name."""
    feasible: bool
    pareto: bool

    @property
    def kind(self) -> str:
        """Outcome of the drive, a key of `KINDS`."""
        return kind_of(self.feasible, self.pareto)


def kind_of(feasible: bool, pareto: bool) -> str:
    """Returns the outcome of a tried drive, a key of `KINDS`."""
    names = list(KINDS)
    return names[0] if pareto else names[1] if feasible else names[2]


@dataclass(frozen=True)
class Axis:
    """A measure of a search: an objective, a constrained measure, or both."""

    name: str
    unit: str
    direction: str = ""
    """`minimise` or `maximise`; empty if the measure is not an objective."""
    bound: float | None = None
    """Bound of the constraint on the measure; None without a constraint."""

    @property
    def scale(self) -> float:
        """Factor from values of the measure to drawn values: results have times in picoseconds, charts in seconds."""
        return style.PS if self.unit == "ps" else 1.0

    def encoding(self, is_logarithmic: bool) -> alt.Axis:
        """Returns the axis of the measure, with its unit."""
        title = f"{self.name}, {self.direction}d" if self.direction else self.name
        if is_logarithmic and self.unit != "share":
            return style.log_axis(title, "s" if self.unit == "ps" else self.unit)
        if self.unit == "ps":
            return style.seconds(title)
        if self.unit == "share":
            return alt.Axis(title=title, format=style.PERCENT)
        return alt.Axis(title=title, labelExpr=style.si(self.unit))


def rows(trials: Sequence[Trial], x: Axis, y: Axis) -> style.Values:
    """Returns a row for each tried drive with the values of two measures; the Pareto front comes last."""
    found: dict[str, dict[str, Any]] = {}
    for trial in trials:
        values = {"x": trial.measures[x.name] * x.scale, "y": trial.measures[y.name] * y.scale}
        found[trial.settings] = {"drive": trial.settings, **values, "kind": trial.kind}
    # Draw the front last, on top of the other drives.
    return sorted(found.values(), key=lambda row: -list(KINDS).index(row["kind"]))


def encoded(axis: Axis, values: Sequence[float]) -> dict[str, Any]:
    """Returns the axis and the scale of a measure, as arguments of a Vega-Lite channel.

    The scale is logarithmic if the largest value is at least `LOG_RANGE` times the smallest.
    """
    is_logarithmic = min(values) > 0 and max(values) / min(values) >= LOG_RANGE
    scale = alt.Scale(type="log", nice=False, padding=16) if is_logarithmic else alt.Scale(zero=False, padding=16)
    return {"axis": axis.encoding(is_logarithmic), "scale": scale}


def pareto(trials: Sequence[Trial], x: Axis, y: Axis, joined: bool) -> style.Plot:
    """Returns a chart of every tried drive by two measures; dashed lines show the bounds.

    Args:
        trials: The tried drives.
        x: The first measure.
        y: The second measure.
        joined: Whether a stepped line connects the front; only if these measures are the only objectives.
    """
    values = rows(trials, x, y)
    named, datasets = style.data(values)
    names = list(KINDS)
    color = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=names, range=[colour for colour, _ in KINDS.values()]),
        legend=alt.Legend(title=None),
    )
    shape = alt.Shape("kind:N", scale=alt.Scale(domain=names, range=[shape for _, shape in KINDS.values()]))
    base = alt.Chart(named).encode(
        x=alt.X("x:Q", **encoded(x, [row["x"] for row in values])),
        y=alt.Y("y:Q", **encoded(y, [row["y"] for row in values])),
    )
    tooltip = ["drive:N", alt.Tooltip("x:Q", title=x.name), alt.Tooltip("y:Q", title=y.name), "kind:N"]
    layers: list[alt.Chart] = []
    for axis, channel in ((x, "x"), (y, "y")):
        if axis.bound is not None:
            bound, more = style.data([{channel: axis.bound * axis.scale}])
            datasets |= more
            rule = alt.Chart(bound).mark_rule(strokeDash=[5, 4], color="#555555")
            layers.append(rule.encode(**{channel: f"{channel}:Q"}))
    front = base.transform_filter(f"datum.kind === '{names[0]}'")
    if joined:
        # The steps outline the area that the front dominates.
        corner: Literal["step-after", "step-before"] = "step-before" if x.direction == "maximise" else "step-after"
        layers.append(front.mark_line(interpolate=corner, color=KINDS[names[0]][0]).encode(order="x:Q"))
    layers.append(base.mark_point(filled=True, size=70, opacity=0.9).encode(color=color, shape=shape, tooltip=tooltip))
    told = (
        f"Every drive tried, by {x.name} and {y.name}. No other drive within the constraints beats one on the front in "
        "every objective; dashed lines are bounds."
    )
    return style.finished(alt.layer(*layers), datasets, title="Drives tried", description=told, height=340)
