"""Record of an import: every tag of the files, and the configuration keys that the tag sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from flashmesh.importers.mqsim.forms import Choice, Flag, Misfit, Words
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
    """Mode of an import: which drive the configuration describes."""

    COMPATIBLE = "mqsim-compat"
    """The drive that MQSim simulates, with its peculiarities."""
    PHYSICAL = "physical"
    """The drive that the files mean, without the peculiarities of MQSim."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A tag that MQSim does not have."""

    source: str
    line: int
    name: str
    near: str


@dataclass(slots=True)
class Fate:
    """Translation of a tag that MQSim has: the keys that the tag sets, or the reason why it has no effect."""

    section: str
    name: str
    source: str
    line: int
    """Line of the tag; 0 if the tag is absent."""
    text: str
    keys: list[str] = field(default_factory=list)
    reason: str = ""
    """Reason why the tag has no effect, or a note on its effect."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A configuration key with its value in each mode; None leaves the key out, which then has its default."""

    key: str
    compatible: Value | None
    physical: Value | None
    reason: str

    def value(self, mode: Mode) -> Value | None:
        """Returns the value in one mode."""
        return self.compatible if mode is Mode.COMPATIBLE else self.physical


@dataclass(frozen=True, slots=True)
class Replay:
    """A trace file to write, with its requests."""

    requests: Iterator[Request]
    source: Path | None
    """Trace that the requests are read from; None if MQSim's generator draws them."""


class Ledger:
    """Record of the translation of one scenario and its drive: tags, settings, warnings and trace files."""

    def __init__(self) -> None:
        """Creates an empty record."""
        self.fates: list[Fate] = []
        self.unknown: list[Unknown] = []
        self.settings: dict[str, Setting] = {}
        self.warnings: list[str] = []
        self.replays: dict[str, Replay] = {}
        """Trace files to write, by their names."""

    def warn(self, text: str) -> None:
        """Adds a warning for the user, each text once."""
        if text not in self.warnings:
            self.warnings.append(text)


class Section:
    """The tags inside one XML element, whose contents are parsed when they are read."""

    def __init__(
        self, ledger: Ledger, source: Source, element: Element, tags: Iterable[Tag], inner: Iterable[str] = ()
    ) -> None:
        """Sorts the tags of `element` into known tags, tags that contain tags (`inner`), and unknown tags.

        Raises:
            ConfigError: If a tag is given twice, or a tag outside `inner` contains tags.
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
        """Returns the record of a tag before any key is set; `child` is its element, or None if the tag is absent.

        Raises:
            ConfigError: If the tag contains other tags.
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
        """Stores the element of a tag in `found`.

        Raises:
            ConfigError: If a tag of this name is stored already.
        """
        if name in found:
            raise self.source.problem(
                child.line,
                f"<{name}> is given twice in <{self.element.name}>, first in line {found[name].line}",
                "remove one; MQSim would take the last",
                name,
            )
        found[name] = child

    def read(self, name: str) -> Content:
        """Returns the parsed content of a tag or, if the tag is absent, of MQSim's default.

        Raises:
            ConfigError: If the content is invalid, or the tag is absent without a default.
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
        if child.has_blanks and isinstance(tag.form, Choice | Flag | Words):
            what = f"<{name}> has blanks or line ends around `{child.text}`, which MQSim takes for a part of it"
            raise self.problem(name, what, "remove them")
        try:
            return tag.form.read(child.text)
        except Misfit as misfit:
            raise self.problem(name, f"<{name}>: {misfit}") from None

    def whole(self, name: str) -> int:
        """Returns the content of a tag as a whole number."""
        value = self.read(name)
        assert isinstance(value, int), "the tables of tags say that it is one"
        return value

    def number(self, name: str) -> Decimal:
        """Returns the content of a tag as a decimal number."""
        value = self.read(name)
        assert not isinstance(value, bool | int | str | tuple), "the tables of tags say that it is one"
        return value

    def flag(self, name: str) -> bool:
        """Returns the content of a tag as a truth value."""
        return self.read(name) is True

    def word(self, name: str) -> str:
        """Returns the content of a tag as a word or a text."""
        value = self.read(name)
        assert isinstance(value, str), "the tables of tags say that it is one"
        return value

    def indices(self, name: str) -> tuple[int, ...]:
        """Returns the content of a tag as indices of channels, chips, dies or planes."""
        value = self.read(name)
        assert isinstance(value, tuple), "the tables of tags say that it is one"
        return value

    def problem(self, name: str, message: str, remedy: str = "") -> Exception:
        """Returns an error that shows a tag, or its section if the tag is absent."""
        child = self.given.get(name)
        line, mark = (child.line, child.text) if child is not None else (self.element.line, self.element.name)
        return self.source.problem(line, message, remedy, mark)

    def unused(self, name: str, reason: str) -> None:
        """Records why a tag has no effect; an invalid content is an error nevertheless."""
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
        """Sets a configuration key from tags of this section, and records the key in their translations.

        Args:
            key: The dotted key.
            value: Its value in both modes.
            tags: The tags that the value comes from.
            compatible: The value that reproduces MQSim, if the modes differ.
            physical: The value that the file means, if the modes differ.
            reason: The reason why the modes differ.
        """
        both = value is not None
        self.ledger.settings[key] = Setting(key, value if both else compatible, value if both else physical, reason)
        for tag in tags:
            self.fates[tag].keys.append(key)
