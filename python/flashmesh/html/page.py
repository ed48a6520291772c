"""Assembly of the HTML page of a report."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from flashmesh import plots
from flashmesh._native import __version__
from flashmesh.aggregate.points import SEED
from flashmesh.aggregate.steadiness import JUDGED_MAX, remedy_of, unsteady_note
from flashmesh.html import tables
from flashmesh.html.head import facts
from flashmesh.html.network import recordings as moving_recordings
from flashmesh.html.overview import asked_for, over_keys
from flashmesh.html.streams import kinds_of_streams
from flashmesh.html.study import documents_of
from flashmesh.html.validation import comparison_of, has_bundled_rows, sentence_of, sheets_of
from flashmesh.plots.comparisons.speedups import title_of
from flashmesh.plots.measured.validation import curves as validation_curves
from flashmesh.plots.parts.conflicts import has_conflicts
from flashmesh.plots.parts.utilisation import even_utilisation
from flashmesh.plots.requests.regimes import changes
from flashmesh.report.findings.sentences import of_answer
from flashmesh.report.notes import recordings
from flashmesh.report.streams.bottleneck import bound_sentence
from flashmesh.report.validation import compared
from flashmesh.validation.figures import KINDS
from flashmesh.validation.loads.skew import SKEW_SENTENCE
from flashmesh.validation.loads.skew import TITLE as SKEW_TITLE
from flashmesh.validation.tables.sheets import LOAD_SENTENCE, ROW_SENTENCE
from flashmesh.validation.tables.sweeps import SWEEP_SENTENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.asking.answer import Answer
    from flashmesh.html.search import Found
    from flashmesh.html.study import Study
    from flashmesh.html.validation import Listed
    from flashmesh.plots.runs import Run
    from flashmesh.plots.style import Plot
    from flashmesh.validation.judging.outcome import Validation

SCRIPTS = ("vega.min.js", "vega-lite.min.js", "vega-embed.min.js", "d3.min.js")
"""Libraries embedded in every page; assets/LICENSES.md names their origin."""
SENTENCES = {"data sheet": ROW_SENTENCE, SKEW_TITLE.lower(): SKEW_SENTENCE}
"""Explanations of the tables of a validated drive, by title; all other tables have the explanation of sweeps."""
ROWS_WRITTEN = 100
"""Maximum number of rows in the HTML of the result table; a script adds the others."""
RUNS_MAPPED = 12
"""Maximum number of runs for which each has a utilisation map."""
CHANGES_TOLD = 6
"""Maximum number of runs whose change of throughput is listed. Other runs are only counted, unless there is just
one."""
COLUMNS_MAX = 8
"""Maximum number of runs that have a column each in the table of differing configuration keys."""


@dataclass(frozen=True)
class Figure:
    """A chart with its name."""

    name: str
    plot: Plot


@dataclass(frozen=True)
class Section:
    """A section of a page: charts, and possibly a table or lines of text."""

    name: str
    title: str
    figures: tuple[Figure, ...]
    note: str = ""
    search: Found | None = None
    """The search whose Pareto front is shown as a table."""
    listed: Listed | None = None
    """A table of texts in the section; None without one."""
    lines: tuple[tuple[str, str], ...] = ()
    """Runs that have a line of text instead of a chart, as (name of the run, text)."""

    @property
    def captions(self) -> list[str]:
        """Captions of the figures; empty for a figure with the same caption as the figure before."""
        texts = [figure.plot.text for figure in self.figures]
        return ["" if place and texts[place - 1] == text else text for place, text in enumerate(texts)]

    def spec(self, figure: Figure) -> dict[str, Any]:
        """Returns the Vega-Lite chart of a figure; removes a title that repeats the title of the section."""
        spec = figure.plot.spec()
        title = str(spec.get("title", ""))
        if title == self.title or (len(self.figures) == 1 and title.startswith(self.title)):
            del spec["title"]
        return spec


def section(name: str, title: str, *charts: tuple[str, Plot | None], note: str = "") -> list[Section]:
    """Returns a list with one section, or an empty list if there is neither a chart nor a note.

    Charts that are None are omitted.
    """
    given = tuple(Figure(chart_name, chart) for chart_name, chart in charts if chart is not None)
    return [Section(name, title, given, note)] if given or note else []


def figures(runs: Sequence[Run]) -> list[Section]:
    """Returns the sections with charts of runs."""
    found: list[Section] = []
    if any(set(run.settings) != {SEED} for run in runs[1:]):
        found += section("speedup", title_of(runs), ("speedup", plots.speedups(runs)))
    found += section("latency", "Latency", ("tail", plots.tail(runs)), ("cumulative", plots.cumulative(runs)))
    found += section("load", "Latency under load", ("load", plots.load_latency(runs)))
    found += section("breakdown", "Where latency goes", ("breakdown", plots.breakdown(runs)))
    for part in section("streams", "Streams", ("streams", plots.streams(runs))):
        found.append(replace(part, listed=kinds_of_streams(runs)))
    told = tuple((change.run, change.text) for change in changes(runs))
    for part in section("over-time", "Over time", ("over-time", plots.over_time(runs))):
        found.append(replace(part, lines=few(told)))
    found += section(
        "conflicts", "Path conflicts", ("conflicts", plots.conflicts(runs) if has_conflicts(runs) else None)
    )
    lines = tuple((run.name, text) for run in runs if (text := even_utilisation(run)) is not None)
    uneven = [run for run in runs if run.name not in dict(lines)]
    mapped = uneven[:RUNS_MAPPED]
    maps = [(f"utilisation-{number}", plot) for number, plot in enumerate(plots.utilisation(mapped))]
    beyond = [run.name for run in uneven[RUNS_MAPPED:]]
    note = f"Not drawn: {', '.join(beyond)}." if beyond else ""
    charts = tuple(Figure(name, plot) for name, plot in maps)
    found.append(Section("utilisation", "How busy each part was", charts, note, lines=lines))
    found += section("energy", "Energy", ("energy", plots.energy(runs)))
    return found


def few(told: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Returns the first `CHANGES_TOLD` lines on throughput changes, and a line with the number of the others.

    All lines are returned if there is at most one other.
    """
    if len(told) <= CHANGES_TOLD + 1:
        return told
    return (*told[:CHANGES_TOLD], (f"{len(told) - CHANGES_TOLD} other runs", "throughput changes"))


