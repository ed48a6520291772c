"""Writer of the index of the pages: the mechanisms of each paper, the claims that hold, and how to run them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.reproduce.judging.summary import SHARES, measured_claims, near_in, reading, summary
from flashmesh.reproduce.judging.texts import one_line, settings_text
from flashmesh.reproduce.registry.paper import FIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flashmesh.reproduce.judging.outcome import Outcome
    from flashmesh.reproduce.judging.summary import Summary
    from flashmesh.reproduce.registry.paper import Paper

RUN = """## Run it

<!-- checked only: takes minutes -->
```sh
flashmesh reproduce nossd12
flashmesh reproduce venice/9a --regime held-prior
flashmesh reproduce mbm --fit --out reproduction
```

The first command measures all claims of a paper, the second those of a figure in one reading, and the third searches
what a paper leaves open and writes the page. [Reproduce a paper](../how-to/reproduce-a-paper.md) has the options."""
RULES = """## Verdicts

Verdicts are computed from the measured values, by these rules:

- A tolerance is a share of the *effect*: of the way from the neutral value (1 of a ratio, 0 of a reduction or an
  increase in %) to the published one. A ratio of 1.02 is not within 10 % of 1.08: it has a quarter of its effect.
  Absolute values have no neutral one, and the tolerance is a share of the value.
- *Met* is within 10 % of the effect, or the tolerance of the claim. *Direction* is a quarter of the published effect
  or more with every seed; *opposite* a twentieth or more the other way; *missed* neither.
- An order needs 5 % between neighbours with every seed. A claim of several parts is met if all are, and has a
  direction if none of them is missed.
- All claims of a paper are counted in one reading. The *best stated reading* is the one, of those with evidence in the
  text, in which most claims hold: the sum over 10, 25 and 50 %. Its keys are chosen by the answer.
- A *fit* searches the keys that a paper leaves open for the reading in which most claims hold. It is made after the
  fact and knows what is published: no evidence that the authors ran this.
- What is *exact by construction* follows from how a model is made, holds in every reading, and is counted apart.
- *Sub-values* are what the papers list beside a claim: the same for other systems, and maxima. They are judged, and are
  no claims of their own."""


def index(outcomes: Sequence[Outcome], papers: Mapping[str, Paper]) -> str:
    """Returns the index page, which links the pages of the papers."""
    lines = ["# Published figures, reproduced", ""]
    lines += ["flashmesh has the mechanisms of these papers, and measures what they publish.", ""]
    lines += mechanism_lines(papers.values())
    summaries = [summary(outcome) for outcome in outcomes]
    lines += ["## Claims that hold", "", *told_lines(summaries), ""]
    shares = "10 / 25 / 50 %"
    lines += [f"| paper | measured claims | best stated reading | {shares} | within 10 % | exact | fit, {shares} |"]
    lines += ["|---|---:|---|---|---|---:|---|"]
    for outcome, each in zip(outcomes, summaries, strict=True):
        holding = [
            claim.id for claim in measured_claims(outcome) if near_in(outcome, claim, each.best.regime) == SHARES[0]
        ]
        fit = counts(reading(outcome, FIT).within) if outcome.fit is not None else ""
        cells = [f"[{outcome.paper.cite}]({outcome.paper.key}.md)", str(each.measured), each.best.regime]
        cells += [counts(each.best.within), ", ".join(holding), exact(each), fit]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", RUN, "", RULES, ""])


def mechanism_lines(papers: Iterable[Paper]) -> list[str]:
    """Returns a Markdown table of the mechanisms of all papers, with their sections and the keys that select them."""
    lines = ["## Mechanisms", "", "| paper | section | mechanism | selected by |", "|---|---|---|---|"]
    for paper in papers:
        for at, each in enumerate(paper.mechanisms):
            name = f"[{paper.cite}]({paper.key}.md)" if at == 0 else ""
            keys = ", ".join(f"`{text}`" for text in settings_text(each.keys))
            lines.append(f"| {name} | {each.section} | {one_line(each.says)} | {keys} |")
    return [*lines, ""]


def told_lines(summaries: Sequence[Summary]) -> list[str]:
    """Returns the lines of a paragraph on the number of claims of all papers that hold."""
    claims, made, elsewhere = (
        sum(getattr(each, name) for each in summaries) for name in ("claims", "constructed_met", "only_elsewhere")
    )
    ten, quarter, half = (sum(each.best.within[at] for each in summaries) for at in range(len(SHARES)))
    return [
        f"Of {claims} claims {made} are exact by construction. Of the other {claims - made}, measured in one",
        f"reading of each paper, {ten} hold within 10 % of the effect, {quarter} within 25 % and {half} within 50 %;",
        f"{elsewhere} more hold within 10 % in another stated reading only. The keys of these readings",
        "were chosen to match what is published, by searches and fits: that one exists is no evidence that the",
        "authors ran it.",
    ]


def counts(within: tuple[int, ...]) -> str:
    """Returns the numbers of claims that hold within each share of the effect, as text."""
    return " / ".join(map(str, within))


def exact(each: Summary) -> str:
    """Returns the number of met exact claims, as text; if some are missed, also the number of all exact claims."""
    met = str(each.constructed_met)
    return met if each.constructed == each.constructed_met else f"{met} of {each.constructed}"
