"""Reader of the registry: one TOML file for each paper, checked as a whole before anything runs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.reproduce.registry.claims import read_claims, read_evidence
from flashmesh.reproduce.registry.fields import Fields, listed, overrides, require
from flashmesh.reproduce.registry.openkeys import read_open, read_overrides, read_starts
from flashmesh.reproduce.registry.paper import (
    ANY,
    AS_SPECIFIED,
    CHANGED,
    FIT,
    MODES,
    REAL_TRACES,
    WORKLOAD,
    Extent,
    Job,
    Mechanism,
    Paper,
    Regime,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flashmesh.reproduce.registry.openkeys import Axes
    from flashmesh.reproduce.registry.paper import Claim, Measurement, Settings

PAPERS = Path(__file__).parents[1] / "papers"
FIT_REQUESTS = 300
RESERVED = (ANY, REAL_TRACES, FIT, CHANGED)
QUOTED = re.compile(r"\{([a-z0-9-]+)\}")
"""Pattern of a name in braces, by which a text quotes a measured number."""


def papers(folder: Path = PAPERS) -> dict[str, Paper]:
    """Reads all papers, by their keys, which are the names of the files.

    Raises:
        ConfigError: If a file is invalid, or two papers have claims with one identifier.
    """
    found = [read_paper(path) for path in sorted(folder.glob("*.toml"))]
    owners: dict[str, Paper] = {}
    for paper in found:
        for claim in paper.claims:
            if claim.id in owners:
                raise ConfigError(f"{paper.path.name}: claim {claim.id} is in {owners[claim.id].path.name} already")
            owners[claim.id] = paper
    return {paper.key: paper for paper in found}


def read_paper(path: Path) -> Paper:
    """Reads one paper.

    Raises:
        ConfigError: If the file cannot be read, or part of it is invalid.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path.name}: is not TOML: {error}") from error
    fields = Fields(tables, path.name)
    title, cite, overview = (fields.take(key, str) for key in ("title", "cite", "overview"))
    limits = fields.take("limits", str, "")
    mechanisms = tuple(
        read_mechanism(each, f"{path.name}: mechanisms[{at}]")
        for at, each in enumerate(fields.take("mechanisms", list, []))
    )
    volumes = fields.labels("volumes")
    axes = read_axes(fields.inner("axes"))
    lists = {name: tuple(items) for name, items in fields.take("lists", dict, {}).items()}
    readings = dict(tables_of(fields, "regimes"))
    if AS_SPECIFIED not in readings:
        raise fields.error(f"needs [regimes.{AS_SPECIFIED}]")
    for name in RESERVED:
        if name in readings:
            raise fields.error(f"[regimes.{name}] is a name that flashmesh gives; take another one")
    jobs = {name: read_job(name, each, axes, lists) for name, each in tables_of(fields, "jobs")}
    labels = {axis: tuple(of_axis) for axis, of_axis in axes.items()} | {WORKLOAD: workload_labels(jobs, lists)}
    regimes = {name: read_regime(name, each, labels, jobs) for name, each in readings.items()}
    evidence = {name: read_evidence(name, each, jobs) for name, each in tables_of(fields, "evidence")}
    claims = tuple(
        claim
        for at, each in enumerate(fields.take("claims", list))
        for claim in read_claims(each, f"{path.name}: claims[{at}]", jobs)
    )
    fit = fields.inner("fit")
    opened = read_open(fit, labels, jobs)
    starts = read_starts(fit, opened)
    base, requests = fit.choice("base", regimes, AS_SPECIFIED), fit.take("requests", int, FIT_REQUESTS)
    fit.end()
    fields.end()
    paper = Paper(
        path.stem,
        path,
        title,
        cite,
        overview,
        regimes,
        axes,
        jobs,
        claims,
        evidence,
        volumes,
        lists,
        opened,
        starts,
        base,
        requests,
        mechanisms,
        limits,
    )
    check_references(paper)
    return paper


