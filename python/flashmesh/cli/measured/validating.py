"""Drives of `flashmesh validate`, each with its measurements and its data sheet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from flashmesh._native import ConfigError
from flashmesh.configuration import PRESET_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from flashmesh.validation.drives import Drive
    from flashmesh.validation.engine import Subject
    from flashmesh.validation.tables.measurements import Measurements
    from flashmesh.validation.tables.sheets import SheetRow

BUNDLED = "the measurements"
"""Name that errors use for the bundled measurements."""


@dataclass(frozen=True)
class Held:
    """Sources of the figures with which drives are compared."""

    points: Path | None
    """File of measurements; None for the bundled ones or, if there is a data sheet, for no measurements."""
    data_sheet: Path | None
    """Table of data-sheet rows; None for the bundled ones."""
    drive: str | None
    """Name of the drive in the tables; None for the drive of the preset, or for the only drive."""
    software_time: str | None
    """Host software time that overrides that of the preset; None to keep it."""
    with_hot_pages: bool
    """Whether to simulate writes to hot pages. Their runs are long: they overwrite the drive several times."""


def subjects_of(names: tuple[str, ...], held: Held) -> list[Subject]:
    """Returns the named drives with their measurements and rows.

    Args:
        names: Presets and configuration files; empty for all presets with measurements.
        held: The figures.

    Raises:
        ConfigError: If no drive is named and no preset is measured, or the measurements of a drive are unknown.
    """
    from flashmesh.validation.drives import drives, software_us
    from flashmesh.validation.loads.rows import kind_of, rows_of
    from flashmesh.validation.loads.skew import KIND as SKEW

    listed = names or tuple(name for name, each in drives().items() if each.is_there)
    if not listed:
        raise ConfigError("no preset has measurements: name a configuration, and the measured drive with --drive")
    known = known_measurements(held)
    found = [subject_of(name, known, held) for name in dict.fromkeys(listed)]
    if held.points is None and held.data_sheet is None:
        found = [replace(each, rows=rows_of(each.measurements.drive)) for each in found]
    if not held.with_hot_pages:
        found = [replace(each, rows=tuple(row for row in each.rows if kind_of(row) != SKEW)) for each in found]
    if held.software_time is not None:
        added = software_us("--software-time", held.software_time)
        found = [replace(each, software_us=added) for each in found]
    return found


def warn_of_contradictions(rows: Iterable[SheetRow]) -> None:
    """Prints a warning on stderr for each two data-sheet rows with figures that no drive can have together."""
    from flashmesh.validation.judging.contradictions import contradictions

    for text in contradictions([*rows]):
        click.echo(f"warning: {text}", err=True)


def known_measurements(held: Held) -> Sequence[Measurements]:
    """Returns the measurements of all drives: from the user's table or data sheet, or else the bundled ones.

    Measurements from a data sheet have no loads.
    """
    from flashmesh.validation.tables.measurements import Measurements, bundled, read
    from flashmesh.validation.tables.sheets import read_rows
    from flashmesh.validation.tables.sweeps import measured

    if held.points is not None:
        return read(held.points)
    if held.data_sheet is not None:
        named = dict.fromkeys(row.drive for row in read_rows(held.data_sheet))
        return [Measurements(drive, None, (), held.data_sheet.name) for drive in named]
    return (*bundled(), *measured())


def subject_of(name: str, known: Sequence[Measurements], held: Held) -> Subject:
    """Returns a drive with its measurements and the rows of the user's data sheet.

    Args:
        name: A preset, `preset:NAME` or a configuration file.
        known: The measurements of all drives.
        held: The figures.

    Raises:
        ConfigError: If its measurements are unknown.
    """
    from flashmesh.configuring.missing import refuse_what_is_no_configuration
    from flashmesh.validation.drives import drives
    from flashmesh.validation.engine import Subject
    from flashmesh.validation.tables.measurements import chosen
    from flashmesh.validation.tables.sheets import chosen_rows

    preset = name.removeprefix(PRESET_PREFIX)
    declared = drives().get(preset)
    if declared is None and not name.startswith(PRESET_PREFIX):
        refuse_what_is_no_configuration(name)
    measurements = chosen(known, drive_name(declared, known, held), str(held.points or held.data_sheet or BUNDLED))
    rows = () if held.data_sheet is None else chosen_rows(held.data_sheet, measurements.drive)
    if declared is None:
        return Subject(name, name, measurements, rows=rows)
    return Subject(preset, f"{PRESET_PREFIX}{preset}", measurements, declared, declared.software_us, rows)


def drive_name(declared: Drive | None, known: Sequence[Measurements], held: Held) -> str | None:
    """Returns the name of a drive in the measurements; None for the only drive in them."""
    if held.drive is None and declared is not None and any(each.drive == declared.measured for each in known):
        return declared.measured
    return held.drive


def is_file(subject: Subject) -> bool:
    """Returns whether the drive is a configuration file of the user, not a preset."""
    return not str(subject.config).startswith(PRESET_PREFIX)
