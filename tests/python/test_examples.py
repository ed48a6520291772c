"""Generated files under examples/: the trace is what its streams issue."""

from __future__ import annotations

import lzma
import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_trace_is_what_its_streams_issue(tmp_path: Path) -> None:
    made = tmp_path / "shop.csv.xz"
    runpy.run_path(str(EXAMPLES / "traces" / "make_shop.py"))["make"](made)
    assert lzma.decompress(made.read_bytes()) == lzma.decompress((EXAMPLES / "traces" / "shop.csv.xz").read_bytes())
