"""The file of a search: the space of drives, what is wanted of them, and what they must keep to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError, quantities
from flashmesh.report.measures import Measure, measure_named
from flashmesh.sweep.ranges import NUMBER, UNITS
from flashmesh.sweep.sweepfile import config_of, domain, flat, located, read_tables, refuse_unknown, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from flashmesh.sweep.ranges import Range

KEYS = ("config", "set", "space", "objectives", "constraints", "trials", "population", "seed")
DIRECTIONS = ("minimise", "maximise")
BOUND = re.compile(rf"(<=|>=)\s*({NUMBER})\s*([A-Za-z%/0-9]*)")
BOUND_UNITS: dict[str, dict[str, Fraction]] = {
    "ps": UNITS["times"],
    "share": {"": Fraction(1), **UNITS["shares"]},
    "B": UNITS["sizes"],
    "B/s": UNITS["rates"],
    "W": {"W": Fraction(1), "mW": Fraction(1, 1000), "uW": Fraction(1, 10**6)},
    "J": {"J": Fraction(1), "mJ": Fraction(1, 1000), "uJ": Fraction(1, 10**6)},
    "mm2": {"mm2": Fraction(1)},
}
"""Units that a bound may have, by the unit of the measure."""
UNIT_OF = {
    "execution time": "ps",
    "bandwidth": "B/s",
    "energy of events": "J",
    "nominal energy": "J",
    "average power": "W",
    "nominal power": "W",
    "area added in chips": "mm2",
    "area beside chips": "mm2",
}
"""The units of measures with a name of their own, save latencies and shares."""
TRIALS = 100
POPULATION = 20
TRIALS_MAX = 1_000_000


@dataclass(frozen=True)
class Objective:
    """What is to be as small, or as large, as can be."""

    measure: Measure
    direction: str


@dataclass(frozen=True)
class Constraint:
    """What a drive must keep to."""

    measure: Measure
    sign: str
    bound: float
    text: str

    def violation(self, value: float) -> float:
        """How far a value is beyond the bound, as a share of it; 0 or less within."""
        beyond = value - self.bound if self.sign == "<=" else self.bound - value
        return beyond / abs(self.bound) if self.bound else beyond


@dataclass(frozen=True)
class SearchFile:
    """A search as it is written."""

    config: str
    overrides: dict[str, Any]
    space: Mapping[str, Range | Sequence[str]]
    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]
    trials: int
    population: int
    seed: int
    tables: dict[str, Any] = field(repr=False)


def read_search(path: Path) -> SearchFile:
    """Reads a search.

    Raises:
        ConfigError: When it cannot be read, or says what no search is.
    """
    tables = read_tables(path)
    refuse_unknown(path, tables, KEYS)
    overrides = located(flat(tables.get("set", {}), f"{path}: set"), path.parent)
    space = {key: domain(key, value, path.parent) for key, value in table(path, tables, "space").items()}
    if not space:
        raise ConfigError(f"{path}: there is nothing to choose from: name keys and their values in [space]")
    for key in overrides:
        if key in space:
            raise ConfigError(f"{path}: {key} is in [space] and in [set]: drop one of them")
    objectives = [objective(path, name, value) for name, value in table(path, tables, "objectives").items()]
    if not objectives:
        raise ConfigError(
            f'{path}: nothing is wanted: name measures in [objectives], such as "p99 latency" = "minimise"'
        )
    return SearchFile(
        config_of(path, tables),
        overrides,
        space,
        tuple(objectives),
        tuple(constraint(path, name, value) for name, value in table(path, tables, "constraints").items()),
        whole(path, tables, "trials", TRIALS, 1),
        whole(path, tables, "population", POPULATION, 2),
        whole(path, tables, "seed", 0, 0),
        tables,
    )


def whole(path: Path, tables: dict[str, Any], key: str, default: int, least: int) -> int:
    """A whole number of the file.

    Raises:
        ConfigError: When it is none, or out of bounds.
    """
    value = tables.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= TRIALS_MAX:
        raise ConfigError(f"{path}: {key} is a whole number from {least} to {TRIALS_MAX:,}, not {value!r}")
    return value


def objective(path: Path, name: str, value: Any) -> Objective:
    """A line of `[objectives]`.

    Raises:
        ConfigError: When it names no measure, or no direction.
    """
    if value not in DIRECTIONS:
        raise ConfigError(f"{path}: {name}: an objective is {' or '.join(DIRECTIONS)}, not {value!r}")
    return Objective(measure_named(name), value)


def constraint(path: Path, name: str, value: Any) -> Constraint:
    """A line of `[constraints]`.

    Raises:
        ConfigError: When it names no measure, or no bound in its unit.
    """
    found = BOUND.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ConfigError(f'{path}: {name}: a constraint is a bound such as "<= 100us" or ">= 1GB/s", not {value!r}')
    unit = unit_of(name)
    units = BOUND_UNITS.get(unit, {"": Fraction(1)})
    if found[3] not in units:
        told = ", ".join(each or "none" for each in units)
        raise ConfigError(f"{path}: {name}: {value!r} has the wrong unit: there are {told}")
    bound = float(Fraction(found[2].replace("_", "")) * units[found[3]])
    return Constraint(measure_named(name), found[1], bound, value.strip())


def unit_of(name: str) -> str:
    """The unit of a measure; empty for plain numbers.

    Raises:
        ConfigError: When there is no such measure.
    """
    measure = measure_named(name)
    listed = next((unit for key, unit, _ in quantities() if key == name), None)
    if listed is not None:
        return listed
    if measure.kind is not None:
        return "ps"
    return UNIT_OF.get(name, "share" if measure.text is SHARE else "")


SHARE = measure_named("dies busy").text
"""How measures that are shares are written."""
