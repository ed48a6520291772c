"""Map of the utilisation of the parts of a drive."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import altair as alt

from flashmesh.plots import style
from flashmesh.plots.panels import facets
from flashmesh.plots.parts.geometry import CONTROLLER_AT, Grid, places
from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.runs import Run

CELL = 44
"""Height of a row of chips in pixels."""
LINK = 0.1
"""Width of a link, in distances between chips."""
ALIKE = 0.05
"""Maximum difference in utilisation between parts of one kind that count as equally busy."""
DIE = 0.3
"""Half of the side of a chip, in units of the distance between chips."""


def dies(run: Run, grid: Grid) -> style.Values:
    """Returns a row with position and utilisation for each die; the dies of a chip share the square of the chip."""
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
    """Returns a row with position and utilisation for each controller.

    Empty for more controllers than rows of chips.
    """
    found = run.document["utilisation"]["controllers"]
    if len(found) > grid.rows:
        return []
    left, right = CONTROLLER_AT - DIE, CONTROLLER_AT + DIE * 0.6
    return [
        {"part": f"controller {row}", "busy": busy, "x": left, "y": row - DIE, "x2": right, "y2": row + DIE}
        for row, busy in enumerate(found)
    ]


def links(run: Run, grid: Grid) -> style.Values:
    """Returns a row with position and utilisation for each link whose name contains its position."""
    table = run.document["links"]
    rows: style.Values = []
    found = places(table["names"], table["kinds"], grid)
    for name, kind, busy, place in zip(
        table["names"], table["kinds"], run.document["utilisation"]["links"], found, strict=True
    ):
        if place is not None:
            # A rectangle instead of a line, since a scale has separate legends for areas and lines.
            thick = LINK / 2
            across, along = (0.0, thick) if place.y == place.y2 else (thick, 0.0)
            bar = {"x": min(place.x, place.x2) - across, "y": min(place.y, place.y2) - along}
            bar |= {"x2": max(place.x, place.x2) + across, "y2": max(place.y, place.y2) + along}
            rows.append({"part": name, "kind": kind, "busy": busy} | bar)
    return rows


def even_utilisation(run: Run) -> str | None:
    """Returns a sentence with the utilisation of each kind of part.

    None if parts of one kind differ by more than `ALIKE`.
    """
    use, table = run.document["utilisation"], run.document["links"]
    groups: dict[str, list[float]] = {"dies": list(use["dies"])}
    for kind, busy in zip(table["kinds"], use["links"], strict=True):
        groups.setdefault(f"links ({kind})", []).append(busy)
    groups["controllers"] = list(use["controllers"])
    told = []
    for name, shares in groups.items():
        if not shares:
            continue
        least, most = min(shares), max(shares)
        if most - least > ALIKE:
            return None
        ends = q.share(least) if q.share(least) == q.share(most) else f"{q.share(least)} to {q.share(most)}"
        told.append(f"{len(shares)} {name} {ends}")
    return f"busy: {', '.join(told)}"


def utilisation(runs: Sequence[Run]) -> list[style.Plot]:
    """Returns maps with the utilisation of each die, controller and link, one panel for each run.

    There is one chart for each shape of drive.
    """
    shapes: dict[Grid, list[Run]] = {}
    for run in runs:
        shapes.setdefault(Grid.of(run), []).append(run)
    return [of_shape(grid, alike, is_only=len(shapes) == 1) for grid, alike in shapes.items()]


def of_shape(grid: Grid, runs: Sequence[Run], *, is_only: bool) -> style.Plot:
    """Returns the chart of runs whose drives have the same grid of chips.

    `is_only` says whether all drives have this grid, so that the title does not state it.
    """
    # The order of drawing: later rows are on top of earlier ones.
    values = [
        {"panel": run.name} | row
        for run in runs
        for row in (*links(run, grid), *dies(run, grid), *controllers(run, grid))
    ]
    named, datasets = style.data(values)
    is_single = len(runs) == 1
    # Number only as many rows and columns as fit into a panel.
    step = 1 if is_single else math.ceil(max(grid.columns, grid.rows) / 8)
    x_axis = alt.Axis(title="way", values=list(range(0, grid.columns, step)), grid=False, format="d")
    y_axis = alt.Axis(title="channel", values=list(range(0, grid.rows, step)), grid=False, format="d")
    x = alt.X("x:Q", scale=alt.Scale(domain=[CONTROLLER_AT - 0.5, grid.columns - 0.4], nice=False), axis=x_axis)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.65, grid.rows - 0.4], reverse=True, nice=False), axis=y_axis)
    color = alt.Color(
        "busy:Q",
        scale=alt.Scale(domain=[0, 1], scheme=style.HEAT),
        legend=alt.Legend(title="busy", type="gradient", format=".0%", gradientLength=160),
    )
    tooltip = ["panel:N", "part:N", alt.Tooltip("busy:Q", format=".1%")]
    chart = (
        alt.Chart(named)
        .mark_rect(stroke="#666666", strokeWidth=0.5 if is_single else 0.25)
        .encode(x=x, y=y, x2="x2:Q", y2="y2:Q", color=color, tooltip=tooltip)
    )
    text = "Squares are dies, at their channel and way, with the controllers to their left; bars are links. The "
    text += "darker, the busier."
    if is_single:
        title, height = f"Busy shares: {runs[0].name}", CELL * grid.rows + 40
        return style.finished(chart, datasets, title=title, description=f"{runs[0].name}. {text}", height=height)
    title = "Busy shares" if is_only else f"Busy shares, {grid.rows} channels x {grid.columns} ways"
    faceted = facets(chart, named, [run.name for run in runs], height=max(110, min(28, CELL) * grid.rows))
    return style.finished_panels(faceted, datasets, title=title, description=text, panels=len(runs))
