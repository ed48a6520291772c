"""Configurations as readable TOML: tables in a given order, with comments."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import tomli_w

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Value: TypeAlias = "str | bool | int | float | Sequence[Value]"
"""Value of a key."""


def value_text(value: Value) -> str:
    """Returns a value in TOML notation, on one line."""
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return tomli_w.dumps({"value": value}).removeprefix("value = ").strip()
    return f"[{', '.join(map(value_text, value))}]"


def toml_text(heading: Iterable[str], settings: Iterable[tuple[str, Value, str]]) -> str:
    """Returns the text of a TOML file.

    Args:
        heading: The lines of the comment at the top.
        settings: Dotted keys with their values and comments. Keys of one table keep their order; tables are in the
            order of their first key.
    """
    tables: dict[str, list[str]] = {"": []}
    for key, value, remark in settings:
        table, _, name = key.rpartition(".")
        line = f"{name} = {value_text(value)}"
        tables.setdefault(table, []).append(f"{line}  # {remark}" if remark else line)
    parts = ["\n".join(f"# {line}".rstrip() for line in heading)]
    for table, lines in tables.items():
        if lines:
            parts.append("\n".join([f"[{table}]", *lines] if table else lines))
    return "\n\n".join(parts) + "\n"


def size(count: int) -> str:
    """Returns a number of bytes in the notation of configurations, with the largest unit that divides it."""
    for factor, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if count and count % factor == 0:
            return f"{count // factor}{unit}"
    return f"{count}B"


def nanoseconds(count: int) -> str:
    """Returns a number of nanoseconds in the notation of configurations, with the largest unit that divides it."""
    for factor, unit in ((10**9, "s"), (10**6, "ms"), (10**3, "us")):
        if count and count % factor == 0:
            return f"{count // factor}{unit}"
    return f"{count}ns"


def rate(bytes_per_second: int) -> str:
    """Returns a rate in bytes per second in the notation of configurations, with the largest unit that divides it."""
    for factor, unit in ((10**9, "GB/s"), (10**6, "MB/s"), (10**3, "kB/s")):
        if bytes_per_second and bytes_per_second % factor == 0:
            return f"{bytes_per_second // factor}{unit}"
    return f"{bytes_per_second}B/s"
