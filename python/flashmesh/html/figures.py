"""Charts as figures for papers: SVG and PDF for one and two columns, with their data."""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh import plots
from flashmesh._native import FlashmeshError, OutputError
from flashmesh.files import whole_file
from flashmesh.html.page import asset, sections_of, slug
from flashmesh.html.units import units_once
from flashmesh.installation.extras import install
from flashmesh.plots.runs import values_of
from flashmesh.plots.style import FONT_OF_FILES
from flashmesh.texts.spreadsheet import cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from flashmesh.html.study import Study
    from flashmesh.plots.style import Plot, Values

STYLE = "flashmesh.mplstyle"
"""Matplotlib style that matches the figures of this module."""
MAPS = "utilisation"
PANEL_GAP = 20
SIZE = re.compile(r'width="[\d.]+" height="[\d.]+" viewBox="0 0 ([\d.]+) ([\d.]+)"')


@dataclass(frozen=True)
class Layout:
    """Format of the figures of a paper: width, height and panels, in typographic points."""

    suffix: str
    """Suffix of file names of figures in this format, before the extension."""
    width_pt: int
    height_pt: int
    """Height of charts in points, except of charts with a row for each run, value or chip (`has_names`)."""
    columns: int
    """Number of panels in a row."""


LAYOUTS = (Layout("", 252, 140, 2), Layout("-wide", 516, 180, 4))
"""Formats of one-column and two-column figures in the layouts of ACM, IEEE and USENIX."""
FONT_PT = 7
CONFIG = {
    "font": FONT_OF_FILES,
    "background": "white",
    "axis": {
        "labelFontSize": FONT_PT,
        "titleFontSize": FONT_PT + 0.5,
        "titleFontWeight": "normal",
        "gridColor": "#e4e4e4",
        "gridWidth": 0.5,
        "tickSize": 3,
        "labelPadding": 2,
        "titlePadding": 3,
        "labelLimit": 130,
    },
    "header": {"labelFontSize": FONT_PT, "labelPadding": 2},
    "text": {"fontSize": FONT_PT - 1},
    "view": {"stroke": "#cccccc", "strokeWidth": 0.5},
}


@dataclass(frozen=True)
class Drawing:
    """A chart with one choice selected in each of its selection fields."""

    name: str
    plot: Plot
    chosen: Mapping[str, str]
    """Selected choice of each field, by the name of the field."""


def drawings(study: Study, only: Sequence[str] = ()) -> Iterator[Drawing]:
    """Returns the drawings of a report: each chart with each choice of its fields, and a utilisation map of each run.

    Args:
        study: The study to draw.
        only: Names or prefixes of the wanted charts; all charts if empty.
    """
    return (each for each in all_drawings(study) if not only or each.name.startswith(tuple(only)))


def all_drawings(study: Study) -> Iterator[Drawing]:
    """Yields every drawing of a report."""
    named: set[str] = set()
    for section in sections_of(study):
        for figure in section.figures if section.name != MAPS else ():
            for chosen in choices(figure.plot.spec()):
                yield Drawing("-".join(map(slug, [figure.name, *chosen.values()])), figure.plot, chosen)
    for run in study.runs:
        name = unique(f"{MAPS}-{slug(values_of(run.settings) or run.name)}", named)
        (plot,) = plots.utilisation([run])
        yield Drawing(name, plot, {})


