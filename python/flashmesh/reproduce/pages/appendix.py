"""The artefact appendix of a reproduction: its requirements, its cost and its expected results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flashmesh.doctor import machine
from flashmesh.installation import memory
from flashmesh.installation.facts import facts
from flashmesh.reproduce.judging.texts import one_line, published
from flashmesh.reproduce.points import all_points
from flashmesh.reproduce.running.engine import Selection
from flashmesh.sweeps.results.store import MANIFEST, Store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from flashmesh.reproduce.registry.paper import Claim, Paper


def appendix(registry: Mapping[str, Paper], chosen: Mapping[str, Sequence[Claim]], mode: str, results: Path) -> str:
    """Returns the appendix, with the sections that artefact evaluations require.

    Args:
        registry: All papers.
        chosen: The selected claims of each paper.
        mode: The extent of the runs, `quick` or `full`.
        results: The folder of results; the stored runs give the time and disk space.
    """
    papers = {key: registry[key] for key in chosen}
    runs = {key: run_count(papers[key], claims, mode) for key, claims in chosen.items()}
    described = facts()
    lines = [
        "# Artefact appendix",
        "",
        f"flashmesh {described['flashmesh']} (commit {described['commit']}), Apache-2.0: an SSD simulator. "
        f"`flashmesh reproduce` measures {sum(map(len, chosen.values()))} published claims ({', '.join(papers)}).",
        "",
        "## Check-list",
        "",
        "| item | |",
        "|---|---|",
        "| Hardware | one machine, x86-64 or aarch64; no SSD, GPU or network is needed |",
        *(f"| Machine of this text: {each.name} | {each.value} |" for each in machine()),
        "| Software | Linux or macOS, Python 3.11 or later; a wheel needs no compiler |",
        f"| Runs | {sum(runs.values()):,} ({mode}) |",
        f"| Time | {time_text(results, sum(runs.values()))} |",
        f"| Disk | {disk_text(results)} |",
        "| Data sets | none: workloads are generated from published statistics; `--traces DIR` replays volumes |",
        "| Output | a table on stdout; `-o DIR` writes a page, JSON and plots of each paper |",
        "",
        "## Installation",
        "",
        "```sh",
        f"pip install flashmesh-{described['flashmesh']}-*.whl",
        "flashmesh doctor",
        "```",
        "",
        "## Experiments",
        "",
        "An interrupted experiment goes on when its command is given again. `--jobs N` limits parallel runs.",
        "",
        "```sh",
        *(f"flashmesh reproduce --{mode} {key} --results {results}" for key in papers),
        "```",
        "",
        "| paper | claims | runs |",
        "|---|---:|---:|",
        *(f"| {papers[key].title} | {len(claims)} | {runs[key]:,} |" for key, claims in chosen.items()),
        "",
        "## Expected results",
        "",
        "Numbers are the same on every machine. The table has what was published; the output adds what is measured and "
        "a verdict, and docs/reproduction explains the claims that are missed.",
        "",
        "| claim | figure | says | published |",
        "|---|---|---|---|",
    ]
    for key, claims in chosen.items():
        lines += [
            f"| {key}/{claim.id} | {claim.figure} | {cell(claim.says)} | {cell(published(claim))} |" for claim in claims
        ]
    return "\n".join(lines) + "\n"


def run_count(paper: Paper, claims: Sequence[Claim], mode: str) -> int:
    """Returns the number of runs that the claims of a paper need, over all regimes (interpretations of it)."""
    selection = Selection(paper, tuple(claims))
    return len(all_points(paper, selection.rows(), mode))


def time_text(results: Path, runs: int) -> str:
    """Returns the estimated time of the runs as text, from the mean wall time of the stored runs."""
    taken = wall_times(results)
    if not taken:
        return f"not known yet: it is told here when {results} holds runs"
    each = sum(taken) / len(taken)
    return f"{duration(each * runs)} of one core, from {len(taken):,} runs of {each:.2g} s each in {results}"


def disk_text(results: Path) -> str:
    """Returns the disk space that the stored runs take, as text."""
    size = sum(path.stat().st_size for path in results.rglob("*") if path.is_file()) if results.is_dir() else 0
    return f"{memory.size(size)} in {results}" if size else "a few kB for each run, and 200 MiB for the installation"


def wall_times(results: Path) -> list[float]:
    """Returns the wall times of the stored runs, in seconds; an empty list without a folder of results."""
    if not (results / MANIFEST).is_file():
        return []
    store = Store(results)
    documents = (json.loads(store.read(name)) for name in sorted(store.names))
    return [float(document["wall_s"]) for document in documents if document.get("wall_s") is not None]


def duration(seconds: float) -> str:
    """Returns a duration in seconds as text, in minutes or hours."""
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def cell(text: str) -> str:
    """Returns a text as the cell of a Markdown table: one line, with `|` escaped."""
    return one_line(text).replace("|", "\\|")
