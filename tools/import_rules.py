#!/usr/bin/env python3
"""Checks which rooms of the Rust crates name which others: `python tools/import_rules.py`.

A room is a file or folder directly below `src` of a crate, or another crate that its root re-exports. It may name
itself and the rooms before it in the list of its crate in ROOMS, so that rooms never form a cycle. Paths count
everywhere: `use crate::room::...`, `crate::room::...` in code, macros that a room exports. Tests may name every room.

Guides and examples, which show users the library, name only public items of `lib.rs`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOMS = {
    "flashmesh-base": (
        ("units", "sizes, times and rates, with their texts"),
        ("results", "how quantities of a report are declared"),
        ("error", "what the system said"),
        ("config", "how parameters are declared"),
    ),
    "flashmesh-workload": (
        ("units", "of flashmesh-base"),
        ("results", "of flashmesh-base"),
        ("error", "why a workload cannot be read"),
        ("config", "the declared parameters of workloads"),
        ("request", "what a workload is made of"),
        ("source", "what every workload is to those who take its requests"),
        ("synthetic", "patterns that a few numbers describe"),
        ("job", "jobs of fio, with files, passes and a random map"),
        ("profiles", "published workloads by their figures"),
        ("readers", "traces, read"),
        ("statistics", "figures of traces, and how far two are apart"),
        ("fitted", "profiles fitted to traces"),
        ("writers", "traces, written"),
        ("open", "from a configuration to a workload"),
    ),
    "flashmesh": (
        # Parts that all others use.
        ("units", "of flashmesh-base"),
        ("workload", "flashmesh-workload"),
        ("ids", "typed numbers"),
        ("results", "of flashmesh-base; quantities that several parts count"),
        ("error", "errors as types"),
        ("engine", "clock, event queue, random numbers, arenas"),
        ("config", "the declared parameters, read from text"),
        ("states", "states of drives that are kept in a folder"),
        # State machines and policies, which use neither the clock nor the events of a run (`kernel`).
        ("flash", "geometry, timing, dies"),
        ("host", "queues, links and namespaces of the host"),
        ("cache", "the device cache"),
        ("fabric", "the interconnects"),
        ("schedule", "which transaction a die runs next"),
        ("ftl", "mapping, allocation, collection, wear"),
        ("policies", "firmware policies"),
        ("persistence", "what of the map is on flash, and how it is found after a cut of the power"),
        ("collisions", "reads that wait behind reads of their die, and what copies would gain"),
        ("power", "energy and area"),
        # Shared parts of a run.
        ("measure", "counts, histograms and the quantities of a report"),
        ("kernel", "clock and events, probes, what is compiled into a run"),
        ("probes", "analyses that watch a run"),
        ("recording", "timelines and the network over a window of time: probes"),
        # Parts that combine several of those above.
        ("drive", "whether a configuration makes a drive"),
        ("check", "oracles"),
        # Top-level parts of a run.
        ("datapath", "transactions through dies and fabric"),
        ("controller", "what is decided, in time"),
        ("frontend", "requests, from issue to completion"),
        ("reporting", "from counts to a report"),
        ("simulation", "the loop"),
    ),
}
ROOT = Path(__file__).resolve().parents[1]
CRATES = ROOT / "crates"
# Examples that may use private rooms: the long runs of `make soak` share code with the tests.
INSIDERS = {"soak.rs"}

# Comments, string literals and characters, but not lifetimes.
NOT_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(?P<hashes>\#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*"|b?'(?:\\[^\n]+?|[^'\\\n])'""",
    re.DOTALL,
)
TEST_ITEM = re.compile(r"#\[cfg\((?:test|any\(test\b[^\]]*)\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?")
VISIBILITY = re.compile(r"\bpub\s*\([^)]*\)")
INLINE_MODULE = re.compile(r"\bmod\s+\w+\s*(?=\{)")
PATH = re.compile(r"\bcrate::\s*(?:(?P<name>\w+)|(?P<group>\{))")
SUPERS = re.compile(r"\b(?:super::\s*)+(?P<name>\w+)?")
PRIVATE_ROOMS = re.compile(r"^mod rooms \{(.*?)^\}", re.DOTALL | re.MULTILINE)
OUTSIDE = re.compile(r"\bflashmesh::(\w+)")
EXPORTED = re.compile(r"#\[macro_export\]\s*macro_rules!\s*(\w+)")


class Mention(NamedTuple):
    """A room that a file names."""

    line: int
    name: str


def blanked(text: str) -> str:
    """Replaces a text by spaces, but keeps its line breaks."""
    return re.sub(r"[^\n]", " ", text)


def code_of(text: str) -> str:
    """Returns the code without comments, literals and visibilities. Line numbers stay the same."""
    code = NOT_CODE.sub(lambda found: blanked(found[0]), text)
    return VISIBILITY.sub(lambda found: blanked(found[0]), code)


