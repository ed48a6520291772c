"""Units of axes in figures: ticks have plain numbers, and the title of the axis has the unit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flashmesh.plots.style import PERCENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"), (1e-12, "p"))
SI = re.compile(r"format\(datum\.value, '~s'\) \+ '([^']*)'")
"""Pattern of tick labels with prefix and unit, as `flashmesh.plots.style.si` writes them."""
OWN_UNIT = "(IOPS)"
LOG_LABELS = "test(/^[125][.]0/, format(datum.value, '.1e')) ? {} : ''"


def units_once(spec: dict[str, Any], units: Mapping[str, str], chosen: Mapping[str, str]) -> None:
    """Moves the units of a chart from its ticks to the titles of its axes.

    Args:
        spec: The chart as Vega-Lite, with its rows.
        units: The unit of each choice, if a choice of the user determines the measure of an axis; `%` for shares.
        chosen: The selected choice of each field, by the name of the field.
    """
    rows = [row for values in spec["datasets"].values() for row in values]
    measure = chosen.get("measure")
    for channel in channels(spec):
        axis = channel.get("axis")
        if not isinstance(axis, dict):
            continue
        label = axis.get("labelExpr", "")
        if measure is not None and measure in units and channel["field"] == "value":
            unit: str | None = units[measure]
            title = axis.get("title") or measure
        elif axis.get("format") in (PERCENT, ".0%"):
            unit, title = "%", axis.get("title")
        else:
            found = SI.search(label)
            unit, title = found[1] if found else None, axis.get("title")
        if unit is None:
            continue
        field = channel["field"]
        values = [
            abs(value) for row in rows if isinstance(value := row.get(field, row.get(measure or "")), int | float)
        ]
        largest = max(values, default=1.0)
        factor, prefix = (0.01, "") if unit == "%" else (1.0, "") if not unit and largest < 1 else scale_of(largest)
        shown = f"format(datum.value / {factor:g}, '~g')"
        axis["labelExpr"] = LOG_LABELS.format(shown) if label.startswith("test(") else shown
        axis.pop("format", None)
        axis["title"] = titled(title, f"{prefix}{unit}")


def titled(title: str | None, unit: str) -> str | None:
    """Returns an axis title with its unit in parentheses.

    A title that names its unit, such as `throughput (IOPS)`, only gets the prefix of the unit.
    """
    if not unit or not title:
        return title
    return f"{title.removesuffix(OWN_UNIT)}({unit}{OWN_UNIT[1:]}" if title.endswith(OWN_UNIT) else f"{title} ({unit})"


def scale_of(largest: float) -> tuple[float, str]:
    """Returns the factor and the SI prefix for the labels of an axis with values up to `largest`."""
    return next((scale for scale in PREFIXES if largest >= scale[0] * 0.9995), (1.0, ""))


def channels(value: Any) -> Iterator[dict[str, Any]]:
    """Yields the channels x and y of a Vega-Lite chart, and of its layers and panels."""
    if isinstance(value, dict):
        for name in ("x", "y"):
            channel = value.get("encoding", {}).get(name)
            if isinstance(channel, dict) and "field" in channel:
                yield channel
        for part in [value.get("spec"), *value.get("layer", [])]:
            yield from channels(part)
