"""Declared parameters of a configuration: their meanings, values, and conditions of use."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from flashmesh import _native
from flashmesh._native import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NAME = "NAME"
"""Placeholder in a key for the name of a user-defined table."""
PRESET = "preset"
NAMED = ("stream", "namespace")
"""Tables that contain tables named by the user, such as `[stream.logs]`."""
UNSET = "not set"
COUNT = re.compile(r" *[0-9][0-9_.]* *[kKMGT] *")
"""Pattern of a whole number with a suffix, such as 1M."""
CITATION = re.compile(
    r"(?:([A-Z][\w-]*(?: (?:for|in|on|of|the|et|al\.|and|[A-Z][\w-]*))*)(?:, | \())?"
    r"((?:IEEE |ACM )?[A-Z]{3,7} (?:19|20)\d\d(?:, (?:[Ss]ection|[Tt]able|[Ff]igure) \d[\d.]*\b)*)"
)
"""Pattern of a citation of a paper: name of the paper, conference and year, place in the paper."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Condition on the value of another key, under which a run reads a key."""

    key: str
    wanted: bool
    """Whether the value must be one of `values`; otherwise it must be none of them."""
    values: tuple[str, ...]
    """Values in TOML notation; an empty text stands for an unset key."""

    @property
    def text(self) -> str:
        """The condition as text, in the notation of a file."""
        forms = {True: ("{key} = {value}", "{key} not set"), False: ("{key} other than {value}", "{key} set")}
        return " or ".join(forms[self.wanted][not value].format(key=self.key, value=value) for value in self.values)


@dataclass(frozen=True, slots=True)
class Key:
    """A declared parameter of the configuration."""

    key: str
    type: str
    units: tuple[str, ...]
    default: str | None
    """Default value in TOML notation; None if the key is unset by default."""
    unset_means: str | None
    bounds: str
    least: int | None
    """Minimum of a whole number; None without a minimum, or for another type."""
    most: int | None
    choices: Mapping[str, str]
    """Allowed values of a key with a fixed list, each with its meaning; empty for all other keys."""
    step: str | None
    """Step by which `flashmesh ask` changes the value: `x2`, `+5%`, or alternatives separated by ` | `; None without
    one."""
    used_with: tuple[tuple[Condition, ...], ...]
    """Conditions under which a run reads the key: at least one condition of each group must hold."""
    meaning: str

    @property
    def section(self) -> str:
        """The section; empty for keys outside all sections."""
        return self.key.rpartition(".")[0]

    @property
    def sources(self) -> tuple[str, ...]:
        """Papers cited by the description of the key or, if there are none, by that of its section."""
        section = dict(_native.sections()).get(self.section, "")
        own = cited(" ".join([self.meaning, *self.choices.values()]))
        return own or cited(section)


def cited(text: str) -> tuple[str, ...]:
    """Returns the papers that a text cites."""
    found = (f"{name}, {place}" if name else place for name, place in CITATION.findall(text))
    return tuple(dict.fromkeys(found))


def whole(kind: str, text: str | None) -> int | None:
    """Returns the bound of a whole number as a number; None without a bound, or for another type (`kind`)."""
    return int(text) if kind == "integer" and text is not None else None


@cache
def declared() -> Mapping[str, Key]:
    """Returns all declared parameters by key, in the order of the reference."""
    found = {}
    for one in json.loads(_native.parameters()):
        used_with = tuple(
            tuple(Condition(each["key"], each["is"], tuple(each["values"])) for each in any_of)
            for any_of in one["used_with"]
        )
        found[one["key"]] = Key(
            one["key"],
            one["type"],
            tuple(one["units"]),
            one["default"],
            one["unset_means"],
            one["bounds"],
            whole(one["type"], one["min"]),
            whole(one["type"], one["max"]),
            dict(one["choices"]),
            one["step"],
            used_with,
            one["meaning"],
        )
    return found


def declared_name(key: str) -> str:
    """Returns a key as declared: without the prefix `stream.NAME`, and with `NAME` for the name of any other table."""
    parts = key.strip().split(".")
    if parts[0] == "stream" and len(parts) > 2:
        parts = parts[2:]
    tables = {name.removesuffix(f".{NAME}") for name, _ in _native.sections() if name.endswith(f".{NAME}")}
    if parts[0] in tables and len(parts) > 1:
        parts[1] = NAME
    return ".".join(parts)


def find(key: str) -> Key:
    """Returns a declared parameter.

    Raises:
        ConfigError: If no parameter has this name. The message suggests similar ones.
    """
    known = declared()
    name = declared_name(key)
    if not name:
        raise ConfigError("a key is missing: name one, such as fabric.kind")
    if name in known:
        return known[name]
    raise ConfigError(f"{key}: there is no such key{meant(name, known)}")