def choices(spec: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yields each combination of choices of a chart's fields, as a choice by field name."""
    fields = {field["name"]: field["bind"]["options"] for field in spec.get("params", []) if "bind" in field}
    for values in itertools.product(*fields.values()):
        yield dict(zip(fields, values, strict=True))


def unique(name: str, named: set[str]) -> str:
    """Returns `name`, with a number appended if `named` contains it, and adds the returned name to `named`."""
    found = next(
        each for number in itertools.count(1) if (each := name if number == 1 else f"{name}-{number}") not in named
    )
    named.add(found)
    return found


def write_figures(study: Study, folder: Path, only: Sequence[str] = ()) -> Iterator[Path]:
    """Writes the charts of a report, and yields each file as it is written.

    Args:
        study: The study to draw.
        folder: The output folder.
        only: Names or prefixes of the wanted charts; all charts if empty.

    Raises:
        FlashmeshError: If vl-convert-python is not installed.
        OutputError: If a file cannot be written.
    """
    try:
        import vl_convert
    except ImportError as error:
        raise FlashmeshError(f"--plots needs vl-convert-python: {install('plots')}") from error
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {error.strerror}") from error
    wanted = list(drawings(study, only))
    missing = [name for name in only if not any(drawing.name.startswith(name) for drawing in wanted)]
    if missing:
        there = ", ".join(dict.fromkeys(drawing.name for drawing in all_drawings(study)))
        raise FlashmeshError(f"--only: no chart is called {missing[0]}; there are {there}")
    for drawing in wanted:
        for layout in LAYOUTS:
            svg = drawn(drawing, layout)
            yield _written(folder / f"{drawing.name}{layout.suffix}.svg", in_points(svg).encode())
            yield _written(folder / f"{drawing.name}{layout.suffix}.pdf", vl_convert.svg_to_pdf(svg))
        for number, rows in enumerate(filter(None, data_of(drawing))):
            name = f"{drawing.name}.csv" if number == 0 else f"{drawing.name}-{number + 1}.csv"
            yield _written(folder / name, table(rows).encode())
    yield _written(folder / STYLE, asset(STYLE).encode())


def drawn(drawing: Drawing, layout: Layout) -> str:
    """Returns a chart as SVG in the width of a layout; one pixel stands for one point."""
    import vl_convert

    version = ".".join(vl_convert.get_vegalite_versions()[-1].split(".")[:2])
    panels = columns_of(layout, drawing.plot.panels)
    inside = (layout.width_pt - 40 - PANEL_GAP * (panels - 1)) // panels
    text: str = vl_convert.vegalite_to_svg(spec_of(drawing, layout, inside), vl_version=version)
    found = SIZE.search(text)
    assert found is not None, "a drawing without a size"
    width, height = float(found[1]), float(found[2])
    # The width of axes and legends is known only after drawing, so a drawing that is too wide is scaled down.
    factor = min(1.0, layout.width_pt / width)
    box = f"0 0 {max(width, layout.width_pt):g} {height:g}"
    size = f'width="{layout.width_pt}" height="{height * factor:.1f}" viewBox="{box}"'
    return SIZE.sub(size, text, count=1)


def columns_of(layout: Layout, panels: int) -> int:
    """Returns the number of panels per row: as even as possible over the fewest rows that the layout allows."""
    rows = math.ceil(panels / layout.columns) or 1
    return math.ceil(panels / rows) or 1


def in_points(svg: str) -> str:
    """Returns an SVG with its size in points instead of pixels, as PDF requires."""
    return re.sub(r'width="([\d.]+)" height="([\d.]+)" viewBox', r'width="\1pt" height="\2pt" viewBox', svg, count=1)


def spec_of(drawing: Drawing, layout: Layout, inside: int) -> dict[str, Any]:
    """Returns the Vega-Lite specification of a drawing for a layout.

    The specification has no title and no selection fields, and the titles of the axes have the units.

    Args:
        drawing: The chart and its choices.
        layout: The layout of the figure.
        inside: The width of a panel without its axes.
    """
    spec = drawing.plot.spec()
    spec["datasets"] = dict(zip(drawing.plot.datasets, data_of(drawing), strict=True))
    spec.pop("title", None)
    spec["params"] = [
        {"name": field["name"], "value": drawing.chosen.get(field["name"], field.get("value"))}
        for field in spec.get("params", [])
    ]
    units_once(spec, drawing.plot.units, drawing.chosen)
    names = [name for scale in domains(spec) for name in scale]
    longest = max([6, *map(len, names)])
    names_beside = max(1, int((layout.width_pt - 30) / (24 + 4.0 * longest)))
    legend = {
        "labelFontSize": FONT_PT,
        "titleFontSize": FONT_PT,
        "orient": "bottom",
        "symbolSize": 60,
        "labelLimit": 180,
    }
    spec["config"] = {**CONFIG, "legend": {**legend, "columns": names_beside, "offset": 6, "gradientLength": 90}}
    one = spec.get("spec", spec)
    one["width"] = inside if "spec" in spec else layout.width_pt
    if "spec" not in spec:
        spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    content = spec["height"] if "height" in spec and has_names(spec) else None
    if "spec" in spec:
        columns = columns_of(layout, drawing.plot.panels)
        spec["columns"], spec["spacing"] = columns, 8
        if drawing.plot.panels % columns:
            # Shared axes would put x axes below the missing panels of an incomplete row.
            spec["resolve"] = {**spec.get("resolve", {}), "axis": {"x": "independent"}}
        one["height"] = int(layout.height_pt * 0.6)
    else:
        one["height"] = int(content * 0.5) if content is not None else layout.height_pt
    shrink(spec)
    return spec


def has_names(spec: Mapping[str, Any]) -> bool:
    """Returns whether the height of a chart depends on its data: a chart with a row for each run, value or chip."""
    y = [part["encoding"]["y"] for part in units(spec) if "y" in part.get("encoding", {})]
    return any(each.get("type") in ("nominal", "ordinal") for each in y) or "utilisation" in str(spec.get("name", ""))


def units(spec: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the single charts of a chart with layers or panels: those with marks and encodings."""
    if "spec" in spec:
        yield from units(spec["spec"])
    elif "layer" in spec:
        for layer in spec["layer"]:
            yield from units(layer)
        yield dict(spec)
    else:
        yield dict(spec)


def domains(value: Any) -> Iterator[list[str]]:
    """Yields the domain of each scale in a specification, if it is a list of names."""
    if isinstance(value, dict):
        found = value.get("domain")
        if isinstance(found, list) and found and all(isinstance(name, str) for name in found):
            yield found
        for key, part in value.items():
            if key != "datasets":
                yield from domains(part)
    elif isinstance(value, list):
        for part in value:
            yield from domains(part)


SMALLER = {"strokeWidth": 0.6, "size": 0.4, "fontSize": 0.6, "dx": 0.6, "dy": 0.6}
"""Sizes of marks in a figure, as factors of their sizes on a page."""


def shrink(value: Any) -> None:
    """Scales the marks of a specification in place from their sizes on a page to the sizes in a figure."""
    if isinstance(value, dict):
        mark = value.get("mark")
        if isinstance(mark, dict):
            for key, factor in SMALLER.items():
                if isinstance(mark.get(key), dict):
                    mark[key] = {"expr": f"({mark[key]['expr']}) * {factor}"}
                elif key in mark:
                    mark[key] = round(mark[key] * factor, 2)
        for key, part in value.items():
            if key not in ("datasets", "config"):
                shrink(part)
            if key == "axis" and isinstance(part, dict):
                for size in ("labelLimit", "titleFontSize", "labelFontSize"):
                    part.pop(size, None)
            if key == "header" and isinstance(part, dict):
                part["labelFontSize"] = FONT_PT
            if key == "legend" and isinstance(part, dict):
                part.pop("gradientLength", None)
                part["symbolSize"] = 60
                if "symbolStrokeWidth" in part:
                    part["symbolStrokeWidth"] = 1.2
    elif isinstance(value, list):
        for part in value:
            shrink(part)


def data_of(drawing: Drawing) -> list[Values]:
    """Returns the rows of each dataset of a drawing that belong to its choices."""
    return [
        [row for row in rows if all(row.get(key, value) == value for key, value in drawing.chosen.items())]
        for rows in drawing.plot.datasets.values()
    ]


def table(rows: Values) -> str:
    """Returns rows as CSV."""
    stream = io.StringIO()
    names = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([cell(name) for name in names])
    writer.writerows([cell(row.get(name, "")) for name in names] for row in rows)
    return stream.getvalue()


def _written(path: Path, content: bytes) -> Path:
    with whole_file(path) as target:
        try:
            target.write_bytes(content)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}") from error
    return path
