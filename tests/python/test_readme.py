"""Figures of README.md and docs/performance.md that come from stored files, and the picture drawn from them."""

from __future__ import annotations

import math
import re

import drive_figures
import measured_picture

README = drive_figures.ROOT / "README.md"
PERFORMANCE = drive_figures.ROOT / "docs" / "performance.md"
COLUMNS, LINES = 120, 90
"""Width of a line of a rendered page in characters, and lines of two screens of 1440x900 with their picture."""
CASES = ("reads", "writes", "mix", "large-reads")


def text_of(sentence: str) -> str:
    """Returns the text of a page without line breaks."""
    return " ".join(sentence.split())


def test_readme_has_two_screens_of_lines() -> None:
    shown = [line for line in README.read_text().splitlines() if not line.startswith("<!--")]
    assert sum(max(1, math.ceil(len(line) / COLUMNS)) for line in shown) <= LINES


def test_errors_on_real_drives_are_those_of_the_stored_validation() -> None:
    index = (drive_figures.ROOT / "docs/validation/index.md").read_text()
    rows = dict(re.findall(r"^\| (.+?) within .* \| (\d+ %) \| \d+ of \d+ \|$", index, re.MULTILINE))
    met = re.search(r"^\| each figure of the data sheet within 15 % \| .* \| (\d+ of \d+) \|$", index, re.MULTILINE)
    assert met is not None
    readme = text_of(README.read_text())
    assert f"mean read latencies are off by {rows['mean of reads']} on average" in readme
    assert f"their 99th percentiles by {rows['p99 of reads']}, at saturation means by" in readme
    assert (
        f"at saturation means by {rows['means of reads and of writes']}, and {met[1]} figures of data sheets" in readme
    )


def test_claims_of_papers_are_those_of_the_reproduction() -> None:
    index = text_of((drive_figures.ROOT / "docs/reproduction/index.md").read_text())
    told = re.search(
        r"Of the other (\d+), .* (\d+) hold within 10 % of the effect, (\d+) within 25 % and (\d+) wit", index
    )
    assert told is not None
    of, ten, quarter, half = told.groups()
    readme = text_of(README.read_text())
    assert f"of {of} measured claims of" in readme
    assert f"{ten} hold within 10 %, {quarter} within 25 % and {half} within 50 %" in readme


def test_times_beside_mqsim_are_the_stored_ones() -> None:
    rows = {row["case"]: row for row in drive_figures.times()}
    readme = text_of(README.read_text())
    reads = rows["reads"]
    assert reads["requests"] == "1000000"
    ours, theirs = (float(reads[f"{side}_s"]) for side in ("flashmesh", "mqsim"))
    assert f"| a million 4 KiB reads | {ours:.1f} s | {theirs:.1f} s |" in readme
    *first, last = (f"{drive_figures.ratio(rows[case]):.1f}" for case in CASES)
    assert f"{', '.join(first)} and {last} times are the ratios" in readme
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
