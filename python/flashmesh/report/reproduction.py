"""A reproduction on a terminal: a line for each claim and regime, the sentences, and how many came out how."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from flashmesh.reproduce.outcome import judge
from flashmesh.reproduce.texts import measured, published, why
from flashmesh.reproduce.verdict import ORDER, Verdict, best

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.report.terminal import Terminal
    from flashmesh.reproduce.outcome import Outcome
    from flashmesh.reproduce.paper import Claim

WIDTH = 80
INDENT = 5
"""Columns of the names of claims."""
REGIME = 19
VERDICT = 12
MEANINGS = {
    Verdict.MET: "met within tolerance",
    Verdict.DIRECTION: "right direction",
    Verdict.MISSED: "missed",
    Verdict.OPPOSITE: "opposite",
    Verdict.UNDECIDABLE: "not decidable",
    Verdict.UNMEASURED: "not measured",
}
"""What a verdict is called for people."""
SHORT = {**MEANINGS, Verdict.MET: "met", Verdict.DIRECTION: "direction", Verdict.UNDECIDABLE: "undecidable"}
"""The same in a narrow column."""


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
    """The lines of a claim: what is published, then what each regime gives and why."""
    head = f"{claim.figure}: {claim.says}; published {published(claim)}"
    lines = wrapped(head, INDENT, f"{claim.id:<{INDENT}}")
    rows = outcome.rows[claim.id]
    sentences = [why(outcome, claim, row) for row in rows]
    for at, row in enumerate(rows):
        start = f"{'':<{INDENT}}{row.regime:<{REGIME}}{SHORT[judge(claim, row)]:<{VERDICT + 1}}"
        lines += wrapped(measured(claim, row), len(start), start)
        # Regimes that share a sentence have it once, below the last of them.
        if sentences[at : at + 1] != sentences[at + 1 : at + 2]:
            lines += wrapped(sentences[at], INDENT + 2)
    return lines


def wrapped(text: str, indent: int, start: str | None = None) -> list[str]:
    """A text in lines that fit, the first one behind what starts it."""
    margin = " " * indent
    return textwrap.wrap(text, WIDTH, initial_indent=margin if start is None else start, subsequent_indent=margin) or [
        (start or "").rstrip()
    ]


def counts(outcomes: Sequence[Outcome]) -> list[str]:
    """How many claims of each paper came out how, in the best of their regimes, and in all."""
    columns = [verdict for verdict in ORDER if any(tally(outcome)[verdict] for outcome in outcomes)]
    widths = [len(SHORT[verdict]) for verdict in columns]
    keys = [outcome.paper.key for outcome in outcomes]
    width = max(map(len, [*keys, "paper"]))

    def line(name: str, cells: Sequence[str]) -> str:
        return "  ".join([f"{name:<{width}}", *(f"{cell:>{size}}" for cell, size in zip(cells, widths, strict=True))])

    heading = line("paper", [SHORT[verdict] for verdict in columns])
    rows = [line(each.paper.key, [str(tally(each)[verdict]) for verdict in columns]) for each in outcomes]
    whole: Counter[Verdict] = sum((tally(outcome) for outcome in outcomes), Counter())
    if len(outcomes) > 1:
        rows.append(line("all", [str(whole[verdict]) for verdict in columns]))
    return [heading, "-" * len(heading), *rows, "", "each claim in the best of its regimes"]


def tally(outcome: Outcome) -> Counter[Verdict]:
    """How many claims of a paper came out how, in the best of their regimes."""
    return Counter(best([judge(claim, row) for row in outcome.rows[claim.id]]) for claim in outcome.claims())
