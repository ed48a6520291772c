"""Points of runs with several seeds: means, intervals, and their tables."""

from __future__ import annotations

import io
import math
import re
from pathlib import Path
from statistics import fmean, stdev

import pytest

import flashmesh
from conftest import Cli
from flashmesh.aggregate.estimate import Estimate, estimate, is_bimodal
from flashmesh.aggregate.points import grouped, points_of
from flashmesh.aggregate.table import ComparedRuns
from flashmesh.comparing.axes import Value
from flashmesh.comparison import ComparedRun, Comparison
from flashmesh.report import comparison as report
from flashmesh.report.measures.measure import measure_named
from flashmesh.report.tables.view import Choice, View
from flashmesh.report.terminal import Terminal
from flashmesh.results import Result
from sweep_files import sweep_file

__all__ = ["sweep_file"]
IOPS: dict[str, tuple[float, ...]] = {
    "bus": (100e3, 101e3, 102e3),
    "pssd": (150e3, 150e3, 150e3),
    "ideal": (200e3, 205e3, 210e3),
}


@pytest.fixture(scope="module")
def some() -> Result:
    return flashmesh.run("preset:venice-z-nand", overrides={"workload.requests": 100})


def made_up(some: Result, iops: dict[str, tuple[float, ...]], steady: bool = True) -> Comparison:
    """Returns a comparison with the given throughputs. With `steady` false, the runs of the bus are not steady."""
    runs = []
    for kind, values in iops.items():
        for seed, value in enumerate(values):
            found = some.document["steadiness"] | {"steady": steady or kind != "bus"}
            document = some.document | {"iops": value, "config_hash": f"{kind}{seed}", "steadiness": found}
            runs.append(ComparedRun({"fabric.kind": kind, "seed": seed}, Result.from_document(document)))
    axes: dict[str, tuple[Value, ...]] = {
        "fabric.kind": tuple(iops),
        "seed": tuple(range(len(next(iter(iops.values()))))),
    }
    return Comparison(axes, tuple(runs))


def shown(comparison: Comparison, *measures: str, choice: Choice | None = None) -> str:
    stream = io.StringIO()
    report.show(ComparedRuns(comparison), Terminal(stream), measures, choice=choice)
    return stream.getvalue()


@pytest.mark.parametrize(("count", "quantile"), [(2, 12.706), (3, 4.303), (4, 3.182), (31, 2.042), (1001, 1.962)])
def test_interval_of_one_hump_is_students(count: int, quantile: float) -> None:
    values = [10 + 0.01 * (number % 7) for number in range(count)]
    found = estimate(values)
    assert found is not None
    assert found.method == "student"
    assert found.mean == pytest.approx(fmean(values))
    # `quantile` is from printed tables of the t distribution with count - 1 degrees of freedom.
    assert found.half_width == pytest.approx(quantile * stdev(values) / math.sqrt(count), rel=3e-4)


def test_interval_needs_two_values() -> None:
    assert estimate([]) is None
    assert estimate([None, None]) is None
    assert estimate([None, 3.0]) == Estimate(3.0, None, None, 1, "single")


@pytest.mark.parametrize("apart", [0.01, 0.07, 0.08, 0.5, 1.9])
def test_interval_of_two_values_is_wider_the_further_they_are_apart(apart: float) -> None:
    found = estimate([1 - apart / 2, 1 + apart / 2])
    assert found is not None
    assert (found.method, found.mean) == ("student", 1.0)
    # 12.7062 is from printed tables of the t distribution with one degree of freedom.
    half = 12.7062 * apart / 2
    assert found.high == pytest.approx(1 + half, rel=1e-5)
    assert found.low == pytest.approx(max(1 - half, 0.0), rel=1e-5)
    shown = f"+-{half:.1%}" if half < 1 else f"-100 % +{half:.0%}"
    assert found.spread_text == shown.replace("%", " %").replace("  ", " ")


