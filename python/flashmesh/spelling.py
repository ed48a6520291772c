"""Configurations the way Python writes them: underscores in keys, durations as numbers of seconds or as `timedelta`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from flashmesh.keys import NAMED, declared, declared_name, key_of

TIMES = ("time", "times")
"""The types of parameters that are durations."""
PS_PER_S = 10**12


def spelt(key: str, value: Any) -> tuple[str, Any]:
    """A setting as configurations spell it."""
    name = key_of(key)
    return name, with_unit(name, value)


def spelt_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as configurations spell them."""
    return dict(spelt(str(key), value) for key, value in settings.items())


def with_unit(key: str, value: Any) -> Any:
    """A value with the unit of its key: a number for a duration is in seconds, as everywhere in Python.

    A policy is spelt by its name.
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
    """Whether a value is a number, NumPy's among them."""
    return isinstance(value, int | float) or hasattr(value, "__float__")


def in_ps(seconds: float) -> str:
    """A duration as configurations spell it."""
    return f"{round(seconds * PS_PER_S)}ps"


def spelt_tables(tables: Mapping[str, Any], above: tuple[str, ...] = ()) -> dict[str, Any]:
    """Nested tables as configurations spell them; names of streams and namespaces stay as they are."""
    found: dict[str, Any] = {}
    for key, value in tables.items():
        is_name = len(above) == 1 and above[0] in NAMED
        name = str(key) if is_name else str(key).replace("_", "-")
        path = (*above, name)
        found[name] = spelt_tables(value, path) if isinstance(value, Mapping) else with_unit(".".join(path), value)
    return found
