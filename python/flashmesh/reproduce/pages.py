"""Writer of the Markdown page, charts and JSON file of each paper, and check of stored pages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError, OutputError
from flashmesh.files import whole_file, write_text
from flashmesh.report.reproduction import MEANINGS
from flashmesh.reproduce import charts, heads
from flashmesh.reproduce.claims import MARGIN, TOLERANCE
from flashmesh.reproduce.outcome import FIT_SUFFIX, Outcome, StaleFitError, judge
from flashmesh.reproduce.paper import AS_SPECIFIED
from flashmesh.reproduce.texts import measured, published, why

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from flashmesh.reproduce.paper import Claim, Job, Overrides, Paper, Settings

INDEX = "index.md"
NAMES_SHOWN = 8


def write_pages(outcomes: Sequence[Outcome], folder: Path) -> None:
    """Writes pages, charts and JSON files into a folder. Pages of other papers stay there, and the index lists them.

    Raises:
        OutputError: If a file cannot be written.
    """
    from flashmesh.reproduce.registry import papers

    writable_folder(folder)
    for outcome in outcomes:
        put(folder / f"{outcome.name}.json", outcome.to_json())
        put(folder / f"{outcome.name}.md", page(outcome))
        if outcome.fit is None:
            for old in folder.glob(f"{outcome.paper.key}-*.svg"):
                old.unlink()
            for name, chart in charts.charts_of(outcome).items():
                put(folder / f"{name}.svg", charts.svg(chart))
    put(folder / INDEX, heads.index(*indexed(folder, papers(), has_stale=True)))


def writable_folder(folder: Path) -> None:
    """Creates a folder for pages.

    Raises:
        OutputError: If the folder cannot be created or written, or charts cannot be drawn.
    """
    charts.require_converter()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror or error}") from error
    if not os.access(folder, os.W_OK):
        raise OutputError(f"{folder}: cannot be written: Permission denied")


def put(path: Path, text: str) -> None:
    """Writes a file atomically."""
    with whole_file(path) as file:
        write_text(file, text)


def stored(folder: Path, papers: Iterable[Paper], *, has_stale: bool = False) -> list[Outcome]:
    """Returns the stored outcomes of papers, and of their fits.

    Args:
        folder: The folder.
        papers: The papers.
        has_stale: Whether stale fits, over other keys than the registry leaves open, are skipped instead of refused.
    """
    found: list[Outcome] = []
    for suffix in ("", FIT_SUFFIX):
        for paper in papers:
            path = folder / f"{paper.key}{suffix}.json"
            try:
                found += [Outcome.read(path, paper)] if path.is_file() else []
            except StaleFitError:
                if not has_stale:
                    raise
    return found


def indexed(folder: Path, papers: dict[str, Paper], *, has_stale: bool = False) -> tuple[list[Outcome], list[Outcome]]:
    """Returns the stored outcomes that the index lists: first of papers, then of fits."""
    found = stored(folder, list(papers.values()), has_stale=has_stale)
    return [each for each in found if each.fit is None], [each for each in found if each.fit is not None]


def check_pages(folder: Path, papers: dict[str, Paper]) -> None:
    """Refuses pages that differ from the pages made of their JSON files and the registry.

    Raises:
        ConfigError: If a page is stale or lacks a claim.
        OutputError: If a page cannot be read.
    """
    outcomes = stored(folder, list(papers.values()))
    if not outcomes:
        raise OutputError(f"{folder}: has no reproduction of a paper")
    wanted = {INDEX: heads.index(*indexed(folder, papers))}
    for outcome in outcomes:
        missing = lacking(outcome)
        if missing:
            raise ConfigError(f"{folder / outcome.name}.json: lacks {', '.join(missing)}: reproduce the paper again")
        wanted[f"{outcome.name}.json"] = outcome.to_json()
        wanted[f"{outcome.name}.md"] = page(outcome)
        for names in charts.names_of(outcome).values() if outcome.fit is None else ():
            for name in names:
                if not (folder / f"{name}.svg").is_file():
                    raise OutputError(f"{folder / name}.svg: is not there: reproduce the paper again")
    for name, text in wanted.items():
        try:
            found = (folder / name).read_text(encoding="utf-8")
        except OSError as error:
            raise OutputError(f"{folder / name}: cannot be read: {error.strerror or error}") from error
        if found != text:
            raise ConfigError(f"{folder / name}: is stale: `flashmesh reproduce --pages {folder}` rewrites it")


def lacking(outcome: Outcome) -> list[str]:
    """Returns the claims that an outcome lacks, and the regimes that a claim of the outcome lacks."""
    missing = [claim.id for claim in outcome.paper.claims if claim.id not in outcome.rows]
    regimes = outcome.regimes() if outcome.fit is not None else list(outcome.paper.regimes)
    for claim in outcome.claims():
        found = {row.regime for row in outcome.rows[claim.id]}
        if not claim.is_constructed:
            missing += [f"{claim.id} in {regime}" for regime in regimes if regime not in found]
    return missing


def page(outcome: Outcome) -> str:
    """Returns the page of a paper."""
    paper = outcome.paper
    if outcome.fit is None:
        lines = [f"# {paper.title}", "", *paper.overview.strip().splitlines(), ""]
        lines += [f"Made by `flashmesh reproduce {paper.key} --{outcome.mode} -o DIR`; [index]({INDEX}).", ""]
    else:
        lines = heads.fit_head(outcome)
    lines += heads.headline(outcome)
    lines += heads.missed_lines(outcome) if outcome.fit is not None else []
    lines += ["## Regimes", ""]
    for name in outcome.regimes():
        lines += regime_lines(paper, name, outcome)
    lines += ["## Claims in every regime", ""]
    lines += [
        "The share of the effect within which a claim holds, or the verdict. Names with a dot are sub-values.",
        "",
    ]
    lines += heads.matrix(outcome)
    lines += ["## Claims", "", *tolerance_lines(outcome.claims())]
    names = charts.names_of(outcome) if outcome.fit is None else {}
    for figure in dict.fromkeys(claim.figure for claim in outcome.claims()):
        lines += [f"### {figure}", ""]
        for name in names.get(figure, []):
            lines += [f"![{figure}: published and measured]({name}.svg)", ""]
        lines += claim_table(outcome, [claim for claim in outcome.claims() if claim.figure == figure])
    lines += ["## Runs", "", *job_lines(outcome)]
    return "\n".join(lines)


def regime_lines(paper: Paper, name: str, outcome: Outcome) -> list[str]:
    """Returns the description of a regime, with the evidence for and against it."""
    if name not in paper.regimes:
        files = ", ".join(f"`{workload}` from {file}" for workload, file in outcome.traces.items())
        return [f"**{name}**: as {AS_SPECIFIED}, with recorded volumes: {files}; other workloads by profile.", ""]
    regime = paper.regimes[name]
    lines = [f"**{name}**: {' '.join(regime.says.split())}", ""]
    if regime.supports:
        lines += [f"- For it: {outcome.told(regime.supports)}", f"- Against it: {outcome.told(regime.against)}"]
    keys = overrides_text(outcome.paper, regime.overrides)
    if keys:
        lines.append(f"- Keys: {'; '.join(keys)}")
    return lines if not lines[-1] else [*lines, ""]


def settings_text(settings: Settings) -> list[str]:
    """Returns settings as `key=value`, in code quotes."""
    from flashmesh.configuration import value_text

    return [f"`{key}={value_text(value)}`" for key, value in settings.items()]


def overrides_text(paper: Paper, overrides: Overrides) -> list[str]:
    """Returns the overrides of a regime as texts, each with the affected runs."""
    found = settings_text(overrides.set)
    found += [f"runs {job}: {', '.join(settings_text(settings))}" for job, settings in overrides.jobs.items()]
    found += [
        f"{axis} {', '.join(paper.labels(name))}: {', '.join(settings_text(settings))}"
        for axis, names in overrides.where.items()
        for name, settings in names.items()
    ]
    found += settings_text(overrides.over)
    return found + [f"`{other.text}` in place of `{text}`" for text, other in overrides.measures.items()]


def tolerance_lines(claims: Sequence[Claim]) -> list[str]:
    """Returns a sentence about the claims with a tolerance of their own."""
    own: dict[str, list[str]] = {}
    for claim in claims:
        for text in tolerances(claim):
            own.setdefault(text, []).append(claim.id)
    if not own:
        return []
    stated = "; ".join(f"{text} ({', '.join(names)})" for text, names in own.items())
    return [f"Tolerances other than 10 % of the effect and {100 * MARGIN:g} % of a curve: {stated}.", ""]


def tolerances(claim: Claim) -> list[str]:
    """Returns the tolerances of a claim that differ from the defaults."""
    judged = claim.judged
    found: list[str] = []
    if claim.part_of and judged.within is None:
        return found
    if claim.measurement is not None and judged.within is not None:
        found.append(f"{judged.within:g} {claim.unit}".strip())
    elif (claim.measurement is not None or claim.series is not None) and judged.tolerance != TOLERANCE:
        found.append(f"{100 * judged.tolerance:g} %" if judged.tolerance else "none")
    found += [f"{100 * trend.margin:g} % of a curve" for trend in claim.trends if trend.margin != MARGIN]
    return list(dict.fromkeys(found))


def claim_table(outcome: Outcome, claims: Sequence[Claim]) -> list[str]:
    """Returns a table of the claims of a figure, with a line for each regime, and the explanations below."""
    lines = ["| claim | | published | regime | measured | verdict |", "|---|---|---|---|---|---|"]
    sentences: list[str] = []
    for claim in claims:
        said: dict[str, list[str]] = {}
        for at, row in enumerate(outcome.rows[claim.id]):
            head = f"{claim.id} | {claim.says} | {published(claim)}" if at == 0 else " | | "
            lines.append(f"| {head} | {row.regime} | {measured(claim, row)} | {MEANINGS[judge(claim, row)]} |")
            said.setdefault(why(outcome, claim, row), []).append(row.regime)
        for sentence, regimes in said.items():
            if not sentence or claim.part_of:
                continue
            where = f" ({', '.join(regimes)})" if len(said) > 1 else ""
            sentences.append(f"- {claim.id}{where}: {' '.join(sentence.split())}")
    return [*lines, "", *sentences, ""]


def job_lines(outcome: Outcome) -> list[str]:
    """Returns the tables of the runs of a page: configurations, extents and labels."""
    paper = outcome.paper
    used = {measurement.job for claim in outcome.claims() for measurement in claim.measurements()}
    lines = ["| runs | configuration | keys | workloads | requests | seeds |", "|---|---|---|---|---:|---|"]
    for name, job in paper.jobs.items():
        if name in used:
            extent = job.extents[outcome.mode]
            cells = [name, f"`{job.config}`", ", ".join(settings_text(job.set)), workloads_text(job, outcome.mode)]
            cells += [f"{extent.requests:,}" if extent.requests else "", ", ".join(map(str, extent.seeds))]
            lines.append(f"| {' | '.join(cells)} |")
    labels = [
        f"- {axis} {label}: {', '.join(settings_text(settings)) or 'nothing'}"
        for axis, settings_of in paper.axes.items()
        for label, settings in settings_of.items()
    ]
    return [*lines, "", *(["Labels:", "", *labels, ""] if labels else [])]


def workloads_text(job: Job, mode: str) -> str:
    """Returns the names of the first workloads of a job, and the number of the others."""
    names = job.extents[mode].workloads
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
