"""Chart of the parts of latency."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import altair as alt

from flashmesh.plots import style
from flashmesh.plots.outliers import TOLD, broken, ends, limit_of
from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
"""Parts of a latency by their names in results, with names and colours in charts, in the order in which a request
passes them."""
REQUESTS = {"all requests (mean)": "mean", "slowest 1 %": "tail"}
SHARES = " as shares"
"""Suffix of the choices that show shares of the latency instead of times, such as `slowest 1 % as shares`."""
BEYOND = 1.05
"""Length of the time axis, as a factor of the longest bar."""
SHORT = 50
"""Ratio of the longest to the shortest bar, above which the chart initially shows shares instead of times. If the axis
cuts outliers off, its end counts as the longest bar."""


def rows(runs: Sequence[Run]) -> style.Values:
    """Returns a row for each latency part of each run, as time and as share, for all requests and for the slowest."""
    found: style.Values = []
    for run in runs:
        for requests, key in REQUESTS.items():
            parts = run.document["breakdown_ps"][key]
            if parts is None:
                continue
            whole = sum(parts[part] for part in PARTS)
            for order, (part, (name, _)) in enumerate(PARTS.items()):
                row = {"run": run.name, "part": name, "order": order}
                found.append(row | {"measure": requests, "value": parts[part] * style.PS})
                share = parts[part] / whole if whole else 0.0
                found.append(row | {"measure": requests + SHARES, "value": share})
    return found


def written(measure: str, length: float) -> str:
    """Returns the length of a bar of the choice `measure` as text with its unit."""
    return q.share(length) if measure.endswith(SHARES) else q.time(length / style.PS)


def is_flat(lengths: Mapping[tuple[str, str], float]) -> bool:
    """Returns whether a bar of mean latencies is so short that its parts would not be visible."""
    own = [length for (measure, _), length in lengths.items() if measure == next(iter(REQUESTS)) and length > 0]
    return bool(own) and (limit_of(own) or max(own)) > SHORT * min(own)


def breakdown(runs: Sequence[Run]) -> style.Plot:
    """Returns a chart of stacked bars: the parts of the latency, for each run."""
    values = rows(runs)
    _, datasets = style.data(values)
    names = [run.name for run in runs]
    present = {row["part"] for row in values if row["value"] > 0}
    colours = {name: colour for name, colour in PARTS.values() if name in present}
    lengths: dict[tuple[str, str], float] = {}
    for row in values:
        bar = (row["measure"], row["run"])
        lengths[bar] = lengths.get(bar, 0.0) + row["value"]
    y = alt.Y("run:N", sort=names, axis=style.NAMES)
    cut = broken(lengths, "measure", written, y)
    limits = {each: BEYOND * max((lengths.get((each, name), 0.0) for name in names), default=0.0) for each in REQUESTS}
    limits |= {each + SHARES: 1.0 for each in REQUESTS}
    scale = alt.Scale(domainMax=ends(limits | cut.limits, "measure"), nice=False)
    units = dict.fromkeys(REQUESTS, "s") | {each + SHARES: "%" for each in REQUESTS}
    labels = f"indexof(measure, '{SHARES}') > 0 ? format(datum.value, '{style.PERCENT}') : {style.si('s')}"
    axis = alt.Axis(title="latency", labelExpr=labels, labelOverlap="parity", labelSeparation=10)
    x = alt.X("value:Q", stack="zero", axis=axis, scale=scale)
    bars = style.bars(values, names, style.by_part(colours), x, ["run:N", "part:N", "measure:N", "value:Q"])
    bars = bars.transform_filter("datum.measure == measure && datum.value > 0")
    requests = style.choice("measure", sorted(units, key=lambda each: each.endswith(SHARES) != is_flat(lengths)), "Of")
    chart = (style.layered([bars, *cut.layers]) if cut.layers else bars).add_params(requests)
    text = "The parts of the latency of requests, along their critical path, stacked; a bar for each run."
    text += TOLD if cut.layers else ""
    height = style.bar_height(names)
    plot = style.finished(chart, datasets | cut.datasets, title="Where latency goes", description=text, height=height)
    return replace(plot, units=units)
