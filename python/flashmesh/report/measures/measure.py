"""Measures that tables show, and all other values of a result, by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError, quantities
from flashmesh.configuration import value_text
from flashmesh.report import quantities as q
from flashmesh.report.summary import KINDS, PARTS
from flashmesh.results.streams import STREAM_PREFIXES, entry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashmesh.results import Result


@dataclass(frozen=True)
class Measure:
    """A measure: a function of some values of a result. A table of many runs reads only the columns of these values."""

    name: str
    keys: tuple[str, ...]
    """Dotted keys of the values from which the measure is computed."""
    text: Callable[[float | None], str]
    unit: str = ""
    """Unit as in results: `ps`, `B/s`, `share`; empty for plain numbers."""
    of: Callable[..., float | None] | None = None
    """Function of the values of `keys`; None if the measure is the value of its only key."""
    ratio: bool = True
    kind: str | None = None
    """Kind of requests of a latency measure: `all`, `read`, `write` or `flush`; None for other measures."""
    listed: bool = True
    """Whether tables show the measure by default."""
    interval: str | None = None
    """Dotted key of the confidence interval in a result; None for a measure without interval."""
    noise_of: str | None = None
    """Name of the measure whose intervals say how noisy ratios of this measure are; None for those of the measure."""
    is_exact: bool = False
    """Whether the measure follows from the configuration alone, so that it has no noise."""
    is_of_length: bool = False
    """Whether the measure grows with the number of requests, so that it has no ratio between runs of unequal length."""
    stream: str | None = None
    """Name of the stream that the measure describes; None for the whole run."""
    heading: str = ""
    """Heading of the measure in tables; if empty, tables show `name`."""

    def value(self, result: Result) -> float | None:
        """Returns the measure of a result; None if the result lacks it."""
        return self.made_of([attribute(result, key) for key in self.keys])

    def of_document(self, document: Mapping[str, Any]) -> float | None:
        """Returns the measure of the JSON of a result; None if the result lacks it."""
        return self.made_of([in_document(document, key) for key in self.keys])

    def made_of(self, values: Sequence[Any]) -> float | None:
        """Returns the measure from the values of `keys`; None if it cannot be computed."""
        if self.of is not None:
            return self.of(*values)
        found: float | None = values[0]
        return found


def attribute(result: Any, key: str) -> Any:
    """Returns the value of a dotted key of a result; None if a part of the path is None or a stream is missing."""
    found = result
    for name in key.split("."):
        if found is None:
            return None
        found = entry(found, name) if isinstance(found, tuple) else getattr(found, name)
    return found


def in_document(document: Mapping[str, Any], key: str) -> Any:
    """Returns the value of a dotted key of a JSON document; None if a part of the path is missing."""
    found: Any = document
    for name in key.split("."):
        if found is None:
            return None
        found = entry(found, name) if isinstance(found, list) else found.get(name)
    return found


LENGTHS = ("requests", "makespan_ps")
"""Keys of the two lengths of a run: its work and its time. Runs that agree in either one can be compared."""
LENGTH_TOLERANCE = 0.01
"""Largest relative difference between the lengths of runs that count as equally long."""


def are_equally_long(run: Sequence[float | None], other: Sequence[float | None]) -> bool:
    """Returns whether two runs agree in one of their lengths, in the order of `LENGTHS`, or one is unknown."""
    return any(
        mine is None or its is None or abs(mine - its) <= LENGTH_TOLERANCE * its
        for mine, its in zip(run, other, strict=True)
    )


WANTED = "precision.wanted"
"""Key of the requested precision (`measure.precision`) in a result; without a value if none is requested."""
WINDOW = (
    "iops",
    "bandwidth_bytes_per_s",
    "latency_ps.",
    "breakdown_ps.mean.",
    "write_amplification",
    "gc.",
    "flash.",
    "utilisation.link_to_",
    "utilisation.links_mean",
    "utilisation.dies_",
)
"""Prefixes of keys with a value for the whole run and, below `measured.`, one for the window after the warm-up."""


def of_window(measure: Measure) -> Measure:
    """Returns the measure over the measured window of a result; over the whole run if there is no window."""
    shared = [key.startswith(WINDOW) for key in measure.keys]
    if not any(shared):
        return measure
    keys: list[str] = []
    for key, is_shared in zip(measure.keys, shared, strict=True):
        keys += [f"measured.{key}", key] if is_shared else [key]

    def value(*values: Any) -> float | None:
        found = iter(values)
        chosen: list[Any] = []
        for is_shared in shared:
            first = next(found)
            if is_shared:
                of_run = next(found)
                first = first if first is not None else of_run
            chosen.append(first)
        return measure.made_of(chosen)

    return replace(measure, keys=tuple(keys), of=value)


def _span(start: float | None, end: float | None, makespan: float | None, wanted: float | None) -> float | None:
    """Returns the length of the measured window, or of the whole run without a window, in picoseconds.

    Returns None for a run that ended at a requested precision, since its length says nothing about the drive.
    """
    if wanted is not None:
        return None
    return makespan if start is None or end is None else end - start


def _of_fixed_length(value: float | None, wanted: float | None) -> float | None:
    """Returns `value`, a total of the run; None if the run ended at a requested precision.

    The length of such a run says nothing about the drive.
    """
    return value if wanted is None else None


def _latency(kind: str, statistic: str, listed: bool = True) -> Measure:
    """Returns the measure of a latency statistic, with a name such as `p99` (all requests) or `read p99` (one kind)."""
    name = statistic.replace("_", ".")
    named = name if kind == "all" else f"{kind} {name}"
    has_interval = kind in ("all", "read", "write") and statistic in ("mean", "p50", "p95", "p99", "p99_9")
    key = f"latency_ps.{kind}.{statistic}"
    interval = f"confidence.{key}" if has_interval else None
    return Measure(named, (key,), q.time, "ps", kind=kind, listed=listed, interval=interval)


def _part(part: str, name: str) -> Measure:
    """Returns the measure of a part of the mean latency.

    Has no value for drives without the component that causes the part: firmware cores, device cache or mapping cache.
    """
    equipment = {
        "firmware": "utilisation.firmware",
        "cache": "cache.capacity_pages",
        "map_wait": "mapping_cache.entries",
    }.get(part)
    key = f"breakdown_ps.mean.{part}"
    if equipment is None:
        return Measure(f"  {name}", (key,), q.time, "ps")
    return Measure(f"  {name}", (key, equipment), q.time, "ps", lambda time, there: None if there is None else time)


def _found(kind: str) -> tuple[tuple[str, ...], Callable[..., float | None]]:
    """Returns (keys, function of their values) for the hit share of page lookups in the device cache."""

    def value(*counts: int | None) -> float | None:
        pages = sum(count or 0 for count in counts)
        return (counts[0] or 0) / pages if pages else None

    return tuple(f"cache.{kind}.{name}" for name in ("hits", "partial_hits", "misses")), value


def _share(name: str, *keys: str, of: Callable[..., float | None] | None = None) -> Measure:
    return Measure(name, keys, q.share, "share", of, ratio=False)


def _plain(value: float | None) -> str:
    return q.NONE if value is None else f"{value:.2f}"


def _whole(value: float | None) -> str:
    return q.NONE if value is None else f"{value:,.0f}"


def _area(value: float | None) -> str:
    return q.NONE if value is None else q.area(value)


OF_RUN = (
    # A run has a fixed number of requests, so that its time is as noisy as its IOPS.
    Measure(
        "execution time",
        ("measured.start_ps", "measured.end_ps", "makespan_ps", WANTED),
        q.time,
        "ps",
        _span,
        noise_of="IOPS",
        is_of_length=True,
    ),
    Measure("IOPS", ("iops",), lambda value: q.scaled(value or 0.0), interval="confidence.iops"),
    Measure(
        "bandwidth",
        ("bandwidth_bytes_per_s",),
        lambda value: q.bandwidth(value or 0.0),
        "B/s",
        interval="confidence.bandwidth_bytes_per_s",
    ),
    *(_latency(kind, statistic) for kind in ("all", *KINDS) for statistic in ("mean", "p50", "p99", "p99_9")),
    *(
        _latency(kind, statistic, listed=False)
        for kind in ("all", *KINDS)
        for statistic in ("p95", "p97", "p98", "p99_5", "p99_99", "p99_999")
    ),
    *(_part(part, name) for part, name in PARTS.items()),
    _share("free of path conflicts", "path_conflict.requests_free_share"),
    Measure(
        "write amplification",
        ("write_amplification",),
        _plain,
        ratio=False,
        interval="confidence.write_amplification",
    ),
    Measure("erases", ("gc.erases",), _whole, listed=False),
    Measure("pages reallocated", ("gc.pages_reallocated",), _whole, listed=False),
    _share("map hit share", "mapping_cache.hit_share"),
    _share("written past the SLC cache", "slc.direct_share"),
    Measure("pages folded", ("slc.pages_folded",), _whole, listed=False),
    _share("read cache hit share", *_found("reads")[0], of=_found("reads")[1]),
    _share("write cache hit share", *_found("writes")[0], of=_found("writes")[1]),
    Measure("max slowdown", ("fairness.slowdown_max",), _plain, ratio=False),
    Measure("unfairness", ("fairness.unfairness",), _plain, ratio=False),
    _share("link to the host busy", "utilisation.link_to_host"),
    _share("link to the drive busy", "utilisation.link_to_drive"),
    _share("links busy", "utilisation.links_mean"),
    _share("controllers busy", "utilisation.controllers_mean"),
    _share("dies busy", "utilisation.dies_mean"),
    _share("distance to the bound", "lower_bound.distance"),
    Measure("energy of events", ("power.energy_j.total", WANTED), q.energy, "J", _of_fixed_length, is_of_length=True),
    Measure("average power", ("power.average_w",), q.power, "W"),
    Measure("nominal energy", ("power.nominal_energy_j", WANTED), q.energy, "J", _of_fixed_length, is_of_length=True),
    Measure("nominal power", ("power.nominal_w",), q.power, "W"),
    Measure("links", ("links.names",), _whole, of=lambda names: None if names is None else len(names), ratio=False),
    Measure("wires", ("area.wires",), _whole, is_exact=True),
    _share("link area saved", "area.links_saved_share"),
    Measure("area added in chips", ("area.added_inside_mm2",), _area, "mm2", ratio=False),
    Measure("area beside chips", ("area.added_beside_mm2",), _area, "mm2", ratio=False),
)

MEASURES = tuple(map(of_window, OF_RUN))
"""Measures that tables show; over the measured window if a run has one, else over the whole run."""
NAMES = tuple(measure.name.strip() for measure in MEASURES)
"""Names of measures on the command line."""


def measure_named(name: str) -> Measure:
    """Returns a measure by its name, or any single value of a result or of a stream by its dotted key.

    Raises:
        ConfigError: If no measure or key has this name; the message suggests a similar name.
    """
    from flashmesh.sweeps.results.table import quantity_types

    if name.startswith(STREAM_PREFIXES):
        from flashmesh.report.measures.streams import stream_measure

        return stream_measure(name)
    for measure in MEASURES:
        if measure.name.strip() == name:
            return measure
    types = quantity_types()
    if name not in types and name.replace("-", "_") in types:
        name = name.replace("-", "_")
    if name in types:
        unit = next(unit for key, unit, _ in quantities() if key == name)
        return Measure(name, (name,), in_unit(unit), unit)
    from flashmesh.importers.problems import suggestion

    near = suggestion(name, [*NAMES, *types])
    told = f"did you mean {near!r}?" if near else "flashmesh measures lists them"
    raise ConfigError(f"there is no measure {name!r}: {told}")


BY_UNIT: dict[str, Callable[[float], str]] = {
    "ps": q.time,
    "share": q.share,
    "J": q.energy,
    "W": q.power,
    "B": q.size,
    "B/s": q.bandwidth,
    "mm2": q.area,
}


def in_unit(unit: str) -> Callable[[float | None], str]:
    """Returns the function that formats values in a unit of results as text."""

    def text(value: float | None) -> str:
        if value is None:
            return q.NONE
        if unit in BY_UNIT:
            return BY_UNIT[unit](value)
        return f"{value:.6g}" if isinstance(value, float) else value_text(value)

    return text
