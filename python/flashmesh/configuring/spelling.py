"""Python spelling of configurations: underscores in keys, durations in seconds or as `timedelta`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from flashmesh.keys import NAMED, declared, declared_name, key_of

TIMES = ("time", "times")
"""Types of parameters that are durations."""
PS_PER_S = 10**12


def spelt(key: str, value: Any) -> tuple[str, Any]:
    """Converts a key and its value from the spelling of Python to that of configurations."""
    name = key_of(key)
    return name, with_unit(name, value)


def spelt_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Converts settings from the spelling of Python to that of configurations."""
    return dict(spelt(str(key), value) for key, value in settings.items())


def with_unit(key: str, value: Any) -> Any:
    """Returns a value in the spelling of configurations.

    For a key that is a duration, a plain number means seconds, as usual in Python. A policy object becomes its name.
    """
    if key.startswith("policy.") and not isinstance(value, str):
        from flashmesh.policies.names import text_of

        return text_of(value)
    if isinstance(value, timedelta):
        return in_ps(value.total_seconds())
    if isinstance(value, bool | str) or (not isinstance(value, list | tuple) and not is_number(value)):
        return value
    known = declared().get(declared_name(key))
    if known is None or known.type not in TIMES:
        return value
    if isinstance(value, list | tuple):
        return [with_unit(key, each) for each in value]
    return in_ps(float(value))


def is_number(value: Any) -> bool:
    """Returns whether a value is a number, including those of NumPy."""
    return isinstance(value, int | float) or hasattr(value, "__float__")


def in_ps(seconds: float) -> str:
    """Returns a duration in seconds in the spelling of configurations, in picoseconds."""
    return f"{round(seconds * PS_PER_S)}ps"


def spelt_tables(tables: Mapping[str, Any], above: tuple[str, ...] = ()) -> dict[str, Any]:
    """Returns nested tables in the spelling of configurations: dashes in keys, units of values.

    Names of streams and namespaces stay unchanged.
    """
    found: dict[str, Any] = {}
    for key, value in tables.items():
        is_name = len(above) == 1 and above[0] in NAMED
        name = str(key) if is_name else str(key).replace("_", "-")
        path = (*above, name)
        found[name] = spelt_tables(value, path) if isinstance(value, Mapping) else with_unit(".".join(path), value)
    return found
