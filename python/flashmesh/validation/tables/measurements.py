"""Table of measurements of real drives: a row for each drive and load."""

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
"""Rate of the reads of the first stream, which `offered_iops` does not include."""
ROUNDING = 1.05
"""Maximum ratio of served to requested rate. The ratio may exceed 1, since measurements are of finite length."""
FIT, HELD_OUT = "fit", "held out"
"""Roles of the loads of a fitted drive: used in the fit, or not."""
SERVED_SHARE = 0.98
"""Ratio of served to requested rate below which a drive is saturated."""
UNITS_US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
"""Microseconds in each unit of latencies, by the suffix of column names."""
SOURCE = "SSD-iq (Haas and others, VLDB 2025)"


@dataclass(frozen=True)
class Measured:
    """Measured figures of a drive at one load."""

    offered_iops: float
    figures: Figures

    @property
    def asked_iops(self) -> float:
        """Requested rate of all streams together, reads included."""
        return self.offered_iops + BESIDE_IOPS

    @property
    def is_saturated(self) -> bool:
        """Whether the drive served clearly less than the requested rate."""
        return self.figures.iops < SERVED_SHARE * self.asked_iops


@dataclass(frozen=True)
class Measurements:
    """Measurements of one drive, in ascending order of load."""

    drive: str
    space_gib: float | None
    """Accessed space in GiB; None for a data sheet, which has loads of the whole drive only."""
    points: tuple[Measured, ...]
    source: str = ""

    @property
    def saturation_iops(self) -> float | None:
        """Maximum rate that the drive served; None if no load saturated the drive."""
        if not any(point.is_saturated for point in self.points):
            return None
        return max(point.figures.iops for point in self.points)


def bundled() -> tuple[Measurements, ...]:
    """Returns the bundled measurements. `SOURCE.md` in the folder `data` names their origin."""
    text = files("flashmesh.validation").joinpath("data", "real_drives.csv").read_text(encoding="utf-8")
    return parse(text, "real_drives.csv", SOURCE)


def read(path: Path) -> tuple[Measurements, ...]:
    """Reads a file of measurements. Returns the measurements of each drive.

    Raises:
        ConfigError: If the file cannot be read, lacks a column, or has an impossible row.
    """
    return parse(text_of(path), str(path), path.name)


def text_of(path: Path) -> str:
    """Returns the text of a table.

    Raises:
        ConfigError: If the file cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def parse(text: str, name: str, source: str) -> tuple[Measurements, ...]:
    """Parses a CSV table of measurements. Returns the measurements of each drive.

    Args:
        text: The table.
        name: The name of the table in errors.
        source: The origin of the measurements, for reports.

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
        raise ConfigError(f"{name}: has no measurements: expected a heading, then a row for each drive and load")
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
    """Returns, for each figure, its column in the table, and the factor that converts it to microseconds (1 for rates).

    Raises:
        ConfigError: If a column is missing, has no unit, or is there in two units.
    """
    if {"statistic", "outstanding"} <= set(heading):
        raise ConfigError(
            f"{name}: has the columns statistic and outstanding: this is a data sheet, not a table of measurements: "
            "give it with --data-sheet"
        )
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
    """Returns the measured load in a row of the table, whose cells are given by the name of their column.

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
        ConfigError: If the offered load does not exceed the writes of the first stream, more was served than requested,
            or percentiles decrease.
    """
    served, asked = point.figures.iops, point.asked_iops
    if point.offered_iops <= BESIDE_IOPS:
        raise ConfigError(
            f"{place}: {OFFERED} is {point.offered_iops:,.0f}: the first thread alone issues 5,000 writes a second, "
            "so expected more"
        )
    if served > asked * ROUNDING:
        raise ConfigError(
            f"{place}: {served:,.0f} requests a second were served and only {asked:,.0f} requested: "
            f"{OFFERED} plus 5,000"
        )
    require_ordered(place, point.figures)


def require_ordered(place: str, figures: Figures) -> None:
    """Refuses percentiles that decrease.

    Raises:
        ConfigError: If a higher percentile has a lower latency.
    """
    for kind in KINDS:
        names = [f"{kind}_p50_us", f"{kind}_p99_us", f"{kind}_p999_us"]
        known = [(name, value) for name in names if (value := figures.value(name)) is not None]
        for (low, below), (high, above) in itertools.pairwise(known):
            if above < below:
                raise ConfigError(f"{place}: {high} is {above:g} and {low} is {below:g}: percentiles must not decrease")


def cells_of(table: csv.DictReader[str], name: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the place (`file:line`) and the cells of each row.

    Raises:
        ConfigError: If a row does not have as many cells as the heading.
    """
    for row in table:
        place = f"{name}:{table.line_num}"
        if None in row or None in row.values():
            cells = sum(value is not None for key, value in row.items() if key is not None) + len(row.get(None) or ())
            raise ConfigError(
                f"{place}: has another number of cells than the heading: {cells}, not {len(table.fieldnames or ())}; "
                "a number has no separators of thousands, and a text with a comma needs double quotes"
            )
        yield place, {key.strip(): value.strip() for key, value in row.items()}


def finite(text: str) -> float | None:
    """Returns the finite number in a text; None for any other text."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def number(place: str, column: str, text: str) -> float:
    """Returns the number in a cell, which must be positive.

    Raises:
        ConfigError: If the cell holds anything else.
    """
    value = finite(text)
    if value is None or value <= 0:
        told = "is empty" if not text else f"is {text!r}"
        raise ConfigError(f"{place}: {column} {told}: expected a number above 0, with the unit in the heading")
    return value


def chosen(known: Sequence[Measurements], drive: str | None, name: str) -> Measurements:
    """Returns the measurements of the named drive, or of the only drive if `drive` is None.

    Raises:
        ConfigError: If no drive or several drives match.
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
