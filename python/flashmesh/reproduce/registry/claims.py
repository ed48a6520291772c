"""Reader of the claims of a registry file, and of the evidence that sentences quote."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flashmesh.reproduce.registry.expression import Expression
from flashmesh.reproduce.registry.fields import Fields
from flashmesh.reproduce.registry.paper import Claim, Evidence, Judged, Measurement, Series, Trend

if TYPE_CHECKING:
    from flashmesh.reproduce.registry.paper import Job

KINDS = ("exact", "ratio", "order", "count", "shape")
COMPUTES = ("value", "ratio", "speedup", "reduction", "increase", "best")
"""Ways to compute a number from a subject s and a baseline b, in this order: s, s / b, b / s, 1 - s / b in %,
s / b - 1 in %, or whether s is the least of several."""
REDUCES = ("mean", "geometric-mean", "median", "max", "min", "sum")
RELATIONS = ("rises", "falls", "flat", "levels-off", "peaks", "highest-at", "first-highest", "first-lowest")
LIMITS = ("none", "at-most", "at-least")
NEUTRAL = {"ratio": 1.0, "speedup": 1.0, "reduction": 0.0, "increase": 0.0}
"""Default neutral value (a ratio of 1, a change of 0: no effect) of `COMPUTES`; `value` and `best` have no default."""
PLACED = ("levels-off", "peaks", "highest-at")
"""Relations between the values of a curve that refer to a label of the axis: the label of the knee or the peak."""
TOLERANCE = 0.1
MARGIN = 0.05
OWN = ("also", "trends", "series", "shown", "by-construction", "published", "range")
"""Keys of a claim that its sub-values (maxima, values of other systems) do not inherit."""


def read_claims(table: object, place: str, jobs: dict[str, Job]) -> list[Claim]:
    """Reads a claim and its sub-values: maxima, and values of other systems that the paper states with the claim.

    Raises:
        ConfigError: If the claim or a sub-value is not valid.
    """
    fields = Fields(table, place)
    subs = fields.take("also", list, [])
    found = [read_claim(fields.table, place, jobs)]
    for number, sub in enumerate(subs):
        own = Fields(sub, f"{place}: also[{number}]")
        identifier = f"{found[0].id}.{own.take('id', str)}"
        inherited = {key: value for key, value in fields.table.items() if key not in OWN}
        found.append(read_claim(inherited | own.table | {"id": identifier}, own.place, jobs, found[0].id))
    return found


def read_claim(table: object, place: str, jobs: dict[str, Job], part_of: str = "") -> Claim:
    """Reads a claim, or one of its sub-values.

    Raises:
        ConfigError: If the claim is not valid.
    """
    fields = Fields(table, place)
    identifier = fields.take("id", str)
    fields.place = f"{place.split(':')[0]}: claim {identifier}"
    kind = fields.choice("kind", KINDS)
    measurement, trends, series = None, read_trends(fields, jobs), read_series(fields, jobs)
    published = fields.take("published", float, math.nan)
    if "job" in fields.table:
        measurement = read_measurement(fields, jobs)
    if not (measurement or trends or series):
        raise fields.error("needs job and measure, trends or series")
    if measurement is not None and math.isnan(published):
        raise fields.error("needs published, a number")
    neutral = fields.take("neutral", float, math.nan)
    known = NEUTRAL.get(measurement.compute) if measurement is not None else None
    within = fields.take("within", float, -1.0)
    judged = Judged(
        published,
        fields.take("tolerance", float, 0.0 if kind == "exact" else TOLERANCE),
        None if within < 0.0 else within,
        known if math.isnan(neutral) else neutral,
        fields.choice("limit", LIMITS, "none"),
    )
    claim = Claim(
        id=identifier,
        figure=fields.take("figure", str),
        says=fields.take("says", str),
        kind=kind,
        shown=fields.take("shown", str, ""),
        unit=fields.take("unit", str, ""),
        digits=fields.take("digits", int, 2),
        why=read_why(fields),
        judged=judged,
        measurement=measurement,
        trends=trends,
        series=series,
        is_constructed=fields.take("by-construction", bool, False),
        part_of=part_of,
    )
    if claim.is_beside and judged.neutral is None:
        raise fields.error("needs neutral: what is published of the labels in over")
    if not claim.why:
        raise fields.error("needs why: a sentence that explains what comes out")
    fields.end()
    return claim


def read_why(fields: Fields) -> dict[str, str]:
    """Reads the explanations of a claim: one text for all regimes (interpretations of the paper), or texts by regime.

    A text for several regimes has their names as its key, separated by commas.

    Raises:
        ConfigError: If a regime has two texts.
    """
    if isinstance(fields.table.get("why"), str):
        return {"": fields.take("why", str)}
    found: dict[str, str] = {}
    for names, text in fields.labels("why").items():
        for name in names.split(", "):
            if name in found:
                raise fields.error(f"why: {name or 'all other regimes'} has two texts")
            found[name] = text
    return found


def read_measurement(fields: Fields, jobs: dict[str, Job]) -> Measurement:
    """Reads the keys that describe a measurement."""
    expression = Expression(fields.take("measure", str))
    expression.check(f"{fields.place}: measure")
    compute = fields.choice("compute", COMPUTES, "value")
    return Measurement(
        fields.choice("job", jobs),
        expression,
        fields.labels("of"),
        fields.labels("over"),
        fields.texts("against", ()),
        compute,
        fields.take("above", float, None),
        fields.choice("reduce", REDUCES, "mean"),
        fields.take("regime", str, ""),
    )


def read_trends(fields: Fields, jobs: dict[str, Job]) -> tuple[Trend, ...]:
    """Reads the relations between values of a curve that a claim states, such as a rise."""
    trends: list[Trend] = []
    for number, table in enumerate(fields.take("trends", list, [])):
        inner = Fields(table, f"{fields.place}: trends[{number}]")
        trend = Trend(
            read_measurement(inner, jobs),
            inner.take("axis", str),
            inner.texts("labels"),
            inner.choice("relation", RELATIONS),
            inner.take("margin", float, MARGIN),
            inner.take("at", str, ""),
            inner.take("says", str, ""),
            inner.take("least", float, 0.0),
            inner.take("unit", str, ""),
        )
        if len(trend.labels) < 2:
            raise inner.error("labels are at least two")
        if trend.relation in PLACED and trend.at not in trend.labels[1:-1]:
            raise inner.error("at is the label of the knee or the peak, neither the first nor the last")
        inner.end()
        trends.append(trend)
    return tuple(trends)


def read_series(fields: Fields, jobs: dict[str, Job]) -> Series | None:
    """Reads the published values of a claim along an axis; returns None if the claim has none."""
    if "series" not in fields.table:
        return None
    inner = fields.inner("series")
    measurement = read_measurement(inner, jobs)
    series = Series(
        measurement,
        inner.take("axis", str),
        inner.texts("labels"),
        inner.numbers("published"),
        inner.take("neutral", float, None),
        inner.take("says", str, ""),
    )
    if len(series.labels) != len(series.published):
        raise inner.error(f"has {len(series.labels)} labels and {len(series.published)} published values")
    inner.end()
    return series


def read_evidence(name: str, fields: Fields, jobs: dict[str, Job]) -> Evidence:
    """Reads a measured number that explanations quote by its name.

    Raises:
        ConfigError: If the number has no valid measurement.
    """
    measurement = read_measurement(fields, jobs)
    evidence = Evidence(name, measurement, fields.take("digits", int, 2), fields.take("unit", str, ""))
    fields.end()
    return evidence
