"""Dataclasses that are fast to define and to create."""

from __future__ import annotations

from dataclasses import MISSING, FrozenInstanceError, dataclass, field
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Returns the class as a frozen dataclass with slots.

    `dataclass` compiles six methods for each class, which takes most of the import time of modules with many classes.
    Classes made by `record` share one set of methods instead. A method that a class itself defines is kept.
    """
    own = vars(cls).keys()
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    for name, method in METHODS.items():
        if name not in own:
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]


def fill(self: Any, *values: Any, **named: Any) -> None:
    """Sets the fields from positional or named values; a field without a value gets its default."""
    kind = type(self)
    fields = kind.__dataclass_fields__
    if len(values) > len(fields):
        raise TypeError(f"{kind.__name__}() takes {len(fields)} values, not {len(values)}")
    for name, value in zip(fields, values, strict=False):
        if name in named:
            raise TypeError(f"{kind.__name__}() got {name!r} twice")
        named[name] = value
    for name, declared in fields.items():
        value = named.pop(name, declared.default)
        if value is MISSING:
            raise TypeError(f"{kind.__name__}() lacks {name!r}")
        object.__setattr__(self, name, value)
    if named:
        raise TypeError(f"{kind.__name__}() has no {', '.join(map(repr, named))}")


def values_of(self: Any) -> tuple[Any, ...]:
    """Returns the values of all fields, in their order."""
    return tuple(getattr(self, name) for name in type(self).__dataclass_fields__)


def compared(self: Any) -> tuple[Any, ...]:
    """Returns the values of the fields that equality compares."""
    return tuple(getattr(self, name) for name, each in type(self).__dataclass_fields__.items() if each.compare)


def equals(self: Any, other: object) -> bool:
    """Returns whether two records have the same class and equal values."""
    return compared(self) == compared(other) if type(self) is type(other) else NotImplemented


def hash_of(self: Any) -> int:
    """Returns a hash of the compared values."""
    return hash(compared(self))


def shown(self: Any) -> str:
    """Returns the name of the class with the fields and their values."""
    fields = type(self).__dataclass_fields__
    named = (f"{name}={getattr(self, name)!r}" for name, each in fields.items() if each.repr)
    return f"{type(self).__qualname__}({', '.join(named)})"


def refuse_change(self: Any, name: str, *value: object) -> None:
    """Raises an error, since records are immutable."""
    raise FrozenInstanceError(f"cannot change field {name!r}")


def reduced(self: Any) -> tuple[type, tuple[Any, ...]]:
    """Returns the arguments with which `pickle` and `copy` recreate a record: its class and its values."""
    return type(self), values_of(self)


METHODS = {
    "__init__": fill,
    "__eq__": equals,
    "__hash__": hash_of,
    "__repr__": shown,
    "__setattr__": refuse_change,
    "__delattr__": refuse_change,
    "__reduce__": reduced,
}
"""Methods shared by all classes made by `record`."""
