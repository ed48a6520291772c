"""Report of a reproduction: a line for each claim and regime (interpretation of the paper), explanations and counts."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich.text import Text

from flashmesh.reproduce.judging.outcome import judge
from flashmesh.reproduce.judging.summary import reading, summary
from flashmesh.reproduce.judging.texts import measured, published, why
from flashmesh.reproduce.judging.verdict import Verdict
from flashmesh.reproduce.registry.paper import FIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.report.terminal import Terminal
    from flashmesh.reproduce.judging.outcome import Outcome
    from flashmesh.reproduce.registry.paper import Claim

WIDTH = 80
INDENT = 5
"""Width in characters of the column of claim names. Names of sub-values (additional published values of a claim) may
exceed it."""
REGIME = 19
VERDICT = 12
NAMES = {verdict: str(verdict) for verdict in Verdict} | {Verdict.UNMEASURED: "not measured"}
"""Names of verdicts in reports."""
LEFT = (0, 3)
"""Indices of the columns of the table of counts that are left-aligned."""
COUNTED = (
    "The columns 10 %, 25 % and 50 % count the claims within this share of the published effect, all in one reading, "
    "without the claims that are exact by construction. Elsewhere are claims within 10 % only in another reading."
)


def show(outcomes: Sequence[Outcome], terminal: Terminal) -> None:
    """Prints all claims of all papers, and the counts."""
    for outcome in outcomes:
        terminal.print(Text(f"{outcome.paper.cite} ({outcome.mode})", style="bold"))
        lines = [f"{'':<{INDENT}}{'regime':<{REGIME}}{'verdict':<{VERDICT + 1}}measured", "-" * WIDTH]
        for claim in outcome.claims():
            lines += claim_lines(outcome, claim)
        terminal.print(Text("\n".join(lines)))
        terminal.print()
    terminal.print(Text("\n".join(counts(outcomes))))


def claim_lines(outcome: Outcome, claim: Claim) -> list[str]:
    """Returns lines on a claim: its published value, then a measured value and its explanation for each regime."""
    head = f"{claim.figure}: {claim.says}; published {published(claim)}"
    lines = wrapped(head, INDENT, f"{claim.id:<{INDENT - 1}} ")
    rows = outcome.rows[claim.id]
    sentences = [why(outcome, claim, row) for row in rows]
    for at, row in enumerate(rows):
        start = f"{'':<{INDENT}}{row.regime:<{REGIME}}{NAMES[judge(claim, row)]:<{VERDICT + 1}}"
        lines += wrapped(measured(claim, row), len(start), start)
        # An explanation shared by consecutive regimes is printed once, below the last of these regimes.
        if not claim.part_of and sentences[at] and sentences[at : at + 1] != sentences[at + 1 : at + 2]:
            lines += wrapped(sentences[at], INDENT + 2)
    return lines


def wrapped(text: str, indent: int, start: str | None = None) -> list[str]:
    """Returns a text as lines of at most `WIDTH` characters; the first begins with `start`, the others are indented."""
    margin = " " * indent
    return textwrap.wrap(text, WIDTH, initial_indent=margin if start is None else start, subsequent_indent=margin) or [
        (start or "").rstrip()
    ]


def counts(outcomes: Sequence[Outcome]) -> list[str]:
    """Returns a table with a row for each paper: its claims, and those that hold in its best stated reading.

    A reading is an interpretation of the paper. The row also counts the claims that are exact by construction.
    """
    table = [["paper", "claims", "exact", "best stated reading", "10 %", "25 %", "50 %", "elsewhere"]]
    for outcome in outcomes:
        each = summary(outcome)
        cells = [each.claims, each.constructed_met, each.best.regime, *each.best.within, each.only_elsewhere]
        table.append([outcome.paper.key, *map(str, cells)])
        if outcome.fit is not None:
            found = reading(outcome, FIT).within
            table.append(["", "", "", "fit, after the fact", *map(str, found), ""])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(
            f"{cell:<{width}}" if at in LEFT else f"{cell:>{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
    return [lines[0], "-" * max(map(len, lines)), *lines[1:], "", *wrapped(COUNTED, 0)]