def tables_of(fields: Fields, key: str) -> Iterable[tuple[str, Fields]]:
    """Yields (name, table) for each table inside the table `key`."""
    inner = fields.inner(key)
    for name, value in inner.table.items():
        yield name, Fields(value, f"{fields.place}: {key}.{name}")


def read_mechanism(table: object, place: str) -> Mechanism:
    """Reads a mechanism (a part of the paper that flashmesh implements) from its table."""
    fields = Fields(table, place)
    mechanism = Mechanism(
        fields.take("section", str), fields.take("says", str), overrides(fields.take("set", dict), f"{place}.set")
    )
    fields.end()
    return mechanism


def read_axes(fields: Fields) -> dict[str, dict[str, Settings]]:
    """Reads the axes: the configuration keys that each label of each axis sets."""
    axes: dict[str, dict[str, Settings]] = {}
    for axis, labels in fields.table.items():
        inner = Fields(labels, f"{fields.place}.{axis}")
        if axis == WORKLOAD or not inner.table:
            raise inner.error("is the axis of the workloads of a job" if axis == WORKLOAD else "needs a label")
        axes[axis] = {
            label: overrides(Fields(value, f"{inner.place}.{label}").table, f"{inner.place}.{label}")
            for label, value in inner.table.items()
        }
    return axes


