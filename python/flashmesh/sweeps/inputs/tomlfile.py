"""Reader of hand-written TOML files; errors show the place in the file."""

from __future__ import annotations

import re
import tomllib
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from flashmesh._native import ConfigError, sections, toml_places
from flashmesh.configuration import value_text
from flashmesh.importers.problems import Source, suggestion

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from flashmesh._native import Config

BYTES_MAX = 16 << 20
"""Maximum size of a file in bytes."""
DEPTH_MAX = 50
"""Maximum depth of nested tables and lists."""
PLACE = " --> "
"""Arrow before a place in an error message; a message that contains it already shows a place."""
AT = re.compile(r" \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")


OF_SWEEP = ("axes", "zip", "random", "latin-hypercube")
"""Keys of a sweep file that a search file does not have."""


def of_another_command(path: Path, tables: Mapping[str, Any], known: Collection[str]) -> str:
    """Returns which command runs a file: of a search, a sweep or a configuration; empty if it is none of these.

    Args:
        path: The file.
        tables: Its content, which has a key that its reader does not know.
        known: The keys that its reader knows.
    """
    if "config" in tables and "space" in tables and "space" not in known:
        return f"this is a search: `flashmesh optimise {path}` runs it"
    if "config" in tables and any(key in tables and key not in known for key in OF_SWEEP):
        return f"this is a sweep: `flashmesh sweep {path}` runs it"
    if "config" not in tables and ("preset" in tables or any(name in tables for name, _ in sections() if name)):
        return f"this is a configuration: `flashmesh run {path}` runs it"
    return ""


