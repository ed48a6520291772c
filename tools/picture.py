"""Writes docs/_static/network.svg: one moment of the moving view of a report.

python tools/picture.py [--check]

Needs Chromium and its WebDriver, since the script of the page draws the picture.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from html import escape
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

import flashmesh

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docs" / "_static" / "network.svg"
SETTINGS = {
    "fabric.kind": "venice",
    "workload.requests": 20_000,
    "measure.network": True,
    "measure.window-start": "50us",
    "measure.network-events-max": 4_000,
}
MOMENT = """
document.getElementById('moving-backtrack').click();
const view = document.getElementById('moving-view');
const legend = [...document.querySelectorAll('#moving-legend li')];
return {
  drawing: view.innerHTML,
  box: view.getAttribute('viewBox').split(' ').map(Number),
  now: document.getElementById('moving-now').textContent,
  legend: legend.map((item) => [item.querySelector('svg').innerHTML, item.querySelector('span').textContent]),
};
"""
DRAWN = "return document.body.dataset.drawn === 'true'"
WAIT_S = 300
COLUMNS = 2
COLUMN, LINE, TITLE = 290, 24, 34
"""Width of a column of the legend, height of its lines, and height of the title, in units of the drawing."""


def chromium() -> webdriver.ChromeOptions:
    """Returns options for a browser without a window."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    return options


def picture(browser: webdriver.Chrome) -> str:
    """Returns the picture, drawn by a browser."""
    result = flashmesh.run(ROOT / "examples" / "venice.toml", overrides=SETTINGS)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        flashmesh.write_report(page, result)
        browser.get(page.as_uri())
        WebDriverWait(browser, WAIT_S).until(lambda _: browser.execute_script(DRAWN))
        found = browser.execute_script(MOMENT)
    _, _, width, height = found["box"]
    legend = [
        f'<g transform="translate({24 + place % COLUMNS * COLUMN},{TITLE + height + 8 + place // COLUMNS * LINE})">'
        f'{mark}<text x="32" y="13">{escape(text)}</text></g>'
        for place, (mark, text) in enumerate(found["legend"])
    ]
    lines = -(-len(legend) // COLUMNS)
    whole = TITLE + height + 16 + lines * LINE
    title = f"Venice, 8 x 8 chips: the network after {found['now']} of simulated time"
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {whole:g}" width="{width:g}" role="img"'
        f' font-family="sans-serif" font-size="13"><title>{escape(title)}</title>'
        f'<rect width="{width:g}" height="{whole:g}" fill="#ffffff"/>'
        f'<text x="24" y="24" font-size="16" font-weight="700">{escape(title)}</text>'
        f'<g transform="translate(0,{TITLE})">{found["drawing"]}</g>{"".join(legend)}</svg>'
    )
    return tidy(text)


def tidy(text: str) -> str:
    """Returns a drawing with one element on a line, and without attributes that only the page needs."""
    text = re.sub(r' (?:data-[\w-]+|class|stroke-dasharray="null"|aria-hidden)(?:="[^"]*")?', "", text)
    text = re.sub(r"\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}", text)
    return re.sub(r"(</(?:g|line|rect|text|circle)>)", r"\1\n", text) + "\n"


def main() -> None:
    """Writes the picture; with --check, fails if it is stale."""
    browser = webdriver.Chrome(options=chromium(), service=Service(shutil.which("chromedriver")))
    try:
        text = picture(browser)
    finally:
        browser.quit()
    if "--check" not in sys.argv[1:]:
        FILE.write_text(text, encoding="utf-8")
    elif not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
        sys.exit(f"{FILE.relative_to(ROOT)} is stale: make picture writes it anew")


if __name__ == "__main__":
    main()
