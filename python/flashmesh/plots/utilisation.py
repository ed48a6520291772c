"""How busy the parts of a drive were, where they stand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import altair as alt

from flashmesh.plots import style
from flashmesh.plots.geometry import CONTROLLER_AT, Grid, places

if TYPE_CHECKING:
    from flashmesh.plots.runs import Run

CELL = 44
"""How high a row of chips is drawn."""
LINK = 0.1
"""How thick a link is drawn."""
DIE = 0.3
"""Half of the side of a chip, where the distance between chips is 1."""


def dies(run: Run, grid: Grid) -> style.Values:
    """A square for each die; the dies of a chip stand beside each other in it."""
    across = math.ceil(math.sqrt(grid.dies_per_chip))
    down = math.ceil(grid.dies_per_chip / across)
    rows: style.Values = []
    for die, busy in enumerate(run.document["utilisation"]["dies"]):
        column, row = grid.chip(grid.chip_of(die))
        inside = die % grid.dies_per_chip
        x = column - DIE + 2 * DIE * (inside % across) / across
        y = row - DIE + 2 * DIE * (inside // across) / down
        square = {"x": x, "y": y, "x2": x + 2 * DIE / across, "y2": y + 2 * DIE / down}
        rows.append({"part": f"die {die} (channel {row}, way {column})", "busy": busy} | square)
    return rows


def controllers(run: Run, grid: Grid) -> style.Values:
    """A square for each controller that stands beside a row."""
    found = run.document["utilisation"]["controllers"]
    if len(found) > grid.rows:
        return []
    left, right = CONTROLLER_AT - DIE, CONTROLLER_AT + DIE * 0.6
    return [
        {"part": f"controller {row}", "busy": busy, "x": left, "y": row - DIE, "x2": right, "y2": row + DIE}
        for row, busy in enumerate(found)
    ]


def links(run: Run, grid: Grid) -> style.Values:
    """A bar for each link."""
    table = run.document["links"]
    rows: style.Values = []
    found = places(table["names"], table["kinds"], grid)
    for name, kind, busy, place in zip(
        table["names"], table["kinds"], run.document["utilisation"]["links"], found, strict=True
    ):
        if place is not None:
            # Not a line: a scale has one legend for areas and another for lines.
            thick = LINK / 2
            across, along = (0.0, thick) if place.y == place.y2 else (thick, 0.0)
            bar = {"x": min(place.x, place.x2) - across, "y": min(place.y, place.y2) - along}
            bar |= {"x2": max(place.x, place.x2) + across, "y2": max(place.y, place.y2) + along}
            rows.append({"part": name, "kind": kind, "busy": busy} | bar)
    return rows


def utilisation(run: Run) -> style.Plot:
    """How busy each die, controller and link was, laid out as they are in the drive."""
    grid = Grid.of(run)
    # What comes later is drawn over what came before.
    parts, datasets = style.data([*links(run, grid), *dies(run, grid), *controllers(run, grid)])
    x_axis = alt.Axis(title="way", values=list(range(grid.columns)), grid=False, format="d")
    y_axis = alt.Axis(title="channel", values=list(range(grid.rows)), grid=False, format="d")
    x = alt.X("x:Q", scale=alt.Scale(domain=[CONTROLLER_AT - 0.5, grid.columns - 0.4], nice=False), axis=x_axis)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.65, grid.rows - 0.4], reverse=True, nice=False), axis=y_axis)
    color = alt.Color(
        "busy:Q",
        scale=alt.Scale(domain=[0, 1], scheme=style.HEAT),
        legend=alt.Legend(title="busy", type="gradient", format=".0%", orient="right", gradientLength=160),
    )
    tooltip = ["part:N", alt.Tooltip("busy:Q", format=".1%")]
    chart = (
        alt.Chart(parts)
        .mark_rect(stroke="#666666", strokeWidth=0.5)
        .encode(x=x, y=y, x2="x2:Q", y2="y2:Q", color=color, tooltip=tooltip)
    )
    text = (
        f"{run.name}: squares are dies, at their channel and way, with the controllers to their left; "
        "bars are links. The darker, the busier."
    )
    height = CELL * grid.rows + 40
    return style.finished(chart, datasets, title=f"Busy shares: {run.name}", description=text, height=height)
