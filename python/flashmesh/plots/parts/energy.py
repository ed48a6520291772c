"""Chart of energy by component."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from flashmesh.plots import style
from flashmesh.plots.outliers import TOLD, broken
from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.runs import Run

PARTS = {
    "read": ("array: read", "#009e73"),
    "program": ("array: program", "#56b4e9"),
    "erase": ("array: erase", "#000000"),
    "channels": ("channels", "#0072b2"),
    "links": ("links", "#e69f00"),
    "routers": ("routers", "#d55e00"),
    "controllers": ("controllers", "#cc79a7"),
}
RUN, REQUEST = "of the run", "per request"


def rows(runs: Sequence[Run]) -> style.Values:
    """Returns rows with the energy of each component in each run: of the whole run, and per request."""
    found: style.Values = []
    for run in runs:
        energy, requests = run.document["power"]["energy_j"], run.document["requests"]
        for order, (part, (name, _)) in enumerate(PARTS.items()):
            row = {"run": run.name, "part": name, "order": order}
            found.append(row | {"measure": RUN, "energy_j": energy[part]})
            found.append(row | {"measure": REQUEST, "energy_j": energy[part] / requests if requests else 0.0})
    return found


def energy(runs: Sequence[Run]) -> style.Plot:
    """Returns a chart of the energy of events by component, with a bar for each run."""
    values = rows(runs)
    _, datasets = style.data(values)
    names = [run.name for run in runs]
    present = {row["part"] for row in values if row["energy_j"] > 0}
    colours = {name: colour for name, colour in PARTS.values() if name in present}
    lengths: dict[tuple[str, str], float] = {}
    for row in values:
        bar = (row["measure"], row["run"])
        lengths[bar] = lengths.get(bar, 0.0) + row["energy_j"]
    cut = broken(lengths, "measure", lambda _, length: q.energy(length), alt.Y("run:N", sort=names, axis=style.NAMES))
    scale = alt.Scale(domainMax=cut.domain_max, nice=False) if cut.domain_max is not None else alt.Undefined
    x = alt.X("energy_j:Q", stack="zero", axis=alt.Axis(title="energy", labelExpr=style.si("J")), scale=scale)
    bars = style.bars(values, names, style.by_part(colours), x, ["run:N", "part:N", "energy_j:Q"])
    bars = bars.transform_filter("datum.measure == measure && datum.energy_j > 0")
    measure = style.choice("measure", [RUN, REQUEST], "Energy")
    chart = (style.layered([bars, *cut.layers]) if cut.layers else bars).add_params(measure)
    text = "The energy of array operations and of the interconnect, stacked; a bar for each run."
    text += TOLD if cut.layers else ""
    height = style.bar_height(names)
    return style.finished(chart, datasets | cut.datasets, title="Energy", description=text, height=height)
