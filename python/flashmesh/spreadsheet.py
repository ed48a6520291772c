"""Values of CSV files, which may be opened in spreadsheets."""

from __future__ import annotations

from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""First characters by which a spreadsheet recognises a formula, or which it skips before one."""


def cell(value: Any) -> Any:
    """Returns a value as a cell; an apostrophe before a text that looks like a formula makes it a text."""
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return value
