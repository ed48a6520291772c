"""Axes of a comparison: the varied keys and their values."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from flashmesh._native import ConfigError
from flashmesh.configuration import value_text
from flashmesh.configuring.spelling import with_unit
from flashmesh.keys import key_of

Value: TypeAlias = bool | int | float | str
"""Value of an axis: a number or truth value if possible, otherwise a text."""

VALUES_MAX = 1_000_000
"""Maximum number of values of an axis; equal to the maximum number of points of a sweep."""
DECIDED_BY = {
    "seed": ("seed",),
    "trace": ("workload.trace", "workload.profile", "workload.kind"),
    "profile": ("workload.profile", "workload.trace", "workload.kind"),
    "fio": ("workload.kind", "workload.trace", "workload.profile"),
    "tolerate": ("workload.tolerate",),
}
"""Configuration keys that each argument of a run overrides, by the name of the argument."""


def axes_of(vary: Mapping[str, Sequence[Any]]) -> dict[str, tuple[str, ...]]:
    """Returns the values of each varied key, spelled as in overrides.

    Raises:
        ConfigError: If `vary` is not a mapping of axes, or an axis has no value, too many or a repeated one.
    """
    if not isinstance(vary, Mapping):
        raise ConfigError(f"axes: expected a mapping of keys to their values, not {type(vary).__name__}")
    axes: dict[str, tuple[str, ...]] = {}
    for key, values in vary.items():
        if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
            raise ConfigError(f"{key}: expected a sequence of values, such as [{values!r}], not {values!r}")
        key = key_of(str(key))
        refuse_too_many(key, values)
        texts = tuple(value_text(with_unit(key, value)) for value in values)
        if not texts:
            raise ConfigError(f"{key}: an axis needs at least one value")
        seen: set[tuple[type, Value]] = set()
        for text in texts:
            value = typed(text)
            if (type(value), value) in seen:
                raise ConfigError(f"{key}: the value {text} is given twice")
            seen.add((type(value), value))
        axes[key] = texts
    return axes


def refuse_too_many(key: str, values: Iterable[Any]) -> None:
    """Refuses an axis with too many values, if their number is known before any value is used.

    Raises:
        ConfigError: If there are more than `VALUES_MAX` values.
    """
    try:
        count: float = operator.length_hint(values)
    except OverflowError:
        count = math.inf
    if count > VALUES_MAX:
        told = f"{count:,}" if count < math.inf else "far more"
        raise ConfigError(f"{key}: an axis of {told} values: at most {VALUES_MAX:,} are allowed")


def refuse_clashes(keys: Sequence[str], given: Mapping[str, object], prefix: str = "", suffix: str = "=") -> None:
    """Refuses arguments that override a varied key, since all values of the key would then give the same run.

    Args:
        keys: The varied keys.
        given: The arguments of DECIDED_BY with their values; None and False count as not given.
        prefix: The text before the name of an argument in the error.
        suffix: The text after the name of the argument.

    Raises:
        ConfigError: If there is such an argument.
    """
    for argument, decided in DECIDED_BY.items():
        if given.get(argument) is None or given[argument] is False:
            continue
        for key in decided:
            if key in keys:
                name = f"{prefix}{argument}{suffix}"
                by = "given by" if key == decided[0] else "decided by"
                raise ConfigError(f"{key} is varied and {by} {name}: drop one of them")


@lru_cache(maxsize=4096)
def typed(text: str) -> Value:
    """Returns the number, truth value or text that a TOML value denotes; any other text stays unchanged."""
    import tomllib

    try:
        document = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    value = document["value"]
    if len(document) > 1 or not isinstance(value, bool | int | float | str):
        return text
    return text if isinstance(value, float) and not math.isfinite(value) else value
