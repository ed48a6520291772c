"""What became of every tag, and which keys were set from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from flashmesh.importers.mqsim.forms import Misfit
from flashmesh.importers.problems import suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from decimal import Decimal
    from pathlib import Path

    from flashmesh.importers.mqsim.document import Element
    from flashmesh.importers.mqsim.forms import Content
    from flashmesh.importers.mqsim.requests import Request
    from flashmesh.importers.mqsim.tags import Tag
    from flashmesh.importers.problems import Source
    from flashmesh.importers.toml_text import Value


class Mode(Enum):
    """What a configuration describes."""

    COMPATIBLE = "mqsim-compat"
    """The drive that MQSim simulates, its habits included."""
    PHYSICAL = "physical"
    """The drive that the files mean."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A tag that is none of MQSim's."""

    source: str
    line: int
    name: str
    near: str


@dataclass(slots=True)
class Fate:
    """What became of a tag."""

    section: str
    name: str
    source: str
    line: int
    """0 when the tag is absent."""
    text: str
    keys: list[str] = field(default_factory=list)
    reason: str = ""
    """Why it has no effect, or no other one."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A key and its value in either mode; None leaves it at what it is without being named."""

    key: str
    compatible: Value | None
    physical: Value | None
    reason: str

    def value(self, mode: Mode) -> Value | None:
        """The value in one mode."""
        return self.compatible if mode is Mode.COMPATIBLE else self.physical


@dataclass(frozen=True, slots=True)
class Replay:
    """Requests that go into a file of their own."""

    requests: Iterator[Request]
    source: Path | None
    """The trace they come from; None: they are drawn."""


class Ledger:
    """All that is known of one translation."""

    def __init__(self) -> None:
        """Begins an empty one."""
        self.fates: list[Fate] = []
        self.unknown: list[Unknown] = []
        self.settings: dict[str, Setting] = {}
        self.warnings: list[str] = []
        self.replays: dict[str, Replay] = {}
        """By the names of their files."""

    def warn(self, text: str) -> None:
        """Notes what whoever imports has to know."""
        if text not in self.warnings:
            self.warnings.append(text)


class Section:
    """The tags of one element, read as they are asked for."""

    def __init__(
        self, ledger: Ledger, source: Source, element: Element, tags: Iterable[Tag], inner: Iterable[str] = ()
    ) -> None:
        """Sorts the tags of `element` into known ones, those that hold others (`inner`), and unknown ones.

        Raises:
            ConfigError: When a tag is there twice, or a plain one holds others.
        """
        self.ledger = ledger
        self.source = source
        self.element = element
        self.tags = {tag.name: tag for tag in tags}
        self.given: dict[str, Element] = {}
        self.inner: dict[str, Element] = {}
        self.fates: dict[str, Fate] = {}
        aliases = {tag.alias: tag.name for tag in self.tags.values() if tag.alias}
        for child in element.children:
            if child.name in inner:
                self.once(self.inner, child.name, child)
            elif child.name in self.tags:
                self.once(self.given, child.name, child)
            else:
                near = aliases.get(child.name) or suggestion(child.name, self.tags)
                ledger.unknown.append(Unknown(source.name, child.line, child.name, near))
        for child in element.children:
            meant = aliases.get(child.name)
            if meant is not None and meant not in self.given:
                self.given[meant] = child
        for name, tag in self.tags.items():
            self.fates[name] = self.fate(tag, self.given.get(name))
        ledger.fates.extend(self.fates.values())

    def fate(self, tag: Tag, child: Element | None) -> Fate:
        """What is known of a tag before anybody asks for it.

        Raises:
            ConfigError: When it holds other tags.
        """
        if child is None:
            return Fate(self.element.name, tag.name, self.source.name, 0, tag.default or "")
        if child.children:
            inside = child.children[0]
            raise self.source.problem(
                inside.line,
                f"<{inside.name}> lies inside <{tag.name}>, which holds a value",
                f"is <{tag.name}> of line {child.line} closed?",
                inside.name,
            )
        return Fate(self.element.name, tag.name, self.source.name, child.line, child.text)

    def once(self, found: dict[str, Element], name: str, child: Element) -> None:
        """Keeps a tag.

        Raises:
            ConfigError: When there is one of its name already.
        """
        if name in found:
            raise self.source.problem(
                child.line,
                f"<{name}> is there twice in <{self.element.name}>, first in line {found[name].line}",
                "remove one; MQSim would take the last",
                name,
            )
        found[name] = child

    def read(self, name: str) -> Content:
        """What a tag says, or what MQSim takes without it.

        Raises:
            ConfigError: When it is no such thing, or absent without a default.
        """
        tag = self.tags[name]
        child = self.given.get(name)
        if child is None:
            if tag.default is None:
                raise self.source.problem(
                    self.element.line,
                    f"<{name}> is missing in <{self.element.name}>",
                    "MQSim has no default for it: it would take whatever is in memory",
                    self.element.name,
                )
            return tag.form.read(tag.default)
        try:
            return tag.form.read(child.text)
        except Misfit as misfit:
            raise self.problem(name, f"<{name}>: {misfit}") from None

    def whole(self, name: str) -> int:
        """A whole number."""
        value = self.read(name)
        assert isinstance(value, int), "the tables of tags say that it is one"
        return value

    def number(self, name: str) -> Decimal:
        """A number with decimals."""
        value = self.read(name)
        assert not isinstance(value, bool | int | str | tuple), "the tables of tags say that it is one"
        return value

    def flag(self, name: str) -> bool:
        """Whether something is so."""
        return self.read(name) is True

    def word(self, name: str) -> str:
        """A word or a text."""
        value = self.read(name)
        assert isinstance(value, str), "the tables of tags say that it is one"
        return value

    def indices(self, name: str) -> tuple[int, ...]:
        """Numbers of parts."""
        value = self.read(name)
        assert isinstance(value, tuple), "the tables of tags say that it is one"
        return value

    def problem(self, name: str, message: str, remedy: str = "") -> Exception:
        """An error at a tag, or at its section when the tag is absent."""
        child = self.given.get(name)
        line, mark = (child.line, child.text) if child is not None else (self.element.line, self.element.name)
        return self.source.problem(line, message, remedy, mark)

    def unused(self, name: str, reason: str) -> None:
        """Says why a tag changes nothing, after looking whether it says something at all."""
        if name in self.given:
            self.read(name)
        self.fates[name].reason = reason

    def set(
        self,
        key: str,
        value: Value | None = None,
        *tags: str,
        compatible: Value | None = None,
        physical: Value | None = None,
        reason: str = "",
    ) -> None:
        """Sets a key from tags of this section.

        Args:
            key: The dotted key.
            value: Its value in both modes.
            tags: Where it comes from.
            compatible: Its value as MQSim computes, when the modes differ.
            physical: Its value as the file means it, when they differ.
            reason: Why they differ.
        """
        both = value is not None
        self.ledger.settings[key] = Setting(key, value if both else compatible, value if both else physical, reason)
        for tag in tags:
            self.fates[tag].keys.append(key)
