"""Measurements of drives as a table: a row for each drive and load."""

from __future__ import annotations

import csv
import itertools
import math
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.validation.figures import COLUMNS, KINDS, LATENCIES, Figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

DRIVE, SPACE, OFFERED = "drive", "file_gib", "offered_iops"
BESIDE_IOPS = 5_000.0
"""Rate of all streams together minus `offered_iops`, which counts the writes of the first stream but not its reads."""
ROUNDING = 1.05
"""Maximum ratio of served to requested rate. It may exceed 1, since measurements are finite."""
FIT, HELD_OUT = "fit", "held out"
"""Role of a load that a drive was fitted to, and of any other load of such a drive."""
SERVED_SHARE = 0.98
"""Share of the requested rate below which a drive is saturated."""
UNITS_US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
"""Units of latencies, by the suffix of column names."""
SOURCE = "SSD-iq (Haas and others, VLDB 2025)"


@dataclass(frozen=True)
class Measured:
    """Measurement of a drive at one load."""

    offered_iops: float
    figures: Figures

    @property
    def asked_iops(self) -> float:
        """Requested rate of all streams together."""
        return self.offered_iops + BESIDE_IOPS

    @property
    def is_saturated(self) -> bool:
        """Whether the drive served less than the requested rate."""
        return self.figures.iops < SERVED_SHARE * self.asked_iops


@dataclass(frozen=True)
class Measurements:
    """Measurements of one drive, in ascending order of load."""

    drive: str
    space_gib: float
    points: tuple[Measured, ...]
    source: str = ""

    @property
    def saturation_iops(self) -> float | None:
        """Maximum rate that the drive served; None if no load saturated it."""
        if not any(point.is_saturated for point in self.points):
            return None
        return max(point.figures.iops for point in self.points)


def bundled() -> tuple[Measurements, ...]:
    """Returns the measurements that flashmesh contains. `SOURCE.md` in their folder names the origin."""
    text = files("flashmesh.validation").joinpath("data", "real_drives.csv").read_text(encoding="utf-8")
    return parse(text, "real_drives.csv", SOURCE)


