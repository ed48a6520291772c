"""Parser of fio job files: sections and options, each with its line."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.importers.fio.notation.options import ALIASES
from flashmesh.importers.problems import read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from flashmesh.importers.problems import Source

GLOBAL = "global"
"""Name prefix of a section whose options apply to all jobs below it."""
INCLUDES_MAX = 8
"""Maximum depth of nested includes."""
KEYWORDS: dict[str, Callable[[], int]] = {
    "$pagesize": lambda: os.sysconf("SC_PAGESIZE"),
    "$mb_memory": lambda: os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20,
    "$ncpus": lambda: os.cpu_count() or 1,
}
"""Keywords of fio for numbers of the machine, such as its number of processors, with functions that return them."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a job file."""

    name: str
    """Name of the option in fio's manual; an alias is replaced by the main name."""
    value: str
    line: int
    written: str
    """Name of the option as written in the file."""
    missing: str = ""
    """First variable in the value that the environment does not set; empty if all are set."""


@dataclass(slots=True)
class Job:
    """A job with its options, including those of the global sections before it."""

    name: str
    line: int
    options: dict[str, Option] = field(default_factory=dict)


def read(path: Path, notes: list[str] | None = None) -> tuple[Source, list[Job]]:
    """Reads the jobs of a file.

    Args:
        path: The job file.
        notes: Collects a line for each option that is given twice.

    Raises:
        ConfigError: If the file cannot be read, or is not a job file.
    """
    source, _ = read_source(path)
    shared: dict[str, Option] = {}
    jobs: list[Job] = []
    section: dict[str, Option] | None = None
    own: dict[str, Option] = {}
    for number, text in lines(source):
        if text[0] == "[":
            name = heading(source, text, number)
            own = {}
            if name.startswith(GLOBAL):
                section = shared
            else:
                job = Job(name, number, dict(shared))
                jobs.append(job)
                section = job.options
            continue
        for option in read_line(source, path.parent, text, number):
            if section is None:
                raise source.problem(
                    number, f"`{option.written}` stands before the first section", "begin with [global]"
                )
            if option.name in own and notes is not None:
                notes.append(
                    f"{option.written}: given in line {own[option.name].line} and in line {number}; the last one counts"
                )
            own[option.name] = option
            section[option.name] = option
    if not jobs:
        raise source.problem(1, "there is no job", "a job is a section such as [randread], beside [global]")
    return source, jobs


def lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yields each non-empty line without its comment, with the line number."""
    for number, raw in enumerate(source.text.split("\n"), 1):
        text = re.split("[;#]", raw.lstrip("\ufeff"), maxsplit=1)[0].strip()
        if text:
            yield number, text


def heading(source: Source, text: str, number: int) -> str:
    """Returns the name in the heading of a section.

    Raises:
        ConfigError: If the heading has no name, or no closing bracket.
    """
    # Like fio, takes the name up to the first bracket, and ignores the rest of the line.
    name, bracket, _ = text[1:].partition("]")
    name = name.strip()
    if not name or not bracket:
        raise source.problem(number, "is no heading of a section: expected a name in brackets, such as [randread]")
    return name


def read_line(source: Source, folder: Path, text: str, number: int, depth: int = 0) -> Iterator[Option]:
    """Yields the option of a line, or the options of the file that the line includes.

    Raises:
        ConfigError: If the line is not a valid option or include.
    """
    first, _, rest = text.partition(" ")
    if first != "include":
        yield read_option(source, text, number)
        return
    if not rest.strip():
        raise source.problem(number, "`include` names no file", "write include FILE", "include")
    if depth == INCLUDES_MAX:
        raise source.problem(number, f"more than {INCLUDES_MAX} files include one another", "include fewer", text)
    path = folder / rest.strip()
    try:
        included, _ = read_source(path)
    except ConfigError as error:
        raise source.problem(number, str(error), "name a file beside the job file, or by its full path", text) from None
    for _, line in lines(included):
        if line[0] == "[":
            raise source.problem(number, f"`{path}` holds a section", "an included file holds options only", text)
        yield from (
            replace(option, line=number) for option in read_line(included, path.parent, line, number, depth + 1)
        )


def read_option(source: Source, text: str, number: int) -> Option:
    """Reads an option; an option without a value gets the value 1.

    Raises:
        ConfigError: If the text is not an option, or its value is empty.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
        is_trace = number == 1
        remedy = "a job file begins with a section such as [randread]; a trace goes to --trace" if is_trace else ""
        raise source.problem(number, f"`{name}` is no option: expected option=value", remedy, name)
    if equals and not value:
        raise source.problem(number, f"`{name}` has no value", "give it one, or remove it", name)
    value, missing = substituted(value) if equals else ("1", "")
    return Option(ALIASES.get(name, name), value, number, name, missing)


def substituted(value: str) -> tuple[str, str]:
    """Returns a value with variables and keywords replaced, and the name of the first unset variable."""
    missing = ""

    def of_environment(match: re.Match[str]) -> str:
        nonlocal missing
        if match[1] not in os.environ:
            missing = missing or match[1]
        return os.environ.get(match[1], match[0])

    value = re.sub(r"\$\{([^}]*)\}", of_environment, value)
    found = [word for word in KEYWORDS if word in value]
    for word in found:
        value = value.replace(word, str(KEYWORDS[word]()))
    # fio evaluates a value with a keyword as an expression, even without parentheses.
    return (f"({value})" if found and not value.isdigit() and not value.startswith("(") else value), missing
