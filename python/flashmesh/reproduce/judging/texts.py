"""Published and measured values as text, for tables and sentences."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from flashmesh.reproduce.judging.verdict import Spread, means
from flashmesh.reproduce.points import workloads_of
from flashmesh.reproduce.registry.paper import REAL_TRACES
from flashmesh.reproduce.registry.reader import QUOTED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashmesh.reproduce.judging.outcome import Outcome, Row
    from flashmesh.reproduce.registry.paper import Claim, Evidence, Overrides, Paper, Series, Settings, Trend

SENTENCE = re.compile(r"(?<=[.?!]) +(?=[A-Z])")
"""Pattern of the space between two sentences."""
NONE = "-"
AVERAGES = ("mean", "geometric-mean", "median")
"""Reductions over workloads for which texts also state the minimum and the maximum over workloads."""


def published(claim: Claim) -> str:
    """Returns the published value of a claim as text: the wording of its file, else curve or number, else a dash."""
    if claim.shown:
        return claim.shown
    if claim.series is not None:
        return labelled(claim.series, [f"{value:g}" for value in claim.series.published], claim.unit)
    value = claim.judged.published
    return NONE if math.isnan(value) else with_unit(number_text(value, claim.digits), claim.unit)


def measured(claim: Claim, row: Row) -> str:
    """Returns the measured number and curves of a claim as text; a dash if nothing was measured."""
    along = (*claim.trends, *((claim.series,) if claim.series is not None else ()))
    parts = [measured_number(claim, row)] if claim.measurement is not None else []
    parts += [
        labelled(each, [number_text(value, claim.digits) for value in means(curve)], unit_of(each, claim))
        for each, curve in zip(along, row.curves, strict=True)
        if curve is not None
    ]
    return "; ".join(parts) or NONE


def measured_number(claim: Claim, row: Row) -> str:
    """Returns the measured number of a claim as text, with its spread over seeds and its range over workloads.

    A dash if the number was not measured.
    """
    if claim.measurement is None or row.values is None:
        return NONE
    text = with_unit(spread_text(row.values, claim.digits), claim.unit)
    if row.beside is not None:
        labels = " ".join(claim.measurement.over.values())
        text += f", {labels} {with_unit(spread_text(row.beside, claim.digits), claim.unit)}"
    if len(row.workloads) > 1 and claim.measurement.reduce in AVERAGES:
        least, most = (number_text(reach(row.workloads.values()), claim.digits) for reach in (min, max))
        text += f" ({least} to {most})"
    return text


def spread_text(values: tuple[float, ...], digits: int) -> str:
    """Returns the mean of numbers as text; of several numbers, also half the difference of largest and smallest."""
    spread = Spread(values)
    text = number_text(spread.mean, digits)
    return f"{text} +-{number_text(spread.half_range, digits)}" if len(values) > 1 else text


def labelled(along: Trend | Series, values: list[str], unit: str) -> str:
    """Returns the values of a curve as text, each with its label."""
    pairs = [f"{short(label)}: {value}" for label, value in zip(along.labels, values, strict=True)]
    text = with_unit(", ".join(pairs), unit)
    return f"{along.says}: {text}" if along.says else text


def unit_of(along: Trend | Series, claim: Claim) -> str:
    """Returns the unit of a curve: that of the trend, or of its claim."""
    return getattr(along, "unit", "") or claim.unit


def short(label: str) -> str:
    """Returns the name of a workload without the prefix of its paper."""
    return label.rpartition("/")[2]


def number_text(value: float, digits: int) -> str:
    """Returns a number with `digits` decimals, and no sign before a zero."""
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0.0 else text


def with_unit(text: str, unit: str) -> str:
    """Returns a number and its unit."""
    return f"{text} {unit}" if unit else text


def why(outcome: Outcome, claim: Claim, row: Row) -> str:
    """Returns the explanation of a claim in a regime (interpretation of the paper), with the quoted numbers.

    In the regime `real-traces`, the names of the replayed volumes precede it.
    """
    parts = [
        replayed(outcome, claim) if row.regime == REAL_TRACES else "",
        filled(outcome.paper, claim.sentence(row.regime), row.quoted),
    ]
    return " ".join(part for part in parts if part)


def replayed(outcome: Outcome, claim: Claim) -> str:
    """Returns a sentence on the recorded volumes that a claim replays, and on the number of its other workloads."""
    names: dict[str, None] = {}
    for measurement in claim.measurements():
        job = outcome.paper.jobs[measurement.job]
        names |= dict.fromkeys(workloads_of(job, outcome.mode, REAL_TRACES, measurement.of))
    recorded = [short(name) for name in names if name in outcome.traces]
    others = len(names) - len(recorded)
    rest = f" and {others} by profile" if others else ""
    return f"Replayed: {', '.join(recorded) or 'none'}{rest}."


def filled(paper: Paper, text: str, values: dict[str, float]) -> str:
    """Replaces each name in braces in a text by the number of this name, or by a dash without one."""
    return QUOTED.sub(lambda match: quoted(paper.evidence[match[1]], values.get(match[1])), text)


def quoted(evidence: Evidence, value: float | None) -> str:
    """Returns a quoted number as text with the digits and the unit of its evidence; a dash for None."""
    return NONE if value is None else with_unit(number_text(value, evidence.digits), evidence.unit)


def one_line(text: str) -> str:
    """Returns a text on one line."""
    return " ".join(text.split())


def first_sentence(text: str) -> str:
    """Returns the first sentence of a text, on one line."""
    return SENTENCE.split(one_line(text), maxsplit=1)[0]


def settings_text(settings: Settings) -> list[str]:
    """Returns settings as `key=value`."""
    from flashmesh.configuration import value_text

    return [f"{key}={value_text(value)}" for key, value in settings.items()]


def overrides_text(paper: Paper, overrides: Overrides) -> list[str]:
    """Returns the keys that a regime (interpretation of the paper) sets, each as a text with the runs that it affects.

    Labels with equal keys share a text.
    """
    found = settings_text(overrides.set)
    for settings, jobs in alike(overrides.jobs).items():
        found.append(f"runs {', '.join(jobs)}: {settings}")
    for axis, labels in overrides.where.items():
        for settings, names in alike(labels).items():
            each = dict.fromkeys(label for name in names for label in paper.labels(name))
            found.append(f"{axis} {', '.join(each)}: {settings}")
    found += settings_text(overrides.over)
    return found + [f"{other.text} in place of {text}" for text, other in overrides.measures.items()]


def alike(groups: Mapping[str, Settings]) -> dict[str, list[str]]:
    """Returns the names of the groups (jobs or labels) that have equal settings, by the text of these settings."""
    found: dict[str, list[str]] = {}
    for name, settings in groups.items():
        found.setdefault(", ".join(settings_text(settings)), []).append(name)
    return found
