"""Figures of README.md and docs/performance.md that come from stored files, and the picture drawn from them."""

from __future__ import annotations

import re
from pathlib import Path

from markdown_it import MarkdownIt

import drive_figures
import measured_picture
from pages import resize, start, until

README = drive_figures.ROOT / "README.md"
PERFORMANCE = drive_figures.ROOT / "docs" / "performance.md"
SCREENS, SCREEN_PX = 2, 900
"""Maximum length of the README in screens, and the height of a screen 1440 pixels wide, in pixels."""
FORGE = """
body{margin:0}
article{width:880px;margin:0 auto;padding:32px;font:16px/1.5 "Segoe UI","Noto Sans",Helvetica,Arial,sans-serif}
p,table,pre{margin:0 0 16px}
h1,h2{margin:24px 0 16px;line-height:1.25;padding-bottom:.3em;border-bottom:1px solid}
h1{font-size:2em;margin-top:0}h2{font-size:1.5em}img{max-width:100%}
code,pre{font-family:Menlo,Consolas,"Liberation Mono",monospace;font-size:85%}
pre{padding:16px;overflow:auto;line-height:1.45}pre code{font-size:100%}
table{border-spacing:0;border-collapse:collapse;display:block;width:max-content;max-width:100%;overflow:auto}
th,td{padding:6px 13px;border:1px solid}
article>:last-child{margin-bottom:0}
"""
"""Style of a page on a forge: a column of 880 pixels, text of 16 pixels."""
CASES = ("reads", "writes", "mix", "large-reads")


def text_of(sentence: str) -> str:
    """Returns the text of a page without line breaks."""
    return " ".join(sentence.split())


def test_readme_fits_on_two_screens(tmp_path: Path) -> None:
    text = MarkdownIt("commonmark").enable("table").render(README.read_text(encoding="utf-8"))
    text = text.replace('src="docs/', f'src="{drive_figures.ROOT.as_uri()}/docs/')
    page = tmp_path / "readme.html"
    page.write_text(f'<!doctype html><meta charset="utf-8"><style>{FORGE}</style><article>{text}</article>', "utf-8")
    browser = start()
    try:
        resize(browser, 1440)
        browser.get(page.as_uri())
        until(lambda: browser.execute_script("return document.querySelector('img').naturalHeight"))
        height = browser.execute_script("return document.querySelector('article').offsetHeight")
        scrolling = browser.execute_script(
            "return [...document.querySelectorAll('pre,table')].filter((e) => e.scrollWidth > e.clientWidth + 1).length"
        )
    finally:
        browser.quit()
    assert height <= SCREENS * SCREEN_PX
    assert scrolling == 0


def test_errors_on_real_drives_are_those_of_the_stored_validation() -> None:
    index = (drive_figures.ROOT / "docs/validation/index.md").read_text()
    rows = dict(re.findall(r"^\| (.+?) within .* \| (\d+ %) \| \d+ of \d+ \|$", index, re.MULTILINE))
    met = re.search(r"^\| each figure of the data sheet within 15 % \| .* \| (\d+ of \d+) \|$", index, re.MULTILINE)
    assert met is not None
    readme = text_of(README.read_text())
    assert f"mean read latencies are off by {rows['mean of reads']} on average" in readme
    assert f"their 99th percentiles by {rows['p99 of reads']}, at saturation means by" in readme
    assert f"at saturation means by {rows['means of reads and of writes']};" in readme
    drives = len(re.findall(r"^\| \[.+?\]\(.+?\.md\) \|", index, re.MULTILINE))
    assert drives == 4 + 1, "four drives under open loads, and one under sweeps"
    assert f"Of the data sheets of these and a fifth, {met[1]} figures hold within 15 %" in readme
    mixes = re.search(r"^\| rates and latencies of mixes within 25 % \| .* \| (\d+ of \d+) \|$", index, re.MULTILINE)
    assert mixes is not None
    assert f"of its mixes {mixes[1]} within 25 %;" in readme


def test_errors_at_loads_that_were_not_fitted_are_those_of_the_stored_validation() -> None:
    index = (drive_figures.ROOT / "docs/validation/index.md").read_text()
    found = re.search(r"^\| mean of reads \| \d+ \| (\d+ %) \| (\d+ %) \|$", index, re.MULTILINE)
    assert found is not None
    readme = text_of(README.read_text())
    assert f"at held-out loads by {found[1]} (interpolation: {found[2]})." in readme


def test_claims_of_papers_are_those_of_the_reproduction() -> None:
    index = text_of((drive_figures.ROOT / "docs/reproduction/index.md").read_text())
    told = re.search(
        r"Of the other (\d+), .* (\d+) hold within 10 % of the effect, (\d+) within 25 % and (\d+) wit", index
    )
    assert told is not None
    of, ten, quarter, half = told.groups()
    readme = text_of(README.read_text())
    assert f"of {of} claims of" in readme
    assert f"{ten} within 10 %, {quarter} within 25 % and {half} within 50 %" in readme


def test_times_beside_mqsim_are_the_stored_ones() -> None:
    rows = {row["case"]: row for row in drive_figures.times()}
    reads = rows["reads"]
    drawn = measured_picture.FILE.read_text(encoding="utf-8")
    for case in CASES:
        assert f"{drive_figures.ratio(rows[case]):.1f}x faster" in drawn
    performance = PERFORMANCE.read_text()
    for row in rows.values():
        theirs, ours = (float(row[f"{side}_s"]) for side in ("mqsim", "flashmesh"))
        cells = f"{int(row['requests']):,} | {theirs:.2f} s | {ours:.2f} s | {drive_figures.ratio(row):.1f} |"
        assert f"| {cells}" in performance, row["case"]
    assert {(row["date"], row["commit"]) for row in rows.values()} == {(reads["date"], reads["commit"])}
    assert f"on {reads['date']}, commit {reads['commit']}" in text_of(performance)


def test_picture_is_that_of_the_stored_figures() -> None:
    assert measured_picture.FILE.read_text(encoding="utf-8") == measured_picture.picture(), "make picture draws it anew"


def test_every_load_of_the_drive_is_in_every_curve() -> None:
    measured, *others = [*drive_figures.drive(), *drive_figures.mqsim()]
    assert len(others) == 3
    for kind in drive_figures.KINDS:
        for curve in others:
            assert curve.of(kind).keys() == measured.of(kind).keys(), curve.name


def test_an_error_is_the_mean_share() -> None:
    measured = drive_figures.Curve("measured", {1: 100.0, 2: 200.0}, {})
    other = drive_figures.Curve("other", {1: 110.0, 2: 140.0}, {})
    assert round(other.error("read", measured), 9) == 0.2
