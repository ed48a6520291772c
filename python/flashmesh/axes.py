"""The axes of a comparison: which keys are varied, over which values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from flashmesh._native import ConfigError
from flashmesh.configuration import value_text
from flashmesh.keys import key_of
from flashmesh.spelling import with_unit

Value: TypeAlias = bool | int | float | str
"""A value of an axis: a number where it is one, otherwise the text as it was given."""

DECIDED_BY = {
    "seed": ("seed",),
    "trace": ("workload.trace", "workload.profile", "workload.kind"),
    "profile": ("workload.profile", "workload.trace", "workload.kind"),
    "fio": ("workload.kind", "workload.trace", "workload.profile"),
    "tolerate": ("workload.tolerate",),
}
"""The keys that an argument beside the configuration decides."""


def axes_of(vary: Mapping[str, Sequence[Any]]) -> dict[str, tuple[str, ...]]:
    """The values of each varied key, as overrides spell them.

    Raises:
        ConfigError: When what is given are no axes, or an axis has no value, or one twice.
    """
    if not isinstance(vary, Mapping):
        raise ConfigError(f"the axes are a mapping of keys to their values, not {type(vary).__name__}")
    axes: dict[str, tuple[str, ...]] = {}
    for key, values in vary.items():
        if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
            raise ConfigError(f"{key}: the values of an axis are a sequence, such as [{values!r}], not {values!r}")
        key = key_of(str(key))
        texts = tuple(value_text(with_unit(key, value)) for value in values)
        if not texts:
            raise ConfigError(f"{key}: an axis needs at least one value")
        seen: set[tuple[type, Value]] = set()
        for text in texts:
            value = typed(text)
            if (type(value), value) in seen:
                raise ConfigError(f"{key}: the value {text} is there twice")
            seen.add((type(value), value))
        axes[key] = texts
    return axes


def refuse_clashes(keys: Sequence[str], given: Mapping[str, object], prefix: str = "", suffix: str = "=") -> None:
    """Refuses arguments that would override a varied key, and so make its values say what no run did.

    Args:
        keys: The varied keys.
        given: The arguments of DECIDED_BY with their values; those that are None or False are not given.
        prefix: What stands before the name of an argument where the user gave it.
        suffix: What stands behind it.

    Raises:
        ConfigError: When there is one.
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
    """A number or truth value as such, a quoted text without its quotes, anything else as it is."""
    import tomllib

    try:
        document = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    value = document["value"]
    if len(document) > 1 or not isinstance(value, bool | int | float | str):
        return text
    return text if isinstance(value, float) and not math.isfinite(value) else value