def test_few_values_have_an_interval_that_covers_the_mean_as_often_as_it_says() -> None:
    import numpy as np

    random = np.random.default_rng(5)
    for count in (2, 3, 4):
        found = [estimate(list(draw)) for draw in random.lognormal(0, 0.3, size=(400, count))]
        mean = math.exp(0.3**2 / 2)
        covered = sum(each.low <= mean <= each.high for each in found if each and each.low is not None and each.high)
        assert 0.92 * len(found) <= covered <= 0.98 * len(found), count


@pytest.mark.parametrize("values", [[1.0, 1.1, 1.0, 1.1, 40.0], [0.0] * 4 + [1.0], [1.0] * 5 + [9.0] * 5])
def test_interval_of_two_humps_stays_among_the_values(values: list[float]) -> None:
    found = estimate(values)
    assert found is not None
    assert found.method == "bootstrap"
    assert found.low is not None
    assert found.high is not None
    assert min(values) <= found.low < found.mean < found.high <= max(values)
    assert estimate(values) == found
    assert "+-" not in found.spread_text


def test_two_humps_are_told_from_one() -> None:
    assert is_bimodal([10.0, 10.1, 10.2, 20.0, 20.1, 20.3])
    assert not is_bimodal([10.0, 14.0, 15.0, 15.2, 15.4, 16.0, 20.0])
    # Two modes within 2 % count as one.
    assert not is_bimodal([10.0, 10.0, 10.0, 10.1, 10.1, 10.1])


def test_bootstrap_covers_the_mean_of_a_skewed_quantity_about_as_often_as_it_says() -> None:
    import numpy as np

    random = np.random.default_rng(3)
    draws = random.choice([1.0, 10.0], p=[0.7, 0.3], size=(300, 20))
    found = [estimate(list(draw)) for draw in draws]
    assert {each.method for each in found if each is not None} == {"bootstrap"}
    covered = sum(each.low <= 3.7 <= each.high for each in found if each and each.low and each.high)
    assert 0.88 * len(draws) <= covered <= 0.98 * len(draws)


def test_points_are_runs_that_differ_in_their_seed_alone() -> None:
    settings: list[dict[str, Value]] = [{"a": a, "seed": seed} for a in (1, 2) for seed in (0, 1)]
    found = points_of(settings, range(4))
    assert [(point.settings, point.runs) for point in found] == [({"a": 1}, (0, 1)), ({"a": 2}, (2, 3))]
    assert len(grouped(settings, range(4))) == 4
    assert len(points_of([{"seed": 0}, {"seed": 1}], range(2))) == 2


def test_tables_have_a_row_for_each_point_with_its_mean_and_interval(some: Result) -> None:
    lines = shown(made_up(some, IOPS, steady=True), "IOPS").splitlines()
    assert lines[0].split() == ["fabric.kind", "runs", "IOPS", "95", "%"]
    rows = [line.split() for line in lines[2:5]]
    assert [row[:3] for row in rows] == [["bus", "3", "101.0k"], ["pssd", "3", "150.0k"], ["ideal", "3", "205.0k"]]
    half = 4.303 * 1e3 / math.sqrt(3) / 101e3
    assert rows[0][3:] == [f"+-{half:.1%}".replace("%", ""), "%", "x1.00"]
    assert rows[2][-1] == f"x{205 / 101:.2f}"
    side = shown(made_up(some, {kind: IOPS[kind] for kind in ("bus", "ideal")}))
    assert "seed" not in side
    assert next(line for line in side.splitlines() if line.startswith("IOPS")).split()[1] == "101.0k"


def test_seeds_that_vary_alone_stay_apart_with_their_mean_below(some: Result) -> None:
    comparison = made_up(some, {"bus": (100e3, 101e3, 102e3)})
    runs = tuple(ComparedRun({"seed": run.settings["seed"]}, run.result) for run in comparison.runs)
    lines = shown(Comparison({"seed": (0, 1, 2)}, runs), "IOPS", choice=Choice(rows=2)).splitlines()
    assert [line.split()[:2] for line in lines[2:4]] == [["0", "100.0k"], ["1", "101.0k"]]
    assert lines[4].startswith("mean, 95 %")
    assert lines[4].split()[3] == "101.0k"
    assert "1 more point is not shown" in lines[-1]


