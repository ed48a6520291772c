"""Measured rates of random writes, a fixed share of which goes to the hot pages.

The drive is written once in order, and then overwritten several times. Hot pages are scattered over the whole drive and
share their blocks with cold ones until collections have separated them, so the rate settles only after several
overwrites. The runs simulate a smaller model of the drive, whose rate settles after as many overwrites.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.sweeps.inputs.ranges import quantity
from flashmesh.validation.loads.workload import MIB, capacity_bytes, closed_loop
from flashmesh.validation.tables.cells import number, table_cells
from flashmesh.validation.tables.sheets import (
    RATE,
    REQUEST_RATE,
    ROW_PRECISION,
    SheetLoad,
    SheetRow,
    load_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flashmesh.validation.figures import Figures

FILE = "skew.csv"
KIND = "skew"
TITLE = "Hot pages"
COLUMNS = ("drive", "source", "request_size", "outstanding", "hot_share", "hot_traffic", "overwrites", "iops")
"""Columns of `skew.csv`."""
MODEL = 4
"""Factor by which the model of a drive has fewer channels, blocks per plane, and pages per block.

A larger factor would distort the results: with fewer pages, the last program of each collected block would be emptier;
with fewer blocks, open blocks would take a larger share of the spare space.
"""
DIVIDED = ("channels", "blocks-per-plane", "pages-per-block")
"""Keys of `[geometry]` that `MODEL` divides."""
OVERWRITES_BEFORE = 3.0
"""Overwrites of the model before its measurement begins. The request rate is steady by then.

