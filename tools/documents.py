"""The commands that README.md and the pages of docs/ show, and what they show as their output."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(
    r"^(?P<only><!-- checked only: [^\n]+ -->\n)?```(?P<kind>sh|console)\n(?P<text>.*?)^```$", re.M | re.S
)
OF_THE_MACHINE = re.compile(r"^took .*(\n.*)?$", re.MULTILINE)
"""What a summary says of the time that the simulator took."""
ANY_SHELL = re.compile(r"^```(sh|console|bash|shell|zsh)\b.*$", re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A command of a page."""

    page: Path
    line: int
    words: tuple[str, ...]
    shown: str
    """The output that the page shows; empty when it shows none."""
    runs: bool
    """Whether the page means it to be run here, rather than to be checked for its options alone."""

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"{self.page.relative_to(ROOT)}:{self.line}: {' '.join(self.words)}"


def commands(page: Path) -> list[Command]:
    """All commands of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start("text")) + 1
        lines = block["text"].splitlines()
        at = 0
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
                found.append(Command(page, first + start, words, "\n".join(shown), runs))
    return found
