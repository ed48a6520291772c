"""Pages in a browser: text clipped on a screen of some width, and text lost on a sheet of paper."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service

import picture

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
WAIT_S = 300
STARTS = 3
WIDTHS = (360, 800, 1400)
MARGIN_MM = 12
MM_PER_INCH = 25.4
PIXELS_PER_INCH = 96
MEETING = """
const found = [];
for (const svg of document.querySelectorAll("[data-chart] svg")) {
  const boxes = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim())
    .filter((text) => text.getAttribute("stroke") !== "white")
    .filter((text) => text.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
  boxes.forEach(({ text, box }, place) => {
    for (const other of boxes.slice(place + 1)) {
      const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
      const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
      if (across > 1 && down > 4) found.push(`${svg.closest("[data-chart]").dataset.chart}: ${text}|${other.text}`);
    }
  });
}
return found;
"""
"""Script that returns the labels of charts that overlap."""
CLIPPED = """
const [isPaper, allowed] = arguments;
const found = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode;
  const text = node.textContent.trim();
  const own = node.parentElement;
  if (!text || own.closest(`script, style, option, title, desc, ${allowed}`)) continue;
  if (!own.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  const boxes = [...range.getClientRects()].filter((box) => box.width > 1 && box.height > 1);
  let clip = own;
  let scrolls = false;
  // A drawing clips what is beyond it; so does whatever hides its overflow. What scrolls shows all, but on paper.
  for (; clip && clip !== document.body; clip = clip.parentElement) {
    if (clip instanceof SVGSVGElement) break;
    const overflow = clip instanceof SVGElement ? "visible" : getComputedStyle(clip).overflowX;
    if (overflow === "auto" || overflow === "scroll") {
      if (!isPaper) { scrolls = true; break; }
      if (clip.scrollWidth > clip.clientWidth + 1) break;
    }
    if (overflow === "hidden" || overflow === "clip") break;
  }
  if (scrolls) continue;
  const width = document.documentElement.clientWidth;
  const edge = clip && clip !== document.body ? clip.getBoundingClientRect() : { left: 0, right: width };
  for (const box of boxes) {
    const beyond = Math.max(box.right - edge.right, edge.left - box.left, box.right - width);
    if (beyond > 1.5) { found.push(`${text.slice(0, 60)}: ${Math.round(beyond)} px`); break; }
  }
}
return found;
"""


def start() -> webdriver.Chrome:
    """Returns a browser. Skips the test if there is none, except in CI."""
    if CHROMIUM is None or DRIVER is None:
        assert os.environ.get("FLASHMESH_CI") != "1", "Chromium is missing: apt-get install chromium chromium-driver"
        pytest.skip("Chromium and its driver are not installed: pages are not opened")
    options = picture.chromium()
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = started(options)
    driver.set_script_timeout(WAIT_S)
    driver.set_page_load_timeout(WAIT_S)
    driver.set_window_size(1400, 900)
    return driver


def started(options: webdriver.ChromeOptions) -> webdriver.Chrome:
    """Returns a started browser. Repeats a start that times out, as Selenium allows a busy machine too little time."""
    for _ in range(STARTS - 1):
        try:
            return webdriver.Chrome(options=options, service=Service(DRIVER))
        except WebDriverException as error:
            print(f"the browser did not start: {error}")
    return webdriver.Chrome(options=options, service=Service(DRIVER))


def until(holds: Callable[[], Any], limit_s: float = WAIT_S) -> None:
    """Waits until a condition holds. Fails after `limit_s`."""
    end = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.05)


def resize(browser: webdriver.Chrome, width: int) -> None:
    """Sets the width of the page."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def show_as(browser: webdriver.Chrome, media: str = "screen", scheme: str = "light") -> None:
    """Shows the page on another medium, or with another preferred colour scheme."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def drawn(browser: webdriver.Chrome) -> None:
    """Waits until the charts of a report match the width of its page and the filter."""
    until(lambda: browser.execute_script("return document.body.dataset.drawn") == "true")


def at_width(browser: webdriver.Chrome, width: int) -> None:
    """Sets the width of a report, and waits for its charts."""
    browser.execute_script("document.body.dataset.drawn = 'false'")
    resize(browser, width)
    drawn(browser)


def as_before(browser: webdriver.Chrome) -> None:
    """Undoes `resize` and `show_as`, and waits until the charts of a report are drawn for the old width."""
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    # The resize event comes with the next frame at the latest, and starts a timer that draws the charts again.
    browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    # Pages of the documentation have no charts, and are never marked as drawn.
    until(lambda: browser.execute_script("return document.body.dataset.drawn !== 'false'"))


def clipped(browser: webdriver.Chrome, *, is_paper: bool = False, allowed: str = ".skip") -> list[str]:
    """Returns the texts that are partly clipped by the page, by a drawing, or by an element that hides its overflow.

    Args:
        browser: A browser that shows the page.
        is_paper: Whether the page is printed, so that nothing can be scrolled into view.
        allowed: A selector of elements that may be clipped.
    """
    found: list[str] = browser.execute_script(CLIPPED, is_paper, allowed)
    return found


@dataclass(frozen=True)
class Sheet:
    """A size of paper on which pages are printed."""

    name: str
    width_inch: float
    height_inch: float

    @property
    def content_px(self) -> int:
        """Returns the width of the page between its margins, in pixels."""
        return int((self.width_inch - 2 * MARGIN_MM / MM_PER_INCH) * PIXELS_PER_INCH)


SHEETS = (Sheet("a4", 210 / MM_PER_INCH, 297 / MM_PER_INCH), Sheet("letter", 8.5, 11))


def printed(browser: webdriver.Chrome, sheet: Sheet, path: Path) -> Path:
    """Prints the page as a PDF, on upright sheets. Returns the path."""
    margin = MARGIN_MM / MM_PER_INCH
    margins = {f"margin{side}": margin for side in ("Left", "Right", "Top", "Bottom")}
    size = {"paperWidth": sheet.width_inch, "paperHeight": sheet.height_inch, "printBackground": True}
    done = browser.execute_cdp_cmd("Page.printToPDF", {**size, **margins})
    path.write_bytes(base64.b64decode(done["data"]))
    return path


@dataclass(frozen=True)
class Raster:
    """A page of a PDF in rows of grey pixels, a byte each."""

    width: int
    height: int
    pixels: bytes

    def ink(self, left: int, right: int) -> int:
        """Returns the number of pixels between two columns that are not white."""
        rows = (self.pixels[row * self.width : (row + 1) * self.width] for row in range(self.height))
        return sum(pixel < 250 for row in rows for pixel in row[max(0, left) : right])


DPI = 50


def raster(pdf: Path) -> list[Raster]:
    """Returns the pages of a PDF as pixels."""
    if shutil.which("pdftoppm") is None:
        assert os.environ.get("FLASHMESH_CI") != "1", "pdftoppm is missing: apt-get install poppler-utils"
        pytest.skip("poppler-utils is not installed: sheets are not looked at")
    command = ["pdftoppm", "-r", str(DPI), "-gray", str(pdf), str(pdf.with_suffix(""))]
    subprocess.run(command, check=True, capture_output=True, timeout=WAIT_S)
    found = []
    for path in sorted(pdf.parent.glob(f"{pdf.stem}-*.pgm")):
        content = path.read_bytes()
        header = re.match(rb"P5\s+(\d+)\s+(\d+)\s+255\s", content)
        assert header is not None, path
        found.append(Raster(int(header[1]), int(header[2]), content[header.end() :]))
    return found


def words(pdf: Path) -> list[tuple[str, float, float]]:
    """Returns the words of a PDF, each with its left and right end in inches."""
    command = ["pdftotext", "-bbox", str(pdf), "-"]
    text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=WAIT_S).stdout
    found = re.findall(r'<word xMin="([\d.-]+)" yMin="[\d.-]+" xMax="([\d.-]+)" yMax="[\d.-]+">(.*?)</word>', text)
    return [(word, float(left) / 72, float(right) / 72) for left, right, word in found]
