"""The report of a search: its Pareto front as a table and as a chart, and the page that describes it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import COMMAND, TIMEOUT_S, Cli, environment
from flashmesh.html.page import figures, fronts
from flashmesh.html.page import page as page_of
from flashmesh.html.saved import read
from flashmesh.plots.runs import baselines, short
from long_cases import in_part
from pages import MEETING, drawn, resize, start
from sweep_files import SEARCH, write_search

pytest.importorskip("optuna")


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the folder of a finished search."""
    folder = tmp_path_factory.mktemp("search")
    command: list[str | Path] = [COMMAND, "optimise", write_search(folder), "--out", "out", "--quiet"]
    subprocess.run(command, cwd=folder, env=environment(), check=True, capture_output=True, timeout=TIMEOUT_S)
    return folder / "out"


@pytest.fixture
def folder(searched: Path, tmp_path: Path) -> Path:
    """Returns a copy of the folder for one test."""
    return shutil.copytree(searched, tmp_path / "out")


@pytest.mark.long
def test_the_front_of_the_page_is_that_of_the_search(cli: Cli, folder: Path, tmp_path: Path) -> None:
    done = cli("report", "out", "-o", "page.html")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "page.html").read_text()
    trials = json.loads((folder / "search.json").read_text())["trials"]
    front = {json.dumps(each["settings"]): each["measures"] for each in trials if each["pareto"]}
    table = re.search(r'<table class="front">(.*?)</table>', text, re.S)
    assert table is not None
    rows = re.findall(r"<tr>(.*?)</tr>", table[1], re.S)[1:]
    assert len(rows) == len(front) > 0
    shown = [re.findall(r'data-measure="(.*?)" data-number="(.*?)"', row) for row in rows]
    found = [{name: float(number) for name, number in row} for row in shown]
    assert sorted(map(str, found)) == sorted(map(str, front.values()))
    assert "Asked: minimise latency_ps.all.p99 and minimise wires, with latency_ps.all.p99 &lt;= 400us." in text


def test_the_report_of_a_search_begins_with_its_answer(folder: Path) -> None:
    document = json.loads((folder / "search.json").read_text())
    for trial in document["trials"]:
        # A key without effect on the drive, which the answer must not name.
        trial["settings"]["venice.link-width"] = "1B"
        trial["idle"] = [*trial["idle"], "venice.link-width"]
    (folder / "search.json").write_text(json.dumps(document))
    study = read([folder])
    (search,) = study.searches
    (told,) = study.findings
    best = min(
        (trial for trial in document["trials"] if trial["pareto"]),
        key=lambda trial: trial["measures"]["latency_ps.all.p99"],
    )
    assert told.startswith(f"Best in latency_ps.all.p99: fabric.kind={best['settings']['fabric.kind']}, ")
    assert "link-width" not in told
    place = search.columns().index("venice.link-width")
    assert {row[place] for row, _ in search.rows()} == {"-"}
    text = page_of(study)
    assert text.index(told[:20]) < text.index('id="front"') < text.index('id="headline"')


def kind_of(trial: dict[str, Any]) -> str:
    """Returns the outcome of a trial."""
    if trial["pareto"]:
        return "on the front"
    return "within the constraints" if trial["feasible"] else "beyond a constraint"


def test_a_drive_is_not_compared_by_a_key_that_it_does_not_read(folder: Path) -> None:
    document = json.loads((folder / "search.json").read_text())
    for trial in document["trials"]:
        if trial["settings"]["fabric.kind"] == "ideal":
            trial["idle"] = ["fabric.channel-rate"]
    (folder / "search.json").write_text(json.dumps(document))
    runs = read([folder]).runs
    ideal = {run.name for run in runs if run.settings["fabric.kind"] == "ideal"}
    assert ideal
    assert {run.settings["fabric.channel-rate"] for run in runs if run.name in ideal} == {"-"}
    for run, baseline in zip(runs, baselines(runs), strict=True):
        assert (run.name in ideal) == (baseline.name in ideal)


def test_drives_are_compared_with_those_of_one_value_in_any_order(folder: Path) -> None:
    runs = sorted(read([folder]).runs, key=lambda run: str(run.settings["fabric.kind"]) != "bus")
    bus = {run.settings["fabric.channel-rate"]: run.name for run in runs if run.settings["fabric.kind"] == "bus"}
    assert len(bus) > 1
    for order in (runs, [runs[0], *reversed(runs[1:])]):
        for run, baseline in zip(order, baselines(order), strict=True):
            wanted = bus.get(run.settings["fabric.channel-rate"])
            assert wanted in (None, baseline.name), run.name


