"""Pages of results: the numbers are those of the JSON, and nothing is loaded from anywhere."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import altair as alt
import pytest

import flashmesh
from conftest import Cli
from flashmesh import _native
from flashmesh.html.page import SCRIPTS, asset, figures
from flashmesh.html.saved import read
from flashmesh.html.tables import at
from flashmesh.plots import load
from flashmesh.sweep.store import FORMAT

ASSETS = Path(flashmesh.__file__).parent / "html/assets"


class Page(HTMLParser):
    """The cells with numbers, the attributes that may load something, and the data of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.row = -1
        self.cells: list[tuple[int, str, Any]] = []
        self.loads: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        data = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.S)
        assert data is not None
        self.data = json.loads(data[1])
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if "data-run" in found:
            self.row = int(found["data-run"])
        if "data-key" in found:
            self.cells.append((self.row, found["data-key"], json.loads(found["data-value"])))
        self.loads += [found[name] for name in ("src", "data", "action") if name in found]
        if tag == "link":
            self.loads.append(found["href"])
        if tag == "a":
            self.links.append(found["href"])
        self.ids += [found["id"]] if "id" in found else []


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison with everything that a report can show."""
    folder = tmp_path_factory.mktemp("saved")
    config = {
        "preset": "z-nand",
        "workload": {"requests": 1_500, "read-share": 0.8},
        "measure": {"epoch": "100us", "network": True, "network-events-max": 3_000},
    }
    axes: dict[str, list[Any]] = {"fabric.kind": ["bus", "nossd", "venice"], "replay.outstanding": [1, 64]}
    path = folder / "comparison.json"
    path.write_text(flashmesh.compare(config, axes).to_json())
    return path


@pytest.fixture(scope="module")
def page(saved: Path) -> Page:
    from flashmesh.html.page import page

    return Page(page(read([saved])))


def test_numbers_are_those_of_the_json(saved: Path, page: Page) -> None:
    runs = json.loads(saved.read_text())["runs"]
    assert {row for row, _, _ in page.cells} == set(range(len(runs)))
    for row, key, value in page.cells:
        assert value == at(runs[row]["result"], key), key


def test_charts_have_the_numbers_of_the_json(saved: Path, page: Page) -> None:
    runs = json.loads(saved.read_text())["runs"]

    def rows(chart: str) -> list[dict[str, Any]]:
        return [row for part in page.data["specs"][chart]["datasets"] for row in page.data["datasets"][part]]

    names = [f"{run['settings']['fabric.kind']}, {run['settings']['replay.outstanding']}" for run in runs]
    for name, run in zip(names, (run["result"] for run in runs), strict=True):
        own = [row for row in rows("breakdown") if row["run"] == name and row["requests"] == "all requests (mean)"]
        assert sum(row["latency_s"] for row in own) * 1e12 == pytest.approx(run["latency_ps"]["all"]["mean"], rel=1e-6)
        energy = [row for row in rows("energy") if row["run"] == name and row["measure"] == "of the run"]
        assert sum(row["energy_j"] for row in energy) == pytest.approx(run["power"]["energy_j"]["total"])
        tail = [row for row in rows("tail") if row["run"] == name and row["kind"] == "all"]
        assert tail[-1]["latency_s"] * 1e12 == pytest.approx(run["latency_ps"]["all"]["max"], rel=1e-4)
        assert tail[-1]["share"] == 1
        within = [row["latency_s"] for row in tail if row["share"] >= 0.99]
        assert within[0] * 1e12 == pytest.approx(run["latency_ps"]["all"]["p99"], rel=0.04)
        epochs = [row for row in rows("over-time") if row["run"] == name]
        assert [row["throughput"] for row in epochs] == pytest.approx([one["iops"] for one in run["epochs"]], rel=1e-4)
    busy = [row["busy"] for row in rows("utilisation-0") if row["part"].startswith("die ")]
    assert busy == runs[0]["result"]["utilisation"]["dies"]
    links = {row["part"]: row["busy"] for row in rows("utilisation-4") if "kind" in row}
    venice = runs[4]["result"]
    assert links == dict(zip(venice["links"]["names"], venice["utilisation"]["links"], strict=True))


def test_speedups_are_against_the_first_value_of_the_first_axis(saved: Path, page: Page) -> None:
    runs = json.loads(saved.read_text())["runs"]
    times = {tuple(run["settings"].values()): run["result"]["makespan_ps"] for run in runs}
    found = page.data["datasets"][page.data["specs"]["speedup"]["datasets"][0]]
    speedups = {row["run"]: row["speedup"] for row in found if row["measure"] == "execution time"}
    for (kind, outstanding), time in times.items():
        assert speedups[f"{kind}, {outstanding}"] == pytest.approx(times["bus", outstanding] / time)


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
    result = flashmesh.run({"preset": "z-nand", "workload": {"requests": 500}})
    path = tmp_path / "page.html"
    flashmesh.write_report(path, *[result] * 10, title="<b>1 & 2</b></script>")
    text = path.read_text()
    assert len(text) < 8_000_000
    assert "<b>1" not in text
    assert "&lt;b&gt;1 &amp; 2" in text


def test_figures_are_written_with_their_data(cli: Cli, tmp_path: Path, saved: Path) -> None:
    done = cli("report", saved, "-o", "page.html", "--plots", "figures")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").is_file()
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    charts = {path.removesuffix(".svg") for path in names if path.endswith(".svg")}
    assert {"speedup", "tail", "cumulative", "load", "breakdown", "over-time", "conflicts", "energy"} < charts
    assert all({f"{chart}.pdf", f"{chart}.csv"} < names for chart in charts)
    assert (tmp_path / "figures/tail.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "figures/tail.svg").read_text().startswith("<svg")
    assert (tmp_path / "figures/speedup.csv").read_text().startswith("run,baseline,measure,speedup")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("absent.json", None, "absent.json: cannot be read: No such file or directory"),
        ("text.json", "{", "text.json: is no JSON: name a file that `flashmesh run --json` has written"),
        ("other.json", "[1]", "other.json: is no result: name a file that `flashmesh run --json` has written"),
        ("keys.json", '{"a": 1}', "keys.json: is no result: name a file that `flashmesh run --json` has written"),
        (
            "old.json",
            '{"requests": 1, "makespan_ps": 1, "version": "0.0.1"}',
            "old.json: flashmesh 0.0.1 has written it",
        ),
        ("bad.parquet", "x", "bad.parquet: is no Parquet file of runs that flashmesh wrote"),
    ],
)
def test_what_is_no_result_is_refused(cli: Cli, tmp_path: Path, name: str, content: str | None, says: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    done = cli("report", name, "-o", "page.html")
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "page.html").exists()


def test_sweep_without_a_result_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    done = cli("report", "out")
    assert done.returncode == 2
    assert "not one of a sweep" in done.stderr
    (tmp_path / "out/sweep.json").write_text(f'{{"format": {FORMAT}}}')
    done = cli("report", "out")
    assert done.returncode == 2
    assert "no run has finished yet: go on with --resume" in done.stderr


def test_page_does_not_overwrite_what_it_is_made_of(cli: Cli, saved: Path) -> None:
    before = saved.read_text()
    done = cli("report", saved, "-o", saved)
    assert done.returncode == 2
    assert saved.read_text() == before


def test_results_draw_themselves() -> None:
    config = {"preset": "z-nand", "workload": {"requests": 500}, "measure": {"epoch": "100us"}}
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
        flashmesh.run({"preset": "z-nand", "workload": {"requests": 10}}).plot_over_time()
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
    config = {"preset": "z-nand", "workload": {"requests": 500}, "replay": {"mode": "open"}}
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