def workload_labels(jobs: dict[str, Job], lists: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Returns the labels of workloads that a regime (interpretation of a paper) may use: names, or `@list`."""
    names = (name for job in jobs.values() for name in job.extents["full"].workloads)
    return (*(f"@{name}" for name in lists), *dict.fromkeys(names))


def read_regime(name: str, fields: Fields, axes: Axes, jobs: dict[str, Job]) -> Regime:
    """Reads a regime (interpretation of the paper) from its table in the registry file of the paper."""
    regime = Regime(
        name,
        fields.take("says", str),
        fields.take("supports", str, ""),
        fields.take("against", str, ""),
        read_overrides(fields, axes, jobs),
    )
    if name != AS_SPECIFIED and not (regime.supports and regime.against):
        raise fields.error("needs supports and against: the evidence for this reading, and what speaks against it")
    fields.end()
    return regime


def read_job(name: str, fields: Fields, axes: dict[str, dict[str, Settings]], lists: dict[str, tuple[str, ...]]) -> Job:
    """Reads a job (family of runs) from its table."""
    config = fields.take("config", str)
    names = fields.texts("axes", ())
    for axis in names:
        require(axis, axes, f"{fields.place}: axes")
    workloads = named(fields, "workloads", lists)
    extents: dict[str, Extent] = {}
    of_regimes: dict[tuple[str, str], Extent] = {}
    for mode in MODES:
        inner = fields.inner(mode)
        for regime, each in tables_of(inner, "regimes"):
            of_regimes[mode, regime] = read_extent(each, workloads, lists)
        extents[mode] = read_extent(inner, workloads, lists)
    settings = overrides(fields.take("set", dict, {}), f"{fields.place}.set")
    drive = overrides(fields.take("drive", dict, {}), f"{fields.place}.drive")
    job = Job(name, config, settings, drive, names, fields.take("check", bool, False), extents, of_regimes)
    fields.end()
    return job


def read_extent(fields: Fields, workloads: tuple[str, ...], lists: dict[str, tuple[str, ...]]) -> Extent:
    """Reads the extent of a job (seeds, workloads and requests of its runs) from its table."""
    requests = fields.take("requests", int, 0)
    chosen = named(fields, "workloads", lists) or workloads
    for workload in chosen:
        require(workload, workloads, f"{fields.place}: workloads")
    table = Fields(fields.take("requests-of", dict, {}), f"{fields.place}: requests-of")
    for workload in table.table:
        require(workload, chosen, table.place)
    requests_of = {workload: table.take(workload, int) for workload in tuple(table.table)}
    extent = Extent(fields.seeds("seeds", (0,)), chosen, requests or None, requests_of)
    fields.end()
    return extent


def named(fields: Fields, key: str, lists: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Reads a list of texts; replaces `@name` by the list of that name."""
    found: list[str] = []
    for text in fields.texts(key, ()):
        if text.startswith("@"):
            require(text[1:], lists, f"{fields.place}: {key}")
            found += lists[text[1:]]
        else:
            found.append(text)
    return tuple(dict.fromkeys(found))


def check_references(paper: Paper) -> None:
    """Refuses references to unknown names.

    Raises:
        ConfigError: If a reference is unknown.
    """
    for evidence in paper.evidence.values():
        check_measurement(paper, evidence.measurement, f"{paper.path.name}: evidence.{evidence.name}", ())
    for job in paper.jobs.values():
        for _, name in job.of_regimes:
            require(name, (*paper.regimes, FIT), f"{paper.path.name}: jobs.{job.name}: regimes")
    for reading in paper.regimes.values():
        for name in QUOTED.findall(f"{reading.supports} {reading.against}"):
            require(name, paper.evidence, f"{paper.path.name}: regimes.{reading.name}")
    known = {each.measure.text for claim in paper.claims for each in claim.measurements()}
    found = [(f"regimes.{name}", reading.overrides) for name, reading in paper.regimes.items()]
    found += [(f"fit: {key.name}: {name}", each) for key in paper.open for name, each in key.choices.items()]
    for where, keys in found:
        for text in keys.measures:
            require(text, known, f"{paper.path.name}: {where}: measures")
    seen: set[str] = set()
    for claim in paper.claims:
        place = f"{paper.path.name}: claim {claim.id}"
        if claim.id in seen:
            raise ConfigError(f"{place}: is given twice")
        seen.add(claim.id)
        for regime in filter(None, claim.why):
            require(regime, (*paper.regimes, REAL_TRACES, FIT), f"{place}: regimes")
        for text in claim.why.values():
            for name in QUOTED.findall(text):
                require(name, paper.evidence, f"{place}: why")
        check_claim(paper, claim, place)


def check_claim(paper: Paper, claim: Claim, place: str) -> None:
    """Refuses labels that the axes of a claim do not have."""
    if claim.measurement is not None:
        check_measurement(paper, claim.measurement, place, ())
    for along in (*claim.trends, *((claim.series,) if claim.series is not None else ())):
        check_measurement(paper, along.measurement, place, (along.axis,))
        for label in along.labels:
            require(label, labels_of(paper, along.measurement.job, along.axis, place), f"{place}: {along.axis}")


def check_measurement(paper: Paper, measurement: Measurement, place: str, free: tuple[str, ...]) -> None:
    """Refuses a measurement with an axis or label that its job lacks, or without a label for one of the axes."""
    require(measurement.job, paper.jobs, f"{place}: job")
    job = paper.jobs[measurement.job]
    if measurement.regime:
        require(measurement.regime, paper.regimes, f"{place}: regime")
    for labels in (measurement.of, measurement.over):
        for axis, label in labels.items():
            require(label, labels_of(paper, job.name, axis, place), f"{place}: {axis}")
    for axis in job.axes:
        if axis not in measurement.of and axis not in free:
            raise ConfigError(f"{place}: of needs a label of {axis}: {listed(paper.axes[axis])}")
    if measurement.compute == "best":
        for label in measurement.against:
            require(label, labels_of(paper, job.name, job.axes[0], place), f"{place}: against")
    elif measurement.compute != "value" and not measurement.over:
        raise ConfigError(f"{place}: compute = {measurement.compute!r} needs over, the labels of the baseline")


def labels_of(paper: Paper, job: str, axis: str, place: str) -> tuple[str, ...]:
    """Returns the labels of an axis of a job."""
    require(axis, (*paper.jobs[job].axes, WORKLOAD), f"{place}: axes of job {job}")
    if axis == WORKLOAD:
        return paper.jobs[job].extents["full"].workloads
    return tuple(paper.axes[axis])
