"""Charts as figures for papers: SVG and PDF, with the data beside each."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from flashmesh._native import FlashmeshError, OutputError
from flashmesh.files import whole_file
from flashmesh.html.page import figures, fronts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flashmesh.html.saved import Study
    from flashmesh.plots.style import Plot, Values

WIDTH = 460
"""How wide figures are drawn: twice a column of a paper, so that texts stay readable in one."""


def write_figures(study: Study, folder: Path) -> Iterator[Path]:
    """Writes every chart of a report, and gives the files as they are written.

    Raises:
        FlashmeshError: When what draws them is not installed.
        OutputError: When a file cannot be written.
    """
    try:
        import vl_convert
    except ImportError as error:
        raise FlashmeshError("--plots needs vl-convert-python: install it, or flashmesh[plots], with pip") from error
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be made: {error.strerror}") from error
    version = ".".join(vl_convert.get_vegalite_versions()[-1].split(".")[:2])
    for section in [*fronts(study.searches), *figures(study.runs)]:
        for figure in section.figures:
            spec = figure.plot.altair().properties(width=WIDTH).to_dict()
            svg = vl_convert.vegalite_to_svg(spec, vl_version=version)
            yield _written(folder / f"{figure.name}.svg", svg.encode())
            yield _written(folder / f"{figure.name}.pdf", vl_convert.svg_to_pdf(svg))
            for number, rows in enumerate(data_of(figure.plot)):
                name = f"{figure.name}.csv" if number == 0 else f"{figure.name}-{number + 1}.csv"
                yield _written(folder / name, table(rows).encode())


def data_of(plot: Plot) -> list[Values]:
    """The rows a chart is drawn from."""
    return [rows for rows in plot.datasets.values() if rows]


def table(rows: Values) -> str:
    """Rows as CSV."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _written(path: Path, content: bytes) -> Path:
    with whole_file(path) as target:
        try:
            target.write_bytes(content)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}") from error
    return path