def test_what_is_not_steady_is_marked_and_said(some: Result) -> None:
    unsteady = made_up(some, IOPS, steady=False)
    text = shown(unsteady, "IOPS")
    assert [line.split()[-1] for line in text.splitlines()[2:5]] == ["NO", "yes", "yes"]
    assert "1 of 3 points is not steady" in text.replace("\n", " ")
    two = made_up(some, {kind: IOPS[kind] for kind in ("bus", "ideal")}, steady=False)
    assert re.search(r"^steady +NO +yes *$", shown(two), re.MULTILINE)
    assert "steady" not in shown(made_up(some, IOPS, steady=True))
    singles = made_up(some, {kind: values[:1] for kind, values in IOPS.items()}, steady=False)
    lines = shown(singles, "IOPS").splitlines()
    assert [line.split()[-1] for line in lines[2:5]] == ["*", "150.0k", "200.0k"]
    assert "\n*: 1 of 3 points is not steady" in "\n".join(lines)


def test_points_are_chosen_and_sorted(some: Result) -> None:
    table = ComparedRuns(made_up(some, IOPS))
    view = View(table, Choice(sort=measure_named("IOPS"), is_descending=True, rows=2))
    assert [point.settings["fabric.kind"] for point in view.points] == ["ideal", "pssd"]
    chosen = View(table, Choice(where={"fabric.kind": "bus", "seed": "1"}))
    assert [point.runs for point in chosen.points] == [(1,)]
    with pytest.raises(flashmesh.ConfigError, match=r"fabric\.kind is never mesh; its values are bus, pssd, ideal"):
        View(table, Choice(where={"fabric.kind": "mesh"}))
    with pytest.raises(flashmesh.ConfigError, match=r"replay\.mode is not varied; varied are fabric.kind, seed"):
        View(table, Choice(where={"replay.mode": "open"}))


def test_points_of_the_very_same_runs_are_one_row(some: Result) -> None:
    comparison = made_up(some, {"bus": (1e3,)})
    (run,) = comparison.runs
    settings: list[dict[str, Value]] = [
        {"fabric.kind": "venice", "fabric.channel-rate": rate} for rate in ("1GB/s", "2GB/s")
    ]
    other = run.result.document | {"config_hash": "other"}
    runs = [*(ComparedRun(each, run.result) for each in settings)]
    runs.append(ComparedRun({"fabric.kind": "bus", "fabric.channel-rate": "1GB/s"}, Result.from_document(other)))
    axes: dict[str, tuple[Value, ...]] = {"fabric.kind": ("venice", "bus"), "fabric.channel-rate": ("1GB/s", "2GB/s")}
    view = View(ComparedRuns(Comparison(axes, tuple(runs))))
    assert [view.texts(point) for point in view.points] == [["venice", "any"], ["bus", "1GB/s"]]


@pytest.mark.long
def test_sweep_with_seeds_is_shown_the_same_at_its_end_and_later(cli: Cli, sweep_file: Path, tmp_path: Path) -> None:
    sweep_file.write_text(sweep_file.read_text().replace("[axes]", "seeds = 3\n[axes]").replace("1..16 x4", "1..4 x4"))
    done = cli("sweep", sweep_file, "--out", "out")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split()[:3] == ["fabric.kind", "replay.outstanding", "runs"]
    assert [line.split()[:3] for line in lines[2:6]] == [
        [kind, depth, "3"] for kind in ("bus", "ideal") for depth in ("1", "4")
    ]
    later = cli("show", "out", "--measure", "IOPS").stdout.splitlines()
    assert [line.split()[:4] for line in later[2:6]] == [line.split()[:4] for line in lines[2:6]]
    # The table is missing after a kill; the output must not depend on it.
    (tmp_path / "out/results.parquet").unlink()
    assert cli("show", "out", "--measure", "IOPS").stdout.splitlines() == later
