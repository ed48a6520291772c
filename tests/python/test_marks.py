"""Marks of differences that noise may explain, and the intervals beside them, in tables and charts."""

from __future__ import annotations

import io
import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import flashmesh
from flashmesh.aggregate.estimate import Estimate, ratio_of
from flashmesh.aggregate.table import ComparedRuns
from flashmesh.comparison import ComparedRun, Comparison
from flashmesh.plots.comparisons.speedups import rows as speedups
from flashmesh.plots.runs import runs_of
from flashmesh.report import comparison as comparison_report
from flashmesh.report.tables.marks import LEGENDS
from flashmesh.report.terminal import Terminal
from flashmesh.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.comparing.axes import Value

HASHES = itertools.count(1)
Figure = tuple[float, float | None]
"""A figure of an invented result and the half-width of its interval as a share of it; None without interval."""


@pytest.fixture(scope="module")
def some() -> Result:
    return flashmesh.run("preset:venice-z-nand", overrides={"workload.requests": 100, "workload.read-share": 0.5})


def interval(figure: Figure) -> dict[str, float] | None:
    value, half = figure
    return None if half is None else {"low": value * (1 - half), "high": value * (1 + half)}


def invented(some: Result, iops: Figure, p99: Figure) -> Result:
    """Returns a result with this throughput and this p99 of all requests, of a configuration of its own."""
    every, confidence = some.document["latency_ps"]["all"], some.document["confidence"]
    of_all = confidence["latency_ps"]["all"] | {"p99": interval(p99)}
    document: dict[str, Any] = some.document | {
        "config_hash": f"{next(HASHES):064x}",
        "iops": iops[0],
        "makespan_ps": round(1e14 / iops[0]),
        "latency_ps": some.document["latency_ps"] | {"all": every | {"p99": round(p99[0])}},
        "confidence": confidence | {"iops": interval(iops), "latency_ps": confidence["latency_ps"] | {"all": of_all}},
    }
    return Result.from_document(document)


def two(some: Result, first: tuple[Figure, Figure], second: tuple[Figure, Figure]) -> Comparison:
    """Returns a comparison of two interconnects with these throughputs and p99."""
    runs = tuple(
        ComparedRun({"fabric.kind": kind}, invented(some, *figures))
        for kind, figures in (("bus", first), ("pssd", second))
    )
    return Comparison({"fabric.kind": ("bus", "pssd")}, runs)


def printed(comparison: Comparison, measures: Sequence[str] = ()) -> str:
    stream = io.StringIO()
    comparison_report.show(ComparedRuns(comparison), Terminal(stream), measures)
    return stream.getvalue()


def ending(text: str, name: str) -> str:
    """Returns the last cell of the row of a measure, with its mark."""
    (row,) = (line for line in text.splitlines() if line.startswith(f"{name}  "))
    found = re.search(r"x[\d.]+( [~?])?$", row)
    assert found is not None, row
    return found[0]


CASES = {
    "clear": ((1e6, 0.01), (2e6, 0.01), ""),
    "noise": ((1e6, 0.3), (1.1e6, 0.3), " ~"),
    "unknown": ((1e6, 0.01), (2e6, None), " ?"),
    "shown as equal": ((1e6, None), (1.0001e6, None), ""),
}


@pytest.mark.parametrize(("first", "second", "mark"), CASES.values(), ids=CASES)
def test_a_ratio_has_the_mark_of_its_noise_in_tables_and_charts(
    some: Result, first: Figure, second: Figure, mark: str
) -> None:
    comparison = two(some, (first, first), (second, second))
    text = printed(comparison)
    assert [ending(text, name).partition(" ")[2] for name in ("IOPS", "p99", "execution time")] == [mark.strip()] * 3
    bars = {row["measure"]: row for row in speedups(runs_of(comparison)) if row["run"] != row["baseline"]}
    assert [bars[name]["text"].partition(" ")[2] for name in ("p99 latency", "execution time")] == [mark.strip()] * 2
    assert bars["p99 latency"]["is_neutral"] == (bool(mark) or "1.00x" in bars["p99 latency"]["text"])


def test_each_mark_of_a_table_is_explained_below_it(some: Result) -> None:
    text = " ".join(printed(two(some, ((1e6, 0.3), (1e6, None)), ((1.1e6, 0.3), (2e6, None)))).split())
    assert all(f"{mark}: {meaning}" in text for mark, meaning in LEGENDS.items())


def test_what_follows_from_the_configuration_has_no_mark() -> None:
    comparison = flashmesh.compare(
        "preset:venice-z-nand", vary={"fabric.kind": ["bus", "pssd"]}, overrides={"workload.requests": 100}
    )
    assert ending(printed(comparison), "wires") == "x2.00"


