"""Rows: figures of a real drive, each measured at one load.

There are three kinds: figures of data sheets, sweeps and mixes, and rates of writes to hot pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.validation.loads import skew
from flashmesh.validation.loads.skew import SkewLoad, SkewRow, with_skew
from flashmesh.validation.loads.sweep_workload import with_sweep
from flashmesh.validation.loads.workload import Extent, with_row
from flashmesh.validation.tables import sheets, sweeps
from flashmesh.validation.tables.sheets import FILL, EmptyDriveLoad, SheetLoad, SheetRow
from flashmesh.validation.tables.sweeps import DATA_SHEET, SweepLoad, SweepRow

if TYPE_CHECKING:
    from collections.abc import Mapping


def rows_of(drive: str) -> tuple[SheetRow, ...]:
    """Returns the bundled rows (data sheets, sweeps, hot pages) of the drive named `drive` in the measurements."""
    return (*sheets.rows_of(drive), *sweeps.rows_of(drive), *skew.rows_of(drive))


def kind_of(row: SheetRow) -> str:
    """Returns the kind of a row (figure of a single load), such as `skew`; `DATA_SHEET` for figures of data sheets."""
    return row.kind if isinstance(row, (SweepRow, SkewRow)) else DATA_SHEET


def name_of(row: SheetRow) -> str:
    """Returns the name of the load of a row, with the origin of its value, such as `data sheet`."""
    return f"{row.load.title}, {row.reference}" if isinstance(row.load, SweepLoad) else f"{row.what} {row.reference}"


def row_from_document(document: Mapping[str, Any]) -> SheetRow:
    """Returns a row from its JSON object."""
    names = ("drive", "what", "reference", "value", "unit", "statistic")
    row = {name: document[name] for name in names}
    kind = document.get("kind", DATA_SHEET)
    if kind == skew.KIND:
        return SkewRow(**row, load=SkewLoad(**document["load"]))
    if "kind" in document:
        return SweepRow(**row, load=SweepLoad(**document["load"]), kind=kind, of=document["of"])
    load = document["load"]
    return SheetRow(**row, load=EmptyDriveLoad(**load) if FILL in load else SheetLoad(**load))


def software_us(load: object, otherwise: float) -> float:
    """Returns the host software time to add to latencies, in microseconds.

    This is the time of the measured host of a sweep; for other loads, which name no host, it is `otherwise`.
    """
    return load.host_us if isinstance(load, SweepLoad) else otherwise


def with_single_load(tables: Mapping[str, Any], load: SheetLoad, extent: Extent, software_us: float) -> dict[str, Any]:
    """Returns the configuration of a drive under the load of a row (figure of a single load).

    Args:
        tables: The drive, from `drive_tables`.
        load: The load.
        extent: The length of the runs of measured loads, which limits the length of this run; unused for hot pages.
        software_us: The host software time between a completion and the next request, in microseconds. Loads of
            sweeps have the time of their measured host instead.
    """
    if isinstance(load, SkewLoad):
        return with_skew(tables, load, software_us)
    if isinstance(load, SweepLoad):
        return with_sweep(tables, load, extent)
    return with_row(tables, load, extent, software_us)
