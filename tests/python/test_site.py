"""The documentation site: every page is reachable, every link has a target, and nothing is loaded from elsewhere."""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from conftest import PAGES, build_site

pytestmark = pytest.mark.long

LOADED = ("audio", "embed", "iframe", "img", "link", "script", "source", "video")


class Page(HTMLParser):
    """Parser of a page: its references, and the anchors in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if value is None:
                continue
            if name == "id":
                self.anchors.add(value)
            elif name in ("href", "src"):
                (self.loads if tag in LOADED else self.links).add(value)


def test_the_navigation_leads_to_every_page(site: Path) -> None:
    navigation = re.search(r'<div class="sidebar-tree">(.*?)</aside>', (site / "index.html").read_text(), re.DOTALL)
    assert navigation is not None
    reached = {unquote(link).partition("#")[0] for link in Page(navigation[1]).links}
    pages = {path.relative_to(PAGES).with_suffix(".html").as_posix() for path in PAGES.rglob("*.md")}
    assert pages - {"index.html"} <= reached


def test_every_link_within_the_site_leads_somewhere(site: Path) -> None:
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(pages) > 20
    broken = defaultdict(set)
    for path, page in pages.items():
        for link in page.links | page.loads:
            target = urlsplit(link)
            if target.scheme:
                continue
            file = (path.parent / unquote(target.path)).resolve() if target.path else path
            anchor = unquote(target.fragment)
            if not file.is_file() or (anchor and file in pages and anchor not in pages[file].anchors):
                broken[path.name].add(link)
    assert not broken


def test_a_page_loads_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        assert not {load for load in Page(path.read_text(encoding="utf-8")).loads if urlsplit(load).netloc}, path
    for path in site.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?(?:https?:)?//|@import\s+['\"]?(?:https?:)?//", path.read_text()), path


def test_diagrams_are_drawn_when_the_site_is_built(site: Path) -> None:
    page = (site / "architecture.html").read_text(encoding="utf-8")
    assert page.count("<svg") - page.count('<svg xmlns="http://www.w3.org/2000/svg" style="display: none;"') >= 2
    assert "sequenceDiagram" not in page


def test_a_fold_says_what_it_holds(site: Path) -> None:
    folds = re.findall(r'<details class="fold"><summary>([^<]*)', (site / "cli.html").read_text(encoding="utf-8"))
    assert "Find the changes to a drive that help most (19 rows)" in folds
    assert all(re.fullmatch(r".+ \(\d+ (rows|words)\)", fold) for fold in folds)


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"index": "# Page\n\nA [link](nowhere.md).\n"}, "nowhere.md"),
        ({"index": "# Page\n\nA [link](#nothing).\n"}, "nothing"),
        ({"index": "# Page\n", "lonely": "# A page outside the navigation\n"}, "lonely.md"),
    ],
)
def test_a_mistake_fails_the_build(tmp_path: Path, files: dict[str, str], problem: str) -> None:
    pages = tmp_path / "pages"
    for name in ("_extensions", "_static"):
        shutil.copytree(PAGES / name, pages / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PAGES / "conf.py", pages)
    for name, text in files.items():
        (pages / f"{name}.md").write_text(text)
    done = build_site(pages, tmp_path / "out")
    assert done.returncode != 0
    assert problem in done.stderr
