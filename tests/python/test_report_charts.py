"""Charts of reports on invented results: outliers, changes within a run, and bars beside a baseline."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import altair as alt
import pytest

import flashmesh
from flashmesh import plots
from flashmesh.html.head import facts, merged
from flashmesh.html.page import Section, few, figures
from flashmesh.html.page import page as page_of
from flashmesh.html.study import Study, points_of_runs
from flashmesh.keys import short_key
from flashmesh.plots.comparisons.speedups import rows as speedup_rows
from flashmesh.plots.outliers import broken, limit_of
from flashmesh.plots.panels import split
from flashmesh.plots.parts.utilisation import even_utilisation
from flashmesh.plots.requests.regimes import change_of
from flashmesh.plots.runs import Run, label, run_of


@pytest.fixture(scope="module")
def some() -> Run:
    settings = {"fabric.kind": "bus", "geometry.chips-per-channel": 8}
    return run_of(flashmesh.run({"preset": "venice-z-nand", "workload": {"requests": 100}}), "bus", settings)


def variant(some: Run, name: str, configuration: dict[str, Any] | None = None, **document: Any) -> Run:
    """Returns the run under another name, with parts of its result and configuration replaced."""
    changed = {**some.document, **document}
    return replace(some, name=name, document=changed, configuration={**some.configuration, **(configuration or {})})


def epochs(*rates: float) -> list[dict[str, Any]]:
    """Returns epochs of 10 ms with given throughputs."""
    return [{"start_ps": at * 10**10, "end_ps": (at + 1) * 10**10, "iops": rate} for at, rate in enumerate(rates)]


def window(requests: int, start_ps: int = 0) -> dict[str, Any]:
    """Returns a measured window that ends 1 ms after its start."""
    return {"start_ps": start_ps, "end_ps": start_ps + 10**9, "requests": requests}


def test_a_run_is_named_by_keys_with_values(some: Run) -> None:
    assert label(some.settings) == "fabric.kind=bus, chips-per-channel=8"
    assert short_key("replay.outstanding") == "replay.outstanding"
    assert label({"workload.trace": "/traces/a.csv"}) == "workload.trace=a.csv"


def test_a_change_of_throughput_within_a_run_is_said(some: Run) -> None:
    rates = [4.0e5 + at % 3 * 1e3 for at in range(9)] + [3.0e5 + at % 3 * 1e3 for at in range(6)]
    found = change_of(variant(some, "a", epochs=epochs(*rates, 1e5)))
    assert found is not None
    assert found.text == "throughput falls from 401.0k to 301.0k IOPS at 90.00 ms"
    warm = variant(some, "a", epochs=epochs(*rates, 1e5), measured=window(100, start_ps=10**11))
    assert change_of(warm) == replace(found, is_in_warm_up=True)
    assert replace(found, is_in_warm_up=True).text == f"{found.text}, in the warm-up"
    # The means over many scattered epochs are precise enough to show the change.
    scattered = [rate + (1.5e5 if at % 2 else -1.5e5) for at, rate in enumerate([4.0e5] * 100 + [2.5e5] * 100)]
    assert change_of(variant(some, "a", epochs=epochs(*scattered, 1e5))) is not None
    noisy = [4.0e5, 3.0e5] * 8
    assert change_of(variant(some, "a", epochs=epochs(*noisy))) is None
    assert change_of(variant(some, "a", epochs=epochs(*[4.0e5] * 9, 1e5))) is None


def test_one_long_bar_does_not_flatten_the_others(some: Run) -> None:
    assert limit_of([1.0, 2.0]) is None
    assert limit_of([1.0, 2.0, 3.0]) is None
    assert limit_of([1.0, 2.0, 50.0]) == pytest.approx(2.6)
    parts = some.document["breakdown_ps"]["mean"]
    slow = {key: value * 50 for key, value in parts.items()}
    runs = [variant(some, name) for name in ("a", "b")]
    runs.append(variant(some, "slow", breakdown_ps={"mean": slow, "tail": None}))
    plot = plots.breakdown(runs)
    plot.altair().to_dict(validate=True)
    (written,) = [row for rows in plot.datasets.values() for row in rows if "end" in row and row["text"]]
    assert written["run"] == "slow"
    whole = sum(value for key, value in parts.items() if key != "count") * 1e-12
    assert written["end"] == pytest.approx(1.3 * whole)
    assert all("end" not in row for rows in plots.breakdown(runs[:2]).datasets.values() for row in rows)


def test_parts_of_short_latencies_are_shown_as_shares(some: Run) -> None:
    parts = some.document["breakdown_ps"]["mean"]

    def times(factor: float) -> dict[str, Any]:
        return {"mean": {key: value * factor for key, value in parts.items()}, "tail": None}

    few = [variant(some, "a"), variant(some, "b", breakdown_ps=times(3))]
    many = [*few, *(variant(some, f"c{number}", breakdown_ps=times(900)) for number in range(3))]
    for runs, first in ((few, "all requests (mean)"), (many, "all requests (mean) as shares")):
        plot = plots.breakdown(runs)
        spec = plot.altair().to_dict(validate=True)
        (choice,) = spec["params"]
        assert choice["value"] == choice["bind"]["options"][0] == first
        assert plot.units[first] == ("%" if "shares" in first else "s")
        rows = [row for values in plot.datasets.values() for row in values]
        for run in runs:
            own = [row for row in rows if (row["run"], row["measure"]) == (run.name, "all requests (mean) as shares")]
            assert sum(row.get("value", 0.0) for row in own) == pytest.approx(1.0)


def test_panels_of_drives_in_any_order_are_in_the_order_of_their_values(some: Run) -> None:
    def split_of(*rates: str) -> list[str]:
        settings = [{"fabric.kind": kind, "fabric.channel-rate": rate} for rate in rates for kind in ("bus", "pssd")]
        found = split([replace(some, name=label(each), settings=each) for each in settings])
        assert found is not None
        return [panel.partition("=")[2] for panel in found.panels]

    assert split_of("2GB/s", "1200MB/s", "-", "1600MB/s", "400MB/s") == [
        "400MB/s",
        "1200MB/s",
        "1600MB/s",
        "2GB/s",
        "-",
    ]
    falling = ["2GB/s", "1600MB/s", "1200MB/s", "800MB/s", "400MB/s"]
    assert split_of(*falling) == falling


def test_every_choice_of_a_broken_axis_has_a_row_of_each_run(some: Run) -> None:
    rows = broken(
        {("a", "x"): 1.0, ("a", "y"): 1.0, ("a", "z"): 9.0, ("b", "x"): 1.0}, "of", "{} {}".format, alt.Y("y")
    )
    found = [row for values in rows.datasets.values() for row in values]
    assert {(row["of"], row["run"], row["text"]) for row in found} == {
        ("a", "x", ""),
        ("a", "y", ""),
        ("a", "z", "a 9.0"),
        ("b", "x", ""),
    }


def test_a_run_of_one_latency_is_a_line(some: Run) -> None:
    alike = {"latency_ps": [7_000_000], "requests": [100]}
    runs = [variant(some, "a", distribution={"all": alike, "read": alike, "write": None})]
    (rows,) = plots.tail(runs).datasets.values()
    assert [(row["share"], row["slower"]) for row in rows] == [(0.0, 1.0), (1.0, 0.01)]


@pytest.mark.parametrize(("rates", "scale"), [((1e4, 2e5), None), ((1e3, 2e6), "log")])
def test_throughputs_far_apart_have_a_logarithmic_axis(
    some: Run, rates: tuple[float, float], scale: str | None
) -> None:
    runs = [
        replace(variant(some, str(depth), iops=rate), settings={"replay.outstanding": depth})
        for depth, rate in zip((1, 64), rates, strict=True)
    ]
    plot = plots.load_latency(runs)
    assert plot is not None
    layers = plot.spec()["layer"]
    assert [layer["encoding"]["x"].get("scale", {}).get("type") for layer in layers] == [scale] * len(layers)


def test_runs_that_differ_in_their_seed_have_no_speedup(some: Run) -> None:
    runs = [replace(some, name=f"seed={seed}", settings={"seed": seed}) for seed in (1, 2)]
    assert "speedup" not in {section.name for section in figures(runs)}
    assert "speedup" in {section.name for section in figures([some, replace(some, name="b")])}


def test_a_run_without_throughput_has_no_interval_of_its_speedup(some: Run) -> None:
    ends_early = variant(some, "b", iops=0.0)
    ratios = [row for row in speedup_rows([some, ends_early]) if row["run"] == "b"]
    assert ratios
    assert all("low" not in row for row in ratios if row["measure"] == "execution time")


def test_changes_that_are_not_told_are_counted() -> None:
    told = tuple((f"run {number}", "throughput falls") for number in range(9))
    assert few(told[:7]) == told[:7]
    assert few(told) == (*told[:6], ("3 other runs", "throughput changes"))


def test_the_page_of_one_run_begins_with_what_bounds_it(some: Run) -> None:
    points = points_of_runs([some])
    study = Study("a", points, tuple(point.table for point in points))
    sentence, *_ = study.findings
    assert sentence.startswith("IOPS ")
    assert sentence.endswith(f"; {some.document['bound']['sentence']}.")
    assert "What bounds each run" not in page_of(study)


def test_texts_that_differ_in_one_word_are_one_text(some: Run) -> None:
    def with_depth(depth: int) -> Run:
        return variant(some, str(depth), {"replay": {**some.configuration["replay"], "outstanding": depth}})

    told = dict(facts([with_depth(depth) for depth in (64, 4, 16)]))
    assert told["Depth"] == "4, 16 or 64 in flight, the next one issued as one completes"
    assert dict(facts([with_depth(depth) for depth in range(1, 9)]))["Depth"].startswith(
        "1, 2, 3, 4, 5, 6, 2 others in"
    )
    assert merged(["1 in flight", "open"]) == ""


def test_an_open_replay_is_compared_by_latency(some: Run) -> None:
    replay = {"replay": {**some.configuration["replay"], "mode": "open"}}
    measures = {
        kind: {row["measure"] for rows in plots.speedups([each, each]).datasets.values() for row in rows}
        for kind, each in (("stress", some), ("open", variant(some, "a", replay)))
    }
    assert measures == {
        "stress": {"execution time", "mean latency", "p99 latency"},
        "open": {"mean latency", "p99 latency"},
    }


def test_a_bar_of_one_is_neutral_and_labels_sit_at_the_ends_of_bars(some: Run) -> None:
    layers = plots.speedups([some, some]).spec()["layer"]
    (bars,) = (layer for layer in layers if layer["mark"]["type"] == "bar")
    colors = {each["test"]: each["value"] for each in bars["encoding"]["color"]["condition"]}
    (undecided,) = (test for test, color in colors.items() if color == "#999999")
    assert undecided == "datum.is_neutral"
    assert all(row["is_neutral"] and row["is_right"] for row in speedup_rows([some, some]))
    (texts,) = (layer for layer in layers if layer["mark"]["type"] == "text")
    assert texts["mark"]["align"] == {"expr": "datum.is_right ? 'left' : 'right'"}
    # No layer filters its rows, so that every layer keeps rows when a filter of the page leaves only one run.
    assert not any("filter" in each for layer in layers for each in layer.get("transform", ()))


def test_alike_parts_are_one_line(some: Run) -> None:
    use = some.document["utilisation"]
    even = {**use, "dies": [0.98] * 16, "links": [0.5] * len(use["links"]), "controllers": [0.5] * 8}
    told = even_utilisation(variant(some, "a", utilisation=even))
    assert told is not None
    assert told.startswith("busy: 16 dies 98.0 %, ")
    assert " to " not in told
    assert even_utilisation(variant(some, "a", utilisation={**even, "dies": [0.9, 0.98]})) is None


def test_no_section_is_empty_and_no_title_is_there_twice(some: Run) -> None:
    nothing = {"transfers": 0, "requests": 0, "wait_ps": 0}
    free = {**some.document["path_conflict"], "causes": dict.fromkeys(("channel", "controller", "link"), nothing)}
    sections: list[Section] = figures([variant(some, "a", path_conflict=free)])
    assert {"over-time", "conflicts"}.isdisjoint(section.name for section in sections)
    for section in sections:
        assert section.figures or section.lines, section.name
        assert all(section.spec(figure).get("title") != section.title for figure in section.figures)


def test_a_page_says_of_what_it_is(some: Run) -> None:
    told = dict(facts([some, variant(some, "b", {"fabric": {**some.configuration["fabric"], "kind": "ideal"}})]))
    assert told["Drive"].startswith("8 channels x 8 chips x 1 die, interconnect ")
    assert told["Drive"].endswith(" or ideal")
    assert told["Workload"].startswith("100 requests, ")
    assert " 4 KiB" in told["Workload"]
    assert told["Depth"] == "64 in flight, the next one issued as one completes"
    assert set(told) == {"Drive", "State", "Workload", "Depth", "Window"}
    windows = [variant(some, "c", measured=window(count), warm_up={"how": "steady"}) for count in (12_345, 900, 2_500)]
    assert dict(facts(windows))["Workload"].startswith("900 to 12,345 requests, ")
    assert dict(facts(windows[:1] * 2))["Workload"].startswith("12,345 requests, ")
    assert dict(facts(windows))["Depth"].startswith("64 in flight, ")
    points = points_of_runs([some])
    text = page_of(Study("a", points, tuple(point.table for point in points)))
    assert text.index('class="facts"') < text.index('id="headline"')
    meanings = re.findall('<th scope="col" class="number" title="(.*?)">', text)
    assert len(meanings) > 5
    assert all(f"<dd>{meaning}</dd>" in text for meaning in meanings)
    assert all(meanings)