def fronts(searches: Sequence[Found]) -> list[Section]:
    """Returns a section for each search: the table of its Pareto front, and its charts."""
    found = []
    for number, search in enumerate(searches, 1):
        name = "front" if number == 1 else f"front-{number}"
        charts = tuple(Figure(f"{name}-{place}", plot) for place, plot in enumerate(search.plots()))
        found.append(Section(name, "Pareto front", charts, search.sentence, search))
    return found


def tornados(answers: Sequence[Answer], has_runs: bool) -> list[Section]:
    """Returns a section with the tornado charts of each answer of `flashmesh ask`.

    `has_runs` says whether the page also shows runs.
    """
    found = []
    for number, answer in enumerate(answers, 1):
        name = "help" if number == 1 else f"help-{number}"
        charts = [(f"{name}-{slug(measure)}", plots.tornado(answer, measure)) for measure in answer.measures]
        idle = f"No effect: {', '.join(answer.idle)}." if answer.idle else ""
        # On a page without runs, the head already has the sentence of the answer.
        told = [of_answer(answer)] if has_runs else []
        found += section(name, "What would help", *charts, note=" ".join(filter(None, [*told, idle])))
    return found


def measured_drives(validations: Sequence[Validation]) -> list[Section]:
    """Returns the sections that compare measured drives with their simulation."""
    found = []
    for number, validation in enumerate(validations, 1):
        name = "measured" if number == 1 else f"measured-{number}"
        title = f"{validation.title}, {compared(validation)}"
        if validation.points:
            charts = tuple(Figure(f"{name}-{kind}s", validation_curves(validation, kind)) for kind in KINDS)
            found.append(Section(name, title, charts, sentence_of(validation), listed=comparison_of(validation)))
        else:
            found.append(Section(name, title, (), sentence_of(validation)))
        for kind, sheet in sheets_of(validation).items():
            place = "sheet" if kind == "data sheet" else kind.replace(" ", "-")
            sentence = SENTENCES.get(kind, SWEEP_SENTENCE)
            if kind == "data sheet" and not has_bundled_rows(validation):
                sentence = LOAD_SENTENCE
            found.append(Section(f"{name}-{place}", sheet.caption, (), sentence, listed=sheet))
    return found


