"""Constructors of typed parameters, with suggestions for unknown names."""

from __future__ import annotations

from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")


def suggesting(kind: type[T]) -> type[T]:
    """Makes the constructor of a dataclass refuse unknown names with a suggestion."""
    made = kind.__init__
    known = getattr(kind, "__dataclass_fields__", {})

    @wraps(made)
    def checked(self: Any, *values: Any, **named: Any) -> None:
        for name in named:
            if name not in known:
                raise TypeError(f"{kind.__name__}() has no {name!r}{meant(name, list(known))}")
        made(self, *values, **named)

    kind.__init__ = checked  # type: ignore[method-assign]
    return kind


def meant(name: str, known: list[str]) -> str:
    """Returns the end of an error message that suggests names of fields similar to `name`, also of other classes."""
    from flashmesh.importers.problems import suggestion
    from flashmesh.keys import declared, keys_named

    near = suggestion(name, known)
    elsewhere = keys_named(name.replace("_", "-"))
    if not elsewhere and not near:
        other = suggestion(name, [key.rpartition(".")[2].replace("-", "_") for key in declared()])
        elsewhere = keys_named(other.replace("_", "-")) if other else []
    if elsewhere:
        sections = [key.partition(".") for key in elsewhere if "." in key]
        told = " or ".join(f"{section}.{key.replace('-', '_')}" for section, _, key in sections)
        return f": did you mean {told}?" if told else f": did you mean {elsewhere[0]!r}?"
    return f": did you mean {near!r}?" if near else f"; there are {', '.join(known)}"
