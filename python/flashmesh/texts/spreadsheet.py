"""Values of CSV files, which may be opened in spreadsheets."""

from __future__ import annotations

from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""First characters of formulas in a spreadsheet, and characters that it skips before a formula."""


def cell(value: Any) -> Any:
    """Returns the value of a CSV cell. A text that looks like a formula gets an apostrophe, which marks it as text."""
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return value
