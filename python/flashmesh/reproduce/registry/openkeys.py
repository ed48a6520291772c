"""Reader of the overrides of a regime, of the keys that a paper leaves open, and of the starts of a fit."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from flashmesh.reproduce.registry.expression import Expression
from flashmesh.reproduce.registry.fields import Fields, overrides, require
from flashmesh.reproduce.registry.paper import FIT, OpenKey, Overrides, Regime, Start
from flashmesh.sweeps.inputs.ranges import read_range

if TYPE_CHECKING:
    from flashmesh.reproduce.registry.paper import Job, Paper, Settings

Axes = Mapping[str, Collection[str]]
"""Labels of each axis. For the axis of workloads, these are names of workloads, and lists of names as `@list`."""


def read_overrides(fields: Fields, axes: Axes, jobs: dict[str, Job]) -> Overrides:
    """Reads the overrides of a regime: keys for all runs, jobs and labels, and replacements of measures.

    Raises:
        ConfigError: If an override names an unknown job, axis or label, or an invalid measure.
    """
    of_jobs: dict[str, Settings] = {}
    for job, table in fields.take("jobs", dict, {}).items():
        require(job, jobs, f"{fields.place}.jobs")
        of_jobs[job] = overrides(table, f"{fields.place}.jobs.{job}")
    where: dict[str, dict[str, Settings]] = {}
    for axis, labels in fields.take("where", dict, {}).items():
        require(axis, axes, f"{fields.place}.where")
        for label, table in Fields(labels, f"{fields.place}.where.{axis}").table.items():
            require(label, axes[axis], f"{fields.place}.where.{axis}")
            where.setdefault(axis, {})[label] = overrides(table, f"{fields.place}.where.{axis}.{label}")
    measures: dict[str, Expression] = {}
    for text, other in fields.labels("measures").items():
        measures[text] = Expression(other)
        measures[text].check(f"{fields.place}.measures")
    return Overrides(overrides(fields.take("set", dict, {}), f"{fields.place}.set"), of_jobs, where, measures=measures)


def read_open(fields: Fields, axes: Axes, jobs: dict[str, Job]) -> tuple[OpenKey, ...]:
    """Reads the keys that a paper leaves open.

    Raises:
        ConfigError: If a key has neither a range nor choices, or lacks the sentence that leaves the key open.
    """
    found: list[OpenKey] = []
    for number, table in enumerate(fields.take("open", list, [])):
        inner = Fields(table, f"{fields.place}: open[{number}]")
        name = inner.take("name", str)
        section, quote, leaves = (inner.take(key, str) for key in ("section", "quote", "leaves"))
        if "key" in inner.table:
            choices = ranged(inner, axes, jobs)
        else:
            tables = inner.take("choices", dict)
            choices = {}
            for label, each in tables.items():
                choice = Fields(each, f"{inner.place}: choices.{label}")
                choices[label] = read_overrides(choice, axes, jobs)
                choice.end()
        if len(choices) < 2:
            raise inner.error("needs two choices or more")
        if name in {each.name for each in found}:
            raise inner.error(f"{name} is given twice")
        inner.end()
        found.append(OpenKey(name, section, quote, leaves, choices))
    return tuple(found)


def ranged(fields: Fields, axes: Axes, jobs: dict[str, Job]) -> dict[str, Overrides]:
    """Reads an open key with a range or a list of values, and returns a choice for each value.

    A choice sets the key for all runs, or only for the listed jobs and labels.
    """
    key = fields.take("key", str)
    of_jobs = fields.texts("jobs", ())
    for job in of_jobs:
        require(job, jobs, f"{fields.place}: jobs")
    where: dict[str, list[str]] = fields.take("where", dict, {})
    for axis, labels in where.items():
        require(axis, axes, f"{fields.place}: where")
        for label in labels:
            require(label, axes[axis], f"{fields.place}: where.{axis}")
    listed = fields.texts("values", ())
    if not listed:
        listed = tuple(read_range(f"{fields.place}: range", fields.take("range", str)).values())
    found: dict[str, Overrides] = {}
    for value in listed:
        settings = {key: value}
        found[value] = Overrides(
            {} if of_jobs or where else settings,
            dict.fromkeys(of_jobs, settings),
            {axis: dict.fromkeys(labels, settings) for axis, labels in where.items()},
        )
    return found


def read_starts(fields: Fields, opened: tuple[OpenKey, ...]) -> tuple[Start, ...]:
    """Reads the regimes from which a fit begins.

    Raises:
        ConfigError: If a start lacks the choice of an open key, or has an unknown choice.
    """
    found: list[Start] = []
    for number, table in enumerate(fields.take("starts", list, [])):
        inner = Fields(table, f"{fields.place}: starts[{number}]")
        start = Start(inner.take("name", str), inner.take("origin", str), inner.labels("choices"))
        for key in opened:
            if key.name not in start.choices:
                raise inner.error(f"choices needs {key.name}: one of {', '.join(key.choices)}")
            require(start.choices[key.name], key.choices, f"{inner.place}: choices.{key.name}")
        for name in start.choices:
            require(name, [key.name for key in opened], f"{inner.place}: choices")
        inner.end()
        found.append(start)
    return tuple(found)


def fitted(paper: Paper, choices: Mapping[str, str]) -> Regime:
    """Returns the regime of a fit: the base regime of the paper, overridden by one choice of each open key.

    Raises:
        ConfigError: If an open key has no choice, or an unknown choice.
    """
    overrides = paper.regimes[paper.fit_base].overrides
    for key in paper.open:
        require(choices.get(key.name, ""), key.choices, f"{paper.path.name}: fit: {key.name}")
        overrides = overrides.joined(key.choices[choices[key.name]])
    chosen = "; ".join(f"{key.name}: {choices[key.name]}" for key in paper.open)
    return Regime(
        FIT,
        f"As {paper.fit_base}, and found by search over the keys that the paper leaves open, after the fact: {chosen}.",
        "It is the reading of those tried in which most claims hold.",
        "The search knew what is published; each choice is one that the text leaves open, and none that it states.",
        overrides,
    )
