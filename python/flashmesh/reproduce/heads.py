"""Tables at the head of the pages: the number of claims that hold in one regime, and the claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.report.reproduction import MEANINGS
from flashmesh.reproduce.outcome import judge
from flashmesh.reproduce.paper import ANY, FIT
from flashmesh.reproduce.summary import SHARES, nearness, reading, summary
from flashmesh.reproduce.texts import measured, published, why
from flashmesh.reproduce.verdict import ORDER, Spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flashmesh.reproduce.outcome import Fit, Outcome, Row
    from flashmesh.reproduce.paper import Claim
    from flashmesh.reproduce.summary import Summary

WITHIN = " | ".join(f"within {share:.0%}".replace("%", " %") for share in SHARES)
OF_NUMBER = " | ".join(f"{text} of the number" for text in WITHIN.split(" | "))
MISSED = 0.25
"""Share of the effect beyond which the page of a fit explains a claim."""
SUBS_WITHIN = " | ".join(f"sub-values {text}" for text in WITHIN.split(" | "))
OTHERS = "only in another reading | sub-values within 10 %"
RULES = """Verdicts are computed from the measured values, by these rules:

- A tolerance is a share of the *effect*: of the way from the neutral value (1 of a ratio, 0 of a reduction or an
  increase in %) to the published one. A ratio of 1.02 is not within 10 % of 1.08: it has a quarter of its effect.
  Absolute values have no neutral one, and the tolerance is a share of the value.
- *Met* is within 10 % of the effect, or what a claim states itself; nothing for exact claims. *Right direction* is a
  quarter of the published effect or more with every seed; *opposite* a twentieth or more the other way; *missed*
  neither.
- An order needs 5 % between neighbours with every seed. A claim of several parts needs all of them.
- *One reading* means that all claims of a paper are measured in the same regime. Every claim is measured in every
  regime; what holds in another regime only is counted apart, and so is what is exact by construction, since it follows
  from how a model is made. The best reading is the one with the largest sum of the three columns.
