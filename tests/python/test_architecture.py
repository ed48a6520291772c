"""The table of folders in docs/architecture.md agrees with the source tree.

A Rust test checks the diagrams.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

import import_rules

DOCUMENT = import_rules.ROOT / "docs/architecture.md"
TRAIT = re.compile(r"\bpub trait (\w+)")


class Room(NamedTuple):
    """A row of the table: a folder of the core, or a crate that the core uses."""

    name: str
    traits: list[str]


def rooms_of(text: str) -> list[Room]:
    """Returns the rows of the first table on the page."""
    rows = [line.strip("|").split("|") for line in text.split("\n\n## ")[0].splitlines() if line.startswith("| `")]
    return [Room(row[0].strip(" `/"), re.findall(r"`(\w+)`", row[3])) for row in rows]


def folders(root: Path) -> list[str]:
    """Returns the folders of the core in dependency order: each may use those before it."""
    core = root / "crates/flashmesh/src"
    return [room for room, _ in reversed(import_rules.ROOMS["flashmesh"]) if (core / room).is_dir()]


def check(text: str, root: Path) -> list[str]:
    """Returns a line for each difference between the table of folders in `text` and the source tree under `root`."""
    rooms = rooms_of(text)
    crates = sorted(
        path.name
        for path in (root / "crates").iterdir()
        if path.name in import_rules.ROOMS and path.name != "flashmesh"
    )
    named = [room.name for room in rooms if room.name not in crates]
    problems = [f"{crate} is missing" for crate in crates if crate not in [room.name for room in rooms]]
    if named != folders(root):
        problems.append(f"the rows are {named}, the folders {folders(root)}")
    for room in rooms:
        sources = root / "crates" / (room.name if room.name in crates else f"flashmesh/src/{room.name}")
        declared = {name for path in sources.rglob("*.rs") for name in TRAIT.findall(path.read_text(encoding="utf-8"))}
        problems += [f"{room.name} declares no trait {name}" for name in room.traits if name not in declared]
    return problems


def test_the_table_of_rooms_is_that_of_the_tree() -> None:
    assert check(DOCUMENT.read_text(encoding="utf-8"), import_rules.ROOT) == []


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("| `frontend/` |", "| `backend/` |", "the rows are"),
        ("`Scheduler`", "`Shuffler`", "schedule declares no trait Shuffler"),
        ("| `flashmesh-workload` |", "| flashmesh-workload |", "flashmesh-workload is missing"),
    ],
)
def test_a_table_that_is_wrong_is_found(before: str, after: str, problem: str) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert before in text
    found = check(text.replace(before, after), import_rules.ROOT)
    assert [line for line in found if line.startswith(problem)]
