"""Line charts of runs: one chart for few lines, panels for more."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import altair as alt

from flashmesh.configuration import value_text
from flashmesh.plots import style
from flashmesh.plots.runs import label
from flashmesh.report import quantities as q
from flashmesh.report.measures.chart_spec import axis_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.runs import Run

LINES_MAX = 8
"""Maximum number of lines in a panel. More colours and dashes are hard to distinguish."""
PANELS_MAX = 24
PANEL_HEIGHT = 170


@dataclass(frozen=True)
class Split:
    """Assignment of runs to panels, and to lines within the panels."""

    of: dict[str, tuple[str, str]]
    """(Panel, line) of each run, by the name of the run."""
    key: str
    """Varied key with one value per panel; empty if each run has its own panel."""

    @property
    def panels(self) -> list[str]:
        """Names of the panels, in the order of the runs if their values ascend or descend, else in ascending order."""
        found = list(dict.fromkeys(panel for panel, _ in self.of.values()))
        values = {panel: panel.partition("=")[2] for panel in found}
        known = [value for value in values.values() if value != q.NONE]
        rising = list(map(value_text, axis_of(self.key, known).values)) if self.key else known
        order = known if known in (rising, rising[::-1]) else rising
        # Drives of a search that do not read the key share a panel without a value, which comes last.
        return sorted(found, key=lambda panel: order.index(values[panel]) if values[panel] in order else len(order))

    @property
    def lines(self) -> list[str]:
        """Names of the lines in any panel, in the order of their colours."""
        return list(dict.fromkeys(line for _, line in self.of.values()))


def split(runs: Sequence[Run]) -> Split | None:
    """Returns the assignment of runs to panels; None if one chart without panels is enough."""
    if len(runs) <= LINES_MAX:
        return None
    keys = [key for key in runs[0].settings if len({value_text(run.settings.get(key, "")) for run in runs}) > 1]
    for key in sorted(keys, key=lambda key: key == compared(runs, keys)) if len(keys) > 1 else ():
        found = Split({run.name: (label({key: run.settings.get(key, "")}), rest(run, key, keys)) for run in runs}, key)
        # Reject an assignment in which runs with the same settings would share a line.
        is_whole = len(set(found.of.values())) == len(runs)
        if is_whole and len(found.lines) <= LINES_MAX and len(found.panels) <= PANELS_MAX:
            return found
    return Split({run.name: (run.name, "") for run in runs}, "")


def compared(runs: Sequence[Run], keys: Sequence[str]) -> str:
    """Returns the key to compare within a panel: the first without numeric values; empty if there is none."""
    return next((key for key in keys if axis_of(key, [run.settings.get(key, "") for run in runs]).numbers is None), "")


def rest(run: Run, key: str, keys: Sequence[str]) -> str:
    """Returns the settings of a run other than the key of the panels, as the name of its line."""
    return label({other: run.settings.get(other, "") for other in keys if other != key})


def lines(
    runs: Sequence[Run],
    marks: Sequence[alt.Chart],
    named: alt.NamedData,
    datasets: style.Datasets,
    *,
    title: str,
    description: str,
    height: int = style.HEIGHT,
    choices: Sequence[alt.Parameter] = (),
) -> style.Plot:
    """Returns a line chart of runs, with colours and dashes, split into panels if there are many runs.

    Args:
        runs: The runs; the chart identifies them by the field `run`.
        marks: The lines, still without colours, and further marks; all have the data `named`.
        named: The rows of the chart.
        datasets: The rows by the name of their dataset.
        title: The title.
        description: The text for screen readers.
        height: The height of a chart without panels.
        choices: The selection fields beside the chart.
    """
    found = split(runs)
    if found is None:
        whole = coloured(marks, *style.by_run(runs)).properties(data=named).add_params(*choices)
        return style.finished(whole, datasets, title=title, description=description, height=height)
    placed = json.dumps(found.of, ensure_ascii=False)
    chart = coloured(marks, *style.by_name("line", found.lines))
    told = (
        f"{description} A panel for each value of {found.key}." if found.key else f"{description} A panel for each run."
    )
    faceted = facets(chart, named, found.panels, choices, PANEL_HEIGHT)
    faceted = faceted.transform_calculate(panel=f"({placed})[datum.run][0]", line=f"({placed})[datum.run][1]")
    plot = style.finished_panels(faceted, datasets, title=title, description=told, panels=len(found.panels))
    return replace(
        plot,
        panel_of={run: panel for run, (panel, _) in found.of.items()},
        line_of={run: line for run, (_, line) in found.of.items()},
    )


def coloured(marks: Sequence[alt.Chart], color: alt.Color, dash: alt.StrokeDash) -> alt.Chart | alt.LayerChart:
    """Returns the marks as layers with colours by line. The first layer, the lines, also gets dashes."""
    line, *others = marks
    layers = [line.encode(color=color, strokeDash=dash), *(mark.encode(color=color) for mark in others)]
    return style.layered(layers) if others else layers[0]


def facets(
    chart: alt.Chart | alt.LayerChart,
    named: alt.NamedData,
    panels: Sequence[str],
    choices: Sequence[alt.Parameter] = (),
    height: int = PANEL_HEIGHT,
) -> alt.FacetChart:
    """Returns a panel for each value of the field `panel`, wrapped to the available width."""
    # Break the name of a panel after each setting, so that neighbouring names do not overlap.
    header = alt.Header(title=None, labelFontSize=12, labelLimit=240, labelExpr="split(datum.label, ', ')")
    # The inner chart has no data of its own; otherwise, each panel would contain all rows.
    panel = chart.properties(width=style.PANEL_WIDTH, height=height, data=alt.Undefined)
    faceted: alt.FacetChart = panel.facet(
        facet=alt.Facet("panel:N", sort=list(panels), header=header), data=named, columns=min(3, len(panels))
    )
    if choices:
        # Selection fields belong to the whole chart, or each panel would have its own.
        faceted = faceted.properties(params=[choice.param for choice in choices])
    return faceted
