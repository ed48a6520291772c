"""Pages in a real browser: they cause no error and no request, and their controls work.

These tests need a browser. Without one they fail in CI and are skipped elsewhere.
"""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import flashmesh
import picture
from long_cases import in_part
from pages import (
    DPI,
    MARGIN_MM,
    MEETING,
    MM_PER_INCH,
    SHEETS,
    WIDTHS,
    Sheet,
    as_before,
    at_width,
    clipped,
    drawn,
    printed,
    raster,
    resize,
    show_as,
    start,
    until,
    words,
)

REDRAWN_S = 20


@pytest.fixture(scope="module")
def comparison() -> flashmesh.Comparison:
    config = {
        "preset": "venice-z-nand",
        "workload": {"requests": 1_500, "read-share": 0.8},
        "measure": {"epoch": "100us", "network": True, "network-events-max": 4_000},
    }
    return flashmesh.compare(config, {"fabric.kind": ["bus", "venice"], "replay.outstanding": [4, 64]})


@pytest.fixture(scope="module")
def browser(comparison: flashmesh.Comparison, tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Returns a browser that shows the page of a comparison."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    flashmesh.write_report(path, comparison)
    driver = start()
    try:
        driver.get(path.as_uri())
        drawn(driver)
        yield driver
    finally:
        driver.quit()


@pytest.fixture
def page(browser: webdriver.Chrome) -> webdriver.Chrome:
    """Returns the browser, with the recording of the first run selected in the animation of the interconnect."""
    choose(browser, 0)
    return browser


def text(browser: webdriver.Chrome, selector: str) -> str:
    return str(browser.find_element(By.CSS_SELECTOR, selector).get_property("textContent"))


def log(browser: webdriver.Chrome, kind: str) -> list[dict[str, Any]]:
    """Returns the browser's log entries of a kind since the last call for that kind."""
    entries: list[dict[str, Any]] = browser.get_log(kind)  # type: ignore[no-untyped-call]
    return entries


def now(browser: webdriver.Chrome) -> int:
    """Returns the position of the slider in the moving view, in millionths of the recorded time."""
    return int(str(browser.find_element(By.ID, "moving-time").get_property("value")))


def choose(browser: webdriver.Chrome, run: int) -> None:
    """Shows the recording of a run in the moving view, from the first conflict on."""
    browser.execute_script(
        "const select = document.getElementById('moving-run'); select.value = arguments[0];"
        "select.dispatchEvent(new Event('change'))",
        str(run),
    )


def scrub(browser: webdriver.Chrome, share: float) -> None:
    """Moves the slider of the moving view to a share of the recorded time."""
    browser.execute_script(
        "const slider = document.getElementById('moving-time'); slider.value = arguments[0];"
        "slider.dispatchEvent(new Event('input'))",
        str(round(share * 1e6)),
    )


def click(browser: webdriver.Chrome, name: str) -> None:
    browser.execute_script("document.getElementById(arguments[0]).click()", name)


def test_nothing_fails_and_nothing_is_requested(browser: webdriver.Chrome) -> None:
    assert log(browser, "browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in log(browser, "performance")]
    asked = [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
    outside = [url for url in asked if not url.startswith(("data:", "blob:"))]
    assert outside == [browser.current_url]


@pytest.mark.long
def test_every_chart_is_drawn(browser: webdriver.Chrome) -> None:
    charts = browser.find_elements(By.CSS_SELECTOR, "[data-chart]")
    assert len(charts) == 9
    for chart in charts:
        assert chart.find_elements(By.CSS_SELECTOR, "svg .mark-line path, svg .mark-rect path, svg .mark-rule line"), (
            chart.get_attribute("id")
        )


def test_numbers_on_the_page_are_those_of_the_results(
    browser: webdriver.Chrome, comparison: flashmesh.Comparison
) -> None:
    rows = browser.find_elements(By.CSS_SELECTOR, "#headline-table tbody tr")
    assert len(rows) == len(comparison.runs)
    for row, run in zip(rows, comparison.runs, strict=True):
        cells = {cell.get_attribute("data-key"): cell for cell in row.find_elements(By.CSS_SELECTOR, "td")}
        assert float(cells["iops"].get_attribute("data-value") or "") == run.result.iops
        text, _, interval = cells["iops"].text.partition(" ")
        assert text == f"{run.result.iops / 1000:.4g}k" or text.startswith(f"{run.result.iops / 1000:.3g}"[:3])
        assert interval.startswith("+-")
        assert run.result.latency_ps.all is not None
        assert int(cells["latency_ps.all.p99"].get_attribute("data-value") or "") == run.result.latency_ps.all.p99


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", in_part(1, WIDTHS))
def test_page_fits_every_width_and_clips_no_text(browser: webdriver.Chrome, width: int, scheme: str) -> None:
    resize(browser, width)
    show_as(browser, scheme=scheme)
    try:
        # Charts are redrawn some time after the window has changed, so wait until all of them fit.
        rights = (
            "return [document.documentElement.scrollWidth,"
            " ...[...document.querySelectorAll('[data-chart] svg')].map((svg) => svg.getBoundingClientRect().right)]"
        )
        until(lambda: max(browser.execute_script(rights)) <= width)
        # Charts may still have the previous width, so allow them some time to be redrawn.
        end = time.monotonic() + REDRAWN_S
        while clipped(browser) and time.monotonic() < end:
            time.sleep(0.1)
        assert clipped(browser) == []
    finally:
        as_before(browser)


def test_clipped_text_is_found(browser: webdriver.Chrome) -> None:
    browser.execute_script(
        "document.body.insertAdjacentHTML('beforeend', '<p id=\"narrow\" style=\"width: 2em; overflow: hidden; "
        "white-space: nowrap\">clipped here</p>');"
        "document.querySelector('.chart svg').insertAdjacentHTML('beforeend', '<text x=\"-20\" y=\"9\">outside</text>')"
    )
    found = [text.partition(":")[0] for text in clipped(browser)]
    browser.execute_script(
        "document.getElementById('narrow').remove(); document.querySelector('.chart svg > text:last-child').remove()"
    )
    assert {"clipped here", "outside"} <= set(found)
    assert clipped(browser) == []


def test_dark_pages_have_light_text_on_charts_too(browser: webdriver.Chrome) -> None:
    colours = (
        "const of = (selector) => getComputedStyle(document.querySelector(selector));"
        "return [of('body').backgroundColor, of('body').color, of('#chart-tail .role-axis-label text').fill]"
    )

    def brightness(colour: str) -> float:
        return sum(map(float, colour.removeprefix("rgb(").removesuffix(")").split(", "))) / 3

    light = list(map(brightness, browser.execute_script(colours)))
    show_as(browser, scheme="dark")
    dark = list(map(brightness, browser.execute_script(colours)))
    as_before(browser)
    assert light[0] > 200 > 100 > max(light[1:])
    assert dark[0] < 60 < 150 < min(dark[1:])


@pytest.mark.parametrize("sheet", in_part(1, SHEETS), ids=lambda sheet: sheet.name)
def test_a_sheet_of_paper_has_all_of_the_page(browser: webdriver.Chrome, sheet: Sheet, tmp_path: Path) -> None:
    labels = "return [...document.querySelectorAll('.chart svg text')].map((text) => text.textContent)"
    shown = {word for label in browser.execute_script(labels) for word in label.split() if len(word) > 3}
    pdf = printed(browser, sheet, tmp_path / "page.pdf")
    margin = MARGIN_MM / MM_PER_INCH
    found = words(pdf)
    beyond = [word for word, left, right in found if left < margin - 0.02 or right > sheet.width_inch - margin + 0.02]
    assert beyond == []
    names = {
        "fabric.kind=bus,",
        "replay.outstanding=64",
        "throughput",
        "completion",
        "latency",
        "busy",
        "percentile",
        "channel",
    }
    assert names <= shown
    assert names <= {word for word, _, _ in found}
    pages = raster(pdf)
    edge = int((margin - 0.03) * DPI)
    assert [page.ink(0, edge) + page.ink(page.width - edge, page.width) for page in pages] == [0] * len(pages)
    # Rules and tables use the available width, so they leave ink at the right edge.
    assert pages[0].ink(pages[0].width - 2 * edge, pages[0].width) > 0


@pytest.mark.long
def test_charts_are_as_wide_as_before_after_a_print(browser: webdriver.Chrome, tmp_path: Path) -> None:
    widths = "return [...document.querySelectorAll('[data-chart] svg')].map((svg) => svg.getBoundingClientRect().width)"
    before = browser.execute_script(widths)
    printed(browser, SHEETS[0], tmp_path / "page.pdf")
    until(lambda: browser.execute_script(widths) == before)


def filtered(browser: webdriver.Chrome, text: str) -> list[str]:
    """Returns the names of the rows that the filter `text` leaves in the table of results."""
    browser.execute_script(
        "const filter = document.getElementById('headline-filter'); filter.value = arguments[0];"
        "filter.dispatchEvent(new Event('input'))",
        text,
    )
    rows = "return [...document.querySelectorAll('#headline-table tbody th')].map((head) => head.textContent)"
    found: list[str] = browser.execute_script(rows)
    return [name.removesuffix(" (not steady)") for name in found]


def test_rows_are_filtered_by_words_and_bounds(browser: webdriver.Chrome, comparison: flashmesh.Comparison) -> None:
    names = [f"fabric.kind={kind}, replay.outstanding={depth}" for kind in ("bus", "venice") for depth in (4, 64)]
    assert filtered(browser, "") == names
    assert filtered(browser, "venice") == names[2:]
    assert filtered(browser, "replay.outstanding=64") == names[1::2]
    bounds = [run.result.latency_ps.all.p99 for run in comparison.runs if run.result.latency_ps.all is not None]
    middle = sorted(bounds)[2] / 1e6
    below = [name for name, p99 in zip(names, bounds, strict=True) if p99 / 1e6 < middle]
    assert filtered(browser, f"p99<{middle}us") == below
    assert filtered(browser, f"bus p99<{middle}us") == [name for name in below if "bus" in name]
    assert filtered(browser, "p99<1GB/s") == names
    assert "p99 is in ps, ns, us" in text(browser, "#headline-count")
    filtered(browser, "")


def test_rows_are_sorted_by_a_click_on_a_heading(browser: webdriver.Chrome, comparison: flashmesh.Comparison) -> None:
    head = "#headline-table thead th:nth-child(2)"
    cells = "[...document.querySelectorAll('#headline-table tbody td:nth-child(2)')]"
    values = f"return {cells}.map((cell) => Number(cell.dataset.value))"
    expected = sorted(run.result.iops for run in comparison.runs)
    for order, told in ((expected, "ascending"), (expected[::-1], "descending")):
        browser.find_element(By.CSS_SELECTOR, f"{head} button").click()
        assert browser.execute_script(values) == pytest.approx(order, rel=1e-6)
        assert browser.find_element(By.CSS_SELECTOR, head).get_attribute("aria-sort") == told
    browser.find_element(By.CSS_SELECTOR, "#headline-table thead th:first-child button").click()


def test_the_note_on_a_recording_has_short_times_and_grouped_counts(page: webdriver.Chrome) -> None:
    note = text(page, "#moving-note")
    digits = r"(?=[\d.]{1,5} )\d+(?:\.\d*[1-9])? [munp]s"
    assert re.match(rf"Recorded from {digits} to {digits}: \d+,\d\d\d transfers, [\d,]+ of them", note), note


def test_choices_of_charts_change_them(browser: webdriver.Chrome) -> None:
    markup = "return document.querySelector('#chart-breakdown svg').innerHTML"
    before = browser.execute_script(markup)
    browser.find_element(By.CSS_SELECTOR, "#chart-breakdown select").send_keys("slowest")
    until(lambda: browser.execute_script(markup) != before)


def test_data_of_charts_is_there_as_tables(browser: webdriver.Chrome, comparison: flashmesh.Comparison) -> None:
    summary = browser.find_element(By.CSS_SELECTOR, 'details[data-of="speedup"] summary')
    summary.send_keys(Keys.ENTER)
    count = "return document.querySelectorAll('details[data-of=\"speedup\"] tbody tr').length"
    until(lambda: browser.execute_script(count) == 3 * len(comparison.runs))


def test_moving_view_plays_pauses_and_steps(page: webdriver.Chrome) -> None:
    click(page, "moving-step")
    first = text(page, "#moving-now")
    click(page, "moving-step")
    assert text(page, "#moving-now") != first
    click(page, "moving-back")
    assert text(page, "#moving-now") == first
    click(page, "moving-play")
    assert text(page, "#moving-play") == "Pause"
    until(lambda: text(page, "#moving-now") != first)
    click(page, "moving-play")
    assert text(page, "#moving-play") == "Play"
    stopped = text(page, "#moving-now")
    time.sleep(0.3)
    assert text(page, "#moving-now") == stopped


@pytest.mark.long
def test_every_moment_reads_differently(page: webdriver.Chrome, comparison: flashmesh.Comparison) -> None:
    for run in range(len(comparison.runs)):
        choose(page, run)
        scrub(page, 0)
        shown = page.execute_script(
            "const shown = [];"
            "for (let step = 0; step < 300; step += 1) {"
            "  shown.push(document.getElementById('moving-now').textContent);"
            "  document.getElementById('moving-step').click();"
            "}"
            "return shown"
        )
        assert len(set(shown)) == 300, run


@pytest.mark.long
def test_moving_view_obeys_the_keyboard_and_the_slider(page: webdriver.Chrome) -> None:
    stage = page.find_element(By.CSS_SELECTOR, "#moving .stage .wide")
    before = text(page, "#moving-now")
    stage.send_keys(Keys.ARROW_RIGHT)
    after = text(page, "#moving-now")
    assert after != before
    stage.send_keys(Keys.ARROW_LEFT)
    assert text(page, "#moving-now") == before
    stage.send_keys(" ")
    assert text(page, "#moving-play") == "Pause"
    stage.send_keys(" ")
    assert text(page, "#moving-play") == "Play"
    slider = page.find_element(By.ID, "moving-time")
    slider.send_keys(Keys.END)
    assert now(page) == 1_000_000
    slider.send_keys(Keys.HOME)
    assert now(page) == 0


@pytest.mark.long
def test_moving_view_shows_what_was_recorded(page: webdriver.Chrome, comparison: flashmesh.Comparison) -> None:
    for index, run in enumerate(comparison.runs):
        choose(page, index)
        network = run.result.network
        assert network is not None
        for share in (0.25, 0.5, 0.75):
            at = network.start_ps + share * (network.end_ps - network.start_ps)
            scrub(page, share)
            held = {hold.link for hold in network.holds if hold.from_ps <= at < hold.until_ps}
            drawn = page.execute_script("return document.querySelectorAll('#moving-view [data-held]').length")
            assert drawn == len(held), (index, share)


def test_conflicts_and_backtracks_are_found_and_told(page: webdriver.Chrome, comparison: flashmesh.Comparison) -> None:
    assert not page.find_element(By.ID, "moving-backtrack").is_displayed()
    choose(page, 3)
    assert comparison.runs[3].settings == {"fabric.kind": "venice", "replay.outstanding": 64}
    click(page, "moving-conflict")
    assert page.find_elements(By.CSS_SELECTOR, '#moving-view [data-state="blocked"]')
    assert "waits to move" in text(page, "#moving-events")
    click(page, "moving-backtrack")
    assert page.find_elements(By.CSS_SELECTOR, '#moving-view [data-scout="back"]')
    assert "finds no way on and backtracks" in text(page, "#moving-events")


def test_pointer_shows_the_request(page: webdriver.Chrome) -> None:
    choose(page, 3)
    scrub(page, 0.5)
    page.execute_script(
        "document.querySelector('#moving-view [data-held]')"
        ".dispatchEvent(new PointerEvent('pointermove', { clientX: 50, clientY: 50 }))"
    )
    tip = page.find_element(By.ID, "moving-tip")
    assert tip.is_displayed()
    assert "held from" in tip.text


@pytest.mark.parametrize("width", in_part(1, [390, 1440]))
def test_no_label_of_a_chart_meets_another_one(browser: webdriver.Chrome, width: int) -> None:
    at_width(browser, width)
    try:
        assert browser.execute_script(MEETING) == []
        # Create an overlap, to prove that the test detects one.
        browser.execute_script(
            "const texts = [...document.querySelectorAll('#chart-breakdown .role-axis-label text')];"
            "for (const text of texts) text.setAttribute('transform', 'translate(20,20)')"
        )
        assert browser.execute_script(MEETING) != []
    finally:
        browser.execute_script("delete document.getElementById('chart-breakdown').dataset.layout")
        as_before(browser)


def test_a_table_says_what_it_hides_and_hides_no_row(browser: webdriver.Chrome) -> None:
    at_width(browser, 390)
    try:
        region = "document.querySelector('#headline .wide')"
        told = text(browser, "#headline .scrolls")
        columns = browser.execute_script(
            f"const edge = {region}.getBoundingClientRect().right;"
            f"return [...{region}.querySelectorAll('thead th')]"
            ".filter((cell) => cell.getBoundingClientRect().right > edge + 1).length"
        )
        assert columns > 1
        assert told == f"Scroll the table: {columns} more columns to the right."
        bottoms = f"return [{region}, {region}.querySelector('tbody tr:last-child')].map("
        region_end, row_end = browser.execute_script(f"{bottoms}(part) => part.getBoundingClientRect().bottom)")
        assert row_end <= region_end
    finally:
        as_before(browser)


def test_a_filter_holds_for_all_that_is_below_it(browser: webdriver.Chrome) -> None:
    filtered(browser, "venice replay.outstanding=64")
    try:
        drawn(browser)
        left = browser.execute_script(
            "const shown = (part) => part.checkVisibility();"
            "const names = [...document.querySelectorAll('[data-of-run]:not(option)')].filter(shown);"
            "const rows = [...views.keys()].filter(shown).flatMap((chart) =>"
            "  report.specs[chart.dataset.chart].datasets.flatMap(rowsOf).map(nameOf));"
            "const recordings = [...document.querySelectorAll('#moving-run option:not([hidden])')];"
            "return [names.map((part) => part.dataset.ofRun), rows,"
            " recordings.map((part) => part.textContent)].map((each) => [...new Set(each)])"
        )
        assert left == [["fabric.kind=venice, replay.outstanding=64"]] * 3
        ticks = "#chart-breakdown .role-axis-label text"
        assert "fabric.kind=bus" not in " ".join(
            browser.execute_script(
                "return [...document.querySelectorAll(arguments[0])].map((t) => t.textContent)", ticks
            )
        )
        filtered(browser, "no such run")
        drawn(browser)
        sections = "return [...document.querySelectorAll('main > section')].filter((part) => part.checkVisibility())"
        assert browser.execute_script(f"{sections}.map((part) => part.id)") == ["headline"]
    finally:
        filtered(browser, "")
        drawn(browser)


def test_moving_view_begins_at_a_conflict_that_the_window_has_room_for(page: webdriver.Chrome) -> None:
    assert page.find_elements(By.CSS_SELECTOR, '#moving-view [data-state="blocked"]')
    assert re.fullmatch(r"[\d,]+\.\d{3} us", text(page, "#moving-now"))
    page.execute_script("scrollTo(0, 0)")
    click(page, "moving-conflict")
    inside = (
        "const box = document.querySelector('#moving-view [data-state=\"blocked\"]').getBoundingClientRect();"
        "const whole = document.getElementById('moving-view').getBoundingClientRect();"
        "return box.top >= 0 && box.bottom <= innerHeight && whole.height <= innerHeight"
    )
    assert page.execute_script(inside)


def test_focus_goes_down_the_page(browser: webdriver.Chrome) -> None:
    tops = browser.execute_script(
        "scrollTo(0, 0);"
        "return [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')]"
        ".filter((part) => part.checkVisibility() && !part.closest('.skip, .vega-embed'))"
        ".map((part) => [part.tabIndex, Math.round(part.getBoundingClientRect().top)])"
    )
    assert all(index == 0 for index, _ in tops)
    order = [top for _, top in tops]
    # The tops of elements in one line differ by at most 60 pixels.
    assert all(after > before - 60 for before, after in itertools.pairwise(order))


def test_page_opens_without_errors_to_the_end(browser: webdriver.Chrome) -> None:
    assert log(browser, "browser") == []


@pytest.mark.long
def test_picture_of_the_readme_is_what_a_page_shows(browser: webdriver.Chrome) -> None:
    page = browser.current_url
    try:
        made = picture.picture(browser)
        assert picture.FILE.read_text(encoding="utf-8") == made, "make picture draws it anew"
    finally:
        browser.get(page)
        drawn(browser)


def test_page_needs_no_file_beside_it(browser: webdriver.Chrome) -> None:
    page = Path(browser.current_url.removeprefix("file://"))
    assert [path.name for path in page.parent.iterdir()] == ["report.html"]
