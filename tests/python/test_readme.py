"""The README shows what the commands print."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from conftest import COMMAND, environment

ROOT = Path(__file__).parents[2]
TRACES = ROOT.parent / "shared" / "traces"
BLOCK = re.compile(r"^```console\n\$ flashmesh (.*?[^\\])\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))
OF_THE_MACHINE = re.compile(r"^took .*$", re.MULTILINE)


def test_the_readme_shows_runs_and_comparisons() -> None:
    assert len(BLOCKS) >= 4
    assert {command.split()[0] for command, _ in BLOCKS} == {"run", "compare"}


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[" ".join(command.split()[:2]) for command, _ in BLOCKS])
def test_what_the_readme_shows_is_what_the_command_prints(command: str, shown: str) -> None:
    arguments = shlex.split(command.replace("\\\n", " "))
    if "--trace" in arguments:
        at = arguments.index("--trace") + 1
        if not TRACES.is_dir():
            pytest.skip(f"{TRACES} is not there")
        arguments[at] = str(TRACES / arguments[at])
    done = subprocess.run(
        [COMMAND, *arguments], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    printed, said = (OF_THE_MACHINE.sub("", text).rstrip() for text in (done.stdout, shown))
    # Of a comparison the tables below the first may be left out.
    assert said == (printed[: len(said)] if command.startswith("compare") else printed)