def end_of_block(code: str, start: int) -> int:
    """Returns the position after the brace that closes the block at `start`."""
    depth = 0
    for brace in re.finditer(r"[{}]", code[start:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return start + brace.end()
    return len(code)


def without_tests(code: str) -> tuple[str, list[str]]:
    """Returns the code without test items, and the names of test modules in files of their own."""
    modules = []
    while item := TEST_ITEM.search(code):
        end = re.compile(r"[;{]").search(code, item.end())
        at = end.start() if end else len(code)
        if module := re.match(r"mod\s+(\w+)\s*;", code[item.end() :]):
            modules.append(module[1])
        stop = end_of_block(code, at) if code[at : at + 1] == "{" else at + 1
        code = code[: item.start()] + blanked(code[item.start() : stop]) + code[stop:]
    return code, modules


def heads(group: str) -> list[tuple[int, str]]:
    """Returns the first name of each path in the braces at the start of `group`, with its position."""
    found, depth, is_first = [], 0, False
    for token in re.finditer(r"\w+|[{},]", group):
        match token[0]:
            case "{":
                depth += 1
                is_first = depth == 1
            case "}":
                depth -= 1
                if depth == 0:
                    break
            case ",":
                is_first = depth == 1
            case name:
                if is_first:
                    found.append((token.start(), name))
                is_first = False
    return found


def mentions(code: str, depth: int) -> list[Mention]:
    """Returns the names directly below the crate root that a module mentions; the module is `depth` levels below it."""
    found: list[tuple[int, str]] = []
    for path in PATH.finditer(code):
        if path["name"]:
            found.append((path.start(), path["name"]))
        else:
            found += [(path.start("group") + at, name) for at, name in heads(code[path.start("group") :])]
    inline = [(module.end(), end_of_block(code, module.end())) for module in INLINE_MODULE.finditer(code)]
    for path in SUPERS.finditer(code):
        inner = sum(start < path.start() < end for start, end in inline)
        if path[0].count("super") >= depth + inner and path["name"]:
            found.append((path.start(), path["name"]))
    return [Mention(code.count("\n", 0, at) + 1, name) for at, name in found]


def modules_of_tests(path: Path, names: list[str]) -> set[Path]:
    """Returns the files and folders of the modules `names` that `path` declares."""
    folder = path.parent if path.name in ("mod.rs", "lib.rs") else path.with_suffix("")
    return {folder / place for name in names for place in (f"{name}.rs", name)}


def exported_macros(crates: Path) -> dict[str, str]:
    """Returns the room of each exported macro. A crate names the macros of other crates like its own."""
    return {
        name: path.relative_to(sources).parts[0].removesuffix(".rs")
        for sources in sorted(crates.glob("*/src"))
        for path in sorted(sources.rglob("*.rs"))
        for name in EXPORTED.findall(code_of(path.read_text(encoding="utf-8")))
    }


def check(sources: Path, crate: str, macros: dict[str, str]) -> list[str]:
    """Returns a line for each mention of a room, in the sources of a crate, that violates the rules."""
    place_of = {room: place for place, (room, _) in enumerate(ROOMS[crate])}
    texts = {path: code_of(path.read_text(encoding="utf-8")) for path in sorted(sources.rglob("*.rs"))}
    parts = {path: without_tests(code) for path, code in texts.items()}
    tests = {test for path, (_, names) in parts.items() for test in modules_of_tests(path, names)}
    room_of = {path: path.relative_to(sources).parts[0].removesuffix(".rs") for path in texts}
    problems = []
    for path, (code, _) in parts.items():
        room = room_of[path]
        if room == "lib" or tests & {path, *path.parents}:
            continue
        if room not in place_of:
            problems.append(
                f"{path}: the room {room} has no place among those of {crate} in ROOMS of tools/import_rules.py"
            )
            continue
        relative = path.relative_to(sources)
        depth = len(relative.parts) - (path.name == "mod.rs")
        for line, name in mentions(code, depth):
            named = macros.get(name, name)
            if named == room:
                continue
            if named not in place_of:
                problems.append(f"{path}:{line}: {name} at the root of the crate is no room of tools/import_rules.py")
            elif place_of[named] > place_of[room]:
                problems.append(
                    f"{path}:{line}: {room} names {named}, which stands behind it: "
                    "a room may name only those before it in ROOMS of tools/import_rules.py"
                )
    return problems


def check_outside(root: Path) -> list[str]:
    """Returns a line for each private room that the guides or the examples name."""
    rooms = PRIVATE_ROOMS.search((root / "crates/flashmesh/src/lib.rs").read_text(encoding="utf-8"))
    private = set(re.findall(r"pub (?:mod|use \w+ as) (\w+);", rooms[1])) if rooms else set()
    examples = sorted((root / "crates/flashmesh/examples").rglob("*.rs"))
    guides = [root / "CONTRIBUTING.md", root / "README.md", *sorted((root / "docs").glob("*.md"))]
    return [
        f"{path}:{number}: flashmesh::{name} is private: name it as crates/flashmesh/src/lib.rs exports it"
        for path in [*guides, *(path for path in examples if path.name not in INSIDERS)]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for name in OUTSIDE.findall(line)
        if name in private
    ]


def main() -> int:
    """Prints the violations of the rules; returns 1 if there are any."""
    macros = exported_macros(CRATES)
    problems = [line for crate in ROOMS for line in check(CRATES / crate / "src", crate, macros)]
    problems += check_outside(ROOT)
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