class TomlFile:
    """Tables of a file, with the place of each key and value."""

    def __init__(self, path: Path, trust_policies: bool = False) -> None:
        """Reads the file.

        Args:
            path: The path of the file.
            trust_policies: Whether the file may name policies, whose code then runs.

        Raises:
            ConfigError: If the file cannot be read, or is not TOML.
        """
        try:
            with path.open("rb") as file:
                data = file.read(BYTES_MAX + 1)
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
        if len(data) > BYTES_MAX:
            raise ConfigError(f"{path}: is larger than {BYTES_MAX >> 20} MiB, too large for such a file")
        self.path = path
        self.trust_policies = trust_policies
        self.source = Source(str(path), data.decode("utf-8", "replace"))
        try:
            self.tables: dict[str, Any] = tomllib.loads(data.decode("utf-8").replace("\r\n", "\n"))
        except tomllib.TOMLDecodeError as error:
            raise self.undecodable(str(error)) from error
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path}: is not TOML: {error}") from error
        refuse_extremes(path, self.tables)

    def undecodable(self, text: str) -> ConfigError:
        """Returns the error of the parser for text that is not TOML, with its place in the file."""
        found = AT.search(text)
        said = f"is not TOML: {text[: found.start()] if found is not None else text}"
        if found is None:
            return ConfigError(f"{self.path}: {said}")
        lines = self.source.text.rstrip("\n").split("\n")
        line = int(found["line"]) if found["line"] else len(lines)
        column = int(found["column"]) if found["column"] else len(lines[-1].rstrip("\r")) + 1
        return self.source.problem(line, f"{self.path}: {said}", at=column - 1)

    @cached_property
    def places(self) -> dict[str, tuple[tuple[int, int], tuple[int, int]]]:
        """Byte spans of each key and of its value, by dotted path; empty if the file cannot be parsed for places."""
        try:
            found = toml_places(self.source.text)
        except ValueError:
            return {}
        return {".".join(path): (key, value) for path, key, value in found}

    def problem(
        self, keys: Sequence[str], message: str, remedy: str = "", part: Literal["key", "value"] = "value"
    ) -> ConfigError:
        """Returns an error that shows the place in the file of a key or of its value, if known."""
        key = ".".join(keys)
        if key not in self.places:
            said = f"{self.path}: {message}"
            return ConfigError(f"{said}: {remedy}" if remedy else said)
        line, at, length = self.position(self.places[key][part == "value"])
        return self.source.problem(line, message, remedy, at=at, length=length)

    def position(self, span: tuple[int, int]) -> tuple[int, int, int]:
        """Returns (line, column, number of characters on that line) of a byte span of the file."""
        data = self.source.text.encode()
        before = data[: span[0]].decode("utf-8", "replace")
        line = before.count("\n") + 1
        shown = data[span[0] : span[1]].decode("utf-8", "replace").split("\n")[0]
        return line, len(before) - before.rfind("\n") - 1, len(shown.rstrip("\r"))

    @contextmanager
    def at(self, *keys: str, part: Literal["key", "value"] = "value") -> Iterator[None]:
        """Adds the place of a key to errors of the block that show no place."""
        try:
            yield
        except ConfigError as error:
            if PLACE in str(error):
                raise
            raise self.problem(keys, str(error).removeprefix("error: "), part=part) from None

    def refuse_unknown(self, known: Sequence[str]) -> None:
        """Refuses keys that the file may not have.

        Raises:
            ConfigError: If a key is unknown; the message suggests a similar key.
        """
        for key in self.tables:
            if key not in known:
                near = suggestion(key, known)
                told = f"did you mean {near}?" if near else f"there are {', '.join(known)}"
                told = of_another_command(self.path, self.tables, known) or told
                raise self.problem((key,), f"unknown key {key}", told, part="key")

    def placed(self, error: ConfigError, settings: Mapping[str, str]) -> ConfigError:
        """Returns `error` with lines of this file in place of the quoted settings that come from it."""

        def place(shown: re.Match[str]) -> str:
            key = shown["key"].strip()
            lines = self.lines(key, settings.get(key), is_key="=" not in shown["text"][: len(shown["before"])])
            return "\n".join(lines) if lines else shown[0]

        return ConfigError(SHOWN.sub(place, str(error)))

    def lines(self, key: str, value: str | None, is_key: bool) -> list[str] | None:
        """Returns the lines of an error that show where the file gives a setting; None if it does not."""
        spelt = {name.replace("_", "-"): name for name in self.places}
        groups = [f"zip.{number}" for number, _ in enumerate(self.tables.get("zip", []))]
        for table in ("axes", "set", "space", *groups, "random", "latin-hypercube"):
            name = spelt.get(f"{table}.{key}")
            if name is None:
                continue
            span = self.places[name][not is_key]
            for number, each in enumerate(self.listed(name)):
                if not is_key and value is not None and value_text(each) == value:
                    span = self.places[f"{name}.{number}"][1]
            line, at, length = self.position(span)
            return self.source.place(line, at=at, length=length)
        return None

    def listed(self, name: str) -> list[Any]:
        """Returns the list in the file at a dotted path; empty if the value there is not a list."""
        value: Any = self.tables
        rest = name
        while rest:
            key = next((each for each in keys_of(value) if rest == each or rest.startswith(f"{each}.")), None)
            if key is None:
                return []
            value = value[int(key) if isinstance(value, list) else key]
            rest = rest[len(key) + 1 :]
        return value if isinstance(value, list) else []

    def refuse_unread(self, configs: Sequence[Config], keys: Sequence[str]) -> None:
        """Refuses keys that no run reads.

        Raises:
            ConfigError: If no run reads one of the keys.
        """
        from flashmesh.configuration import refuse_unread

        for key in keys:
            try:
                refuse_unread(configs, [key])
            except ConfigError as error:
                lines = self.lines(key, None, is_key=True)
                raise ConfigError("\n".join([str(error), *(lines or [])])) from None


def refuse_extremes(path: Path, tables: Mapping[str, Any]) -> None:
    """Refuses whole numbers of more than 64 bits, and tables nested too deeply.

    Raises:
        ConfigError: If a number is too large, or a table is too deep.
    """
    level: list[Any] = [tables]
    for _ in range(DEPTH_MAX):
        inner = [each for value in level for each in (value.values() if isinstance(value, dict) else value)]
        if any(isinstance(each, int) and not -(2**63) <= each < 2**64 for each in inner):
            raise ConfigError(f"{path}: has a whole number of more than 64 bits, which no key can have")
        level = [each for each in inner if isinstance(each, dict | list)]
    if level:
        raise ConfigError(f"{path}: has tables nested more than {DEPTH_MAX} deep")


SHOWN = re.compile(
    r"^ *--> --(?:set #\d+|vary [^\n]*?):1:\d+\n *\|\n1 \| (?P<text>(?P<key>[^=\n]+)=.*)\n *\| (?P<before> *)\^+$",
    re.MULTILINE,
)
"""Pattern of the lines with which an error of `flashmesh.configuration.load` quotes a setting of a point."""


def keys_of(value: Any) -> list[str]:
    """Returns the keys of a table, or the indices of a list as texts; empty for any other value."""
    if isinstance(value, dict):
        return list(value)
    return [str(number) for number in range(len(value))] if isinstance(value, list) else []
