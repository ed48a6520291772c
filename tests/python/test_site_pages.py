"""The documentation site in a browser: no text is clipped on any screen or sheet, and searches find their page."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from pages import SHEETS, WIDTHS, as_before, clipped, resize, show_as, start, until

pytestmark = pytest.mark.long

# Elements beside the page that are hidden until opened, or visible only under a pointer.
ASIDE = ".sidebar-drawer, .toc-drawer, .visually-hidden, .skip-to-content, .headerlink, .copybtn, .icon, .back-to-top"


@pytest.fixture(scope="module")
def browser(site: Path) -> Iterator[webdriver.Chrome]:
    driver = start()
    try:
        driver.get((site / "index.html").as_uri())
        yield driver
    finally:
        driver.quit()


def test_no_text_of_any_page_is_clipped_on_screens_and_paper(browser: webdriver.Chrome, site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    found = []
    for number, path in enumerate(pages):
        browser.get(path.as_uri())
        # Dark pages differ only in colours, so each is checked at one width; the widths take turns.
        for scheme, width in [*(("light", width) for width in WIDTHS), ("dark", WIDTHS[number % len(WIDTHS)])]:
            show_as(browser, scheme=scheme)
            resize(browser, width)
            found += [f"{path.name} at {width} px, {scheme}: {text}" for text in clipped(browser, allowed=ASIDE)]
        for sheet in SHEETS:
            show_as(browser, "print")
            resize(browser, sheet.content_px)
            lost = clipped(browser, is_paper=True, allowed=ASIDE)
            found += [f"{path.name} on {sheet.name}: {text}" for text in lost]
    as_before(browser)
    assert found == []


def test_no_page_is_longer_than_ten_screens(browser: webdriver.Chrome, site: Path) -> None:
    heights = {}
    resize(browser, 1440)
    try:
        for path in sorted(site.rglob("*.html")):
            name = path.relative_to(site).as_posix()
            # Readers search an index in the browser, so its length does not matter.
            if not name.startswith("genindex"):
                browser.get(path.as_uri())
                heights[name] = browser.execute_script("return document.documentElement.scrollHeight / 900")
    finally:
        as_before(browser)
    assert {name: round(height) for name, height in heights.items() if height > 10} == {}


def test_dark_pages_have_dark_backgrounds(browser: webdriver.Chrome, site: Path) -> None:
    browser.get((site / "index.html").as_uri())
    colour = "return getComputedStyle(document.body).backgroundColor"
    show_as(browser, scheme="light")
    light = browser.execute_script(colour)
    show_as(browser, scheme="dark")
    dark = browser.execute_script(colour)
    as_before(browser)
    assert light == "rgb(255, 255, 255)"
    assert sum(map(int, dark.removeprefix("rgb(").removesuffix(")").split(", "))) < 150


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("how do I change the queue depth", "how-to/change-the-queue-depth.html"),
        ("why is my drive slow at queue depth one", "how-to/why-slow-at-depth-one.html"),
        ("which interconnect serves my trace", "how-to/choose-an-interconnect.html"),
        ("how do I run 10,000 configurations on a cluster", "how-to/ten-thousand-configurations.html"),
    ],
)
def test_a_question_finds_its_page(browser: webdriver.Chrome, site: Path, question: str, page: str) -> None:
    browser.get(f"{(site / 'search.html').as_uri()}?q={question.replace(' ', '+')}")
    summary = "return document.querySelector('.search-summary')?.textContent ?? ''"
    until(lambda: "found" in browser.execute_script(summary) or "did not match" in browser.execute_script(summary))
    links = "return [...document.querySelectorAll('ul.search li a')].map((link) => link.href)"
    end = time.monotonic() + 20
    while not browser.execute_script(links) and time.monotonic() < end:
        time.sleep(0.1)
    found = browser.execute_script(links)
    assert any(page in link for link in found[:3]), found[:6]


def test_a_command_is_copied_without_its_prompt(browser: webdriver.Chrome, site: Path) -> None:
    browser.get((site / "how-to/change-the-queue-depth.html").as_uri())
    assert browser.execute_script("return document.querySelectorAll('.highlight .copybtn').length") >= 1
    # Replace the clipboard, which the browser of the tests does not have.
    browser.execute_script(
        "window.copied = []; document.addEventListener('copy', (event) => {"
        " window.copied.push(document.activeElement.value ?? String(getSelection())); }, true)"
    )
    # The button is visible under the pointer, and a page may copy only after a click.
    block = browser.find_element(By.CSS_SELECTOR, ".highlight")
    ActionChains(browser).move_to_element(block).click(block.find_element(By.CSS_SELECTOR, ".copybtn")).perform()
    until(lambda: browser.execute_script("return window.copied.length"))
    (text,) = browser.execute_script("return window.copied")
    assert text.startswith("flashmesh compare examples/reads.toml")
    assert "--json queue-depth.json" in text
    assert "replay.outstanding     IOPS" not in text
