"""Table of measured rows in a file, with which the next run of the benchmark is compared."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurement of one row with one build."""

    cpu_s: float
    """Median processor time of the runs, in seconds."""
    cpu_spread: float
    """Slowest run divided by the fastest run, minus one."""
    peak_bytes: int | None
    """Peak memory from the report, in bytes; None if the output is no report."""
    requests: int
    instructions: float | None
    """Instructions per request, without the start of the run; None if they were not counted."""
    hops_mean: float | None
    result: str
    """Hash of the simulated result; empty if the output is no report."""

    @property
    def cost_us(self) -> float:
        """Processor time per request, including the start of the run."""
        return self.cpu_s / self.requests * 1e6


@dataclass(frozen=True, slots=True)
class Line:
    """A measured row, and the earlier measurement of the row, if any."""

    name: str
    now: Measured
    before: Measured | None
    verdict: str
    """Verdict on the equality of results; empty without a comparison."""


def load(path: Path) -> dict[str, Measured]:
    """Returns the rows of an earlier run by name; empty if there was none."""
    if not path.is_file():
        return {}
    return {name: Measured(**row) for name, row in json.loads(path.read_text())["rows"].items()}


def save(path: Path, build: str, rows: dict[str, Measured]) -> None:
    """Writes the rows. Rows of earlier runs that were not measured again stay in the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = load(path) | rows
    document: dict[str, Any] = {"build": build, "rows": {name: asdict(row) for name, row in kept.items()}}
    path.write_text(json.dumps(document, indent=2) + "\n")


def ratio(before: float | None, now: float | None) -> str:
    """Returns the factor by which a cost has decreased, as text; empty if a cost is unknown."""
    return f"{before / now:.2f}" if before and now else ""


def count(instructions: float | None) -> str:
    """Returns a number of instructions as text."""
    return f"{instructions:,.0f}" if instructions is not None else ""


def show(lines: list[Line], before: str, console: Console) -> None:
    """Prints the rows beside the earlier ones."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("row", no_wrap=True)
    headings = ["CPU us/request", "spread", before, "ratio", "instructions", before, "ratio", "peak MB"]
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("result", no_wrap=True)
    for line in lines:
        now, old = line.now, line.before
        table.add_row(
            line.name,
            f"{now.cost_us:,.3f}",
            f"{now.cpu_spread:.0%}",
            f"{old.cost_us:,.3f}" if old else "",
            ratio(old.cost_us if old else None, now.cost_us),
            count(now.instructions),
            count(old.instructions) if old else "",
            ratio(old.instructions if old else None, now.instructions),
            f"{now.peak_bytes / 1e6:,.0f}" if now.peak_bytes else "",
            " ".join(part for part in (now.result, line.verdict) if part),
        )
    console.print(table)
