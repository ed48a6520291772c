"""Commands in README.md and the pages of docs/, and the output that the pages show."""

from __future__ import annotations

import itertools
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"^(?P<only><!-- checked only: [^\n]+ -->\n)?```(?P<kind>sh|console)\n(?P<text>.*?)^```$", re.M | re.S
)
ROW = re.compile(r"\s*<!-- first row: ([^\n]+) -->")
"""Note after a block of commands: the first words of the row in the output that the text refers to."""
BEST = re.compile(r"\s*<!-- (lowest|highest): ([^\n]+) -->")
"""Note after a block of commands: the row or column of the last command's tables that the text calls the best."""
QUOTING = re.compile(r"\s*<!-- figures of this output -->\n\s*(.+?)(?:\n\n|\Z)", re.S)
"""Note after a block of commands: figures of the next paragraph are in the last table, or else in the last output."""
FIGURE = re.compile(r"(?<![\w.])([\d,]*\d(?:\.\d+)?) ?(%|ns|us|ms|s|k|M|MB/s|GB/s)(?![\w/])")
"""A number with its unit."""
SCALES = {"ns": ("s", 1e-9), "us": ("s", 1e-6), "ms": ("s", 1e-3), "k": ("", 1e3), "M": ("", 1e6), "MB/s": ("B/s", 1e6)}
"""Base unit and factor of each unit."""
RULE = re.compile(r"^-{20,}$", re.M)
"""Line below the headings of a table."""
PICTURE = re.compile(r"^<!-- picture: (?P<made>\S+) -->\n!\[[^\]]*\]\((?P<file>[^)]+)\)", re.M)
"""Picture on a page, and the file to which the commands of the page write it."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
MOVED = 6.0
"""Maximum difference of a coordinate between equal drawings, since the width of letters depends on the machine."""
OF_THE_MACHINE = re.compile(r"^took .*(\n.*)?$", re.MULTILINE)
"""Lines of a summary that state the run time of the simulator, which depends on the machine."""
ANY_SHELL = re.compile(r"^```(sh|console|bash|shell|zsh)\b.*$", re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A command on a page."""

    page: Path
    line: int
    words: tuple[str, ...]
    shown: str
    """The output that the page shows; empty without one."""
    runs: bool
    """Whether tests run the command; otherwise they only check its options."""
    row: tuple[str, ...] = ()
    """First words of the first row of the first table; empty if the page does not name them."""
    quoting: str = ""
    """Paragraph that quotes figures of the output; empty if the page marks none."""
    best: tuple[str, str] | None = None
    """`lowest` or `highest`, and the row or column that the text calls so; None if the page names none."""

    @property
    def place(self) -> str:
        """Page, line and text of the command, for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}: {' '.join(self.words)}"


@dataclass(frozen=True)
class Picture:
    """A drawing on a page."""

    file: Path
    made: str
    """Path to which the commands of the page write the drawing, in their working folder."""


def pictures(page: Path) -> list[Picture]:
    """Returns the pictures on a page that its commands draw."""
    text = page.read_text(encoding="utf-8")
    return [Picture(page.parent / found["file"], found["made"]) for found in PICTURE.finditer(text)]


def is_same_drawing(one: str, other: str) -> bool:
    """Returns whether two drawings have the same parts at the same places, whatever the width of letters."""
    if NUMBER.sub("", one) != NUMBER.sub("", other):
        return False
    pairs = zip(map(float, NUMBER.findall(one)), map(float, NUMBER.findall(other)), strict=True)
    return all(abs(a - b) <= MOVED for a, b in pairs)


def figures(text: str) -> list[tuple[str, str, float, float]]:
    """Returns (text, base unit, value in base units, half a unit of the last digit) of each number with a unit."""
    found = []
    for number, unit in FIGURE.findall(text):
        base, scale = SCALES.get(unit, (unit if unit != "GB/s" else "B/s", 1e9 if unit == "GB/s" else 1.0))
        decimals = len(number.partition(".")[2])
        found.append((f"{number} {unit}", base, float(number.replace(",", "")) * scale, 0.5 * 10**-decimals * scale))
    return found


def unsupported(paragraph: str, printed: str) -> list[str]:
    """Returns the figures of a paragraph that match no figure of the output when rounded."""
    there = figures(printed)
    return [
        written
        for written, unit, value, half in figures(paragraph)
        if not any(unit == other and abs(value - known) <= half * 1.0001 for _, other, known, _ in there)
    ]


def first_row(printed: str) -> tuple[str, ...]:
    """Returns the words of the first row of the first table in an output; empty if the output has no table."""
    rule = RULE.search(printed)
    return tuple(printed[rule.end() :].split("\n")[1].split()) if rule is not None else ()


def amount(cell: str) -> float | None:
    """Returns the value of a table cell in base units; None for text."""
    if found := figures(cell) if cell[:1].isdigit() else []:
        return found[0][2]
    return float(cell.replace(",", "")) if re.fullmatch(r"[\d,]*\d(\.\d+)?", cell) else None


def is_best(printed: str, kind: str, name: str) -> bool:
    """Returns whether row or column `name` has the lowest or highest values of each table that contains it."""
    pick = min if kind == "lowest" else max
    lines, compared = printed.split("\n"), []
    for at, line in enumerate(lines):
        if not RULE.fullmatch(line):
            continue
        heads = re.split(r"  +", lines[at - 1].strip())
        body = itertools.takewhile(str.strip, lines[at + 1 :])
        rows = [re.split(r"  +", row.strip()) for row in body]
        table = [(row[0], [amount(cell) for cell in row[1:]]) for row in rows if len(row) > 1]
        across = list(zip(*(values for _, values in table), strict=False))
        named = [label for label, _ in table]
        for labels, series in ((named, across), (heads[1:], [values for _, values in table])):
            for values in series if name in labels else ():
                known = [value for value in values if value is not None]
                if len(known) == len(labels):
                    compared.append(values[labels.index(name)] == pick(known))
    return bool(compared) and all(compared)


def commands(page: Path) -> list[Command]:
    """Returns the commands of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    found: list[Command] = []
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start("text")) + 1
        lines = block["text"].splitlines()
        named = ROW.match(text, block.end())
        best = BEST.match(text, block.end())
        quoting = QUOTING.match(text, block.end())
        at, of_block = 0, len(found)
        while at < len(lines):
            start = at
            line = lines[at]
            at += 1
            if block["kind"] == "console":
                assert line.startswith("$ "), f"{page}:{first + start}: expected a command"
                line = line.removeprefix("$ ")
            while line.endswith("\\"):
                line = line.removesuffix("\\") + lines[at]
                at += 1
            shown = []
            while block["kind"] == "console" and at < len(lines) and not lines[at].startswith("$ "):
                shown.append(lines[at])
                at += 1
            if words := tuple(shlex.split(line, comments=True)):
                runs = block["only"] is None
                row = tuple(named[1].split()) if named is not None and at == len(lines) else ()
                found.append(Command(page, first + start, words, "\n".join(shown), runs, row))
        tables = [index for index in range(of_block, len(found)) if RULE.search(found[index].shown)]
        if quoting is not None:
            at = tables[-1] if tables else len(found) - 1
            found[at] = replace(found[at], quoting=quoting[1])
        if best is not None:
            found[tables[-1]] = replace(found[tables[-1]], best=(best[1], best[2]))
    return found
