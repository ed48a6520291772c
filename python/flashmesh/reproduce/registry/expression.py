"""Measures of a run: arithmetic over the keys of its result, such as `gc.pages_copied / gc.pages_moved`."""

from __future__ import annotations

import ast
import operator
from dataclasses import dataclass, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError
from flashmesh.reproduce.registry import derived

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {"sum": sum, "max": max, "min": min, "len": len}


@dataclass(frozen=True)
class Expression:
    """A measure in the notation of the registry: arithmetic over keys of results, or a function of `derived`."""

    text: str

    def check(self, place: str) -> None:
        """Refuses a text that is not a measure.

        Raises:
            ConfigError: If a part of the text is not arithmetic over keys of results.
        """
        try:
            check(parsed(self.text), place)
        except (SyntaxError, ValueError) as error:
            raise ConfigError(f"{place}: {self.text!r} is no measure: {error}") from None

    def of(self, document: dict[str, Any]) -> float | None:
        """Returns the value of the measure in a result; None if a key has no value, or on a division by zero."""
        try:
            value = evaluated(parsed(self.text), document)
        except (ZeroDivisionError, TypeError, ValueError):
            return None
        return None if value is None else float(value)


@cache
def parsed(text: str) -> ast.expr:
    """Returns the syntax tree of an expression."""
    return ast.parse(text, mode="eval").body


@cache
def known_keys() -> frozenset[str]:
    """Returns the keys that a measure may use, as dotted paths, including keys whose values are lists or tables."""
    from flashmesh._results import Report
    from flashmesh.results.build import hints_of, optional

    keys: set[str] = set()

    def add(kind: Any, prefix: str) -> None:
        for name, hint in hints_of(kind).items():
            keys.add(prefix + name)
            if is_dataclass(optional(hint)):
                add(optional(hint), f"{prefix}{name}.")

    add(Report, "")
    return frozenset(keys)


def check(node: ast.expr, place: str) -> None:
    """Refuses a part of an expression that cannot be evaluated.

    Raises:
        ConfigError: If a name is not a key of a result.
        ValueError: If the part is not arithmetic.
    """
    match node:
        case ast.Constant(value=int() | float() | str()):
            return
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            parts = [left, right]
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
            parts = [left, right]
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in FUNCTIONS:
            parts = [argument]
        case ast.Call(func=ast.Name(id=name), args=[], keywords=[]) if name in derived.MEASURES:
            return
        case ast.Name() | ast.Attribute():
            if dotted(node) not in known_keys():
                from flashmesh.importers.problems import suggestion

                near = suggestion(dotted(node), known_keys())
                told = f"did you mean {near}?" if near else "flashmesh measures lists them"
                raise ConfigError(f"{place}: results have no {dotted(node)!r}: {told}")
            return
        case _:
            raise ValueError(f"{ast.unparse(node)!r} is no arithmetic over keys of results")
    for part in parts:
        check(part, place)


def dotted(node: ast.expr) -> str:
    """Returns the dotted key that a name or an attribute access spells.

    Raises:
        ValueError: If the node is anything else.
    """
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{dotted(value)}.{name}"
    raise ValueError(f"{ast.unparse(node)!r} is no key of a result")


def evaluated(node: ast.expr, document: dict[str, Any]) -> Any:
    """Returns the value of a part of an expression in a result."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](evaluated(left, document), evaluated(right, document))
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return COMPARISONS[type(op)](evaluated(left, document), evaluated(right, document))
        case ast.Call(func=ast.Name(id=name), args=[]):
            return derived.MEASURES[name](document)
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return FUNCTIONS[name](evaluated(argument, document))
    found: Any = document
    for part in dotted(node).split("."):
        found = None if found is None else found.get(part)
    return found