Real drives were measured from 60 to 97 % of their written bytes, so that 3.0 or 5.4 overwrites came before.
"""
MEASURED_TO = 0.97
"""Share of the written bytes after which the measurement of a real drive ended, and a run ends at the latest."""
BLOCKS_MIN = 400
"""Minimum blocks of a plane of the drive, so that the model has room for open and reserved blocks."""
SKEW_SENTENCE = (
    "Random writes of 4 KiB after the drive was written once in order, of which the hot pages get a fixed share. Hot "
    "pages are scattered over the whole drive. The rate is measured once the drive has been written over three times. "
    f"The simulated drive has 1 / {MODEL} of the channels, of the blocks of a plane, and of the pages of a "
    f"block; its rate is multiplied by {MODEL}."
)
"""Sentences on a page that describe the loads of the table of writes to hot pages."""


@dataclass(frozen=True)
class SkewLoad(SheetLoad):
    """Closed loop of random writes, a share of which goes to the hot pages."""

    hot_share: float
    """Share of the pages that are hot."""
    hot_traffic: float
    """Share of the writes that go to hot pages."""
    overwrites: float
    """Written bytes of the measured run, as a multiple of the capacity."""

    @property
    def label(self) -> str:
        """Label of the run in progress lines and errors."""
        return f"{super().label}, {self.title}"

    @property
    def title(self) -> str:
        """Text with the share of the hot pages and the share of the writes to them."""
        return f"{100 * self.hot_share:g} % of the pages get {100 * self.hot_traffic:g} % of the writes"


@dataclass(frozen=True)
class SkewRow(SheetRow):
    """A measured rate of writes to hot pages."""

    load: SkewLoad
    kind: str = KIND

    @property
    def tolerance_name(self) -> str:
        """Name of the tolerance of the row."""
        return KIND

    def value_of(self, figures: Figures) -> float:
        """Returns the request rate of the drive, from the simulated figures of its model."""
        return figures.iops * MODEL


@cache
def bundled() -> tuple[SkewRow, ...]:
    """Returns the bundled rows. `SOURCE.md` in the folder `data` names their origin."""
    return parse(files("flashmesh.validation").joinpath("data", FILE).read_text(encoding="utf-8"), FILE)


def rows_of(drive: str) -> tuple[SkewRow, ...]:
    """Returns the bundled rows of the drive with the name `drive` in the measurements."""
    return tuple(row for row in bundled() if row.drive == drive)


def parse(text: str, name: str) -> tuple[SkewRow, ...]:
    """Parses a CSV table of rates of writes to hot pages.

    Raises:
        ConfigError: If a column is missing, a row is invalid or repeated, or there are no rows.
    """
    rows: list[SkewRow] = []
    for place, cells in table_cells(text, name, COLUMNS):
        row = row_of(place, cells)
        if any((row.drive, row.load) == (each.drive, each.load) for each in rows):
            raise ConfigError(f"{place}: {row.drive} has {row.load.label} twice: keep one of the rows")
        rows.append(row)
    return tuple(rows)


def row_of(place: str, cells: Mapping[str, str]) -> SkewRow:
    """Parses a row of `skew.csv`, and checks that the model of the drive can simulate it.

    Raises:
        ConfigError: If a cell is invalid.
    """
    for column in ("drive", "source"):
        if not cells[column]:
            raise ConfigError(f"{place}: {column} is empty")
    loop = load_of(place, {**cells, "read_share": "0", "pattern": "random"})
    share, traffic, overwrites, iops = (number(place, column, cells[column]) for column in COLUMNS[4:])
    if not 0 < share < 1 or (1 / share) % 1:
        raise ConfigError(f"{place}: hot_share is {cells['hot_share']!r}: expected 1 / N of the pages, such as 0.1")
    if not 0 < traffic <= 1:
        raise ConfigError(f"{place}: hot_traffic is {cells['hot_traffic']!r}: expected more than 0, at most 1")
    if overwrites * MEASURED_TO <= OVERWRITES_BEFORE:
        least = f"more than {OVERWRITES_BEFORE / MEASURED_TO:.1f}"
        raise ConfigError(
            f"{place}: overwrites is {cells['overwrites']!r}: expected {least}, after which a rate settles"
        )
    if iops <= 0:
        raise ConfigError(f"{place}: iops is {cells['iops']!r}: expected a number above 0")
    if loop.outstanding % MODEL:
        raise ConfigError(f"{place}: outstanding is {loop.outstanding}: expected a multiple of {MODEL}")
    load = SkewLoad(0.0, loop.request_bytes, loop.pattern, loop.outstanding, share, traffic, overwrites)
    return SkewRow(cells["drive"], load.title, cells["source"], iops, REQUEST_RATE, load, RATE)


def with_skew(tables: Mapping[str, Any], load: SkewLoad, software_us: float) -> dict[str, Any]:
    """Returns the configuration of a model of a drive with a load of hot pages.

    The measurement begins after `OVERWRITES_BEFORE` overwrites, and ends at `ROW_PRECISION` of the request rate.

    Args:
        tables: The drive, from `drive_tables`.
        load: The load.
        software_us: The host software time between a completion and the next request, in microseconds.

    Raises:
        ConfigError: If the drive cannot be divided into a model.
    """
    loaded = small_model(tables)
    writes = load.overwrites * capacity_bytes(loaded) / load.request_bytes
    loaded["workload"] = {
        "kind": "synthetic",
        "pattern": "hot-stride",
        "hot-stride": round(1 / load.hot_share),
        "hot-traffic": load.hot_traffic,
        "alignment": f"{load.request_bytes}B",
        "read-share": 0.0,
        "request-size": f"{load.request_bytes}B",
        "requests": round(writes * MEASURED_TO),
    }
    outstanding = load.outstanding // MODEL
    loaded["replay"] = closed_loop(outstanding, software_us)
    loaded["host"] = {**tables["host"], "queue-depth": outstanding}
    loaded["measure"] = {
        **tables["measure"],
        "warm-up": "requests",
        "warm-up-requests": round(OVERWRITES_BEFORE * capacity_bytes(loaded) / load.request_bytes),
        "precision": ROW_PRECISION,
        "precision-of": "iops",
    }
    loaded["precondition"] = {**tables["precondition"], "kind": "sequential", "fill": 1.0}
    return loaded


def small_model(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a model of a drive with fewer channels, blocks and pages, and the same share of spare space.

    The write buffer has 1 / `MODEL` of its size, and its throttle 1 / `MODEL` of its rate. Link and firmware are those
    of the drive.

    Raises:
        ConfigError: If the drive cannot be divided.
    """
    geometry, cache = dict(tables["geometry"]), dict(tables["cache"])
    for key in ("channels", "pages-per-block"):
        if geometry[key] % MODEL:
            raise ConfigError(f"geometry.{key} is {geometry[key]}: expected a multiple of {MODEL}")
    if geometry["blocks-per-plane"] < BLOCKS_MIN:
        raise ConfigError(f"geometry.blocks-per-plane is {geometry['blocks-per-plane']}: expected {BLOCKS_MIN} or more")
    if "destage-stripe" in cache:
        raise ConfigError("cache.destage-stripe is set: expected none, because a stripe spans the dies of all channels")
    before = math.prod(geometry[key] for key in DIVIDED)
    for key in DIVIDED:
        geometry[key] //= MODEL
    after = math.prod(geometry[key] for key in DIVIDED)
    if "capacity" in geometry:
        geometry["capacity"] = f"{capacity_bytes(tables) * after // before // MIB * MIB}B"
    cache["capacity"] = f"{int(quantity('cache.capacity', cache['capacity']).value) // MODEL}B"
    if "throttle-interval" in cache:
        interval = quantity("cache.throttle-interval", cache["throttle-interval"])
        cache["throttle-interval"] = f"{int(interval.value) * MODEL}ps"
    return {**tables, "geometry": geometry, "cache": cache}
