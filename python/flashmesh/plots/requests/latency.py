"""Charts of the distribution of completion latencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from flashmesh.plots import style
from flashmesh.plots.panels import lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.runs import Run

KINDS = ("all", "read", "write")
PERCENTILES = {"50": 0.5, "90": 0.1, "99": 0.01, "99.9": 0.001, "99.99": 1e-4, "99.999": 1e-5, "99.9999": 1e-6}
"""Percentiles with axis labels, each with the share of requests that are slower."""


def kinds(runs: Sequence[Run]) -> list[str]:
    """Returns the kinds of requests with a latency distribution; `all` only if there are several other kinds."""
    found = [kind for kind in KINDS if any(run.document["distribution"][kind] for run in runs)]
    return found if len(found) > 2 else [kind for kind in found if kind != "all"] or found


def points(runs: Sequence[Run]) -> style.Values:
    """Returns a row for each latency in a distribution.

    A row has the share of requests up to the latency, and the share of requests at least as slow.
    """
    rows: style.Values = []
    for run in runs:
        for kind in kinds(runs):
            found = run.document["distribution"][kind]
            if found is None:
                continue
            count = found["requests"][-1]
            before = 0
            if len(found["latency_ps"]) == 1:
                # A line needs two points, even for a single latency.
                rows.append(point(run.name, kind, found["latency_ps"][0], 0.0, 1.0))
                before = count - 1
            for latency, requests in zip(found["latency_ps"], found["requests"], strict=True):
                # Share of requests at least as slow: above 0 even for the slowest, as a logarithmic scale requires.
                slower = (count - before) / count
                rows.append(point(run.name, kind, latency, requests / count, slower))
                before = requests
    return rows


def point(run: str, kind: str, latency_ps: int, share: float, slower: float) -> dict[str, Any]:
    """Returns the row of a latency, with numbers rounded to the precision of a drawing."""
    row = {"latency_s": f"{latency_ps * style.PS:.5g}", "share": f"{share:.7g}", "slower": f"{slower:.5g}"}
    return {"run": run, "kind": kind} | {field: float(text) for field, text in row.items()}


def cumulative(runs: Sequence[Run]) -> style.Plot:
    """Returns a chart of the share of requests that complete within a latency."""
    y = alt.Y("share:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(title="requests", format=style.PERCENT))
    text = "Which share of requests completes within which latency; a line for each run."
    return _lines(runs, y, "Latency: cumulative distribution", text)


def tail(runs: Sequence[Run]) -> style.Plot:
    """Returns a chart of the share of requests slower than a latency, on a logarithmic scale that expands the tail."""
    nines = list(PERCENTILES.values())
    names = "{" + ", ".join(f"'{share:g}': 'p{name}'" for name, share in PERCENTILES.items()) + "}"
    # Vega looks labels up by numbers as JavaScript writes them: without an exponent down to 1e-6.
    label = f"{names.replace('1e-05', '0.00001').replace('1e-06', '0.000001')}[toString(datum.value)] || ''"
    y = alt.Y(
        "slower:Q",
        scale=alt.Scale(type="log", reverse=True),
        axis=alt.Axis(title="percentile", values=nines, labelExpr=label, labelOverlap="greedy"),
    )
    text = "The latency of each percentile up to the slowest request; the scale gives every further nine as much room."
    return _lines(runs, y, "Latency: tail", text)


def _lines(runs: Sequence[Run], y: alt.Y, title: str, text: str) -> style.Plot:
    named, datasets = style.data(points(runs))
    chosen = kinds(runs)
    chart = (
        alt.Chart(named)
        .mark_line(interpolate="step-after", strokeWidth=1.8)
        .encode(
            x=alt.X(
                "latency_s:Q", scale=alt.Scale(type="log", nice=False), axis=style.log_seconds("completion latency")
            ),
            y=y,
            order="latency_s:Q",
            tooltip=["run:N", "kind:N", "latency_s:Q", "share:Q"],
        )
    )
    choices = [style.choice("kind", chosen, "Requests")] if len(chosen) > 1 else []
    if choices:
        chart = chart.transform_filter("datum.kind == kind")
    return lines(runs, [chart], named, datasets, title=title, description=text, height=320, choices=choices)
