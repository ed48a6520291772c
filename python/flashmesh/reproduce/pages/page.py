"""Writer of the page of a paper: a head of five lines, the claims in three readings, the readings, and the charts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flashmesh.report.reproduction import NAMES
from flashmesh.reproduce.judging.outcome import judge
from flashmesh.reproduce.judging.summary import (
    SHARES,
    best_reading,
    measured_claims,
    near_in,
    nearness,
    reading,
    row_in,
    summary,
)
from flashmesh.reproduce.judging.texts import (
    NONE,
    first_sentence,
    number_text,
    one_line,
    overrides_text,
    published,
    why,
    with_unit,
)
from flashmesh.reproduce.judging.verdict import Spread, allowance
from flashmesh.reproduce.pages import charts
from flashmesh.reproduce.registry.claims import MARGIN, TOLERANCE
from flashmesh.reproduce.registry.paper import ANY, AS_SPECIFIED, FIT, REAL_TRACES
from flashmesh.reproduce.running.drift import has_drift

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.reproduce.judging.outcome import Outcome, Row
    from flashmesh.reproduce.registry.paper import Claim

MOVED = 0.25
"""Smallest drift of a claim, as a share of its tolerance, that a page names."""
LIKE = re.compile(r"As \w+\.")
"""Pattern of an explanation that only refers to the one of another claim, such as `As V07.`"""
LEGEND = """A cell is the measured value, its difference from the published one in % of the effect (+ above, - below it)
and the [verdict](index.md#verdicts). The reason is that of a miss in {best}. Spreads, values of every
workload and of all readings, curves and whole reasons are in [{file}]({file})."""
FIGURE = re.compile(r"^Fig\w*\.? ")
"""Pattern of the word at the beginning of a figure's name, which tables leave out."""


def page(outcome: Outcome) -> str:
    """Returns the page of a paper."""
    paper = outcome.paper
    best = best_reading(outcome).regime
    told: set[tuple[str, str]] = set()
    lines = [f"# {paper.title}", "", *head(outcome, best), ""]
    lines += [*paper.overview.strip().split("\n\n")[0].splitlines(), ""]
    lines += ["## Claims", "", *table(outcome, best, told), *constructed(outcome)]
    lines += [*tolerance_lines(outcome.claims()), *sub_values(outcome, best)]
    if best != AS_SPECIFIED:
        lines += section(outcome, AS_SPECIFIED, "As specified", told)
    lines += section(outcome, best, f"Best stated reading: {best}", told)
    lines += fit_lines(outcome, told)
    lines += others(outcome, best)
    figures = [f"![{figure}: published and measured]({name}.svg)" for figure, name in charts.names_of(outcome).items()]
    return "\n".join([*lines, *(["## Figures", "", *"\n\n".join(figures).splitlines(), ""] if figures else [])])


def head(outcome: Outcome, best: str) -> list[str]:
    """Returns the head of a page: five lines on the best stated reading (interpretation of a paper) and its claims."""
    each = summary(outcome)
    own = measured_claims(outcome)
    nowhere = [claim.id for claim in own if all(nearness(claim, row) is None for row in outcome.rows[claim.id])]
    near = {share: [claim.id for claim in own if near_in(outcome, claim, best) == share] for share in SHARES}
    counts = [
        f"{count} within {100 * share:g} %" + (f" ({also}{', '.join(near[share])})" if near[share] else "")
        for share, count, also in zip(SHARES, each.best.within, ("", "also ", "also "), strict=True)
    ]
    holds = f"of {len(own)} measured claims {', '.join(counts)} of the effect, all in {best}, the best stated reading."
    exact = f" Exact by construction: {each.constructed_met} more." if each.constructed else ""
    subs = f" Sub-values within 10 %: {each.best.subs[0]} of {each.subs}." if each.subs else ""
    fit = ", and not in the fit" if outcome.fit is not None else ""
    cannot = f"in no stated reading within 50 %{fit}: {', '.join(nowhere)}." if nowhere else ""
    return [
        f"- **Holds**: {holds}{exact}{subs}",
        f"- **Cannot hold**: {' '.join(f'{cannot} {one_line(outcome.paper.limits)}'.split()) or 'nothing known.'}",
        f"- **Chosen by the answer**: {chosen(outcome, best)}",
        f"- **Requests a run**: {requests(outcome, best)}",
        f"- **Drift**: {drift(outcome)}",
    ]


def chosen(outcome: Outcome, best: str) -> str:
    """Names the keys that the best stated reading sets in addition to those of the regime `as-specified`."""
    paper = outcome.paper
    if best not in paper.regimes or best == AS_SPECIFIED:
        return "nothing: the best stated reading is the experiment as specified."
    stated = overrides_text(paper, paper.regimes[AS_SPECIFIED].overrides)
    keys = [f"`{text}`" for text in overrides_text(paper, paper.regimes[best].overrides) if text not in stated]
    count = sum(name in paper.regimes and name != FIT for name in outcome.regimes())
    fit = " The fit chooses every open key by the answer." if outcome.fit is not None else ""
    return f"{best} is that of {count} readings in which most claims hold. It sets {', '.join(keys)}.{fit}"


def requests(outcome: Outcome, best: str) -> str:
    """Describes the requests and seeds of each job in the best stated reading (interpretation of the paper)."""
    used = {measurement.job for claim in measured_claims(outcome) for measurement in claim.measurements()}
    extents = {name: job.extent(outcome.mode, best) for name, job in outcome.paper.jobs.items() if name in used}
    by_count: dict[int, list[str]] = {}
    for name, extent in extents.items():
        by_count.setdefault(extent.requests or 0, []).append(name)
    counts = [f"{count:,} ({', '.join(names)})" for count, names in sorted(by_count.items()) if count]
    seeds = sorted({len(extent.seeds) for extent in extents.values()})
    number = " to ".join(map(str, dict.fromkeys((seeds[0], seeds[-1])))) if seeds else "none"
    return f"{', '.join(counts) or 'as the jobs have'}; seeds: {number} (`--{outcome.mode}`)."


def drift(outcome: Outcome) -> str:
    """Names the claims whose drift is at least `MOVED` of their tolerance."""
    if not outcome.drift:
        return f"not measured; `flashmesh reproduce {outcome.paper.key} --drift` doubles the requests."
    changes = [(claim, outcome.drift[claim.id]) for claim in outcome.claims() if claim.id in outcome.drift]
    moved = [
        f"{claim.id} by {signed(change, claim)} ({share:.2f} of it)"
        for claim, change in changes
        if (share := abs(change) / allowance(claim.judged)) >= MOVED
    ]
    rest = len(outcome.drift) - len(moved)
    told = f"; others: {', '.join(moved)}" if moved else ""
    of = f"{rest} of {len(outcome.drift)}"
    missing = [claim.id for claim in outcome.claims() if has_drift(claim) and claim.id not in outcome.drift]
    left = f" Not measured: {', '.join(missing)}." if missing else ""
    return f"twice the requests move {of} numbers by less than a quarter of their tolerance{told}.{left}"


def signed(change: float, claim: Claim) -> str:
    """Returns a change of a measured value as text, with sign and unit."""
    return with_unit(f"{'+' if change > 0 else ''}{number_text(change, claim.digits)}", claim.unit)


def table(outcome: Outcome, best: str, told: set[tuple[str, str]]) -> list[str]:
    """Returns the Markdown table of the claims: measured as specified, in the best stated reading and in the fit.

    Args:
        outcome: The measured values.
        best: The best stated reading.
        told: The (claim, reason) pairs that the page has stated so far; the table adds its own.
    """
    regimes = [name for name in dict.fromkeys((AS_SPECIFIED, best, FIT)) if name in outcome.regimes()]
    if not regimes:
        return []
    lines = [*LEGEND.format(best=best, file=f"{outcome.paper.key}.json").splitlines(), ""]
    lines.append(f"| claim | figure | | published | {' | '.join(regimes)} | reason |")
    lines.append("|---|---|---|---|" + "---|" * (len(regimes) + 1))
    first: dict[str, str] = {}
    for claim in measured_claims(outcome):
        rows = [row_in(outcome, claim, regime) for regime in regimes]
        cells = [claim.id, FIGURE.sub("", claim.figure), claim.says, published(claim)]
        cells += [cell(claim, row) if row else "" for row in rows]
        reason = reason_in(outcome, claim, best)
        told.add((claim.id, reason))
        cells.append(first.get(reason, reason))
        if reason:
            first.setdefault(reason, reason if LIKE.fullmatch(reason) else f"As {claim.id}.")
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def cell(claim: Claim, row: Row) -> str:
    """Returns a table cell: measured value, its distance from the published one in % of the effect, and the verdict."""
    verdict = NAMES[judge(claim, row)]
    if claim.measurement is not None and row.values is not None:
        return f"{number(claim, row)}, {verdict}"
    near = nearness(claim, row)
    return verdict if near in (None, SHARES[0]) else f"{verdict}, within {100 * (near or 0):g} %"


def number(claim: Claim, row: Row) -> str:
    """Returns the measured value, and its distance from the published one in % of the effect, as text."""
    if row.values is None:
        return NONE
    mean, judged = Spread(row.values).mean, claim.judged
    effect = abs(judged.published - (judged.neutral or 0.0))
    is_bound = judged.limit != "none" and nearness(claim, row) == SHARES[0]
    off = f" ({100 * (mean - judged.published) / effect:+.0f})" if effect and not is_bound else ""
    return f"{number_text(mean, claim.digits)}{off}"


def reason_in(outcome: Outcome, claim: Claim, regime: str) -> str:
    """Explains in a sentence why a claim is not met in a regime (interpretation of the paper).

    Empty if the claim is met, or was not measured in the regime.
    """
    row = row_in(outcome, claim, regime)
    if row is None or nearness(claim, row) == SHARES[0]:
        return ""
    return first_sentence(why(outcome, claim, row))


def sub_values(outcome: Outcome, best: str) -> list[str]:
    """Returns the Markdown table of the sub-values (additional published values of the claims).

    It compares the published values with those measured in the best stated reading (interpretation of the paper).

    Empty without sub-values.
    """
    found = [
        f"| {claim.id} | {claim.says} | {published(claim)} | {number(claim, row)} |"
        for claim in outcome.claims()
        if claim.part_of and claim.measurement is not None and (row := row_in(outcome, claim, best)) is not None
    ]
    if not found:
        return []
    told = "Maxima and other systems, which the paper lists beside a claim: judged, but not counted as claims."
    return ["## Sub-values", "", told, "", f"| sub-value | | published | {best} |", "|---|---|---|---|", *found, ""]


def constructed(outcome: Outcome) -> list[str]:
    """Returns a sentence with the claims that are exact by construction, as lines; empty without such claims."""
    found = [
        f"{claim.id} {claim.says} ({published(claim)}{'' if nearness(claim, row) else ', missed'})"
        for claim in outcome.claims()
        for row in outcome.rows[claim.id]
        if row.regime == ANY and not claim.part_of
    ]
    return [f"Exact by construction, in every reading: {'; '.join(found)}.", ""] if found else []


def tolerance_lines(claims: Sequence[Claim]) -> list[str]:
    """Returns a sentence on the claims whose tolerance is not the default, as lines; empty without such claims."""
    own: dict[str, list[str]] = {}
    for claim in claims:
        for text in () if claim.part_of else tolerances(claim):
            own.setdefault(text, []).append(claim.id)
    if not own:
        return []
    stated = "; ".join(f"{text} ({', '.join(names)})" for text, names in own.items())
    return [f"Tolerances other than 10 % of the effect and {100 * MARGIN:g} % of a curve: {stated}.", ""]


def tolerances(claim: Claim) -> list[str]:
    """Returns the tolerances of a claim that differ from the defaults, as texts."""
    judged = claim.judged
    if claim.is_constructed:
        return []
    found: list[str] = []
    if claim.measurement is not None and judged.within is not None:
        found.append(f"{judged.within:g} {claim.unit}".strip())
    elif (claim.measurement is not None or claim.series is not None) and judged.tolerance != TOLERANCE:
        found.append(f"{100 * judged.tolerance:g} %" if judged.tolerance else "none")
    found += [f"{100 * trend.margin:g} % of a curve" for trend in claim.trends if trend.margin != MARGIN]
    return list(dict.fromkeys(found))


def section(outcome: Outcome, regime: str, title: str, told: set[tuple[str, str]]) -> list[str]:
    """Returns the section on a regime (interpretation of the paper).

    The section has its description, its evidence, and the explanations that are not yet on the page.
    """
    if regime not in outcome.regimes() or regime not in outcome.paper.regimes:
        return []
    each = outcome.paper.regimes[regime]
    lines = [f"## {title}", "", f"{one_line(each.says)} {within(outcome, [regime])}", ""]
    if each.supports:
        lines += [f"- For it: {outcome.told(each.supports)}", f"- Against it: {outcome.told(each.against)}"]
    return [*lines, *([""] if each.supports else []), *reasons(outcome, regime, told)]


def reasons(outcome: Outcome, regime: str, told: set[tuple[str, str]]) -> list[str]:
    """Returns lines that list the explanations of claims missed in a regime (interpretation of the paper).

    Leaves out those already on the page (`told`); empty if none is left.
    """
    found: dict[str, list[str]] = {}
    leaders: dict[str, str] = {}
    for claim in measured_claims(outcome):
        reason = reason_in(outcome, claim, regime)
        if reason and (claim.id, reason) not in told:
            reason = leaders.get(reason, reason)
            leaders.setdefault(f"As {claim.id}.", reason)
            found.setdefault(reason, []).append(claim.id)
    if not found:
        return []
    return ["Misses:", "", *(f"- {', '.join(names)}: {reason}" for reason, names in found.items()), ""]


def within(outcome: Outcome, regimes: Sequence[str]) -> str:
    """Returns a sentence with the number of claims that hold within each share of the effect, for each of `regimes`."""
    found = [(name, " / ".join(map(str, reading(outcome, name).within))) for name in regimes]
    told = found[0][1] if len(found) == 1 else ", ".join(f"{name} {counts}" for name, counts in found)
    return f"Claims within 10 / 25 / 50 %: {told}."


def fit_lines(outcome: Outcome, told: set[tuple[str, str]]) -> list[str]:
    """Returns the section on the fit: the search, the choices, and the explanations of missed claims.

    Empty without a fit.
    """
    fit = outcome.fit
    if fit is None:
        return []
    choices = [f"{name}: {choice}" for name, choice in fit.choices.items()]
    return [
        "## Fit",
        "",
        f"`flashmesh reproduce {outcome.paper.key} --fit` tried {fit.trials} readings of the",
        f"keys that the paper leaves open, on at most {fit.requests:,} requests a run, for the one in which most",
        "claims hold. It knows what is published: it shows that a reading exists, not that the authors ran it.",
        fit.origin,
        within(outcome, [FIT]),
        "",
        f"Its choices, whose sentences are in [{outcome.name}.json]({outcome.name}.json): {'; '.join(choices)}.",
        "",
        *reasons(outcome, FIT, told),
    ]


def others(outcome: Outcome, best: str) -> list[str]:
    """Returns the section with the counts of all other regimes, and the replayed files; empty without other regimes."""
    names = [name for name in outcome.regimes() if name not in (AS_SPECIFIED, best, FIT)]
    files = ", ".join(f"`{workload}` from {file}" for workload, file in outcome.traces.items())
    replayed = f" {REAL_TRACES} replays {files}; other workloads by profile." if files else ""
    return ["## Other readings", "", f"{within(outcome, names)}{replayed}", ""] if names else []
