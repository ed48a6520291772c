"""Files under examples/: each configuration of a drive runs by itself, and the trace is what its streams issue."""

from __future__ import annotations

import lzma
import runpy
import tomllib
from pathlib import Path

import pytest

from flashmesh import configuration

EXAMPLES = Path(__file__).parents[2] / "examples"
DRIVES = [
    file for file in sorted(EXAMPLES.glob("*.toml")) if "config" not in tomllib.loads(file.read_text(encoding="utf-8"))
]
"""Configurations of drives; the other files are sweeps and searches, which name one."""


@pytest.mark.parametrize("file", DRIVES, ids=lambda file: file.name)
def test_a_drive_can_be_run_without_further_keys(file: Path) -> None:
    configuration.load(str(file))


def test_the_trace_is_what_its_streams_issue(tmp_path: Path) -> None:
    made = tmp_path / "shop.csv.xz"
    runpy.run_path(str(EXAMPLES / "traces" / "make_shop.py"))["make"](made)
    assert lzma.decompress(made.read_bytes()) == lzma.decompress((EXAMPLES / "traces" / "shop.csv.xz").read_bytes())
