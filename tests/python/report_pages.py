"""Page of a report as parsed HTML, and a comparison with everything that a report can show."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import flashmesh


class Page(HTMLParser):
    """Parser of a page that collects its cells with numbers, attributes that may load a resource, and embedded JSON."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.row = -1
        self.cells: list[tuple[int, str, Any]] = []
        self.loads: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        data = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)
        assert data is not None
        self.data = json.loads(data[1])
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if "data-run" in found:
            self.row = int(found["data-run"])
        if "data-key" in found:
            self.cells.append((self.row, found["data-key"], json.loads(found["data-value"])))
        self.loads += [found[name] for name in ("src", "data", "action") if name in found]
        if tag == "link":
            self.loads.append(found["href"])
        if tag == "a":
            self.links.append(found["href"])
        self.ids += [found["id"]] if "id" in found else []


def write_comparison(folder: Path) -> Path:
    """Writes a comparison with everything that a report can show. Returns its path."""
    config = {
        "preset": "venice-z-nand",
        "workload": {"requests": 1_500, "read-share": 0.8},
        "measure": {"epoch": "100us", "network": True, "network-events-max": 3_000},
    }
    axes: dict[str, list[Any]] = {"fabric.kind": ["bus", "nossd", "venice"], "replay.outstanding": [1, 64]}
    path = folder / "comparison.json"
    path.write_text(flashmesh.compare(config, axes).to_json())
    return path
