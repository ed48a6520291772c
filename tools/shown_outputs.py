"""Renews the outputs and pictures of commands in README.md and docs/, with as many lines of output as before.

python tools/shown_outputs.py [PAGE]...
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from documents import OF_THE_MACHINE, PAGES, ROOT, Command, commands, is_same_drawing, pictures

ELLIPSIS = "..."
PROGRAM = Path(sys.executable).with_name("flashmesh")


class MissingPartError(Exception):
    """Error: the output of a command lacks the line with which a part of the shown output begins."""

    def __init__(self, line: str) -> None:
        """Creates the error from the missing line."""
        told = f"the output has no line that begins the shown part `{line}`"
        super().__init__(f"{told}; change what the page shows between two lines `{ELLIPSIS}`")


def renew(page: Path) -> bool:
    """Runs the commands of a page; returns whether its text has changed."""
    old = page.read_text(encoding="utf-8")
    text = old
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "examples").symlink_to(ROOT / "examples")
        for command in commands(page):
            if command.runs and command.words[0] == "flashmesh" and ">" not in command.words:
                printed = run(command, folder)
                new = renewed(command, printed) if command.shown else ""
                if differ(new, command.shown):
                    for end in ("```", "$ "):
                        text = text.replace(f"\n{command.shown}\n{end}", f"\n{new}\n{end}")
        drawn = [(picture.file, Path(folder, picture.made).read_text(encoding="utf-8")) for picture in pictures(page)]
    page.write_text(text, encoding="utf-8")
    return renew_pictures(drawn) or text != old


def renew_pictures(drawn: list[tuple[Path, str]]) -> bool:
    """Writes the pictures that have changed; returns whether there were any."""
    stale = [
        (file, text) for file, text in drawn if not file.is_file() or not is_same_drawing(file.read_text("utf-8"), text)
    ]
    for file, text in stale:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return bool(stale)


def run(command: Command, folder: str) -> str:
    """Returns the output of a command."""
    done = subprocess.run(
        [PROGRAM, *command.words[1:]],
        cwd=folder,
        env=os.environ | {"BROWSER": "true"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{command.place}\n{done.stderr}")
    return done.stdout.rstrip("\n")


def differ(one: str, other: str) -> bool:
    """Returns whether two outputs differ in anything that does not depend on the machine."""
    return OF_THE_MACHINE.sub("", one).rstrip() != OF_THE_MACHINE.sub("", other).rstrip()


def renewed(command: Command, printed: str) -> str:
    """Returns the output of a command as its page shows it; ends the program if the output lacks a shown part."""
    try:
        return shortened(printed, command.shown)
    except MissingPartError as error:
        sys.exit(f"{command.place}\n{error}")


def shortened(printed: str, shown: str) -> str:
    """Returns an output shortened like the shown one, in which lines `...` mark omissions; whole without such a line.

    Each part has as many lines as before. A part between two lines `...` begins with the same line as before, or else
    with the first line that has the same first word.

    Raises:
        MissingPartError: If the output lacks the first line of a part.
    """
    all_lines = printed.split("\n")
    first, *between = parted(shown)
    if not between:
        return printed
    *between, last = between
    found = all_lines[: len(first)]
    after = len(first)
    for part in between:
        start = place_of(part[0], all_lines, after)
        after = start + len(part)
        found += [ELLIPSIS, *all_lines[start : start + len(part)]]
    return "\n".join([*found, ELLIPSIS, *(all_lines[-len(last) :] if last else [])])


def place_of(line: str, lines: list[str], after: int) -> int:
    """Returns the index in `lines` of `line`, or else of the first line from `after` on with the same first word.

    Raises:
        MissingPartError: If no line has the same first word.
    """
    if line in lines:
        return lines.index(line)
    word = line.split(" ")[0]
    for place, other in enumerate(lines[after:], after):
        if word and other.split(" ")[0] == word:
            return place
    raise MissingPartError(line)


def parted(shown: str) -> list[list[str]]:
    """Returns the lines of a shown output, split into parts at each line `...`."""
    parts: list[list[str]] = [[]]
    for line in shown.split("\n"):
        if line == ELLIPSIS:
            parts.append([])
        else:
            parts[-1].append(line)
    return parts


def main() -> None:
    """Renews the named pages, or all of them."""
    named = [Path(name).resolve() for name in sys.argv[1:]]
    for page in named or PAGES:
        if renew(page):
            print(f"{page.relative_to(ROOT)}: renewed")


if __name__ == "__main__":
    main()