def test_every_drive_that_was_tried_is_drawn_once(folder: Path) -> None:
    study = read([folder])
    trials = json.loads((folder / "search.json").read_text())["trials"]
    (section,) = fronts(study.searches)
    (figure,) = (each for each in section.figures if each.name == "front-0")
    points = [row for rows in figure.plot.datasets.values() for row in rows if "drive" in row]
    expected = {
        (
            each["measures"]["latency_ps.all.p99"],
            each["measures"]["wires"],
            kind_of(each),
        )
        for each in trials
    }
    assert {(round(point["x"] * 1e12), point["y"], point["kind"]) for point in points} == expected
    assert len(points) == len({json.dumps(each["settings"]) for each in trials})
    bounds = [row for rows in figure.plot.datasets.values() for row in rows if "drive" not in row]
    assert bounds == [{"x": pytest.approx(400e-6)}]
    assert figure.plot.altair().to_dict()["layer"]
    # Runs of the front come first, and all figures are drawn.
    front = {json.dumps(each["settings"]) for each in trials if each["pareto"]}
    assert {json.dumps(run.settings) for run in study.runs[: len(front)]} == front
    assert len(figures(study.runs)) > 4


CROWDED = """
const texts = [...document.querySelectorAll("[data-chart^=front] svg text")]
  .filter((text) => text.textContent.trim() && text.getAttribute("stroke") !== "white")
  .filter((text) => text.checkVisibility({ visibilityProperty: true, opacityProperty: true }));
const boxes = texts.map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }));
return boxes.flatMap(({ text, box }) => boxes
  .filter((other) => other.box.left > box.left && Math.abs(other.box.top - box.top) < 6
    && Math.abs(other.box.left - box.right) < 200 && other.box.left < box.right + 2)
  .map((other) => `${text}|${other.text}`));
"""
"""Script that returns the labels of a line that have less than two pixels between them."""


@pytest.mark.parametrize("width", in_part(1, [390, 1440]))
def test_labels_of_neighbouring_axes_are_apart(folder: Path, tmp_path: Path, width: int) -> None:
    document = json.loads((folder / "search.json").read_text())
    for number, trial in enumerate(document["trials"]):
        trial["settings"]["fabric.channel-rate"] = f"{400 * (number % 4 + 1)}MB/s"
    document["constraints"] += [{"measure": "area.added_inside_mm2", "bound": 2000.0, "text": "<= 2000mm2"}]
    for number, trial in enumerate(document["trials"]):
        if trial["measures"] is not None:
            measured = {"latency_ps.all.p99": 1.234e9 + 1e8 * number, "area.added_inside_mm2": 1280.0 * (number % 2)}
            trial["measures"] |= measured
    (folder / "search.json").write_text(json.dumps(document))
    page = tmp_path / "page.html"
    page.write_text(page_of(read([folder])), encoding="utf-8")
    browser = start()
    try:
        resize(browser, width)
        browser.get(page.as_uri())
        drawn(browser)
        assert browser.execute_script(CROWDED) == []
        assert browser.execute_script(MEETING) == []
    finally:
        browser.quit()


@pytest.mark.long
def test_figures_for_papers_have_the_front(cli: Cli, folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    assert cli("report", "out", "-o", "page.html", "--plots", "figures").returncode == 0
    assert {"front-0.svg", "front-0.pdf", "front-0.csv"} <= {path.name for path in (tmp_path / "figures").iterdir()}


@pytest.mark.long
def test_one_objective_is_drawn_against_what_is_kept_to(cli: Cli, tmp_path: Path) -> None:
    write_search(
        tmp_path, SEARCH.replace('"latency_ps.all.p99" = "minimise"\n', "").replace("trials = 24", "trials = 16")
    )
    assert cli("optimise", "best.toml", "--out", "out").returncode == 0
    (section,) = fronts(read([tmp_path / "out"]).searches)
    (figure,) = (each for each in section.figures if each.name == "front-0")
    title = figure.plot.chart.to_dict(validate=False)["layer"][-1]["encoding"]["y"]["axis"]["title"]
    assert title == "latency_ps.all.p99"


@pytest.mark.long
def test_a_search_that_cannot_be_read_is_named(cli: Cli, folder: Path) -> None:
    (folder / "search.json").write_text("{}")
    done = cli("report", "out", "-o", "page.html")
    assert done.returncode == 2
    assert "the results of the search cannot be read" in done.stderr
    assert "Traceback" not in done.stderr


def test_rates_are_no_paths() -> None:
    assert (short("2000MB/s"), short("/traces/a.csv")) == ("2000MB/s", "a.csv")
