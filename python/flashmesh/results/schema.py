"""Check of JSON documents from outside for the form of results, before any code relies on this form.

The expected form follows from the types of the classes that are generated from the declared quantities and parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from datetime import timedelta
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin

from flashmesh._parameters import Config
from flashmesh._results import Report
from flashmesh.comparing.axes import Value
from flashmesh.record import record
from flashmesh.results.build import hints_of
from flashmesh.texts.durations import time_ps

Check: TypeAlias = Callable[[Any], None]
NULL: Any = type(None)
PARAMETERS = Config.__module__
INTEGER_MAX = 1 << 64
"""Exclusive upper bound of whole numbers in results: counts, and times in picoseconds."""
SHOWN_MAX = 40
"""Maximum number of characters of an invalid value that an error quotes."""
NEEDED = {
    "geometry": ("channels", "chips-per-channel", "dies-per-chip"),
    "fabric": ("kind",),
    "power": (),
    "schedule": (),
}
"""Keys of the configuration that reports read, by section."""
REPLAY = ("mode", "time-scale", "threads", "outstanding")
"""Keys of the replay section of each stream that reports read."""
STREAM_TIMES = (("workload", "interarrival"), ("replay", "think-time"))
"""Sections and keys of the times of each stream that reports read, if the stream has them."""
PER_LINK = ("names", "kinds", "busy_ps", "bytes_to_chips", "bytes_from_chips", "bytes_between_chips")


@record
class SavedRun:
    """A run of a comparison: its settings and its result."""

    settings: dict[str, Value]
    result: dict[str, Any]


@record
class SavedFailure:
    """A run without a result, and its error."""

    settings: dict[str, Value]
    error: str


@record
class SavedComparison:
    """Form of the JSON document of a comparison."""

    axes: dict[str, tuple[Value, ...]]
    complete: bool
    failures: tuple[SavedFailure, ...]
    runs: tuple[SavedRun, ...]
    until_steady: bool


class MalformedError(ValueError):
    """Error for a document without the form of a result. The text names the place and the expected form."""

    def __init__(self, told: str, *path: str) -> None:
        """Creates the error from its text and from the keys that lead to the place, outermost first."""
        self.told = told
        self.path = path
        super().__init__(f"{''.join(path).removeprefix('.')}{told}" if path else f"it{told}")

    def below(self, key: str) -> MalformedError:
        """Returns the error with `key` prepended to its path."""
        return MalformedError(self.told, key, *self.path)


def check_result(document: Any) -> None:
    """Refuses a document that does not have the form of a result; additional keys are allowed.

    Raises:
        MalformedError: If the document has another form.
    """
    checker(Report)(document)
    check_shape(document)
    check_configuration(document["configuration"], len(document["utilisation"]["dies"]))


def check_comparison(document: Any) -> None:
    """Refuses a document that does not have the form of a comparison of results.

    Raises:
        MalformedError: If the document has another form.
    """
    checker(SavedComparison)(document)
    axes = document["axes"]
    for index, run in enumerate(document["runs"]):
        place = f"runs[{index}]"
        if run["settings"].keys() != axes.keys():
            raise MalformedError(" does not have the keys of axes", f"{place}.settings")
        for key, value in run["settings"].items():
            if value not in axes[key]:
                raise MalformedError(f" is not among the values of axes.{key}", f"{place}.settings.{key}")
        try:
            check_result(run["result"])
        except MalformedError as error:
            raise error.below(".result").below(place) from None


def check_shape(document: dict[str, Any]) -> None:
    """Refuses a result in which lists with one entry for each link, or for each latency, differ in length.

    Raises:
        MalformedError: If two such lists differ in length.
    """
    links = document["utilisation"]["links"]
    for key in PER_LINK:
        equally_long(document["links"][key], links, f"links.{key}", "utilisation.links")
    for kind, found in document["distribution"].items():
        if found is not None:
            place = f"distribution.{kind}"
            equally_long(found["requests"], found["latency_ps"], f"{place}.requests", f"{place}.latency_ps")


def equally_long(one: Sequence[Any], other: Sequence[Any], name: str, beside: str) -> None:
    """Refuses two lists of different lengths; `name` and `beside` are their names in the error.

    Raises:
        MalformedError: If their lengths differ.
    """
    if len(one) != len(other):
        raise MalformedError(f"{name} has {len(one):,} entries, and {beside} {len(other):,}", "")


def check_configuration(tables: dict[str, Any], dies: int) -> None:
    """Refuses a configuration with values of wrong types, or for a drive without `dies` dies.

    Raises:
        MalformedError: If the configuration is refused, or lacks a key that reports use.
    """
    try:
        checker(Config)(tables)
        refuse_null(tables)
        for section, keys in NEEDED.items():
            needed(tables, section, keys)
        streams = tables.get("stream") or {"": tables}
        for name, stream in streams.items():
            try:
                needed(stream, "replay", REPLAY)
                for section, key in STREAM_TIMES:
                    check_time(stream, section, key)
            except MalformedError as error:
                raise (error.below(f".{name}").below(".stream") if name else error) from None
    except MalformedError as error:
        raise error.below(".configuration") from None
    geometry = tables["geometry"]
    if math.prod(geometry[key] for key in NEEDED["geometry"]) != dies:
        raise MalformedError(f" is of another drive than one of {dies:,} dies", "configuration.geometry")


def check_time(tables: dict[str, Any], section: str, key: str) -> None:
    """Refuses a value of a key that is no time.

    Raises:
        MalformedError: If the value is no time.
    """
    value = tables.get(section, {}).get(key, "0ps")
    try:
        time_ps(value)
    except (ValueError, KeyError, ZeroDivisionError):
        raise refusal("a time", value).below(f".{section}.{key}") from None


def refuse_null(value: Any) -> None:
    """Refuses null, which no key of a configuration can have.

    Raises:
        MalformedError: If the value is null or contains null.
    """
    if value is None:
        raise refusal("a value", value)
    if isinstance(value, dict):
        table_of(refuse_null)(value)
    elif isinstance(value, list):
        list_of(refuse_null)(value)


def needed(tables: dict[str, Any], section: str, keys: Sequence[str]) -> None:
    """Refuses tables that lack a section, or keys in it.

    Raises:
        MalformedError: If the section or a key is missing.
    """
    if section not in tables:
        raise missing(section)
    for key in keys:
        if key not in tables[section]:
            raise missing(key).below(f".{section}")


def missing(key: str) -> MalformedError:
    """Returns the error for a missing key of a configuration."""
    return MalformedError(" is missing", f".{key}")


@cache
def checker(hint: Any) -> Check:
    """Returns a function that raises an error for JSON values that do not have the type `hint`.

    Raises:
        TypeError: If no value of JSON represents the type.
    """
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda _: None
    if hint is NULL:
        return of_class(NULL, "null")
    if origin in (UnionType, Union):
        # Callers in Python may pass a duration as `timedelta` or number, but a document has it as text.
        given = (timedelta, float) if timedelta in inner else ()
        return any_of([checker(each) for each in inner if not is_path(each) and each not in given])
    if origin is Literal:
        return choice(inner)
    if is_dataclass(hint):
        return record_of(hint)
    if origin in (tuple, Sequence):
        is_pair = origin is tuple and inner[-1] is not Ellipsis
        return pair_of([checker(each) for each in inner]) if is_pair else list_of(checker(inner[0]))
    if origin in (dict, Mapping):
        return table_of(checker(inner[1]))
    if hint in SCALARS:
        return SCALARS[hint]
    raise TypeError(f"{hint!r} stands in no document")


def is_path(hint: Any) -> bool:
    """Returns whether a type is a path, which documents represent as text."""
    return getattr(get_origin(hint) or hint, "__name__", "") == "PathLike"


def refusal(wanted: str, value: Any) -> MalformedError:
    """Returns the error for a value of another type than `wanted`."""
    text = repr(value)
    return MalformedError(f" is {text if len(text) <= SHOWN_MAX else f'{text[:SHOWN_MAX]}...'}, not {wanted}")


def of_class(kind: type, wanted: str) -> Check:
    """Returns a check for values of one class; `wanted` names the class in errors."""

    def check(value: Any) -> None:
        if type(value) is not kind:
            raise refusal(wanted, value)

    return check


def integer(value: Any) -> None:
    """Refuses values other than whole numbers."""
    if type(value) is not int or not -INTEGER_MAX <= value <= INTEGER_MAX:
        raise refusal("a whole number", value)


def number(value: Any) -> None:
    """Refuses values other than finite numbers."""
    if type(value) is int:
        integer(value)
    elif type(value) is not float or not math.isfinite(value):
        raise refusal("a number", value)


SCALARS: dict[Any, Check] = {
    bool: of_class(bool, "true or false"),
    int: integer,
    float: number,
    str: of_class(str, "a text"),
}


def choice(options: tuple[Any, ...]) -> Check:
    """Returns a check for one of several texts."""

    def check(value: Any) -> None:
        if not isinstance(value, str) or value not in options:
            raise refusal(f"one of {', '.join(map(str, options))}", value)

    return check


def any_of(checks: Sequence[Check]) -> Check:
    """Returns a check for values that pass any of several checks; if all fail, it raises the error of the last one."""
    null = checker(NULL)
    others = [each for each in checks if each is not null]

    def check(value: Any) -> None:
        if value is None and len(others) < len(checks):
            return
        for each in others[:-1]:
            with suppress(MalformedError):
                each(value)
                return
        others[-1](value)

    return check


def list_of(entry: Check) -> Check:
    """Returns a check for lists whose entries all pass one check."""

    def check(value: Any) -> None:
        if type(value) is not list:
            raise refusal("a list", value)
        for index, each in enumerate(value):
            try:
                entry(each)
            except MalformedError as error:
                raise error.below(f"[{index}]") from None

    return check


def pair_of(entries: Sequence[Check]) -> Check:
    """Returns a check for lists whose entries each pass the check at their index."""

    def check(value: Any) -> None:
        if type(value) is not list or len(value) != len(entries):
            raise refusal(f"a list of {len(entries)}", value)
        for entry, each in zip(entries, value, strict=True):
            entry(each)

    return check


def table_of(entry: Check) -> Check:
    """Returns a check for objects with any keys whose values all pass one check."""

    def check(value: Any) -> None:
        if type(value) is not dict:
            raise refusal("an object", value)
        for key, each in value.items():
            try:
                entry(each)
            except MalformedError as error:
                raise error.below(f".{key}") from None

    return check


def record_of(kind: Any) -> Check:
    """Returns a check for objects with the keys of a class.

    Results must have all keys of the class, configurations any of them.
    """
    is_table = kind.__module__ == PARAMETERS
    entries = [(name.replace("_", "-") if is_table else name, checker(hint)) for name, hint in hints_of(kind).items()]

    def check(value: Any) -> None:
        if type(value) is not dict:
            raise refusal("an object", value)
        for key, entry in entries:
            if key in value:
                try:
                    entry(value[key])
                except MalformedError as error:
                    raise error.below(f".{key}") from None
            elif not is_table:
                raise missing(key)

    return check
