"""Conversion of JSON to dataclasses, and of dataclasses to columns of tables, by the types of their fields."""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import cache, partial
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
SCALARS = (bool, int, float, str)


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    """Returns the types of the fields of a dataclass; cached, since the lookup is slower than building an instance."""
    return get_type_hints(kind)


@cache
def column_types(kind: Any) -> dict[str, Any]:
    """Returns the type of each column of a dataclass, by its dotted key, in the order of `columns_of`.

    A column is a field with a single value, possibly inside a nested dataclass.
    """
    types: dict[str, Any] = {}
    for name, hint in hints_of(kind).items():
        inner = optional(hint)
        if is_dataclass(inner) and isinstance(inner, type):
            types |= {f"{name}.{key}": value for key, value in column_types(inner).items()}
        elif (inner in SCALARS or get_origin(inner) is Literal) and name != "config":
            types[name] = str if get_origin(inner) is Literal else inner
    return types


def columns_of(kind: type, value: Any) -> dict[str, Any]:
    """Returns the value of each column of a dataclass, by its dotted key; all None if `value` is None."""
    flat: dict[str, Any] = {}

    def add(columns: tuple[Column, ...], value: Any) -> None:
        for name, key, inner in columns:
            part = None if value is None else getattr(value, name)
            if inner:
                add(inner, part)
            else:
                flat[key] = part

    add(columns_in(kind), value)
    return flat


class Column(NamedTuple):
    """A field that is a column or, if `inner` is not empty, a nested dataclass with these columns."""

    name: str
    key: str
    inner: tuple[Column, ...]


@cache
def columns_in(kind: Any, prefix: str = "") -> tuple[Column, ...]:
    """Returns the columns of a dataclass.

    Cached, since the same dataclass may have thousands of rows.
    """
    columns = []
    for name, hint in hints_of(kind).items():
        inner = optional(hint)
        if is_dataclass(inner):
            described: Any = inner
            below = columns_in(described, f"{prefix}{name}.")
            columns += [Column(name, prefix + name, below)] if below else []
        elif (inner in SCALARS or get_origin(inner) is Literal) and name != "config":
            columns.append(Column(name, prefix + name, ()))
    return tuple(columns)


def build(kind: type[T], document: dict[str, Any]) -> T:
    """Creates a record from a JSON object that has all of its fields as keys; other keys are ignored.

    Fills the slots without calling the class, which is faster: a recording has thousands of records.
    """
    described: Any = kind
    made = object.__new__(kind)
    for name, fill, part in parts_of(described):
        value = document[name]
        fill(made, value if part is None else part(value))
    return made


@cache
def parts_of(kind: Any) -> tuple[tuple[str, Callable[[Any, Any], None], Callable[[Any], Any] | None], ...]:
    """Returns the fields of a record: name, setter of the slot, and function from JSON to value (None to keep it)."""
    return tuple((name, getattr(kind, name).__set__, maker(hint)) for name, hint in hints_of(kind).items())


def maker(hint: Any) -> Callable[[Any], Any] | None:
    """Returns the function from JSON to a value of the type `hint`; None if the JSON value is kept as it is."""
    inner = optional(hint)
    make: Callable[[Any], Any]
    if is_dataclass(inner) and isinstance(inner, type):
        make = partial(build, inner)
    elif get_origin(inner) is tuple:
        item = maker(get_args(inner)[0])
        make = tuple if item is None else lambda value: tuple(map(item, value))
    else:
        return None
    return make if inner is hint else lambda value: None if value is None else make(value)


@cache
def optional(hint: Any) -> Any:
    """Returns the type without `None` of an optional type; any other type unchanged."""
    if get_origin(hint) is UnionType:
        return next(part for part in get_args(hint) if part is not type(None))
    return hint
