"""Chart of path conflicts by cause."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import altair as alt

from flashmesh.plots import style
from flashmesh.plots.outliers import TOLD, broken
from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.runs import Run

ANY = ("any of these", "#999999")
CAUSES = {
    "channel": ("channel or pins taken", "#0072b2"),
    "controller": ("controllers taken", "#e69f00"),
    "link": ("links on the way taken", "#d55e00"),
}
SHARE, WAIT = "share of transfers", "wait per transfer"


def rows(runs: Sequence[Run]) -> style.Values:
    """Returns rows with the share and wait of transfers with path conflicts, for each run and cause.

    The rows of `ANY` are for all causes together and count each transfer once.
    """
    found: style.Values = []
    for run in runs:
        conflict = run.document["path_conflict"]
        transfers = conflict["transfers"]

        def row(part: str, count: float, wait_ps: float, run: Run = run, of: float = transfers) -> None:
            common = {"run": run.name, "part": part}
            found.append(common | {"measure": SHARE, "value": count / of if of else 0.0})
            found.append(common | {"measure": WAIT, "value": wait_ps * style.PS / of if of else 0.0})

        free = conflict["transfers_free_share"]
        row(ANY[0], 0.0 if free is None else (1.0 - free) * transfers, conflict["wait_ps"])
        for cause, (name, _) in CAUSES.items():
            row(name, conflict["causes"][cause]["transfers"], conflict["causes"][cause]["wait_ps"])
    return found


def has_conflicts(runs: Sequence[Run]) -> bool:
    """Returns whether a transfer of any run waited for its path."""
    causes = [cause for run in runs for cause in run.document["path_conflict"]["causes"].values()]
    return any(cause["transfers"] for cause in causes)


def written(measure: str, value: float) -> str:
    """Returns a share of transfers, or a wait per transfer, as text with its unit."""
    return q.share(value) if measure == SHARE else q.time(value / style.PS)


def conflicts(runs: Sequence[Run]) -> style.Plot:
    """Returns a chart of the transfers with a path conflict, by cause; a group of bars for each run."""
    values = rows(runs)
    named, datasets = style.data(values)
    names = [run.name for run in runs]
    met = {row["part"] for row in values if row["value"] > 0}
    causes = [cause for cause in CAUSES.values() if cause[0] in met]
    # With a single cause, "any" would have the same bars.
    parts = dict(causes if len(causes) == 1 else [ANY, *causes])
    labels = f"measure == '{SHARE}' ? format(datum.value, '{style.PERCENT}') : {style.si('s')}"
    lengths: dict[tuple[str, str], float] = {}
    for row in values:
        bar = (row["measure"], row["run"])
        lengths[bar] = max(lengths.get(bar, 0.0), row["value"])
    y = alt.Y("run:N", sort=names, axis=style.NAMES, scale=alt.Scale(paddingInner=0.25))
    cut = broken(lengths, "measure", written, y)
    scale = alt.Scale(domainMax=cut.domain_max, nice=False) if cut.domain_max is not None else alt.Undefined
    bars: alt.Chart = (
        alt.Chart(named)
        .mark_bar(clip=True)
        .encode(
            y=y,
            # Side by side instead of stacked: causes overlap, so their shares must not be added.
            yOffset=alt.YOffset("part:N", sort=list(parts)),
            x=alt.X("value:Q", stack=None, axis=alt.Axis(title=None, labelExpr=labels), scale=scale),
            color=style.by_part(parts),
            tooltip=["run:N", "part:N", "measure:N", "value:Q"],
        )
    )
    measure = style.choice("measure", [SHARE, WAIT], "Show")
    bars = bars.transform_filter("datum.measure == measure")
    bars = bars.transform_filter(alt.FieldOneOfPredicate("part", list(parts)))
    chart = (style.layered([bars, *cut.layers]) if cut.layers else bars).add_params(measure)
    text = (
        "Transfers that found their path taken, by what was in the way; a group of bars for each run. A transfer that "
    )
    text += "met several causes counts for each of them, and once for any."
    text += TOLD if cut.layers else ""
    height = max(80, len(names) * (9 * len(parts) + 5))
    plot = style.finished(
        chart, datasets | cut.datasets, title="Path conflicts by cause", description=text, height=height
    )
    return replace(plot, units={SHARE: "%", WAIT: "s"})
