"""Charts of a page: one for each figure and unit, and one for each curve."""

from __future__ import annotations

import math
import re
from statistics import fmean
from typing import TYPE_CHECKING, Any

from flashmesh._native import OutputError
from flashmesh.extras import install
from flashmesh.reproduce.paper import ANY, AS_SPECIFIED, REAL_TRACES
from flashmesh.reproduce.summary import best_reading
from flashmesh.reproduce.texts import number_text, short
from flashmesh.reproduce.verdict import means

if TYPE_CHECKING:
    from flashmesh.plots.style import Chart
    from flashmesh.reproduce.outcome import Outcome, Row
    from flashmesh.reproduce.paper import Claim, Series, Trend

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

    version = ".".join(vl_convert.get_vegalite_versions()[-1].split(".")[:2])
    text: str = vl_convert.vegalite_to_svg(chart.to_dict(validate=False), vl_version=version)
    return text.rstrip("\n") + "\n"


def names_of(outcome: Outcome) -> dict[str, list[str]]:
    """Returns the names of the charts of each figure."""
    return {figure: list(charts) for figure, charts in specs(outcome).items()}


def charts_of(outcome: Outcome) -> dict[str, Chart]:
    """Returns the charts of a page by their names."""
    from flashmesh.plots import reproduction as plots

    found: dict[str, Chart] = {}
    for charts in specs(outcome).values():
        for name, spec in charts.items():
            found[name] = plots.lines(**spec) if "labels" in spec else plots.bars(**spec)
    return found


def specs(outcome: Outcome) -> dict[str, dict[str, dict[str, Any]]]:
    """Returns the constructor arguments of each chart, by figure and chart name."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for claim in outcome.claims():
        charts = found.setdefault(claim.figure, {})
        if claim.measurement is not None and claim.kind != "exact":
            add_bars(charts, outcome, claim)
        for at, along in enumerate((*claim.trends, *((claim.series,) if claim.series is not None else ()))):
            add_lines(charts, outcome, claim, along, at)
    return {figure: charts for figure, charts in found.items() if charts}


def add_bars(charts: dict[str, dict[str, Any]], outcome: Outcome, claim: Claim) -> None:
    """Adds the bars of a claim to the chart of its figure and unit."""
    name = f"{outcome.paper.key}-{slug(claim.figure)}-{slug(claim.unit) or 'value'}"
    chart = charts.setdefault(
        name, {"values": [], "title": claim.figure, "axis": unit_title(claim.unit), "sources": sources_of(outcome)}
    )
    values = [(PUBLISHED, claim.judged.published)]
    values += [(row.regime, fmean(row.values)) for row in shown_rows(outcome, claim) if row.values]
    for source, value in values:
        if not math.isnan(value):
            text = number_text(value, claim.digits)
            name = f"{claim.id}: {claim.says}"
            row = {"claim": name, "source": source, "value": value, "end": max(value, 0.0), "text": text}
            chart["values"].append(row)


def add_lines(
    charts: dict[str, dict[str, Any]], outcome: Outcome, claim: Claim, along: Trend | Series, at: int
) -> None:
    """Adds the line chart of a curve; skips a curve of a single point."""
    if len(along.labels) < 2:
        return
    values: list[dict[str, Any]] = []
    published = getattr(along, "published", ())
    curves = [(PUBLISHED, published)] if published else []
    curves += [
        (row.regime, means(curve)) for row in shown_rows(outcome, claim) if (curve := row.curves[at]) is not None
    ]
    for source, curve in curves:
        values += [
            {"label": short(label), "source": source, "value": value}
            for label, value in zip(along.labels, curve, strict=True)
        ]
    if values:
        part = f"-{at + 1}" if len(claim.trends) > 1 else ""
        charts[f"{outcome.paper.key}-{claim.id.lower()}{part}"] = {
            "values": values,
            "title": f"{claim.id}: {along.says or claim.says}",
            "axis": along.axis.replace("-", " "),
            "value_axis": unit_title(claim.unit),
            "labels": [short(label) for label in along.labels],
            "sources": sources_of(outcome),
        }


def shown_rows(outcome: Outcome, claim: Claim) -> list[Row]:
    """Returns the displayed rows: as specified, of the best regime, of recorded volumes, and exact by construction."""
    shown = (AS_SPECIFIED, best_reading(outcome).regime, REAL_TRACES)
    return [row for row in outcome.rows[claim.id] if row.regime in shown or row.regime == ANY]


def sources_of(outcome: Outcome) -> list[str]:
    """Returns the sources of values in the order of their colours: the published values, then all regimes."""
    return [PUBLISHED, *outcome.paper.regimes, REAL_TRACES, ANY]


def unit_title(unit: str) -> str:
    """Returns the title of a value axis."""
    return {"x": "times", "": "value"}.get(unit, unit)


def slug(text: str) -> str:
    """Returns a text as part of a file name: in lower case, with words joined by dashes."""
    text = text.lower().replace("%", "percent").replace("figure", "fig")
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-")
