"""Default charts over the varied keys, for a report of many points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.aggregate.points import SEED
from flashmesh.plots.comparisons.parallel import Drive, parallel
from flashmesh.plots.comparisons.selected import selected
from flashmesh.plots.panels import LINES_MAX
from flashmesh.report.measures.chart_spec import ChartAxis, axis_of, read_chart, select
from flashmesh.report.measures.measure import measure_named
from flashmesh.report.streams.replay import is_open

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.aggregate.table import RunTable
    from flashmesh.html.study import Study
    from flashmesh.plots.style import Plot

MEASURES = ("p99", "IOPS")
"""Measures drawn by default; with open replay, `OPEN_MEASURES` are drawn instead."""
OPEN_MEASURES = ("p99", "mean")
PANELS_MAX = 12
VALUES_MIN = 3
"""Minimum number of values of a numeric key for a line chart over this key."""
KEYS_MIN = 3
"""Minimum number of varied keys for a chart of all keys."""


def asked_for(study: Study) -> list[tuple[str, Plot]]:
    """Returns the charts that the user requested, as (name, chart) pairs, one for each table that has the data.

    Raises:
        ConfigError: If no runs of the report have the keys or the measure of a chart.
    """
    found = []
    for spec in study.charts:
        errors: list[ConfigError] = []
        plots: list[Plot] = []
        for table in study.tables:
            try:
                plots.append(selected(select(spec, table)))
            except ConfigError as error:
                errors.append(error)
        if not plots:
            raise errors[0]
        found += [(spec.name if not number else f"{spec.name}-{number + 1}", plot) for number, plot in enumerate(plots)]
    return found


def overview(table: RunTable) -> list[str]:
    """Returns one-line descriptions of default charts over the varied keys of a table.

    Empty if no key is varied, or if the charts would have more than `PANELS_MAX` panels.
    """
    axes = [axis_of(key, values) for key, values in table.axes.items() if key != SEED and len(values) > 1]
    if not axes:
        return []
    numeric = [axis for axis in axes if axis.numbers is not None and len(axis.values) >= VALUES_MIN]
    over = max(numeric, key=lambda axis: len(axis.values)) if numeric else axes[0]
    others = [axis for axis in axes if axis is not over]
    by = next((axis for axis in others if axis.numbers is None and len(axis.values) <= LINES_MAX), None)
    by = by or next((axis for axis in others if len(axis.values) <= LINES_MAX), None)
    each = [axis for axis in others if axis is not by]
    measures = measures_of(table)
    if panels(each) <= PANELS_MAX:
        asked = f"{over.key}{f' by {by.key}' if by else ''}"
        return [line(measure, asked, each) for measure in measures]
    second = max(others, key=lambda axis: (axis.numbers is not None, len(axis.values)))
    each = [axis for axis in others if axis is not second]
    if panels(each) <= PANELS_MAX:
        return [line(measure, f"{over.key} and {second.key}", each) for measure in measures]
    return []


def measures_of(table: RunTable) -> tuple[str, ...]:
    """Returns the names of the measures to draw for a table: `MEASURES`, or `OPEN_MEASURES` with open replay."""
    if "replay.mode" in table.axes:
        return MEASURES
    (first,) = table.documents([0])
    return OPEN_MEASURES if is_open(first["configuration"]) else MEASURES


def line(measure: str, asked: str, each: Sequence[ChartAxis]) -> str:
    """Returns the description of a chart in the notation of `--chart`.

    `asked` names the axes and lines, `each` the keys with a panel for each value.
    """
    return f"{measure} over {asked}" + (f" each {', '.join(axis.key for axis in each)}" if each else "")


def panels(axes: Sequence[ChartAxis]) -> int:
    """Returns the number of panels: one for each combination of the values of `axes`."""
    count = 1
    for axis in axes:
        count *= len(axis.values)
    return count


def over_keys(study: Study) -> list[tuple[str, Plot]]:
    """Returns default charts of all points over the varied keys, as (name, chart) pairs."""
    found: list[tuple[str, Plot]] = []
    for table in study.tables:
        for text in overview(table) if not study.searches else ():
            spec = read_chart(text)
            try:
                plot = selected(select(spec, table))
            except ConfigError:
                # The chart has too many empty panels, as for a random sample of drives, or no run has the measure.
                continue
            name = spec.name if all(spec.name != other for other, _ in found) else f"{spec.name}-{len(found)}"
            found.append((name, plot))
    together = all_keys(study)
    return [*found, ("all-keys", together)] if together is not None else found


def all_keys(study: Study) -> Plot | None:
    """Returns a chart of every drive over all varied keys.

    None for fewer than `KEYS_MIN` keys, for several files, or if no drive has values of all `MEASURES`.
    """
    if len(study.tables) > 1 or not study.points or len(study.points[0].settings) < KEYS_MIN:
        return None
    means = {name: study.means(name) for name in MEASURES}
    drives = []
    for number, point in enumerate(study.points):
        values = {name: value for name, found in means.items() if (value := found[number]) is not None}
        if len(values) == len(MEASURES):
            drives.append(Drive(point.settings, values))
    drives.sort(key=lambda drive: drive.measures[MEASURES[0]])
    return parallel(drives, {name: measure_named(name) for name in MEASURES}) if drives else None
