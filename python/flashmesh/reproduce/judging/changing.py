"""Comparison of a regime (interpretation of the paper) with a copy of it in which keys are changed (`--set`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.configuration import value_text
from flashmesh.report.reproduction import NAMES
from flashmesh.reproduce.judging.outcome import judge
from flashmesh.reproduce.judging.summary import nearness, reading
from flashmesh.reproduce.judging.texts import measured, published
from flashmesh.reproduce.registry.fields import require
from flashmesh.reproduce.registry.paper import ANY, CHANGED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from flashmesh.reproduce.judging.outcome import Outcome, Row
    from flashmesh.reproduce.registry.paper import Claim, Paper

DECIDED = {
    "seed": "the registry of claims determines the seeds",
    "workload.profile": "the registry of claims determines the workloads",
    "workload.requests": "the registry of claims determines the number, by --quick or --full",
}
"""Keys that `--set` may not change, each with the reason: the registry sets them for each run."""


def require_regimes(paper: Paper, names: Iterable[str]) -> None:
    """Refuses names of regimes (interpretations of the paper) that a paper does not have.

    Raises:
        ConfigError: If a name is unknown; the message lists the regimes of the paper.
    """
    for name in names:
        require(name, paper.regimes, f"--regime: {paper.key}")


def changed(paper: Paper, claims: Iterable[Claim], base: str, settings: Mapping[str, str]) -> Paper:
    """Returns the paper with an additional regime (interpretation of it): `base` with some keys changed.

    Raises:
        ConfigError: If the runs compare values of a key, or the registry decides a key for each run.
    """
    jobs = {measurement.job for claim in claims for measurement in claim.measurements()}
    for key in settings:
        if key in DECIDED:
            raise ConfigError(f"--set {key}: {DECIDED[key]}")
        for axis in dict.fromkeys(axis for job in sorted(jobs) for axis in paper.jobs[job].axes):
            if any(key in overrides for overrides in paper.axes[axis].values()):
                raise ConfigError(
                    f"--set {key}: the runs of {paper.key} already vary it ({axis}: {', '.join(paper.axes[axis])})"
                )
    regime = paper.regimes[base]
    told = ", ".join(f"{key}={value_text(value)}" for key, value in settings.items())
    overrides = replace(regime.overrides, over=dict(settings))
    return paper.with_regime(
        replace(
            regime,
            name=CHANGED,
            says=f"As {base}, with {told}.",
            supports="It shows what the key does.",
            against="It is no reading of the paper.",
            overrides=overrides,
        )
    )


def state(claim: Claim, row: Row) -> str:
    """Returns the smallest of `SHARES` within which a claim holds, in %, as text; its verdict if it holds within none.

    The shares are of the published effect, the distance of the published value from the neutral one.
    """
    near = nearness(claim, row)
    return f"{100 * near:g} %" if near is not None else NAMES[judge(claim, row)]


def pairs(outcome: Outcome, base: str) -> list[tuple[Claim, Row, Row]]:
    """Returns (claim, values before the change, values after it) for each claim that depends on the regime."""
    found: list[tuple[Claim, Row, Row]] = []
    for claim in outcome.claims():
        rows = {row.regime: row for row in outcome.rows[claim.id]}
        if ANY not in rows:
            found.append((claim, rows[base], rows[CHANGED]))
    return found


def counts(outcome: Outcome, base: str) -> list[tuple[str, str]]:
    """Returns (name, numbers of claims that hold within each of `SHARES`, as text) for base and changed regime."""
    return [(name, " / ".join(map(str, reading(outcome, name).within))) for name in (base, CHANGED)]


def table(outcome: Outcome, base: str) -> list[str]:
    """Returns the comparison of each claim before and after the change, as lines for a terminal."""
    regime = outcome.paper.regimes[CHANGED]
    lines = [f"{outcome.paper.cite}: {regime.says}", "", f"  {'':<16}{base:<18}changed"]
    for claim, before, after in pairs(outcome, base):
        states = state(claim, before), state(claim, after)
        mark = "*" if states[0] != states[1] else " "
        lines.append(f"{mark} {claim.id:<16}{states[0]:<18}{states[1]}")
        if claim.measurement is not None:
            texts = measured(claim, before).partition(" (")[0], measured(claim, after).partition(" (")[0]
            lines.append(f"  {'':<4}published {published(claim)}: {texts[0]}, changed {texts[1]}")
    told = "; ".join(f"{name} {within}" for name, within in counts(outcome, base))
    return [*lines, "", f"claims within 10 / 25 / 50 % of the effect: {told}; * has changed"]


def page(outcome: Outcome, base: str) -> str:
    """Returns the comparison of each claim before and after the change, as a Markdown page."""
    regime = outcome.paper.regimes[CHANGED]
    lines = [f"# What a key does to the claims of {outcome.paper.cite}", "", regime.says, ""]
    lines += [f"| claims within 10 / 25 / 50 % | {base} | changed |", "|---|---|---|"]
    lines += [f"| | {' | '.join(within for _, within in counts(outcome, base))} |", ""]
    lines += [f"| claim | | published | {base} | | changed | |", "|---|---|---|---|---|---|---|"]
    for claim, before, after in pairs(outcome, base):
        cells = [claim.id, claim.says, published(claim)]
        for row in (before, after):
            cells += [measured(claim, row), state(claim, row)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])
