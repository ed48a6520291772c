"""Puts a page together."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from flashmesh import plots
from flashmesh._native import __version__
from flashmesh.html import tables
from flashmesh.html.network import recordings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.html.saved import Study
    from flashmesh.html.search import Found
    from flashmesh.plots.runs import Run
    from flashmesh.plots.style import Plot

SCRIPTS = ("vega.min.js", "vega-lite.min.js", "vega-embed.min.js", "d3.min.js")
"""Libraries that are carried in every page; assets/LICENSES.md says where they are from."""
RUNS_DRAWN = 24
"""The most runs that charts draw."""
RUNS_MAPPED = 12
"""The most runs whose parts are drawn one by one."""


@dataclass(frozen=True)
class Figure:
    """A chart with what is to be said about it."""

    name: str
    plot: Plot


@dataclass(frozen=True)
class Section:
    """A part of a page."""

    name: str
    title: str
    figures: tuple[Figure, ...]
    note: str = ""
    search: Found | None = None
    """The search whose front is shown as a table."""


def figures(runs: Sequence[Run]) -> list[Section]:
    """The charts of a page, by what they are about."""
    drawn = runs[:RUNS_DRAWN]

    found: list[Section] = []

    def section(name: str, title: str, *charts: tuple[str, Plot | None], note: str = "") -> None:
        given = tuple(Figure(chart_name, chart) for chart_name, chart in charts if chart is not None)
        if given or note:
            found.append(Section(name, title, given, note))

    if len(drawn) > 1:
        section("speedup", "Speedup", ("speedup", plots.speedups(drawn)))
    section("latency", "Latency", ("tail", plots.tail(drawn)), ("cumulative", plots.cumulative(drawn)))
    section("load", "Latency under load", ("load", plots.load_latency(runs)))
    section("breakdown", "Where latency goes", ("breakdown", plots.breakdown(drawn)))
    over_time = plots.over_time(drawn)
    hint = (
        ""
        if over_time
        else 'No run has results over time. Set measure.epoch, such as measure.epoch = "10us", to have them.'
    )
    section("over-time", "Over time", ("over-time", over_time), note=hint)
    section("conflicts", "Path conflicts", ("conflicts", plots.conflicts(drawn)))
    mapped = runs[:RUNS_MAPPED]
    maps = [(f"utilisation-{number}", plots.utilisation(run)) for number, run in enumerate(mapped)]
    section("utilisation", "How busy each part was", *maps)
    section("energy", "Energy", ("energy", plots.energy(drawn)))
    return found


def fronts(searches: Sequence[Found]) -> list[Section]:
    """The parts of a page that show what searches have found."""
    found = []
    for number, search in enumerate(searches, 1):
        name = "front" if number == 1 else f"front-{number}"
        charts = tuple(Figure(f"{name}-{place}", plot) for place, plot in enumerate(search.plots()))
        found.append(Section(name, "Pareto front", charts, search.sentence, search))
    return found


def page(study: Study) -> str:
    """The page of a study, as HTML."""
    import jinja2

    runs = study.runs
    sections = [*fronts(study.searches), *figures(runs)]
    specs: dict[str, Any] = {}
    datasets: dict[str, Any] = {}
    for figure in (figure for section in sections for figure in section.figures):
        # Equal data of several charts is there once.
        specs[figure.name] = {"spec": figure.plot.spec(), "datasets": list(figure.plot.datasets)}
        datasets |= figure.plot.datasets
    moving = recordings(runs)
    template = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
        asset("report.html.j2")
    )
    return template.render(
        study=study,
        version=__version__,
        columns=tables.columns(runs),
        headline=tables.headline(runs),
        sections=sections,
        drawn=min(len(runs), RUNS_DRAWN),
        moving=moving,
        differences=tables.differences(runs),
        configurations=[(run, tables.flat(run.configuration)) for run in runs[:RUNS_DRAWN]],
        style=asset("report.css"),
        scripts=[script(name) for name in SCRIPTS],
        data=embedded({"specs": specs, "datasets": datasets, "moving": moving}),
        report_script=asset("report.js"),
        network_script=asset("network.js") if moving else "",
    )


def asset(name: str) -> str:
    """A file that pages are made of."""
    return files("flashmesh.html").joinpath("assets", name).read_text(encoding="utf-8")


def script(name: str) -> str:
    """A library, without the line that names a file for debuggers, which is not there."""
    lines = asset(name).splitlines()
    return "\n".join(line for line in lines if not line.startswith("//# sourceMappingURL="))


def embedded(value: Any) -> str:
    """JSON that may stand in a page, whatever texts are in it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
