"""Pages of results: their numbers are those of the JSON, and they load nothing."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import altair as alt
import pytest

import flashmesh
from conftest import Cli
from flashmesh import _native, plots
from flashmesh.html.documents import DocumentRuns, at
from flashmesh.html.overview import overview
from flashmesh.html.page import SCRIPTS, asset, figures, sections_of
from flashmesh.html.page import page as page_of
from flashmesh.html.saved import read, study_of
from flashmesh.html.study import Study, points_in, unique
from flashmesh.html.tables import rows
from flashmesh.plots.comparisons import load
from flashmesh.plots.panels import split
from flashmesh.plots.pooled import pooled
from flashmesh.plots.runs import label
from report_pages import Page, write_comparison

ASSETS = Path(flashmesh.__file__).parent / "html/assets"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_comparison(tmp_path_factory.mktemp("saved"))


@pytest.fixture(scope="module")
def page(saved: Path) -> Page:
    from flashmesh.html.page import page

    return Page(page(read([saved])))


def test_numbers_are_those_of_the_json(saved: Path, page: Page) -> None:
    runs = json.loads(saved.read_text())["runs"]
    assert {row for row, _, _ in page.cells} == set(range(len(runs)))
    for row, key, value in page.cells:
        assert value == at(runs[row]["result"], key), key


def test_a_page_has_the_figures_and_intervals_of_the_measured_window() -> None:
    from flashmesh.html.page import page
    from flashmesh.html.saved import study_of

    config = {
        "preset": "venice-z-nand",
        "geometry": {"blocks-per-plane": 64},
        "precondition": {"kind": "random"},
        "workload": {"requests": 20_000, "read-share": 0.5},
    }
    comparison = flashmesh.compare(config, {"flash.program-time": ["100us", "101us", "400us"]})
    runs = [run.result.document for run in comparison.runs]
    assert all(run["measured"]["requests"] < run["requests"] for run in runs)
    found = Page(page(study_of([comparison])))
    for row, key, value in found.cells:
        if key in ("iops", "latency_ps.all.p99"):
            assert value == at(runs[row]["measured"], key), key
    for chart, key in (("breakdown", "mean"), ("tail", "max")):
        rows = [row for part in found.data["specs"][chart]["datasets"] for row in found.data["datasets"][part]]
        of_run = [row for row in rows if row["run"] == label(comparison.runs[0].settings)]
        drawn = [
            row["value" if chart == "breakdown" else "latency_s"]
            for row in of_run
            if row.get("measure", row.get("kind")) in ("all requests (mean)", "all")
        ]
        shown = sum(drawn) if chart == "breakdown" else max(drawn)
        window = runs[0]["measured"]
        expected = window["breakdown_ps"]["mean"] if chart == "breakdown" else window["latency_ps"]["all"]
        whole = sum(value for name, value in expected.items() if name != "count") if key == "mean" else expected[key]
        assert shown * 1e12 == pytest.approx(whole, rel=1e-4), chart
    speedups = [row for part in found.data["specs"]["speedup"]["datasets"] for row in found.data["datasets"][part]]
    means = {row["run"]: (row["low"], row["high"]) for row in speedups if row["measure"] == "mean latency"}
    alike, slower = (means[label(run.settings)] for run in comparison.runs[1:])
    assert alike[0] < 1 < alike[1], "the difference is undecided"
    assert slower[1] < 1


def test_charts_have_the_numbers_of_the_json(saved: Path, page: Page) -> None:
    runs = json.loads(saved.read_text())["runs"]

    def rows(chart: str) -> list[dict[str, Any]]:
        return [row for part in page.data["specs"][chart]["datasets"] for row in page.data["datasets"][part]]

    names = [label(run["settings"]) for run in runs]
    assert names[:2] == ["fabric.kind=bus, replay.outstanding=1", "fabric.kind=bus, replay.outstanding=64"]
    for name, run in zip(names, (run["result"] for run in runs), strict=True):
        own = [row for row in rows("breakdown") if row["run"] == name and row["measure"] == "all requests (mean)"]
        assert sum(row["value"] for row in own) * 1e12 == pytest.approx(run["latency_ps"]["all"]["mean"], rel=1e-6)
        energy = [row for row in rows("energy") if row["run"] == name and row["measure"] == "of the run"]
        assert sum(row["energy_j"] for row in energy) == pytest.approx(run["power"]["energy_j"]["total"])
        tail = [row for row in rows("tail") if row["run"] == name and row["kind"] == "all"]
        assert tail[-1]["latency_s"] * 1e12 == pytest.approx(run["latency_ps"]["all"]["max"], rel=1e-4)
        assert tail[-1]["share"] == 1
        within = [row["latency_s"] for row in tail if row["share"] >= 0.99]
        assert within[0] * 1e12 == pytest.approx(run["latency_ps"]["all"]["p99"], rel=0.04)
        epochs = [row for row in rows("over-time") if row["run"] == name]
        assert [row["throughput"] for row in epochs] == pytest.approx([one["iops"] for one in run["epochs"]], rel=1e-4)
    venice = runs[5]["result"]
    drawn = [row for row in rows("utilisation-0") if row["panel"] == names[5]]
    busy = [row["busy"] for row in drawn if row["part"].startswith("die ")]
    assert busy == venice["utilisation"]["dies"]
    links = {row["part"]: row["busy"] for row in drawn if "kind" in row}
    assert links == dict(zip(venice["links"]["names"], venice["utilisation"]["links"], strict=True))


def test_speedups_are_against_the_first_value_of_the_first_axis(saved: Path, page: Page) -> None:
    runs = json.loads(saved.read_text())["runs"]
    times = {tuple(run["settings"].values()): run["result"]["makespan_ps"] for run in runs}
    found = page.data["datasets"][page.data["specs"]["speedup"]["datasets"][0]]
    speedups = {row["run"]: row["speedup"] for row in found if row["measure"] == "execution time"}
    for (kind, outstanding), taken in times.items():
        assert speedups[f"fabric.kind={kind}, replay.outstanding={outstanding}"] == pytest.approx(
            times["bus", outstanding] / taken
        )


def test_nothing_is_loaded_and_every_link_leads_somewhere(page: Page) -> None:
    assert page.loads == ["data:,"]
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert len(page.ids) == len(set(page.ids))


def test_moving_view_has_all_links_and_events(saved: Path, page: Page) -> None:
    runs = json.loads(saved.read_text())["runs"]
    assert len(page.data["moving"]) == len(runs)
    for moving, run in zip(page.data["moving"], runs, strict=True):
        network = run["result"]["network"]
        assert all(len(link) == 5 for link in moving["links"]), "a link without a place"
        assert [link[0] for link in moving["links"]] == run["result"]["links"]["names"]
        for part in ("requests", "transfers", "holds", "scouts"):
            assert len(moving[part]) == len(network[part])


def test_every_chart_is_valid_vega_lite(saved: Path) -> None:
    for section in figures(read([saved]).runs):
        for figure in section.figures:
            figure.plot.altair().to_dict(validate=True)


def test_scripts_are_of_the_versions_that_altair_writes_for() -> None:
    named = dict(re.findall(r"^\| (\S+\.js) \| \S+ \| (\S+) \|", asset("LICENSES.md"), re.M))
    assert set(named) == set(SCRIPTS) == {path.name for path in ASSETS.glob("*.min.js")}
    assert named["vega-lite.min.js"].split(".")[:2] == alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2]
    assert f'"{named["vega-lite.min.js"]}"' in asset("vega-lite.min.js")


def test_page_is_small_and_names_are_no_markup(tmp_path: Path) -> None:
    result = flashmesh.run({"preset": "venice-z-nand", "workload": {"requests": 500}})
    path = tmp_path / "page.html"
    flashmesh.write_report(path, *[result] * 10, title="<b>1 & 2</b></script>")
    text = path.read_text()
    assert len(text) < 8_000_000
    assert "<b>1" not in text
    assert "&lt;b&gt;1 &amp; 2" in text


@pytest.fixture(scope="module")
def repeated() -> flashmesh.Comparison:
    """Returns a comparison of three drives at four depths with three seeds each."""
    config = {"preset": "venice-z-nand", "workload": {"requests": 400, "read-share": 0.8}}
    axes: dict[str, list[Any]] = {"fabric.kind": ["bus", "pssd", "ideal"], "replay.outstanding": [1, 4, 16, 64]}
    return flashmesh.compare(config, axes | {"seed": [0, 1, 2]})


def test_seeds_are_one_row_and_one_line_with_an_interval(repeated: flashmesh.Comparison) -> None:
    study = study_of([repeated])
    assert (study.run_count, len(study.points), len(study.runs)) == (36, 12, 12)
    names = [f"fabric.kind=bus, replay.outstanding={depth}" for depth in (1, 4)]
    assert [point.name for point in study.points][:2] == names
    row = rows(study.points)[0]
    iops = [run.result.iops for run in repeated.runs[:3]]
    cell = next(cell for cell in row.cells if cell.key == "iops")
    assert cell.value == pytest.approx(sum(iops) / 3)
    assert re.search(r"\+-[\d.]+ %$", cell.text)
    (line,) = [spec for section in sections_of(study) for spec in section.figures if spec.name.startswith("p99-over")]
    (values,) = line.plot.datasets.values()
    assert len(values) == 12
    assert all(row["low"] <= row["value"] <= row["high"] for row in values)
    (speedup,) = plots.speedups(study.runs).datasets.values()
    assert {row["run"] for row in speedup} == {point.name for point in study.points}
    assert all(row["low"] <= row["speedup"] <= row["high"] for row in speedup if "kind=bus" not in row["run"])


def test_a_pooled_point_has_the_requests_of_all_its_seeds(repeated: flashmesh.Comparison) -> None:
    documents = [run.result.document for run in repeated.runs[:3]]
    point = pooled("bus, 1", {}, documents)
    found = point.document["distribution"]["all"]
    assert found["requests"][-1] == sum(document["distribution"]["all"]["requests"][-1] for document in documents)
    assert found["latency_ps"] == sorted(set(found["latency_ps"]))
    mean = point.document["breakdown_ps"]["mean"]
    parts = ("host", "firmware", "cache", "map_wait", "die_wait", "behind_gc", "path_wait", "array", "transfer")
    assert sum(mean[part] for part in parts) == pytest.approx(point.document["latency_ps"]["all"]["mean"])


def test_many_lines_are_drawn_in_panels(repeated: flashmesh.Comparison) -> None:
    runs = study_of([repeated]).runs
    plot = plots.tail(runs)
    assert plot.panels == 4
    assert plots.tail(runs[:8]).panels == 0
    found = split(runs)
    assert found is not None
    assert found.panels == [f"replay.outstanding={depth}" for depth in (1, 4, 16, 64)]
    assert found.lines == ["fabric.kind=bus", "fabric.kind=pssd", "fabric.kind=ideal"]
    assert set(plot.panel_of) == {run.name for run in runs}
    spec = plot.altair().to_dict(validate=True)
    assert "data" not in spec["spec"], "a panel with data of its own has the rows of all"


def test_overlapping_causes_are_not_stacked(saved: Path) -> None:
    plot = plots.conflicts(read([saved]).runs)
    encoding = plot.spec()["encoding"]
    assert encoding["x"]["stack"] is None
    assert encoding["yOffset"]["field"] == "part"
    (values,) = plot.datasets.values()
    shares = [row for row in values if row["measure"] == "share of transfers"]
    assert all(row["value"] <= 1 for row in shares)
    whole = {row["run"]: row["value"] for row in shares if row["part"] == "any of these"}
    assert all(row["value"] <= whole[row["run"]] + 1e-9 for row in shares)


def test_a_report_begins_with_what_it_shows(repeated: flashmesh.Comparison) -> None:
    text = page_of(study_of([repeated]))
    found = re.findall(r'<p class="finding">(.*?)</p>', text)
    assert found
    assert "times as fast as bus" in found[0]
    assert text.index('class="finding"') < text.index('id="headline"')


@pytest.mark.long
def test_what_would_help_is_a_tornado(cli: Cli, tmp_path: Path) -> None:
    settings = ["--set", "workload.requests=2000", "--key", "fabric.kind", "--key", "host.link-rate", "--seeds", "2"]
    done = cli("ask", "preset:venice-z-nand", *settings, "--json", "ask.json")
    assert done.returncode == 0, done.stderr
    assert cli("report", "ask.json", "-o", "page.html").returncode == 0
    text = (tmp_path / "page.html").read_text()
    (told,) = re.findall(r'<p class="finding">(.*?)</p>', text)
    assert told.startswith("What helps most: ")
    assert " As it is, " in told
    assert "As it is, the drive is requests" not in told
    found = Page(text).data
    assert set(found["specs"]) == {"help-iops", "help-p99"}
    (name,) = found["specs"]["help-iops"]["datasets"]
    values = found["datasets"][name]
    changes = json.loads((tmp_path / "ask.json").read_text())["changes"]
    effects = {f"{each['key']} = {each['after']}": each["ratios"]["IOPS"]["mean"] - 1 for each in changes}
    assert {row["change"]: row["effect"] for row in values} == pytest.approx(effects)
    clear = [row for row in values if row["kind"] != "no clear effect"]
    assert all((row["effect"] > 0) == (row["kind"] == "better") for row in clear)
    largest: dict[str, float] = {}
    for row in values:
        key = row["change"].partition(" = ")[0]
        largest[key] = max(largest.get(key, 0.0), abs(row["effect"]))
    assert list(largest.values()) == sorted(largest.values(), reverse=True)


def many(count: int) -> DocumentRuns:
    """Returns points over three keys, without simulating each one."""
    document = flashmesh.run({"preset": "venice-z-nand", "workload": {"requests": 100}}).document
    kinds = ["bus", "pssd", "pnssd", "venice", "ideal"]
    settings = [
        {
            "fabric.kind": kinds[number % 5],
            "replay.outstanding": 2 ** (number // 5 % 10),
            "fabric.channel-rate": f"{number // 50 + 1}MB/s",
        }
        for number in range(count)
    ]
    return DocumentRuns(settings, [document | {"iops": 1000.0 + number} for number in range(count)])


def timed_page(count: int) -> tuple[str, float]:
    """Returns the page of `count` points, and its processor time."""
    table = many(count)
    study = Study("many", unique(points_in(table)), (table,))
    start = time.process_time()
    text = page_of(study)
    return text, time.process_time() - start


@pytest.mark.long
def test_ten_thousand_points_are_a_small_page_and_say_what_is_not_drawn() -> None:
    # Make one page that is not timed, because the first page also loads templates and modules.
    timed_page(10)
    _, thousand_s = timed_page(1_000)
    text, took_s = timed_page(10_000)
    assert took_s < 15 * thousand_s, (took_s, thousand_s)
    assert len(text) < 15_000_000
    assert len(re.findall(r"<tr data-run=", text)) == 100
    assert len(Page(text).data["table"]["names"]) == 10_000
    assert "12 of 10,000 points" in text
    assert "the other 9,988 too" in text


def test_every_combination_of_axes_has_charts_or_is_left_to_all_keys_at_once() -> None:
    assert overview(many(200)) == [
        "p99 over replay.outstanding by fabric.kind each fabric.channel-rate",
        "IOPS over replay.outstanding by fabric.kind each fabric.channel-rate",
    ]
    asked = "over fabric.channel-rate by fabric.kind each replay.outstanding"
    assert overview(many(5_000)) == [f"{measure} {asked}" for measure in ("p99", "IOPS")]


def test_results_draw_themselves() -> None:
    config = {"preset": "venice-z-nand", "workload": {"requests": 500}, "measure": {"epoch": "100us"}}
    comparison = flashmesh.compare(config, {"replay.outstanding": [1, 8]})
    result = comparison.runs[0].result
    for name in ("latency", "latency_cdf", "breakdown", "over_time", "conflicts", "energy"):
        for shown in (result, comparison):
            assert getattr(shown, f"plot_{name}")().to_dict()["datasets"], name
    assert comparison.plot_speedups().to_dict()
    assert comparison.plot_load_latency().to_dict()
    assert result.plot_utilisation().to_dict()["datasets"]
    assert "<table>" in result._repr_html_()
    assert "<table>" in comparison._repr_html_()
    with pytest.raises(ValueError, match=r"set measure\.epoch"):
        flashmesh.run({"preset": "venice-z-nand", "workload": {"requests": 10}}).plot_over_time()
    with pytest.raises(ValueError, match=r"vary replay\.outstanding"):
        flashmesh.compare(config, {"fabric.kind": ["bus", "ideal"]}).plot_load_latency()


@pytest.mark.parametrize(
    ("axis", "loads", "ordered"),
    [
        ("replay.outstanding", [64, 1, 256, 16], ["1", "16", "64", "256"]),
        ("workload.interarrival", ["900ns", "10us", "4us"], ["900ns", "10us", "4us"]),
    ],
    ids=["numbers", "times"],
)
def test_latency_under_load_follows_the_load_beyond_saturation(axis: str, loads: list[Any], ordered: list[str]) -> None:
    config = {"preset": "venice-z-nand", "workload": {"requests": 500}, "replay": {"mode": "open"}}
    if axis == "replay.outstanding":
        del config["replay"]
    chart = flashmesh.compare(config, {axis: loads}).plot_load_latency().to_dict()
    assert all(layer["encoding"]["order"]["field"] == "rank" for layer in chart["layer"])
    (rows,) = chart["datasets"].values()
    ranks = {row["rank"]: row["load"] for row in rows}
    assert [ranks[rank] for rank in sorted(ranks)] == ordered


def test_loads_are_keys_of_a_configuration() -> None:
    keys = {parameter["key"] for parameter in json.loads(_native.parameters())}
    assert set(load.LOADS) <= keys
