"""Headings and cells of tables of rows, and the errors about them, which name the place and what is allowed."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.validation.tables.measurements import OFFERED, cells_of, finite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def table_cells(text: str, name: str, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the place (`file:line`) and the cells of each row of a CSV table.

    Raises:
        ConfigError: If a column is missing, a row has another number of cells than the heading, or there are no rows.
    """
    table = csv.DictReader(text.splitlines())
    heading = [each.strip() for each in table.fieldnames or ()]
    require_columns(f"{name}:{max(table.line_num, 1)}", heading, columns)
    place = None
    for place, cells in cells_of(table, name):
        yield place, cells
    if place is None:
        raise ConfigError(f"{name}: has no rows: expected a heading, and rows below it")


def require_columns(place: str, heading: Sequence[str], columns: Sequence[str]) -> None:
    """Refuses a heading that lacks a column or has a column twice. Other columns are allowed.

    Raises:
        ConfigError: If the heading is refused. The message lists all columns.
    """
    if OFFERED in heading and OFFERED not in columns:
        raise ConfigError(
            f"{place}: has the column {OFFERED}: this is a table of measurements, not of data-sheet rows: "
            "`flashmesh validate` takes it with --points, `flashmesh calibrate` as MEASURED"
        )
    twice = [column for column in columns if heading.count(column) > 1]
    if twice:
        raise ConfigError(f"{place}: has the column {twice[0]} twice: keep one of them")
    missing = [column for column in columns if column not in heading]
    if missing:
        unknown = ", ".join(repr(column) for column in heading if column not in columns)
        raise ConfigError(
            f"{place}: lacks the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}: "
            f"the columns are {', '.join(columns)}{f'; not read: {unknown}' if unknown else ''}"
        )


def one_of(place: str, column: str, text: str, known: tuple[str, ...]) -> str:
    """Returns the text of a cell, which must be one of the known words.

    Raises:
        ConfigError: If the cell has any other text.
    """
    if text not in known:
        raise ConfigError(f"{place}: {column} is {text!r}: there are {', '.join(known)}")
    return text


def number(place: str, column: str, text: str, expected: str = "a number") -> float:
    """Returns the number in a cell, which must be finite. `expected` describes allowed numbers in the error.

    Raises:
        ConfigError: If the cell holds anything else.
    """
    value = finite(text)
    if value is None:
        raise ConfigError(f"{place}: {column} is {text!r}: expected {expected}")
    return value
