"""Pages of docs/reproduction: they follow from their JSON and the registry, contain every claim, and repeat."""

from __future__ import annotations

import csv
import json
import math
import os
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import COMMAND, Cli, run_in
from flashmesh.reproduce.pages.folder import check_pages
from flashmesh.reproduce.registry.reader import papers

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "reproduction"
CLAIMS = ROOT.parent / "shared" / "data" / "claims.csv"
AGAIN = ("V01", "V02", "V33", "V34", "K09", "P18", "C16")
"""Claims with runs of a few seconds."""


def stored(paper: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((PAGES / f"{paper}.json").read_text())
    return document


def test_the_pages_follow_from_their_json_and_the_registry() -> None:
    check_pages(PAGES, papers())


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reproduces the claims of `AGAIN` and M09. Returns the folder with `claims.json` and the pages."""
    folder = tmp_path_factory.mktemp("once")
    ended = run_in(folder, COMMAND, "reproduce", *AGAIN, "M09", "--json", "claims.json", "-o", "pages", "--quiet")
    assert ended.returncode == 0, ended.stderr
    return folder


@pytest.mark.long
def test_a_few_claims_measured_again_give_the_stored_values(once: Path) -> None:
    seen = 0
    for paper in json.loads((once / "claims.json").read_text()):
        for name, claim in paper["claims"].items():
            assert claim == stored(paper["paper"])["claims"][name], name
            seen += name in AGAIN
    assert seen == len(AGAIN)


def test_exact_claims_are_met() -> None:
    registry = papers()
    exact = [(key, claim.id) for key, paper in registry.items() for claim in paper.claims if claim.is_constructed]
    assert len(exact) == 14
    assert {name: stored(key)["claims"][name]["verdict"] for key, name in exact} == {name: "met" for _, name in exact}


def test_every_published_figure_is_in_the_registry() -> None:
    if not CLAIMS.is_file():
        if os.environ.get("FLASHMESH_CI"):
            pytest.fail(f"{CLAIMS} is not there")
        pytest.skip("the published figures are not there")
    with CLAIMS.open(encoding="utf-8") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    claims = {claim.id: (key, claim) for key, paper in papers().items() for claim in paper.claims if not claim.part_of}
    assert set(claims) == set(rows)
    for name, (key, claim) in claims.items():
        assert key == rows[name]["paper"], name
        assert (claim.kind == "exact") == (rows[name]["kind"] == "exact"), name
        try:
            published = float(rows[name]["published"])
        except ValueError:
            continue  # a text such as yes, or several numbers
        known = claim.judged.published
        assert known == published or math.isnan(known), name


def test_the_numbers_in_the_notes_of_published_figures_are_sub_values() -> None:
    if not CLAIMS.is_file():
        pytest.skip("the published figures are not there")
    with CLAIMS.open(encoding="utf-8") as file:
        notes = {row["id"]: row["note"] for row in csv.DictReader(file) if row["paper"] == "venice"}
    registry = papers()["venice"]
    for name, note in notes.items():
        # Numbers after "maximum", "about" or a system are sub-values. Those of V33, the powers of a router and of a
        # link, are constants of the model.
        pattern = r"(?:maximum|pSSD|pnSSD|NoSSD|about) (\d+(?:\.\d+)?)"
        wanted = [] if name == "V33" else [float(number) for number in re.findall(pattern, note)]
        subs = [claim.judged.published for claim in registry.claims if claim.part_of == name]
        if name == "V20":
            wanted = [10.0]
        assert sorted(subs) == sorted(wanted), name


def test_what_leaves_a_key_open_is_quoted_word_for_word() -> None:
    folder = ROOT.parent / "shared" / "papers"
    if not folder.is_dir():
        pytest.skip("the texts of the papers are not there")

    def letters(text: str) -> str:
        return re.sub(r"[^a-z0-9]", "", text.lower())

    texts = [letters(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.txt"))]
    for key, paper in papers().items():
        assert paper.open, key
        assert paper.starts, key
        for each in paper.open:
            assert any(letters(each.quote) in text for text in texts), (key, each.name)


def test_every_claim_is_measured_in_every_regime_of_its_paper() -> None:
    for key, paper in papers().items():
        for claim in paper.claims:
            rows = stored(key)["claims"][claim.id]["rows"]
            regimes = ["any"] if claim.is_constructed else list(paper.regimes)
            assert [row["regime"] for row in rows] == regimes, claim.id
            assert all(row["verdict"] != "unmeasured" for row in rows), claim.id


@pytest.mark.long
def test_pages_made_again_have_the_same_bytes(once: Path, cli: Cli, tmp_path: Path) -> None:
    ended = cli("reproduce", *AGAIN, "M09", "-o", "again", "--quiet")
    assert ended.returncode == 0, ended.stderr
    first = {path.name: path.read_bytes() for path in (once / "pages").iterdir()}
    again = {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()}
    assert first == again
    assert any(name.endswith(".svg") for name in first)
    # Generate the pages from the JSON in another process, without the runs.
    ended = cli("reproduce", "--pages", "again")
    assert ended.returncode == 0, ended.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == first