def read(path: Path) -> tuple[Measurements, ...]:
    """Reads a file of measurements. Returns them by drive.

    Raises:
        ConfigError: If the file cannot be read, lacks a column, or has an impossible row.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return parse(text, str(path), path.name)


def parse(text: str, name: str, source: str) -> tuple[Measurements, ...]:
    """Reads the measurements in a text.

    Raises:
        ConfigError: As in `read`.
    """
    rows = csv.DictReader(text.splitlines())
    columns = columns_of([each.strip() for each in rows.fieldnames or ()], name)
    drives: dict[tuple[str, float], list[Measured]] = {}
    for place, cells in cells_of(rows, name):
        space = number(place, SPACE, cells[SPACE])
        point = point_of(place, cells, columns)
        drives.setdefault((cells[DRIVE], space), []).append(point)
    if not drives:
        raise ConfigError(f"{name}: has no measurement: a heading, and then a row for each drive and load")
    return tuple(of_drive(drive, space, points, name, source) for (drive, space), points in drives.items())


def of_drive(drive: str, space: float, points: Sequence[Measured], name: str, source: str) -> Measurements:
    """Returns the measurements of a drive, sorted by load.

    Raises:
        ConfigError: If the table contains a load twice.
    """
    ordered = sorted(points, key=lambda point: point.offered_iops)
    for one, other in itertools.pairwise(ordered):
        if one.offered_iops == other.offered_iops:
            raise ConfigError(f"{name}: {drive} has {one.offered_iops:,.0f} offered IOPS twice: keep one of the rows")
    return Measurements(drive, space, tuple(ordered), source)


def columns_of(heading: Sequence[str], name: str) -> dict[str, tuple[str, float]]:
    """Returns the column of each figure, and the factor from the unit of the column to that of the figure.

    Raises:
        ConfigError: If a column is missing, or has no unit.
    """
    found: dict[str, tuple[str, float]] = {}
    for column in COLUMNS:
        stem = column.removesuffix("_us") if column in LATENCIES else column
        units = UNITS_US if column in LATENCIES else {"": 1.0}
        named = [(f"{stem}_{unit}" if unit else stem, factor) for unit, factor in units.items()]
        there = [(each, factor) for each, factor in named if each in heading]
        if not there and stem in heading:
            raise ConfigError(
                f"{name}: the column {stem} has no unit: name it {stem}_us for microseconds, or {stem}_ns, {stem}_ms"
            )
        if len(there) > 1:
            raise ConfigError(f"{name}: {there[0][0]} and {there[1][0]} have the same meaning: keep one of them")
        if there:
            found[column] = there[0]
    missing = [column for column in (DRIVE, SPACE, OFFERED, *COLUMNS) if column not in (*heading, *found)]
    if missing:
        raise ConfigError(f"{name}: lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}")
    return found


def point_of(place: str, cells: Mapping[str, str], columns: Mapping[str, tuple[str, float]]) -> Measured:
    """Reads a row of the table.

    Raises:
        ConfigError: If a cell is invalid, or the measurements are impossible.
    """
    values = {column: number(place, named, cells[named]) * factor for column, (named, factor) in columns.items()}
    point = Measured(number(place, OFFERED, cells[OFFERED]), Figures(**values))
    require_possible(place, point)
    return point


def require_possible(place: str, point: Measured) -> None:
    """Refuses impossible measurements.

    Raises:
        ConfigError: If more was served than requested, or percentiles are out of order.
    """
    served, asked = point.figures.iops, point.asked_iops
    if point.offered_iops <= BESIDE_IOPS:
        raise ConfigError(
            f"{place}: {OFFERED} is {point.offered_iops:,.0f}: the first thread alone issues 5,000 writes a second, "
            "and the others what is beyond"
        )
    if served > asked * ROUNDING:
        raise ConfigError(
            f"{place}: {served:,.0f} requests a second were served and only {asked:,.0f} asked for: "
            f"{OFFERED} and 5,000 more"
        )
    require_ordered(place, point.figures)


def require_ordered(place: str, figures: Figures) -> None:
    """Refuses a higher percentile with a lower latency.

    Raises:
        ConfigError: If percentiles are out of order.
    """
    for kind in KINDS:
        names = [f"{kind}_p50_us", f"{kind}_p99_us", f"{kind}_p999_us"]
        known = [(name, value) for name in names if (value := figures.value(name)) is not None]
        for (low, below), (high, above) in itertools.pairwise(known):
            if above < below:
                raise ConfigError(f"{place}: {high} is {above:g} and {low} is {below:g}: percentiles do not fall")


def cells_of(table: csv.DictReader[str], name: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the place and the cells of each row.

    Raises:
        ConfigError: If a row has another number of cells than the heading.
    """
    for row in table:
        place = f"{name}:{table.line_num}"
        if None in row or None in row.values():
            raise ConfigError(f"{place}: has another number of cells than the heading")
        yield place, {key.strip(): value.strip() for key, value in row.items()}


def finite(text: str) -> float | None:
    """Returns a finite number; None for any other text."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def number(place: str, column: str, text: str) -> float:
    """Reads a positive number.

    Raises:
        ConfigError: If the cell holds anything else.
    """
    value = finite(text)
    if value is None or value <= 0:
        told = "is empty" if not text else f"is {text!r}"
        raise ConfigError(f"{place}: {column} {told}: expected a number above 0, with the unit in the heading")
    return value


def chosen(known: Sequence[Measurements], drive: str | None, name: str) -> Measurements:
    """Returns the measurements of a drive; `drive` may be None if there is only one.

    Raises:
        ConfigError: If several drives match, or none.
    """
    names = ", ".join(each.drive for each in known)
    if drive is None:
        if len(known) == 1:
            return known[0]
        raise ConfigError(f"{name}: has several drives: choose one with --drive: {names}")
    found = [each for each in known if each.drive == drive]
    if not found:
        raise ConfigError(f"{name}: has no drive {drive!r}: there are {names}")
    if len(found) > 1:
        raise ConfigError(f"{name}: has {drive} with several values of {SPACE}: keep one of them in the file")
    return found[0]
