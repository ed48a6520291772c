"""Search file: the space of drives, the objectives and the constraints."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.configuring.spare_space import KEEP
from flashmesh.keys import declared, declared_name, key_of, misfit
from flashmesh.report.measures.measure import Measure, measure_named
from flashmesh.sweeps.inputs.ranges import NUMBER, UNITS, number_of
from flashmesh.sweeps.inputs.sweepfile import config_of, domain, keep_of, settings_of, table
from flashmesh.sweeps.inputs.tomlfile import TomlFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from flashmesh.sweeps.inputs.ranges import Range

KEYS = ("config", "keep", "set", "space", "objectives", "constraints", "trials", "population", "seed")
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
"""Units of a bound with their factors, by the unit of the bounded measure."""
EXAMPLE_UNITS = {"ps": "us", "B": "KiB", "B/s": "MB/s", "W": "W", "J": "mJ", "mm2": "mm2"}
"""Unit in an example that an error shows, by the unit of the measure."""
TRIALS = 100
POPULATION = 20
TRIALS_MAX = 1_000_000


@dataclass(frozen=True)
class Objective:
    """A measure to minimise or maximise."""

    measure: Measure
    direction: str


@dataclass(frozen=True)
class Constraint:
    """A bound on a measure that a drive must meet."""

    measure: Measure
    sign: str
    bound: float
    text: str

    def violation(self, value: float) -> float:
        """Returns how far a value is beyond the bound, as a share of the bound; at most 0 if the bound is met."""
        beyond = value - self.bound if self.sign == "<=" else self.bound - value
        return beyond / abs(self.bound) if self.bound else beyond


@dataclass(frozen=True)
class SearchFile:
    """Contents of a search file."""

    config: str
    overrides: dict[str, Any]
    space: Mapping[str, Range | Sequence[str]]
    objectives: tuple[Objective, ...]
    constraints: tuple[Constraint, ...]
    trials: int
    population: int
    seed: int
    file: TomlFile = field(repr=False)
    keep: str = KEEP[0]
    """The quantity that stays constant if drives of the space differ in raw capacity."""


def read_search(path: Path, trust_policies: bool = False) -> SearchFile:
    """Reads a search file.

    Args:
        path: The file.
        trust_policies: Whether the file may name policies, whose code then runs.

    Raises:
        ConfigError: If the file cannot be read, or is not a valid search.
    """
    file = TomlFile(path, trust_policies)
    file.refuse_unknown(KEYS)
    overrides = settings_of(file)
    space: dict[str, Range | list[str]] = {}
    for key, value in table(file, "space").items():
        with file.at("space", key):
            space[key_of(key)] = domain(key, value, file)
            refuse_misfit(key_of(key), space[key_of(key)])
    if not space:
        raise ConfigError(f"{path}: there is nothing to choose from: name keys and their values in [space]")
    for key in overrides:
        if key in space:
            lines = file.lines(key, None, is_key=True) or []
            raise ConfigError("\n".join([f"{key} is in [space] and in [set]: drop one of them", *lines]))
    objectives: list[Objective] = []
    for name, value in table(file, "objectives").items():
        objectives.append(objective(file, name, value))
    if not objectives:
        raise ConfigError(
            f'{path}: there is no objective: name measures in [objectives], such as "p99 latency" = "minimise"'
        )
    return SearchFile(
        config_of(file),
        overrides,
        space,
        tuple(objectives),
        tuple(constraint(file, name, value) for name, value in table(file, "constraints").items()),
        whole(file, "trials", TRIALS, 1),
        whole(file, "population", POPULATION, 2),
        whole(file, "seed", 0, 0),
        file,
        keep_of(file),
    )


def refuse_misfit(key: str, domain: Range | list[str]) -> None:
    """Refuses a range or list with values that a key can never have, since every trial with one of them would fail.

    Raises:
        ConfigError: If the key cannot have one of the values.
    """
    known = declared().get(declared_name(key))
    for value in domain if isinstance(domain, list) else []:
        found = misfit(known, value) if known is not None and known.choices else None
        if found is not None:
            raise ConfigError(f"{key}: {found}")


def whole(file: TomlFile, key: str, default: int, least: int) -> int:
    """Returns a whole number of the file, or `default` if the key is missing.

    Raises:
        ConfigError: If the value is not a whole number, or out of bounds.
    """
    value = file.tables.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= TRIALS_MAX:
        raise file.problem((key,), f"{key} is a whole number from {least} to {TRIALS_MAX:,}, not {value!r}")
    return value


def objective(file: TomlFile, name: str, value: Any) -> Objective:
    """Reads a line of `[objectives]`.

    Raises:
        ConfigError: If the line has no known measure or no direction.
    """
    if value not in DIRECTIONS:
        raise file.problem(("objectives", name), f"an objective is {' or '.join(DIRECTIONS)}, not {value!r}")
    with file.at("objectives", name, part="key"):
        return Objective(measure_named(name), value)


def constraint(file: TomlFile, name: str, value: Any) -> Constraint:
    """Reads a line of `[constraints]`.

    Raises:
        ConfigError: If the line has no known measure, or no bound in the unit of the measure.
    """
    place = ("constraints", name)
    found = BOUND.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise file.problem(place, f'a constraint is a bound such as "<= 100us" or ">= 1GB/s", not {value!r}')
    with file.at(*place, part="key"):
        measure = measure_named(name)
    units = BOUND_UNITS.get(measure.unit, {"": Fraction(1)})
    if found[3] not in units:
        told = ", ".join(units)
        like = EXAMPLE_UNITS.get(measure.unit, "")
        if not found[3]:
            message, remedy = f"{value!r} has no unit: it needs one of {told}", f"write {value.strip()}{like}"
        elif units == {"": Fraction(1)}:
            message, remedy = f"{value!r} has the wrong unit: {name} has none", f"write {found[1]} {found[2]}"
        else:
            message, remedy = f"{value!r} has the wrong unit: there are {told or 'none'}", ""
        raise file.problem(place, message, remedy)
    with file.at(*place):
        bound = float(number_of(name, found[2]) * units[found[3]])
    return Constraint(measure, found[1], bound, value.strip())
