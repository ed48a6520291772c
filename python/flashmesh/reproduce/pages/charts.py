"""Charts of the page of a paper: one for each figure, with a panel of bars for each unit, and one for each curve."""

from __future__ import annotations

import math
import re
from statistics import fmean
from typing import TYPE_CHECKING, Any

from flashmesh._native import OutputError
from flashmesh.installation.extras import install
from flashmesh.reproduce.judging.summary import best_reading
from flashmesh.reproduce.judging.texts import number_text, short, unit_of
from flashmesh.reproduce.judging.verdict import means
from flashmesh.reproduce.registry.paper import ANY, AS_SPECIFIED, FIT, REAL_TRACES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.style import Chart
    from flashmesh.reproduce.judging.outcome import Outcome, Row
    from flashmesh.reproduce.registry.paper import Claim, Series, Trend

PUBLISHED = "published"


def require_converter() -> None:
    """Refuses to write pages if the converter from charts to SVG is not installed.

    Raises:
        OutputError: If the converter is missing.
    """
    try:
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise OutputError(f"pages have charts, which need a missing package: {install('plots')}") from error


def svg(chart: Chart) -> str:
    """Returns a chart as SVG that ends with a newline."""
    import vl_convert

    from flashmesh.plots.style import FONT_OF_FILES

    version = ".".join(vl_convert.get_vegalite_versions()[-1].split(".")[:2])
    spec = chart.to_dict(validate=False)
    spec["config"]["font"] = FONT_OF_FILES
    text: str = vl_convert.vegalite_to_svg(spec, vl_version=version)
    return text.rstrip("\n") + "\n"


def names_of(outcome: Outcome) -> dict[str, str]:
    """Returns the file name of the chart of each figure, without suffix."""
    return {figure: f"{outcome.paper.key}-{slug(figure)}" for figure in specs(outcome)}


def charts_of(outcome: Outcome) -> dict[str, Chart]:
    """Returns the chart of each figure, by its file name without suffix."""
    from flashmesh.plots.measured import reproduction as plots

    names = names_of(outcome)
    return {names[figure]: plots.figure(figure, panels) for figure, panels in specs(outcome).items()}


def specs(outcome: Outcome) -> dict[str, list[dict[str, Any]]]:
    """Returns, for each figure of the paper, the arguments of its panels: bars for each unit, lines for each curve."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    sources = sources_of(outcome)
    for claim in outcome.claims():
        rows = [row for row in outcome.rows[claim.id] if row.regime in sources]
        panels = found.setdefault(claim.figure, {})
        if claim.measurement is not None and claim.kind != "exact":
            add_bars(panels, claim, rows, sources)
        for at, along in enumerate((*claim.trends, *((claim.series,) if claim.series is not None else ()))):
            add_lines(panels, claim, rows, sources, along, at)
    return {figure: list(panels.values()) for figure, panels in found.items() if panels}


def add_bars(panels: dict[str, dict[str, Any]], claim: Claim, rows: Sequence[Row], sources: Sequence[str]) -> None:
    """Adds the published and the measured values of a claim to the panel of its unit."""
    empty = {"values": [], "axis": unit_title(claim.unit), "sources": sources}
    panel = panels.setdefault(claim.unit, empty)
    values = [(PUBLISHED, claim.judged.published)]
    values += [(row.regime, fmean(row.values)) for row in rows if row.values]
    for source, value in values:
        if not math.isnan(value):
            text = number_text(value, claim.digits)
            name = f"{claim.id}: {claim.says}"
            row = {"claim": name, "source": source, "value": value, "end": max(value, 0.0), "text": text}
            panel["values"].append(row)


def add_lines(
    panels: dict[str, dict[str, Any]],
    claim: Claim,
    rows: Sequence[Row],
    sources: Sequence[str],
    along: Trend | Series,
    at: int,
) -> None:
    """Adds a panel with the published and the measured values of a curve.

    Skips a curve of a single point, and a curve that the figure already has (a claim and its sub-value can share one).
    """
    if len(along.labels) < 2:
        return
    values: list[dict[str, Any]] = []
    published = getattr(along, "published", ())
    curves = [(PUBLISHED, published)] if published else []
    curves += [(row.regime, means(curve)) for row in rows if (curve := row.curves[at]) is not None]
    for source, curve in curves:
        values += [
            {"label": short(label), "source": source, "value": value}
            for label, value in zip(along.labels, curve, strict=True)
        ]
    if values and all(panel["values"] != values for panel in panels.values()):
        panels[f"{claim.id} {at}"] = {
            "values": values,
            "title": f"{claim.id}: {along.says or claim.says}",
            "axis": along.axis.replace("-", " "),
            "value_axis": unit_title(unit_of(along, claim)),
            "labels": [short(label) for label in along.labels],
            "sources": sources,
        }


def sources_of(outcome: Outcome) -> list[str]:
    """Returns the names of the sources of values: the paper, and the charted regimes (interpretations of it).

    The order of the sources is that of the colours in the charts.
    """
    return list(dict.fromkeys((PUBLISHED, AS_SPECIFIED, best_reading(outcome).regime, FIT, REAL_TRACES, ANY)))


def unit_title(unit: str) -> str:
    """Returns the title of a value axis for a unit."""
    return {"x": "times", "": "value"}.get(unit, unit)


def slug(text: str) -> str:
    """Returns a text as part of a file name: in lower case, with words joined by dashes."""
    text = text.lower().replace("%", "percent").replace("figure", "fig")
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-")
