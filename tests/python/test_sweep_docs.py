"""docs/sweeps.md: its files are those of the examples, and its commands do what it says."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from conftest import COMMAND, TIMEOUT_S, environment

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/sweeps.md").read_text(encoding="utf-8")


def commands(head: str) -> list[list[str]]:
    """The commands of flashmesh that begin so, in their order, without those for a cluster."""
    lines = [line.split("  #")[0] for line in PAGE.splitlines() if line.startswith("flashmesh ")]
    found = [shlex.split(line)[1:] for line in lines]
    return [words for words in found if words[0] == head and "--dask" not in words]


@pytest.mark.parametrize("name", ["sweep", "search"])
def test_the_files_shown_are_the_examples(name: str) -> None:
    text = (ROOT / f"examples/{name}.toml").read_text()
    shown = re.sub(r"^#.*\n", "", text)
    assert f"```toml\n{shown}```" in PAGE


def test_the_commands_work(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    listed = [*commands("sweep"), *commands("show"), *commands("measures"), *commands("optimise")]
    assert len(listed) >= 8
    pytest.importorskip("optuna")
    for words in listed:
        done = subprocess.run(
            [COMMAND, *words],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, (words, done.stderr)
        assert done.stdout
