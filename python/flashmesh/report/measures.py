"""The measures that tables show, and any other value of a result, by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError, quantities
from flashmesh.configuration import value_text
from flashmesh.report import quantities as q
from flashmesh.report.summary import KINDS, PARTS, has_part

if TYPE_CHECKING:
    from collections.abc import Callable

    from flashmesh.results import CacheLookups, DeviceCache, Result


@dataclass(frozen=True)
class Measure:
    """A row of the table."""

    name: str
    value: Callable[[Result], float | None]
    text: Callable[[float | None], str]
    ratio: bool = True
    kind: str | None = None
    """The kind of requests it covers; None for all measures that are not latencies."""
    listed: bool = True
    """Whether it is shown where no measure is asked for."""


def _latency(kind: str, statistic: str) -> Callable[[Result], float | None]:
    return lambda result: getattr(getattr(result.latency_ps, kind), statistic, None)


def _latency_name(kind: str, statistic: str) -> str:
    """`p99` of all requests, `read p99` of those of one kind."""
    name = statistic.replace("_", ".")
    return name if kind == "all" else f"{kind} {name}"


def _part(part: str) -> Callable[[Result], float | None]:
    return lambda result: getattr(result.breakdown_ps.mean, part, None) if has_part(result, part) else None


def _found(lookups: Callable[[DeviceCache], CacheLookups]) -> Callable[[Result], float | None]:
    """The share of pages looked up in the device cache of which all was there."""

    def value(result: Result) -> float | None:
        if result.cache is None:
            return None
        found = lookups(result.cache)
        pages = found.hits + found.partial_hits + found.misses
        return found.hits / pages if pages else None

    return value


def _plain(value: float | None) -> str:
    return q.NONE if value is None else f"{value:.2f}"


def _whole(value: float | None) -> str:
    return q.NONE if value is None else f"{value:,.0f}"


def _area(value: float | None) -> str:
    return q.NONE if value is None else q.area(value)


MEASURES = (
    Measure("execution time", lambda result: result.makespan_ps, q.time),
    Measure("IOPS", lambda result: result.iops, lambda value: q.scaled(value or 0.0)),
    Measure(
        "bandwidth",
        lambda result: result.bandwidth_bytes_per_s,
        lambda value: q.bandwidth(value or 0.0),
    ),
    *(
        Measure(_latency_name(kind, statistic), _latency(kind, statistic), q.time, kind=kind)
        for kind in ("all", *KINDS)
        for statistic in ("mean", "p50", "p99", "p99_9")
    ),
    *(
        Measure(_latency_name(kind, statistic), _latency(kind, statistic), q.time, kind=kind, listed=False)
        for kind in ("all", *KINDS)
        for statistic in ("p95", "p97", "p98", "p99_5", "p99_99", "p99_999")
    ),
    *(Measure(f"  {name}", _part(part), q.time) for part, name in PARTS.items()),
    Measure("free of path conflicts", lambda result: result.path_conflict.requests_free_share, q.share, ratio=False),
    Measure("write amplification", lambda result: result.write_amplification, _plain, ratio=False),
    Measure("erases", lambda result: result.gc.erases, _whole, listed=False),
    Measure("pages reallocated", lambda result: result.gc.pages_reallocated, _whole, listed=False),
    Measure("map hit share", lambda result: getattr(result.mapping_cache, "hit_share", None), q.share, ratio=False),
    Measure("read cache hit share", _found(lambda cache: cache.reads), q.share, ratio=False),
    Measure("write cache hit share", _found(lambda cache: cache.writes), q.share, ratio=False),
    Measure("max slowdown", lambda result: getattr(result.fairness, "slowdown_max", None), _plain, ratio=False),
    Measure("unfairness", lambda result: getattr(result.fairness, "unfairness", None), _plain, ratio=False),
    Measure("link to the host busy", lambda result: result.utilisation.link_to_host, q.share, ratio=False),
    Measure("link to the drive busy", lambda result: result.utilisation.link_to_drive, q.share, ratio=False),
    Measure("links busy", lambda result: result.utilisation.links_mean, q.share, ratio=False),
    Measure("controllers busy", lambda result: result.utilisation.controllers_mean, q.share, ratio=False),
    Measure("dies busy", lambda result: result.utilisation.dies_mean, q.share, ratio=False),
    Measure("distance to the bound", lambda result: result.lower_bound.distance, q.share, ratio=False),
    Measure("energy of events", lambda result: result.power.energy_j.total, q.energy),
    Measure("average power", lambda result: result.power.average_w, q.power),
    Measure("nominal energy", lambda result: result.power.nominal_energy_j, q.energy),
    Measure("nominal power", lambda result: result.power.nominal_w, q.power),
    Measure("links", lambda result: len(result.links.names), _whole, ratio=False),
    Measure("wires", lambda result: result.area.wires, _whole),
    Measure("link area saved", lambda result: result.area.links_saved_share, q.share, ratio=False),
    Measure("area added in chips", lambda result: result.area.added_inside_mm2, _area, ratio=False),
    Measure("area beside chips", lambda result: result.area.added_beside_mm2, _area, ratio=False),
)


NAMES = tuple(measure.name.strip() for measure in MEASURES)
"""What a measure is called on the command line."""


def measure_named(name: str) -> Measure:
    """A measure by its name, or any single value of a result by its dotted key.

    Raises:
        ConfigError: When there is none; the text says which may have been meant.
    """
    from flashmesh.sweep.table import quantity_types

    for measure in MEASURES:
        if measure.name.strip() == name:
            return measure
    types = quantity_types()
    if name in types:
        return Measure(name, attrgetter_or_none(name), in_unit(name))
    from flashmesh.importers.problems import suggestion

    near = suggestion(name, [*NAMES, *types])
    told = f"did you mean {near!r}?" if near else "flashmesh measures lists them"
    raise ConfigError(f"there is no measure {name!r}: {told}")


def attrgetter_or_none(key: str) -> Callable[[Result], float | None]:
    """The value of a dotted key; None where a part of it is absent."""

    def value(result: Result) -> float | None:
        found: Any = result
        for name in key.split("."):
            found = None if found is None else getattr(found, name)
        number: float | None = found
        return number

    return value


BY_UNIT: dict[str, Callable[[float], str]] = {
    "ps": q.time,
    "share": q.share,
    "J": q.energy,
    "W": q.power,
    "B": q.size,
    "B/s": q.bandwidth,
    "mm2": q.area,
}


def in_unit(key: str) -> Callable[[float | None], str]:
    """How a value is written, by its unit."""
    unit = next(unit for name, unit, _ in quantities() if name == key)

    def text(value: float | None) -> str:
        if value is None:
            return q.NONE
        if unit in BY_UNIT:
            return BY_UNIT[unit](value)
        return f"{value:.6g}" if isinstance(value, float) else value_text(value)

    return text
