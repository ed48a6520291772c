"""The artefact appendix that `flashmesh reproduce --appendix` prints."""

from __future__ import annotations

import json
from pathlib import Path

import flashmesh
from flashmesh.reproduce.pages.appendix import appendix, disk_text, time_text
from flashmesh.reproduce.registry.reader import papers
from flashmesh.reproduce.registry.selection import select
from flashmesh.sweeps.results.store import Store


def test_the_appendix_names_hardware_time_commands_and_every_claim(tmp_path: Path) -> None:
    registry = papers()
    chosen = select(registry, ["venice/section3.1", "mbm"])
    text = appendix(registry, chosen, "quick", tmp_path / "none")
    for words in ("| Hardware |", "| Time | not known yet", "| Disk |", "## Expected results", flashmesh.__version__):
        assert words in text
    for key, claims in chosen.items():
        assert f"flashmesh reproduce --quick {key} " in text
        assert all(f"| {key}/{claim.id} |" in text for claim in claims)
    assert "| venice/V01 | Section 3.1 | two reads on one channel, total service time | 11.01 us |" in text


def test_the_appendix_tells_the_time_and_disk_of_the_runs_that_are_kept(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "kept", resume=True, kind="reproduction", described={})
    for name, wall_s in (("a" * 64, 2.0), ("b" * 64, 4.0)):
        store.write(name, json.dumps({"wall_s": wall_s}))
    store.close()
    assert time_text(tmp_path / "kept", 100).startswith("5 minutes of one core, from 2 runs of 3 s each")
    assert "MiB" in disk_text(tmp_path / "kept")
