"""Files of `flashmesh report`: figures for papers, selected charts, and results that are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import Cli
from flashmesh.html.figures import LAYOUTS, STYLE, drawings, drawn, spec_of
from flashmesh.html.page import asset
from flashmesh.html.saved import read
from flashmesh.plots.style import COLOURS
from flashmesh.sweeps.results.store import FORMAT
from long_cases import in_part
from report_pages import Page, write_comparison


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_comparison(tmp_path_factory.mktemp("saved"))


@pytest.mark.long
def test_figures_are_written_with_their_data(cli: Cli, tmp_path: Path, saved: Path) -> None:
    chosen = [
        "tail-read",
        "load-mean",
        "breakdown-all",
        "conflicts-share",
        "over-time-dies-busy",
        "utilisation-venice-64",
    ]
    done = cli("report", saved, "-o", "page.html", "--plots", "figures", *(f"--only={name}" for name in chosen))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").is_file()
    folder = tmp_path / "figures"
    names = {path.name for path in folder.iterdir()}
    charts = {path.removesuffix("-wide.svg") for path in names if path.endswith("-wide.svg")}
    # There is one more chart than names, since the parts of latencies have two charts: as times, and as shares.
    assert len(charts) == len(chosen) + 1
    assert all(any(chart.startswith(name) for chart in charts) for name in chosen)
    for chart in charts:
        assert {f"{chart}.svg", f"{chart}.pdf", f"{chart}-wide.pdf", f"{chart}.csv"} < names
        for suffix, width in (("", 252), ("-wide", 516)):
            svg, pdf = ((folder / f"{chart}{suffix}.{kind}").read_bytes() for kind in ("svg", "pdf"))
            assert svg.startswith(b"<svg")
            assert f'width="{width}pt"'.encode() in svg, chart
            box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ", pdf)
            assert box is not None
            assert float(box[1]) == pytest.approx(width, abs=0.5), chart
    assert (folder / "load-mean.csv").read_text().startswith("run,load,rank,iops,measure,latency_s")


@pytest.mark.long
def test_a_figure_has_no_title_and_its_units_once(saved: Path) -> None:
    (load,) = drawings(read([saved]), ["load-mean"])
    spec = spec_of(load, LAYOUTS[0], 200)
    assert "title" not in spec
    assert all("bind" not in field for field in spec["params"])
    svg = drawn(load, LAYOUTS[0])
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", svg)
    assert {"throughput (kIOPS)", "throughput (MIOPS)"} & set(texts)
    assert any(re.fullmatch(r"completion latency \((µ|m)s\)", text) for text in texts)
    ticks = [text for text in texts if re.match(r"[\d.]+", text)]
    assert ticks
    assert all(re.fullmatch(r"[\d.]+", tick) for tick in ticks)


def test_an_unknown_figure_is_named(cli: Cli, saved: Path) -> None:
    done = cli("report", saved, "-o", "page.html", "--plots", "figures", "--only", "tale")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--only: no chart is called tale; there are speedup-execution-time, " in done.stderr
    assert cli("report", saved, "--only", "tail").returncode == 2


def test_matplotlib_takes_the_style_beside_the_figures() -> None:
    lines = [line.partition(":") for line in asset(STYLE).splitlines() if line and not line.startswith("#")]
    style = {key.strip(): value.strip() for key, _, value in lines}
    assert float(style["figure.figsize"].split(",")[0]) * 72 == LAYOUTS[0].width_pt
    assert re.findall(r"'([0-9a-f]{6})'", style["axes.prop_cycle"]) == [c[1:] for c in COLOURS[:8]]


@pytest.mark.long
def test_a_chart_that_is_asked_for_is_drawn(cli: Cli, tmp_path: Path, saved: Path) -> None:
    line = "p99 over replay.outstanding by fabric.kind"
    done = cli(
        "report", saved, "-o", "page.html", "--chart", line, "--chart", "IOPS over fabric.kind and replay.outstanding"
    )
    assert done.returncode == 0, done.stderr
    found = Page((tmp_path / "page.html").read_text()).data
    runs = json.loads(saved.read_text())["runs"]
    (name,) = found["specs"]["p99-over-replay-outstanding-by-fabric-kind"]["datasets"]
    drawn = {(row["by"], row["at"]): row["value"] for row in found["datasets"][name]}
    for run in runs:
        at = (f"fabric.kind={run['settings']['fabric.kind']}", str(run["settings"]["replay.outstanding"]))
        assert drawn[at] * 1e12 == pytest.approx(run["result"]["latency_ps"]["all"]["p99"])
    (cells,) = found["specs"]["iops-over-fabric-kind-and-replay-outstanding"]["datasets"]
    assert len(found["datasets"][cells]) == len(runs)


@pytest.mark.parametrize(
    ("line", "says"),
    in_part(
        1,
        [
            ("p99", "a chart is a measure over a key"),
            ("p98.5 over replay.outstanding", "--chart:1:1"),
            ("p99 over replay.outstandin", "did you mean replay.outstanding?"),
        ],
    ),
)
def test_a_chart_that_cannot_be_drawn_says_why(cli: Cli, saved: Path, line: str, says: str) -> None:
    done = cli("report", saved, "-o", "page.html", "--chart", line)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "content", "says"),
    in_part(
        2,
        [
            ("absent.json", None, "absent.json: there is no such file or folder"),
            ("text.json", "{", "text.json:1:2: is not valid JSON: Expecting property name"),
            ("words.json", "hello", "words.json: is not JSON: name a file that `flashmesh run --json` has written"),
            ("other.json", "[1]", "other.json: is not a result: name a file that `flashmesh run --json` has written"),
            ("keys.json", '{"a": 1}', "keys.json: is not a result of flashmesh: requests is missing"),
            (
                "old.json",
                '{"requests": 1, "makespan_ps": 1, "version": "0.0.1"}',
                "old.json: is a result of flashmesh 0.0.1, which ",
            ),
            ("bad.parquet", "x", "bad.parquet: is neither JSON nor Parquet"),
        ],
    ),
)
def test_what_is_no_result_is_refused(cli: Cli, tmp_path: Path, name: str, content: str | None, says: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    done = cli("report", name, "-o", "page.html")
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "page.html").exists()


@pytest.mark.long
def test_sweep_without_a_result_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    done = cli("report", "out")
    assert done.returncode == 2
    assert "is a folder without the results of a sweep" in done.stderr
    (tmp_path / "out/sweep.json").write_text(f'{{"format": {FORMAT}}}')
    done = cli("report", "out")
    assert done.returncode == 2
    assert "no run has finished yet: continue with --resume" in done.stderr


def test_page_does_not_overwrite_what_it_is_made_of(cli: Cli, saved: Path) -> None:
    before = saved.read_text()
    done = cli("report", saved, "-o", saved)
    assert done.returncode == 2
    assert saved.read_text() == before
