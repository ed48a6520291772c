"""Typed access to the tables of a registry file; errors name the file and the place in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from flashmesh._native import ConfigError
from flashmesh.importers.problems import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

T = TypeVar("T")
REQUIRED = object()
NAMES = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


class Fields:
    """Keys of one table of a registry file. Each key is taken once; a key that is left at the end is an error."""

    def __init__(self, table: object, place: str) -> None:
        """Copies a table; errors name its `place`, such as `venice.toml: claim V07`.

        Raises:
            ConfigError: If `table` is not a table.
        """
        if not isinstance(table, dict):
            raise ConfigError(f"{place}: is a table of keys and their values, not {table!r}")
        self.table: dict[str, Any] = dict(table)
        self.known: list[str] = []
        self.place = place

    def error(self, text: str) -> ConfigError:
        """Returns an error that names the place of the table."""
        return ConfigError(f"{self.place}: {text}")

    def take(self, key: str, kind: type[T], default: object = REQUIRED) -> T:
        """Removes a key and returns its value.

        Raises:
            ConfigError: If the key is missing without a default, or has another type.
        """
        self.known.append(key)
        if key not in self.table:
            if default is REQUIRED:
                raise self.error(f"needs {key}, {NAMES[kind]}")
            return cast("T", default)
        value = self.table.pop(key)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.error(f"{key} is {NAMES[kind]}, not {value!r}")
        return value

    def texts(self, key: str, default: object = REQUIRED) -> tuple[str, ...]:
        """Takes a list of texts; `default` if the key is missing."""
        return tuple(self._items(key, default, str))

    def numbers(self, key: str, default: object = REQUIRED) -> tuple[float, ...]:
        """Takes a list of numbers; `default` if the key is missing."""
        return tuple(float(item) for item in self._items(key, default, (int, float)))

    def seeds(self, key: str, default: object = REQUIRED) -> tuple[int, ...]:
        """Takes a list of one or more whole numbers; `default` if the key is missing."""
        found = tuple(self._items(key, default, int))
        if not found or min(found) < 0:
            raise self.error(f"{key} is a list of whole numbers from 0 on, at least one")
        return found

    def _items(self, key: str, default: object, kind: type | tuple[type, ...]) -> list[Any]:
        items: list[Any] = self.take(key, list, list(default) if isinstance(default, tuple) else default)
        for item in items:
            if not isinstance(item, kind) or isinstance(item, bool):
                what = "texts" if kind is str else "numbers"
                raise self.error(f"{key} is a list of {what}, and {item!r} is none")
        return items

    def labels(self, key: str) -> dict[str, str]:
        """Takes a table of texts; returns an empty table if the key is missing."""
        table = self.take(key, dict, {})
        for name, value in table.items():
            if not isinstance(value, str):
                raise self.error(f"{key}.{name} is a text, not {value!r}")
        return table

    def choice(self, key: str, options: Iterable[str], default: object = REQUIRED) -> str:
        """Takes a text that must be one of `options`; `default` if the key is missing."""
        value = self.take(key, str, default)
        require(value, options, f"{self.place}: {key}")
        return value

    def inner(self, key: str) -> Fields:
        """Takes a nested table; returns an empty table if the key is missing."""
        return Fields(self.take(key, dict, {}), f"{self.place}: {key}")

    def end(self) -> None:
        """Refuses keys that were not taken.

        Raises:
            ConfigError: If a key was not taken; the message suggests a similar key.
        """
        for key in self.table:
            near = suggestion(key, self.known)
            raise self.error(
                f"unknown key {key}: {f'did you mean {near}?' if near else f'there are {listed(self.known)}'}"
            )


def require(value: str, options: Iterable[str], place: str) -> None:
    """Refuses a name that is not among `options`.

    Raises:
        ConfigError: If the name is unknown; the message suggests a similar name, or lists all names.
    """
    known = list(options)
    if value in known:
        return
    near = suggestion(value, known)
    raise ConfigError(
        f"{place}: there is no {value!r}: {f'did you mean {near}?' if near else f'there are {listed(known)}'}"
    )


def listed(names: Iterable[str]) -> str:
    """Returns names as a comma-separated list, each once."""
    return ", ".join(dict.fromkeys(names)) or "none"


def overrides(table: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Returns the configuration values in a table, by dotted key; the table may spell keys dotted or nested."""
    from flashmesh.sweeps.inputs.sweepfile import flat

    return flat(dict(table), place)