- Sub-values are what the papers list beside a claim: the same for other systems, and maxima. They are judged, and are
  no claims of their own."""


def numbers(within: Iterable[int]) -> str:
    """Returns the number of claims that hold within each share, as table cells."""
    return " | ".join(map(str, within))


def index(outcomes: Sequence[Outcome], fits: Sequence[Outcome]) -> str:
    """Returns the index page, which links the pages of the papers."""
    lines = [
        "# Published figures, reproduced",
        "",
        "Published values and those that flashmesh measures, made by `flashmesh reproduce`.",
        "",
        f"| paper | claims | exact by construction | best single reading | {WITHIN} | {OTHERS} |",
        "|---|---:|---:|---|" + "---:|" * (len(SHARES) + 2),
    ]
    summaries = [summary(outcome) for outcome in outcomes]
    for outcome, each in zip(outcomes, summaries, strict=True):
        name = f"[{outcome.paper.cite}]({outcome.paper.key}.md)"
        lines.append(f"| {name} {' '.join(summary_cells(each, each.best.regime))}")
    lines += [whole_line(summaries), "", *told_lines(summaries), ""]
    if fits:
        lines += fit_lines(fits)
    return "\n".join([*lines, RULES, ""])


def summary_cells(each: Summary, regime: str) -> list[str]:
    """Returns the table cells with the counts of a paper."""
    subs = f"{each.best.subs[0]} of {each.subs}" if each.subs else ""
    exact = (
        str(each.constructed)
        if each.constructed == each.constructed_met
        else f"{each.constructed_met} of {each.constructed}"
    )
    return [f"| {each.claims} | {exact} | {regime} | {numbers(each.best.within)} | {each.only_elsewhere} | {subs} |"]


def whole_line(summaries: Sequence[Summary]) -> str:
    """Returns the last line of the table: the sums over all papers, each in its best regime."""
    claims, exact, elsewhere = (
        sum(getattr(each, name) for each in summaries) for name in ("claims", "constructed_met", "only_elsewhere")
    )
    within = tuple(sum(each.best.within[at] for each in summaries) for at in range(len(SHARES)))
    subs = f"{sum(each.best.subs[0] for each in summaries)} of {sum(each.subs for each in summaries)}"
    return f"| all | {claims} | {exact} | one a paper | {numbers(within)} | {elsewhere} | {subs} |"


def told_lines(summaries: Sequence[Summary]) -> list[str]:
    """Returns the sums of the table as a sentence."""
    claims, exact, elsewhere = (
        sum(getattr(each, name) for each in summaries) for name in ("claims", "constructed_met", "only_elsewhere")
    )
    ten, quarter, half = (sum(each.best.within[at] for each in summaries) for at in range(len(SHARES)))
    return [
        f"Of {claims} claims {exact} are exact by construction. Of the other {claims - exact}, measured in one",
        f"reading of each paper, {ten} hold within 10 % of the effect, {quarter} within 25 % and {half} within 50 %;",
        f"{elsewhere} more hold within 10 % in another reading only. Columns of percentages include those before",
        "them, and leave out what is exact by construction.",
    ]


def fit_lines(fits: Sequence[Outcome]) -> list[str]:
    """Returns an introduction and the table of fits."""
    lines = [
        "A fit (`flashmesh reproduce PAPER --fit`) searches the keys that a paper leaves open for the reading in",
        "which most claims hold. It is made after the fact and knows what is published: no evidence that the authors",
        "ran this.",
        "",
        f"| fit | claims measured | {WITHIN} | best reading that the text supports | {WITHIN} |",
        "|---|---:|" + "---:|" * len(SHARES) + "---|" + "---:|" * len(SHARES),
    ]
    for fit in fits:
        each = summary(fit)
        found = reading(fit, FIT)
        lines.append(
            f"| [{fit.paper.cite}]({fit.paper.key}-fit.md) | {each.measured} | {numbers(found.within)} "
            f"| {each.best.regime} | {numbers(each.best.within)} |"
        )
    return [*lines, ""]


def fit_head(outcome: Outcome) -> list[str]:
    """Returns the head of the page of a fit: the search, its result, and what the result does not show."""
    fit, paper = outcome.fit, outcome.paper
    if fit is None:
        return []
    found, best = reading(outcome, FIT), summary(outcome).best
    lines = [
        f"# A fit after the fact: {paper.title}",
        "",
        f"Made by `flashmesh reproduce {paper.key} --fit --{outcome.mode} -o DIR`; [the paper]({paper.key}.md),",
        "[index](index.md).",
        "",
        f"{fit.trials} readings were tried, on {fit.requests:,} requests a run or what the jobs have where that is",
        "less, for the one in which most claims hold by their effect; the search knows what is published. It shows",
        f"that a reading exists, not that the authors ran it. {fit.origin}",
        "",
        f"| reading | {WITHIN} | {SUBS_WITHIN} |",
        "|---|" + "---:|" * (2 * len(SHARES)),
        f"| fit, after the fact | {numbers(found.within)} | {numbers(found.subs)} |",
        f"| {best.regime}, the best that the text supports | {numbers(best.within)} | {numbers(best.subs)} |",
        "",
        "| left open | found | choices | sentence |",
        "|---|---|---|---|",
    ]
    for key in paper.open:
        sentence = f'{key.section}: "{key.quote}" {key.leaves}'
        lines.append(f"| {key.name} | {fit.choices[key.name]} | {', '.join(key.choices)} | {sentence} |")
    lines += ["", *verified_lines(fit)]
    starts = [f"- {start.name}: {' '.join(start.origin.split())}" for start in paper.starts]
    return [*lines, "", *(["The search began from these readings:", "", *starts, ""] if starts else [])]


def verified_lines(fit: Fit) -> list[str]:
    """Returns a table of the regimes measured in full, each with its differences from the fit."""
    if not fit.verified:
        return []
    lines = [
        "These readings were measured in full. The last columns count a claim that is within the share of the",
        "published number as one that is within that of its effect: lenient where a number is near the neutral one.",
        "",
        f"| reading | apart from the fit | {WITHIN} | {OF_NUMBER} |",
        "|---|---|" + "---:|" * (2 * len(SHARES)),
    ]
    for each in fit.verified:
        apart = [f"{name}: {choice}" for name, choice in each["choices"].items() if choice != fit.choices[name]]
        told = ", ".join(apart) or "**the fit**"
        lines.append(f"| {each['name']} | {told} | {numbers(each['within'])} | {numbers(each['of_number'])} |")
    return lines


def missed_lines(outcome: Outcome) -> list[str]:
    """Returns a table of the claims that a fit misses by over a quarter of their effect, each with the reason."""
    lines: list[str] = []
    for claim in outcome.claims():
        if claim.part_of or claim.is_constructed:
            continue
        row = outcome.row(claim, FIT)
        near = nearness(claim, row)
        if near is None or near > MISSED:
            cells = [claim.id, claim.says, published(claim), measured(claim, row), off_text(claim, row)]
            lines.append(f"| {' | '.join([*cells, ' '.join(why(outcome, claim, row).split())])} |")
    if not lines:
        return []
    head = ["| claim | | published | fit | off by, of the effect | why |", "|---|---|---|---|---:|---|"]
    return ["## What the fit has not within 25 %", "", *head, *lines, ""]


def off_text(claim: Claim, row: Row) -> str:
    """Returns the distance from the published number, as a share of the effect; the verdict if a claim has none."""
    single = claim.measurement is not None and row.values is not None and not claim.trends and claim.series is None
    effect = abs(claim.judged.published - (claim.judged.neutral or 0.0))
    if not single or row.values is None or not effect:
        return MEANINGS[judge(claim, row)]
    return f"{100 * abs(Spread(row.values).mean - claim.judged.published) / effect:.0f} %"


def headline(outcome: Outcome) -> list[str]:
    """Returns a table of the number of claims of a paper that hold in its best single regime."""
    each = summary(outcome)
    lines = [
        f"| claims | exact by construction | best single reading | {WITHIN} | {OTHERS} |",
        "|---:|---:|---|" + "---:|" * (len(SHARES) + 2),
        *summary_cells(each, f"**{each.best.regime}**"),
        "",
    ]
    return [*lines, *regime_table(outcome)]


def regime_table(outcome: Outcome) -> list[str]:
    """Returns a table of the number of claims with each verdict, by regime."""
    measured = [claim for claim in outcome.claims() if not claim.part_of and not claim.is_constructed]
    each = summary(outcome)
    used = [verdict for verdict in ORDER if verdict != "met"]
    lines = [
        f"| regime | {WITHIN} | {' | '.join(MEANINGS[verdict] for verdict in used)} | sub-values within 10 % |",
        "|---|" + "---:|" * (len(SHARES) + len(used) + 1),
    ]
    for regime in outcome.regimes():
        found = reading(outcome, regime)
        rows = [(claim, row) for claim in measured for row in outcome.rows[claim.id] if row.regime == regime]
        verdicts = [judge(claim, row) for claim, row in rows]
        cells = " | ".join(str(verdicts.count(verdict)) for verdict in used)
        lines.append(f"| {regime} | {numbers(found.within)} | {cells} | {found.subs[0]} of {each.subs} |")
    lines.append(f"| best of regimes, a claim each | {numbers(each.any_regime)} |{' |' * (len(used) + 1)}")
    return [*lines, ""]


def matrix(outcome: Outcome) -> list[str]:
    """Returns a table of claims and regimes: the smallest share within which a claim holds, or the verdict."""
    regimes = outcome.regimes()
    lines = [f"| claim | {' | '.join(regimes)} |", "|---|" + "---|" * len(regimes)]
    for claim in outcome.claims():
        rows = {row.regime: row for row in outcome.rows[claim.id]}
        cells: list[str] = []
        for regime in regimes:
            row = rows.get(regime) or rows.get(ANY)
            near = nearness(claim, row) if row is not None else None
            if row is None:
                cells.append("no volume")
            elif claim.is_constructed:
                cells.append("exact" if near is not None else MEANINGS[judge(claim, row)])
            else:
                cells.append(f"{100 * near:g} %" if near is not None else MEANINGS[judge(claim, row)])
        lines.append(f"| {claim.id} | {' | '.join(cells)} |")
    return [*lines, ""]
