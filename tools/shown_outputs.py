"""Writes anew what README.md and the pages of docs/ show as the output of commands: all of it, or as many lines as now.

python tools/shown_outputs.py [PAGE]...
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from documents import OF_THE_MACHINE, PAGES, ROOT, Command, commands

ELLIPSIS = "..."
PROGRAM = Path(sys.executable).with_name("flashmesh")


def renew(page: Path) -> bool:
    """Runs the commands of a page; whether its text has changed."""
    old = page.read_text(encoding="utf-8")
    text = old
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "examples").symlink_to(ROOT / "examples")
        for command in commands(page):
            if command.runs and command.words[0] == "flashmesh" and ">" not in command.words:
                printed = run(command, folder)
                if command.shown and differ(shortened(printed, command.shown), command.shown):
                    text = text.replace(f"\n{command.shown}\n```", f"\n{shortened(printed, command.shown)}\n```")
                    text = text.replace(f"\n{command.shown}\n$ ", f"\n{shortened(printed, command.shown)}\n$ ")
    page.write_text(text, encoding="utf-8")
    return text != old


def run(command: Command, folder: str) -> str:
    """What a command prints."""
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
    """Whether two outputs differ in more than what depends on the machine."""
    return OF_THE_MACHINE.sub("", one).rstrip() != OF_THE_MACHINE.sub("", other).rstrip()


def shortened(printed: str, shown: str) -> str:
    """As many lines as were shown before the line `...`; all of them where there was none."""
    before = shown.split("\n")
    if ELLIPSIS not in before:
        return printed
    return "\n".join([*printed.split("\n")[: before.index(ELLIPSIS)], ELLIPSIS])


def main() -> None:
    """Renews the pages that are named, or all of them."""
    named = [Path(name).resolve() for name in sys.argv[1:]]
    for page in named or PAGES:
        if renew(page):
            print(f"{page.relative_to(ROOT)}: renewed")


if __name__ == "__main__":
    main()
