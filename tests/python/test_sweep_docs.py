"""Files shown in docs/sweeps.md are those of the examples."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/sweeps.md").read_text(encoding="utf-8")


CHEAPEST = (ROOT / "docs/how-to/search-for-the-cheapest.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "page"), [("sweep", PAGE), ("search", PAGE), ("cheapest", CHEAPEST)])
def test_the_files_shown_are_the_examples(name: str, page: str) -> None:
    text = (ROOT / f"examples/{name}.toml").read_text()
    shown = re.sub(r"^(#.*\n)+", "", text)
    assert f"```toml\n{shown}```" in page
