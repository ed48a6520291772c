"""Values in CSV files, which spreadsheets open."""

from __future__ import annotations

from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What a spreadsheet takes for the beginning of a formula, or skips before one."""


def cell(value: Any) -> Any:
    """A value as a cell: an apostrophe before a text that a spreadsheet would compute has it taken as a text."""
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return value
