"""Job files of fio as text: sections and options, each with its line."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flashmesh.importers.problems import read_source

if TYPE_CHECKING:
    from pathlib import Path

    from flashmesh.importers.problems import Source

GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class Option:
    """An option as it is written."""

    name: str
    value: str
    line: int


@dataclass(slots=True)
class Job:
    """A job with its options, those of the global sections before it included."""

    name: str
    line: int
    options: dict[str, Option] = field(default_factory=dict)


def read(path: Path) -> tuple[Source, list[Job]]:
    """The jobs of a file.

    Raises:
        ConfigError: When it cannot be read, or is no job file.
    """
    source, _ = read_source(path)
    shared: dict[str, Option] = {}
    jobs: list[Job] = []
    section: dict[str, Option] | None = None
    own: dict[str, int] = {}
    for number, raw in enumerate(source.text.split("\n"), 1):
        text = raw.strip().lstrip("\ufeff")
        if not text or text[0] in "#;":
            continue
        if text[0] == "[":
            name = heading(source, text, number)
            own = {}
            if name == GLOBAL:
                section = shared
            else:
                job = Job(name, number, dict(shared))
                jobs.append(job)
                section = job.options
            continue
        option = read_option(source, text, number)
        if section is None:
            raise source.problem(number, f"`{option.name}` stands before the first section", "begin with [global]")
        if option.name in own:
            raise source.problem(
                number,
                f"`{option.name}` is given twice in one section, first in line {own[option.name]}",
                "remove one",
                option.name,
            )
        own[option.name] = number
        section[option.name] = option
    if not jobs:
        raise source.problem(1, "there is no job", "a job is a section such as [randread], beside [global]")
    return source, jobs


def heading(source: Source, text: str, number: int) -> str:
    """The name in a section's heading.

    Raises:
        ConfigError: When it has none, or is not closed.
    """
    name = text[1:-1].strip() if text.endswith("]") else ""
    if not name:
        raise source.problem(number, "is no heading of a section: expected a name in brackets, such as [randread]")
    return name


def read_option(source: Source, text: str, number: int) -> Option:
    """An option; one without a value is switched on.

    Raises:
        ConfigError: When it is none, or is left empty.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    if name.split(maxsplit=1)[:1] == ["include"]:
        raise source.problem(number, "`include` is not taken", "write the options into this file", "include")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise source.problem(number, f"`{name}` is no option: expected option=value", mark=name)
    if equals and not value:
        raise source.problem(number, f"`{name}` has no value", "give it one, or remove it", name)
    if "$" in value:
        raise source.problem(number, f"`{value}` holds a variable, which is not taken", "write its value", value)
    return Option(name, value if equals else "1", number)
