"""Chart of the parts of latency."""

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
    "host": ("host queue and link", "#7f7f7f"),
    "firmware": ("firmware", "#56b4e9"),
    "cache": ("device cache", "#f0e442"),
    "map_wait": ("waiting for the map", "#cc79a7"),
    "die_wait": ("waiting for the die", "#e69f00"),
    "behind_gc": ("garbage collection", "#000000"),
    "path_wait": ("waiting for the path", "#d55e00"),
    "array": ("array", "#009e73"),
    "transfer": ("transfer", "#0072b2"),
}
"""Parts of a latency with their names and colours, in the order in which a request passes them."""
REQUESTS = {"all requests (mean)": "mean", "slowest 1 %": "tail"}


def rows(runs: Sequence[Run]) -> style.Values:
    """Returns a row for each part of each run."""
    found: style.Values = []
    for run in runs:
        for requests, key in REQUESTS.items():
            parts = run.document["breakdown_ps"][key]
            for order, (part, (name, _)) in enumerate(PARTS.items()):
                if parts is not None:
                    row = {"run": run.name, "requests": requests, "part": name, "order": order}
                    found.append(row | {"latency_s": parts[part] * style.PS})
    return found


def breakdown(runs: Sequence[Run]) -> style.Plot:
    """Returns a chart of stacked bars: the parts of the latency, for each run."""
    values = rows(runs)
    _, datasets = style.data(values)
    names = [run.name for run in runs]
    present = {row["part"] for row in values if row["latency_s"] > 0}
    colours = {name: colour for name, colour in PARTS.values() if name in present}
    lengths: dict[tuple[str, str], float] = {}
    for row in values:
        bar = (row["requests"], row["run"])
        lengths[bar] = lengths.get(bar, 0.0) + row["latency_s"]
    y = alt.Y("run:N", sort=names, axis=style.NAMES)
    cut = broken(lengths, "requests", lambda _, length: q.time(length / style.PS), y)
    scale = alt.Scale(domainMax=cut.domain_max, nice=False) if cut.domain_max is not None else alt.Undefined
    x = alt.X("latency_s:Q", stack="zero", axis=style.seconds("latency"), scale=scale)
    bars = style.bars(values, names, style.by_part(colours), x, ["run:N", "part:N", "latency_s:Q"])
    bars = bars.transform_filter("datum.requests == requests && datum.latency_s > 0")
    requests = style.choice("requests", list(REQUESTS), "Of")
    chart = (style.layered([bars, *cut.layers]) if cut.layers else bars).add_params(requests)
    text = "The parts of the latency of requests, along their critical path, stacked; a bar for each run."
    text += TOLD if cut.layers else ""
    height = style.bar_height(names)
    return style.finished(chart, datasets | cut.datasets, title="Where latency goes", description=text, height=height)
