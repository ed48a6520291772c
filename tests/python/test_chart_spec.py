"""Charts given as a line of text: its interpretation, and the selection of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import flashmesh
from flashmesh.aggregate.table import ComparedRuns, RunTable, SavedRuns, TableOfRuns
from flashmesh.comparing.axes import Value
from flashmesh.comparison import ComparedRun, Comparison
from flashmesh.report.measures.chart_spec import read_chart, select
from flashmesh.results import Result


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    """Returns invented runs: throughput is the depth in thousands, doubled for an ideal fabric, plus the seed."""
    some = flashmesh.run("preset:venice-z-nand", overrides={"workload.requests": 100})
    steady = {"steadiness": some.document["steadiness"] | {"steady": True}}
    axes: dict[str, tuple[Value, ...]] = {
        "fabric.kind": ("bus", "ideal"),
        "replay.outstanding": (64, 1, 8),
        "workload.request-size": ("4KiB", "64KiB", "16KiB"),
        "seed": (0, 1, 2),
    }
    steady = some.document["steadiness"] | {"steady": True}
    runs = []
    for kind in axes["fabric.kind"]:
        for depth in (64, 1, 8):
            for size in axes["workload.request-size"]:
                for seed in (0, 1, 2):
                    iops = depth * 1000.0 * (2 if kind == "ideal" else 1) + seed
                    settings = dict(zip(axes, (kind, depth, size, seed), strict=True))
                    name = "-".join(map(str, settings.values()))
                    changed = {"iops": iops, "config_hash": name, "steadiness": steady}
                    runs.append(ComparedRun(settings, Result.from_document(some.document | changed)))
    return Comparison(axes, tuple(runs))


@pytest.fixture
def table(comparison: Comparison) -> RunTable:
    return ComparedRuns(comparison)


def test_line_is_read_into_its_parts() -> None:
    spec = read_chart("read p99 over replay.outstanding by fabric.kind each workload.request_size where seed=0, gc.d=2")
    assert spec.measure.name == "read p99"
    assert (spec.over, spec.by, spec.each) == (("replay.outstanding",), ("fabric.kind",), ("workload.request-size",))
    assert spec.where == {"seed": "0", "gc.d": "2"}
    two = read_chart("write amplification over gc.victim and geometry.over-provisioning")
    assert two.over == ("gc.victim", "geometry.over-provisioning")
    assert two.name == "write-amplification-over-gc-victim-and-geometry-over-provisioning"
    assert read_chart("energy of events over seed").measure.unit == "J"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("p99", "a chart is a measure over a key"),
        ("p99 over", "a chart is a measure over a key"),
        ("p9 over seed", "there is no measure 'p9'"),
        ("p99 over a and b and c", "one axis, or two"),
        ("p99 over a by b by c", "`by` is given twice"),
        ("p99 over a by a", "a is named twice"),
        ("p99 over a where b", "'b' is no setting"),
    ],
)
def test_line_that_asks_for_no_chart_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(flashmesh.ConfigError) as refused:
        read_chart(text)
    assert words in str(refused.value)
    assert "--> --chart:1:" in str(refused.value)


def test_points_are_the_means_of_their_seeds_in_the_order_of_their_size(table: RunTable) -> None:
    spec = read_chart("IOPS over replay.outstanding by fabric.kind where workload.request-size=4KiB")
    data = select(spec, table)
    assert data.kind == "lines"
    assert data.axes[0].values == (1, 8, 64)
    assert data.axes[0].is_logarithmic
    assert data.lines == [("bus",), ("ideal",)]
    assert data.panels == [()]
    found = {(int(point.at[0]), point.by[0]): point.estimate.mean for point in data.points}
    assert found == {(depth, kind): depth * 1000 * (2 if kind == "ideal" else 1) + 1 for depth, kind in found}
    assert len(found) == 6
    assert all(len(point.runs) == 3 for point in data.points)
    assert data.is_repeated
    assert data.notes == ()


def test_keys_that_are_not_named_get_charts_of_their_own_and_are_said(table: RunTable) -> None:
    data = select(read_chart("IOPS over replay.outstanding by fabric.kind"), table)
    assert data.spec.each == ("workload.request-size",)
    assert data.panels == [("4KiB",), ("64KiB",), ("16KiB",)]
    assert data.notes == ("A chart for each value of workload.request-size, which the line does not name.",)


def test_two_axes_are_a_heat_map_and_sizes_are_in_their_order(table: RunTable) -> None:
    data = select(read_chart("IOPS over replay.outstanding and workload.request-size where fabric.kind=ideal"), table)
    assert data.kind == "heat map"
    assert data.axes[1].values == ("4KiB", "16KiB", "64KiB")
    assert data.axes[1].numbers == (4096.0, 16384.0, 65536.0)
    assert data.axes[1].unit == "B"
    assert len(data.points) == 9
    assert select(read_chart("IOPS over fabric.kind where replay.outstanding=1"), table).kind == "bars"
    assert not select(read_chart("IOPS over seed where fabric.kind=bus, replay.outstanding=1"), table).is_repeated


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("IOPS over outstanding", "did you mean replay.outstanding?"),
        ("IOPS over gc.victim", "gc.victim is not varied: varied are fabric.kind, replay.outstanding"),
        ("IOPS over seed where fabric.kind=mesh", "fabric.kind is never mesh; its values are bus, ideal"),
        ("max slowdown over fabric.kind by seed", "no run has a max slowdown"),
        ("bound.resource over fabric.kind", "bound.resource is no number"),
    ],
)
def test_what_the_runs_do_not_have_is_refused(table: RunTable, text: str, words: str) -> None:
    with pytest.raises(flashmesh.ConfigError) as refused:
        select(read_chart(text), table)
    assert words in str(refused.value)


def test_saved_runs_give_the_same_chart(comparison: Comparison, table: RunTable, tmp_path: Path) -> None:
    comparison.to_parquet(tmp_path / "c.parquet")
    saved: list[Any] = [SavedRuns(tmp_path / "c.parquet"), TableOfRuns(comparison.table())]
    for text in ("IOPS over replay.outstanding by fabric.kind", "links over fabric.kind by replay.outstanding"):
        expected = select(read_chart(text), table)
        assert [select(read_chart(text), each).points for each in saved] == [expected.points] * 2
