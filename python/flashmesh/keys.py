"""The declared parameters of a configuration: what each means, which values it takes, and where it is read."""

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
"""Stands in a key for the name of a table that has one."""
PRESET = "preset"
NAMED = ("stream", "namespace")
"""Tables whose keys are names that somebody chose."""
UNSET = "not set"
COUNT = re.compile(r" *[0-9][0-9_.]* *[kKMGT] *")
"""A whole number with a suffix, such as 1M."""
CITATION = re.compile(
    r"(?:([A-Z][\w-]*(?: (?:for|in|on|of|the|et|al\.|and|[A-Z][\w-]*))*)(?:, | \())?"
    r"((?:IEEE |ACM )?[A-Z]{3,7} (?:19|20)\d\d(?:, (?:[Ss]ection|[Tt]able|[Ff]igure) \d[\d.]*\b)*)"
)
"""How a text cites a paper: its name, the conference with its year, the place in it."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What another key has to be."""

    key: str
    wanted: bool
    """Whether its value is to be one of `values`, or none of them."""
    values: tuple[str, ...]
    """Values as TOML; an empty text stands for unset."""

    @property
    def text(self) -> str:
        """The condition as it is written in a file."""
        forms = {True: ("{key} = {value}", "{key} not set"), False: ("{key} other than {value}", "{key} set")}
        return " or ".join(forms[self.wanted][not value].format(key=self.key, value=value) for value in self.values)


@dataclass(frozen=True, slots=True)
class Key:
    """A declared parameter."""

    key: str
    type: str
    units: tuple[str, ...]
    default: str | None
    """As TOML; None when unset."""
    unset_means: str | None
    bounds: str
    least: int | None
    """The least whole number; None where it has none, or is no whole number."""
    most: int | None
    choices: Mapping[str, str]
    """The values of a fixed list, each with its meaning."""
    step: str | None
    """By how much `flashmesh ask` changes it: `x2`, `+5%`, or the values to try with ` | ` between them."""
    used_with: tuple[tuple[Condition, ...], ...]
    """All of these have to hold for a run to read the key, of each one condition at least."""
    meaning: str

    @property
    def section(self) -> str:
        """The section; empty above all sections."""
        return self.key.rpartition(".")[0]

    @property
    def sources(self) -> tuple[str, ...]:
        """The papers that its meaning cites, or the text about its section."""
        section = dict(_native.sections()).get(self.section, "")
        own = cited(" ".join([self.meaning, *self.choices.values()]))
        return own or cited(section)


def cited(text: str) -> tuple[str, ...]:
    """The papers that a text cites."""
    found = (f"{name}, {place}" if name else place for name, place in CITATION.findall(text))
    return tuple(dict.fromkeys(found))


def whole(kind: str, text: str | None) -> int | None:
    """A bound of a whole number."""
    return int(text) if kind == "integer" and text is not None else None


@cache
def declared() -> Mapping[str, Key]:
    """All declared parameters by their keys, in the order of the reference."""
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
    """The key as it is declared: without the stream that it is set for, and with NAME for the name of a table."""
    parts = key.strip().split(".")
    if parts[0] == "stream" and len(parts) > 2:
        parts = parts[2:]
    tables = {name.removesuffix(f".{NAME}") for name, _ in _native.sections() if name.endswith(f".{NAME}")}
    if parts[0] in tables and len(parts) > 1:
        parts[1] = NAME
    return ".".join(parts)


def find(key: str) -> Key:
    """A declared parameter.

    Raises:
        ConfigError: When there is none of this name; the text says what may have been meant.
    """
    known = declared()
    name = declared_name(key)
    if not name:
        raise ConfigError("a key is missing: name one, such as fabric.kind")
    if name in known:
        return known[name]
    raise ConfigError(f"{key}: there is no such key{meant(name, known)}")


def key_of(text: str) -> str:
    """A key as configurations spell it, with dashes; the name of a stream or of a namespace stays as it is."""
    parts = text.strip().split(".")
    for number, part in enumerate(parts):
        if number != 1 or parts[0] not in NAMED:
            parts[number] = part.replace("_", "-")
    return ".".join(parts)


def misfit(key: Key, value: Any) -> str | None:
    """Why a parameter cannot have a value, as far as that can be said of it alone; None where it may."""
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
        return None  # whoever reads the configuration knows the suffix
    if isinstance(value, bool) or not isinstance(value, int):
        return f"{value!r} is no whole number"
    if (key.least is not None and value < key.least) or (key.most is not None and value > key.most):
        return f"{value!r} is out of bounds: it must be {key.bounds}"
    return None


def refuse_misfits(name: str, section: str, values: Mapping[str, Any]) -> None:
    """Refuses values of a section in the way of Python.

    Args:
        name: The class that holds them.
        section: The section.
        values: Values by the names of their fields.

    Raises:
        ConfigError: When there is one that the parameter cannot have.
    """
    known = declared()
    for field, value in values.items():
        key = known.get(f"{section}.{field.replace('_', '-')}")
        found = misfit(key, value) if key is not None else None
        if found is not None:
            raise ConfigError(f"{name}({field}={value!r}): {found}")


def keys_named(name: str) -> list[str]:
    """The keys of any section with this name, in the order of their declaration."""
    return [key for key in declared() if key.rpartition(".")[2] == name and NAME not in key]


def meant(name: str, known: Mapping[str, Key]) -> str:
    """What may have been meant by a key that does not exist, as the end of a sentence."""
    from flashmesh.importers.problems import suggestion

    same = [key for key in known if key.rpartition(".")[2] == name.rpartition(".")[2]]
    if same:
        return f": did you mean {' or '.join(same[:5])}?"
    sections = [section for section, _ in _native.sections() if section]
    last = suggestion(name, [key.rpartition(".")[2] for key in known])
    near = suggestion(name, [*known, *sections]) or next((key for key in known if key.rpartition(".")[2] == last), None)
    return f": did you mean {near}?" if near else "; docs/parameters.md lists them"


def related(key: Key) -> list[str]:
    """Other keys that matter with a key: those it is read with, those read with it, and the others of its section."""
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
    """The values of each preset, by key."""
    from flashmesh.configuration import read

    return {name: flat(json.loads(read(f"{PRESET}:{name}", []).to_json())) for name in _native.presets()}


def flat(tables: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The values of nested tables by their dotted keys."""
    found: dict[str, Any] = {}
    for name, value in tables.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


def toml_text(value: Any) -> str:
    """A value as TOML; what is absent is not set."""
    if value is None:
        return UNSET
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool | list) else str(value)


def presets_by_value(key: str) -> dict[str, list[str]]:
    """The presets by the value that they give a key, as TOML."""
    found: dict[str, list[str]] = {}
    for preset, values in preset_values().items():
        found.setdefault(toml_text(values.get(key)), []).append(preset)
    return found


def differences(tables: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The keys in which configurations differ, each with its value in all of them; None where it is not set."""
    flats = [flat(each) for each in tables]
    keys = dict.fromkeys(key for each in flats for key in each)
    values = {key: [each.get(key) for each in flats] for key in keys}
    return {key: each for key, each in values.items() if any(value != each[0] for value in each[1:])}


def short_key(key: str) -> str:
    """Returns a key without its section, unless a single word is left, such as `kind`, which says too little."""
    last = key.rpartition(".")[2]
    return last if "-" in last else key
