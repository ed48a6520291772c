"""Dataclasses out of JSON, and columns out of dataclasses, by the types of their fields."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")
SCALARS = (bool, int, float, str)


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    """The types of the fields of a dataclass; looking them up takes longer than building one."""
    return get_type_hints(kind)


@cache
def column_types(kind: Any) -> dict[str, Any]:
    """The type of each single value of a dataclass by its dotted key: as `columns_of` lists them."""
    types: dict[str, Any] = {}
    for name, hint in hints_of(kind).items():
        inner = optional(hint)
        if is_dataclass(inner) and isinstance(inner, type):
            types |= {f"{name}.{key}": value for key, value in column_types(inner).items()}
        elif (inner in SCALARS or get_origin(inner) is Literal) and name != "config":
            types[name] = str if get_origin(inner) is Literal else inner
    return types


def columns_of(kind: type, value: Any) -> dict[str, Any]:
    """The single values of a dataclass by their dotted key; None for all of them where there is none."""
    flat: dict[str, Any] = {}

    def add(kind: Any, value: Any, prefix: str) -> None:
        for name, hint in hints_of(kind).items():
            part, inner = None if value is None else getattr(value, name), optional(hint)
            if is_dataclass(inner):
                add(inner, part, f"{prefix}{name}.")
            elif (inner in SCALARS or get_origin(inner) is Literal) and name != "config":
                flat[prefix + name] = part

    add(kind, value, "")
    return flat


def build(kind: type[T], document: dict[str, Any]) -> T:
    """A dataclass out of the JSON object with its keys; further keys are left to `Result.document`."""
    described: Any = kind
    hints = hints_of(described)
    return kind(**{name: _part(hint, document[name]) for name, hint in hints.items()})


def _part(hint: Any, value: Any) -> Any:
    """What a field of this type holds, out of its JSON."""
    inner = optional(hint)
    if value is None and inner is not hint:
        return None
    if is_dataclass(inner) and isinstance(inner, type):
        return build(inner, value)
    if get_origin(inner) is tuple:
        return tuple(_part(get_args(inner)[0], item) for item in value)
    return value


@cache
def optional(hint: Any) -> Any:
    """The type that an optional type makes optional; any other type as it is."""
    if get_origin(hint) is UnionType:
        return next(part for part in get_args(hint) if part is not type(None))
    return hint
