"""Writer of the Markdown page, charts and JSON file of each paper, and check of stored pages."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError, OutputError
from flashmesh.files import whole_file, write_text
from flashmesh.reproduce.judging.outcome import FIT_SUFFIX, Outcome, StaleFitError
from flashmesh.reproduce.pages import charts
from flashmesh.reproduce.pages.index import index
from flashmesh.reproduce.pages.page import page
from flashmesh.reproduce.registry.paper import FIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from flashmesh.reproduce.registry.paper import Paper

INDEX = "index.md"


def write_pages(outcomes: Sequence[Outcome], folder: Path) -> None:
    """Writes pages, charts and JSON files into a folder. Pages of other papers stay there, and the index lists them.

    Raises:
        OutputError: If a file cannot be written.
    """
    from flashmesh.reproduce.registry.reader import papers

    writable_folder(folder)
    for outcome in outcomes:
        put(folder / f"{outcome.name}.json", outcome.to_json())
    registry = papers()
    written = {outcome.paper.key for outcome in outcomes}
    whole = joined(stored(folder, list(registry.values()), has_stale=True))
    for outcome in whole:
        if outcome.paper.key in written:
            put(folder / f"{outcome.paper.key}.md", page(outcome))
            for old in folder.glob(f"{outcome.paper.key}-*.svg"):
                old.unlink()
            for name, chart in charts.charts_of(outcome).items():
                put(folder / f"{name}.svg", charts.svg(chart))
    put(folder / INDEX, index(whole, registry))


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
    """Returns the outcomes of papers, and of their fits, that are stored in a folder.

    Args:
        folder: The folder.
        papers: The papers.
        has_stale: Whether fits whose open keys differ from those of the registry are skipped instead of refused.
    """
    found: list[Outcome] = []
    for paper in papers:
        for suffix in ("", FIT_SUFFIX):
            path = folder / f"{paper.key}{suffix}.json"
            try:
                found += [Outcome.read(path, paper)] if path.is_file() else []
            except StaleFitError:
                if not has_stale:
                    raise
    return found


def joined(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Returns one outcome for each paper, which joins the rows of its fit and of its stated readings."""
    found: dict[str, Outcome] = {}
    for outcome in outcomes:
        known = found.get(outcome.paper.key)
        if known is not None and outcome.fit is not None:
            rows = {
                name: (*of_claim, *(row for row in outcome.rows.get(name, ()) if row.regime == FIT))
                for name, of_claim in known.rows.items()
            }
            outcome = replace(known, paper=outcome.paper, rows=rows, fit=outcome.fit)
        found[outcome.paper.key] = outcome
    return list(found.values())


def check_pages(folder: Path, papers: dict[str, Paper]) -> None:
    """Refuses stale pages: pages that differ from those generated from the registry and the JSON files of the folder.

    Raises:
        ConfigError: If a page is stale or lacks a claim.
        OutputError: If a page cannot be read.
    """
    outcomes = stored(folder, list(papers.values()))
    if not outcomes:
        raise OutputError(f"{folder}: has no reproduction of a paper")
    wanted: dict[str, str] = {}
    for outcome in outcomes:
        missing = lacking(outcome)
        if missing:
            raise ConfigError(f"{folder / outcome.name}.json: lacks {', '.join(missing)}: reproduce the paper again")
        wanted[f"{outcome.name}.json"] = outcome.to_json()
    whole = joined(outcomes)
    wanted[INDEX] = index(whole, papers)
    for outcome in whole:
        wanted[f"{outcome.paper.key}.md"] = page(outcome)
        for name in charts.names_of(outcome).values():
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
    """Returns texts on the claims that an outcome lacks, and on the regimes in which a claim was not measured."""
    missing = [claim.id for claim in outcome.paper.claims if claim.id not in outcome.rows]
    regimes = outcome.regimes() if outcome.fit is not None else list(outcome.paper.regimes)
    for claim in outcome.claims():
        found = {row.regime for row in outcome.rows[claim.id]}
        if not claim.is_constructed:
            missing += [f"{claim.id} in {regime}" for regime in regimes if regime not in found]
    return missing
