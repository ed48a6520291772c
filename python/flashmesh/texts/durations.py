"""Durations in the notation of configurations."""

from __future__ import annotations

from fractions import Fraction

UNITS_PS = {"ps": 1, "ns": 10**3, "us": 10**6, "ms": 10**9, "s": 10**12}
"""Picoseconds of each unit."""


def time_ps(text: str) -> int:
    """Returns a time of a configuration, such as 10us or 1.5s, in picoseconds."""
    number, unit = text.rstrip("pnums"), text.lstrip("0123456789.")
    return round(Fraction(number) * UNITS_PS[unit])