def slug(text: str) -> str:
    """Returns a text as part of a file name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.").lower()


def sections_of(study: Study) -> list[Section]:
    """Returns all sections with charts of a report.

    Raises:
        ConfigError: If a requested chart names a key or measure that the runs lack.
    """
    asked = asked_for(study)
    drives = measured_drives(study.validations)
    found = [
        *drives,
        *tornados(study.answers, bool(study.tables)),
        *section("asked", "Charts asked for", *asked),
        *fronts(study.searches),
    ]
    if not study.points:
        return found
    names = {name for name, _ in asked}
    if len(study.points) > len(study.chosen) or study.is_repeated:
        over = [(name, plot) for name, plot in over_keys(study) if name not in names]
        found += section("keys", "Over keys", *over)
    return [*found, *figures(study.runs)]


def page(study: Study) -> str:
    """Returns the page of a study, as HTML.

    Raises:
        ConfigError: If a requested chart names a key or measure that the runs lack.
    """
    import jinja2

    runs = study.runs
    sections = sections_of(study)
    specs: dict[str, Any] = {}
    datasets: dict[str, Any] = {}
    for part in sections:
        for figure in part.figures:
            # Datasets are stored by name, so charts with equal datasets share one copy.
            specs[figure.name] = {
                "spec": part.spec(figure),
                "datasets": list(figure.plot.datasets),
                "panels": figure.plot.panels,
                "panelOf": figure.plot.panel_of,
                "lineOf": figure.plot.line_of,
            }
            datasets |= figure.plot.datasets
    moving = moving_recordings(runs)
    rows = tables.rows(study.points)
    # On the page of a single run, the head already has the sentences on its steadiness and its bottleneck.
    unsteady = [point for point in study.points if point.is_steady is False]
    documents = documents_of(unsteady[:JUDGED_MAX])
    template = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
        asset("report.html.j2")
    )
    return template.render(
        study=study,
        facts=facts(runs),
        version=__version__,
        columns=tables.columns(rows),
        rows=rows[:ROWS_WRITTEN],
        mark=tables.mark,
        row_count=len(rows),
        unsteady=unsteady_note(len(unsteady), len(rows), documents, remedy_of(study.tables))
        if unsteady and len(rows) > 1
        else "",
        seeds=sorted({row.seeds for row in rows}),
        bounds=[(run.name, bound_sentence(run.document)) for run in runs] if len(rows) > 1 else [],
        sections=sections,
        # Report only timelines here: the animated view itself reports network recordings that were cut off.
        cut=[f"{run.name}: {text}" for run in runs for text in recordings.cut(run.document, "timeline")],
        moving=moving,
        differences=tables.differences(runs, len(runs) > COLUMNS_MAX),
        is_short=len(runs) > COLUMNS_MAX,
        runs=runs,
        configurations=[(run, tables.flat(run.configuration)) for run in runs],
        style=asset("report.css"),
        scripts=[script(name) for name in SCRIPTS],
        data=embedded({"specs": specs, "datasets": datasets, "moving": moving, "table": tables.compact(rows)}),
        report_script=asset("report.js"),
        table_script=asset("table.js"),
        network_script=asset("network.js") if moving else "",
    )


def asset(name: str) -> str:
    """Returns the text of a file in assets/."""
    return files("flashmesh.html").joinpath("assets", name).read_text(encoding="utf-8")


def script(name: str) -> str:
    """Returns the text of a library without its reference to a source map, which a page does not contain."""
    lines = asset(name).splitlines()
    return "\n".join(line for line in lines if not line.startswith("//# sourceMappingURL="))


def embedded(value: Any) -> str:
    """Returns JSON with escaped `<`, so that no text in it can end a script element of a page."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