def test_the_verdict_on_a_ratio_is_that_on_its_inverse() -> None:
    first, second = Estimate(1.0, 0.8, 1.2, 1, "batches"), Estimate(1.3, 1.2, 1.4, 1, "batches")
    ratio, inverse = ratio_of(first, second), ratio_of(second, first)
    assert (ratio.low, ratio.high) == pytest.approx((1 / (inverse.high or 0), 1 / (inverse.low or 0)))


def test_a_skewed_interval_is_as_skewed_in_a_ratio() -> None:
    second_mode = Estimate(1.0, 0.9, 300.0, 1, "batches")
    far = Estimate(299.0, 298.0, 300.0, 1, "batches")
    ratio = ratio_of(far, second_mode)
    assert ratio.low is not None
    assert ratio.high is not None
    assert ratio.low < 1, "the first figure may be as high as the second one"
    assert ratio.high == pytest.approx(299 / 0.9, rel=0.01)
    below = ratio_of(Estimate(1.0, 0.0, 2.0, 1, "batches"), far)
    assert (below.low, below.high) == pytest.approx((0.01 / 299, 2 / 299), rel=0.01), "zero counts as a hundredth"


def test_ratios_of_several_seeds_are_paired_by_seed(some: Result) -> None:
    runs = tuple(
        ComparedRun({"fabric.kind": kind, "seed": seed}, invented(some, (iops * factor, None), (1e6, None)))
        for kind, factor in (("bus", 1.0), ("pssd", 1.1))
        for seed, iops in ((1, 1e6), (2, 2e6), (3, 4e6))
    )
    text = printed(Comparison({"fabric.kind": ("bus", "pssd"), "seed": (1, 2, 3)}, runs))
    assert ending(text, "IOPS") == "x1.10"


def test_one_measure_has_its_intervals_as_the_table_of_all_does(some: Result) -> None:
    comparison = two(some, ((1e6, 0.01), (1e6, 0.1)), ((2e6, 0.01), (2e6, None)))
    heading, _, bus, pssd = printed(comparison, ["p99"]).splitlines()[:4]
    assert heading.split("  ")[-1].strip() == "95 %"
    assert bus.endswith("+-10.0 %")
    assert pssd.split() == ["pssd", "2.000", "us", "?"]


def test_a_large_grid_without_room_for_intervals_says_so(some: Result) -> None:
    depths: tuple[Value, ...] = (1, 2, 4)
    kinds: tuple[Value, ...] = ("bus", "pssd", "pnssd", "nossd", "venice")
    runs = tuple(
        ComparedRun({"replay.outstanding": depth, "fabric.kind": kind}, invented(some, (1e6, 0.01), (1e6, half)))
        for depth in depths
        for kind, half in zip(kinds, (0.1, 0.1, 0.1, 0.1, None), strict=True)
    )
    stream = io.StringIO()
    table = ComparedRuns(Comparison({"replay.outstanding": depths, "fabric.kind": kinds}, runs))
    comparison_report.show(table, Terminal(stream, 80), ["p99"])
    assert "+-" not in stream.getvalue()
    assert "95 % intervals do not fit" in stream.getvalue()
    assert "?" not in stream.getvalue(), "no mark is explained that the table does not have"
    wide = io.StringIO()
    comparison_report.show(table, Terminal(wide, 150), ["p99"])
    assert wide.getvalue().count("+-10.0 %") == len(depths) * (len(kinds) - 1)
    assert "?: " in wide.getvalue()
    assert "do not fit" not in wide.getvalue()


def test_lengths_of_runs_with_more_requests_are_not_compared() -> None:
    """A run that is extended until it is steady takes longer, which says nothing about the drive."""
    comparison = flashmesh.compare(
        "preset:venice-z-nand", vary={"workload.requests": [100, 400]}, overrides={"measure.warm-up": "none"}
    )
    table = printed(comparison)
    for name in ("execution time", "energy of events", "nominal energy"):
        (row,) = (line for line in table.splitlines() if line.startswith(f"{name}  "))
        assert row.endswith(" -"), row
    assert ending(table, "IOPS")
    measures = {
        row["measure"]: row["speedup"] for row in speedups(runs_of(comparison)) if row["run"] != row["baseline"]
    }
    assert list(measures) == ["throughput", "mean latency", "p99 latency"]
    few, many = (run.result.iops for run in comparison.runs)
    assert measures["throughput"] == pytest.approx(many / few)
    extended = printed(replace(comparison, until_steady=True))
    assert not re.search("execution time|energy", extended)
