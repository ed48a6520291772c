"""Names on charts of many runs in a real browser: each is whole, and none meets another one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from selenium import webdriver

import flashmesh
from long_cases import in_part
from pages import MEETING, as_before, at_width, clipped, drawn, start

AXES: dict[str, list[Any]] = {
    "fabric.kind": ["bus", "pssd", "venice"],
    "replay.outstanding": [1, 64, 256],
    "workload.interarrival": ["100us", "3us", "1500ns"],
}
LEGENDS = """
return [...document.querySelectorAll("[data-chart]")].filter((chart) => chart.checkVisibility())
  .flatMap((chart) => [...chart.querySelectorAll(".role-legend-label text")].map((text) => text.textContent))
"""
FILTER = """
document.body.dataset.drawn = "false";
const field = document.getElementById("headline-filter");
field.value = arguments[0];
field.dispatchEvent(new Event("input"));
"""
DRAW = """
const [name, limit, done] = arguments;
const chart = document.createElement("div");
chart.id = "drawn-by-the-test";
// Outside of the charts of the page, which may be drawn anew after a change of its width.
document.querySelector("main, body").append(chart);
const axis = { title: null, labelLimit: limit };
const encoding = { y: { field: "run", type: "nominal", axis }, x: { field: "value", type: "quantitative" } };
const spec = { data: { values: [{ run: name, value: 1 }] }, mark: "bar", encoding };
vegaEmbed(chart, spec, { renderer: "svg", actions: false }).then(() => done());
"""
"""Script that draws a bar with a name, cut beyond a limit in pixels."""
CUT = """
return [...document.querySelectorAll("[data-chart] svg text, #drawn-by-the-test svg text")]
  .map((text) => text.textContent).filter((text) => text.includes("\\u2026"))
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    """Shows a comparison over three keys, with more points than are charted one by one."""
    config: dict[str, Any] = {"preset": "venice-z-nand", "workload": {"requests": 300, "read-share": 0.5}}
    path = tmp_path_factory.mktemp("page") / "report.html"
    flashmesh.write_report(path, flashmesh.compare(config, AXES))
    driver = start()
    try:
        driver.get(path.as_uri())
        drawn(driver)
        yield driver
    finally:
        driver.quit()


@pytest.mark.parametrize("width", in_part(1, [390, 1024, 1440]))
def test_names_of_three_keys_are_whole_and_apart(browser: webdriver.Chrome, width: int) -> None:
    at_width(browser, width)
    try:
        assert browser.execute_script(MEETING) == []
        assert browser.execute_script(CUT) == []
        assert clipped(browser) == []
    finally:
        as_before(browser)


@pytest.mark.long
def test_a_filter_leaves_no_line_of_other_runs_in_a_legend(browser: webdriver.Chrome) -> None:
    before = browser.execute_script(LEGENDS)
    assert "fabric.kind=bus" in before
    try:
        browser.execute_script(FILTER, "venice")
        drawn(browser)
        left = [name for name in browser.execute_script(LEGENDS) if name.startswith("fabric.kind=")]
        assert left
        assert [name for name in left if "fabric.kind=venice" not in name] == []
    finally:
        browser.execute_script(FILTER, "")
        drawn(browser)


@pytest.mark.parametrize(("limit", "is_cut"), [(60, True), (600, False)])
def test_a_name_beyond_its_limit_is_seen_as_cut(browser: webdriver.Chrome, limit: int, is_cut: bool) -> None:
    name = "fabric.kind=venice, replay.outstanding=256, workload.interarrival=1500ns"
    try:
        browser.execute_async_script(DRAW, name, limit)
        found = browser.execute_script(CUT)
        assert [text.startswith("fabric.kind") for text in found] == ([True] if is_cut else [])
        assert name not in found
    finally:
        browser.execute_script("document.getElementById('drawn-by-the-test').remove()")


def test_nothing_is_warned_of(browser: webdriver.Chrome) -> None:
    assert browser.get_log("browser") == []  # type: ignore[no-untyped-call]
