"""Command `flashmesh explain`."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from flashmesh.cli.command import command
from flashmesh.cli.options.parameters import completed
from flashmesh.cli.output import stdout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flashmesh.keys import Key

WIDTH = 80
INDENT = 12
RELATED_SHOWN = 12


@command()
@click.argument("key", metavar="KEY", shell_complete=completed("keys"))
def explain(key: str) -> None:
    """Print the meaning and the values of a configuration key.

    KEY is a key as for --set, such as fabric.kind, or a section, such as fabric, to list its keys.
    """
    with stdout() as stream:
        stream.writelines(f"{line}\n" for line in lines_about(key))


def lines_about(key: str) -> Iterable[str]:
    """Returns the description of a key or a section.

    Raises:
        ConfigError: If no key or section has this name.
    """
    from flashmesh import _native
    from flashmesh.keys import find

    name = key.strip().strip("[]")
    refuse_measure(name)
    section = next((each for each in _native.sections() if each[0] and each[0] in (name, f"{name}.NAME")), None)
    return of_section(*section) if section is not None else of_key(find(name))


def refuse_measure(name: str) -> None:
    """Refuses the name of a measure, which is not a configuration key.

    Raises:
        ConfigError: If a measure has this name, in any case.
    """
    from flashmesh._native import ConfigError
    from flashmesh.keys import declared
    from flashmesh.report.measures.measure import MEASURES

    found = next((each.name.strip() for each in MEASURES if each.name.strip().lower() == name.lower()), None)
    if found is not None and name not in declared():
        raise ConfigError(f"{name}: {found} is a measure of results: flashmesh measures says what it is")


def of_section(name: str, about: str) -> Iterator[str]:
    """Yields lines on a section: its description `about`, and a line for each of its keys."""
    from flashmesh.keys import declared

    yield f"[{name}]"
    yield from paragraph(about)
    yield ""
    keys = [key for key in declared().values() if key.section == name]
    width = max(len(key.key.rpartition(".")[2]) for key in keys) + 2
    for key in keys:
        first = key.meaning.split(". ")[0].rstrip(".")
        yield from item(key.key.rpartition(".")[2], first, width)


def of_key(key: Key) -> Iterator[str]:
    """Yields lines on a key: its meaning, its values, and the keys on which its use depends."""
    from flashmesh.keys import related

    yield key.key
    yield from paragraph(key.meaning)
    yield ""
    yield from item("type", f"{key.type}{', with a unit: ' + ', '.join(key.units) if key.units else ''}")
    if key.bounds and not key.choices:
        yield from item("values", key.bounds)
    for number, (choice, meaning) in enumerate(key.choices.items()):
        yield from item("values" if number == 0 else "", f'"{choice}": {meaning}', further="    ")
    yield from item("default", key.default if key.default is not None else f"not set: {key.unset_means}")
    yield from presets_of(key)
    if key.step is not None:
        yield from item("step", f"{key.step}, by which flashmesh ask changes it")
    for number, any_of in enumerate(key.used_with):
        condition = " or ".join(condition.text for condition in any_of)
        yield from item("read with" if number == 0 else "and with", condition)
    if not key.used_with:
        yield from item("read with", "every configuration")
    if key.sources:
        yield from item("source", "; ".join(key.sources))
    others = related(key)
    if others:
        more = f", and {len(others) - RELATED_SHOWN} more" if len(others) > RELATED_SHOWN else ""
        yield from item("related", ", ".join(others[:RELATED_SHOWN]) + more)


def presets_of(key: Key) -> Iterator[str]:
    """Yields lines that list the presets by their value of a key; one line if all presets have the same value."""
    from flashmesh.keys import presets_by_value

    by_value = presets_by_value(key.key) if "NAME" not in key.key else {}
    for number, (value, presets) in enumerate(by_value.items() if len(by_value) > 1 else ()):
        yield from item("presets" if number == 0 else "", f"{value} in {', '.join(presets)}")
    if len(by_value) == 1:
        yield from item("presets", "the same in all of them")


def paragraph(text: str) -> list[str]:
    """Returns a text as indented, wrapped lines."""
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  ")


def item(name: str, text: str, width: int = INDENT, further: str = "") -> list[str]:
    """Returns a name with a wrapped text in a column to its right, as lines."""
    indent = "  " + " " * width
    return textwrap.wrap(
        text, WIDTH, initial_indent=f"  {name:<{width}}", subsequent_indent=indent + further, break_on_hyphens=False
    )