def key_of(text: str) -> str:
    """Returns a key in the spelling of configurations, with dashes; names of streams and namespaces stay unchanged."""
    parts = text.strip().split(".")
    for number, part in enumerate(parts):
        if number != 1 or parts[0] not in NAMED:
            parts[number] = part.replace("_", "-")
    return ".".join(parts)


def misfit(key: Key, value: Any) -> str | None:
    """Returns why a value is invalid by the declaration of its key; None if the value is valid."""
    from flashmesh.configuration import plain
    from flashmesh.importers.problems import suggestion

    value = plain(value)
    if isinstance(value, bool) and str(value).lower() in key.choices:
        return None
    if key.choices and value not in key.choices:
        near = suggestion(str(value), key.choices)
        told = f"did you mean {near!r}?" if near else f"there are {', '.join(map(repr, key.choices))}"
        return f"{value!r} is none of the choices: {told}"
    if key.type == "boolean" and not isinstance(value, bool) and value not in ("true", "false"):
        return f"{value!r} is neither True nor False"
    if key.type != "integer":
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and COUNT.fullmatch(value):
        return None  # the reader of configurations handles the suffix
    if isinstance(value, bool) or not isinstance(value, int):
        return f"{value!r} is no whole number"
    if (key.least is not None and value < key.least) or (key.most is not None and value > key.most):
        return f"{value!r} is out of bounds: it must be {key.bounds}"
    return None


def refuse_misfits(name: str, section: str, values: Mapping[str, Any]) -> None:
    """Refuses invalid values of a section, in the terms of Python.

    Args:
        name: The class of the values.
        section: The section.
        values: The values by the names of their fields.

    Raises:
        ConfigError: If a parameter cannot have its value.
    """
    known = declared()
    for field, value in values.items():
        key = known.get(f"{section}.{field.replace('_', '-')}")
        found = misfit(key, value) if key is not None else None
        if found is not None:
            raise ConfigError(f"{name}({field}={value!r}): {found}")


def keys_named(name: str) -> list[str]:
    """Returns the keys whose last part is `name`, in the order of declaration."""
    return [key for key in declared() if key.rpartition(".")[2] == name and NAME not in key]


def meant(name: str, known: Mapping[str, Key]) -> str:
    """Returns the end of an error message that suggests keys similar to `name`."""
    from flashmesh.importers.problems import suggestion

    same = [key for key in known if key.rpartition(".")[2] == name.rpartition(".")[2]]
    if same:
        return f": did you mean {' or '.join(same[:5])}?"
    sections = [section for section, _ in _native.sections() if section]
    last = suggestion(name, [key.rpartition(".")[2] for key in known])
    near = suggestion(name, [*known, *sections]) or next((key for key in known if key.rpartition(".")[2] == last), None)
    return f": did you mean {near}?" if near else "; docs/parameters.md lists them"


def related(key: Key) -> list[str]:
    """Returns related keys: keys that `key` depends on, keys that depend on it, and the other keys of its section."""
    known = declared()
    wanted = [condition.key for any_of in key.used_with for condition in any_of]
    readers = [
        other.key
        for other in known.values()
        if any(condition.key == key.key for any_of in other.used_with for condition in any_of)
    ]
    beside = [other.key for other in known.values() if other.section == key.section]
    return [name for name in dict.fromkeys([*wanted, *readers, *beside]) if name != key.key]


@cache
def preset_values() -> Mapping[str, Mapping[str, Any]]:
    """Returns the values of each preset, by key."""
    from flashmesh.configuration import read

    return {name: flat(json.loads(read(f"{PRESET}:{name}", []).to_json())) for name in _native.presets()}


def flat(tables: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Returns the values in nested tables by their dotted keys."""
    found: dict[str, Any] = {}
    for name, value in tables.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


def toml_text(value: Any) -> str:
    """Returns a value as TOML; `not set` for None."""
    if value is None:
        return UNSET
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool | list) else str(value)


def presets_by_value(key: str) -> dict[str, list[str]]:
    """Returns the names of the presets with each value of a key; the values are in TOML notation."""
    found: dict[str, list[str]] = {}
    for preset, values in preset_values().items():
        found.setdefault(toml_text(values.get(key)), []).append(preset)
    return found


def differences(tables: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Returns the keys in which configurations differ, with each configuration's value; None where a key is unset."""
    flats = [flat(each) for each in tables]
    keys = dict.fromkeys(key for each in flats for key in each)
    values = {key: [each.get(key) for each in flats] for key in keys}
    return {key: each for key, each in values.items() if any(value != each[0] for value in each[1:])}


def short_key(key: str) -> str:
    """Returns the last part of a key, such as `queue-depth`.

    If the last part is a single word, such as `kind`, returns the whole key.
    """
    last = key.rpartition(".")[2]
    return last if "-" in last else key
