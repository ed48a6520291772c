"""Sentences of a summary on what its figures leave out: early ends, spare space, wide intervals, skipped units."""

from __future__ import annotations

import io
from typing import Any

import flashmesh
from flashmesh.report import summary
from flashmesh.report.terminal import Terminal
from flashmesh.results import Result

STREAMS: dict[str, Any] = {
    "preset": "venice-z-nand",
    "stream": {"short": {"workload": {"requests": 300}}, "long": {"workload": {"requests": 3_000}}},
}


def shown(result: Result) -> str:
    """Returns the summary of a result as it is printed, on one line."""
    stream = io.StringIO()
    summary.show(result, Terminal(stream, 120))
    return " ".join(stream.getvalue().split())


def test_a_stream_that_ends_early_is_named_beside_the_slowdowns() -> None:
    apart = flashmesh.run(STREAMS, fairness=True)
    told = shown(apart)
    assert "short ended at" in told
    assert "With replay.stop-time = " in told
    both = {f"stream.{name}.replay.stop-time": "300us" for name in ("short", "long")}
    together = shown(flashmesh.run(STREAMS, overrides=both, fairness=True))
    assert "slowdown at most" in together
    assert "ended at 3" not in together.partition("mean latency together")[2]


def test_the_spare_space_of_a_changed_geometry_is_told() -> None:
    requests = {"workload.requests": 500}
    assert "spare space" not in shown(flashmesh.run("preset:samsung-pm9a3", overrides=requests))
    told = shown(flashmesh.run("preset:samsung-pm9a3", overrides=requests | {"geometry.chips-per-channel": 4}))
    assert "of the flash is spare space, in samsung-pm9a3" in told
    assert "geometry.capacity is still" in told


def test_units_that_programs_left_empty_are_counted() -> None:
    units = {
        "geometry.page-size": "16KiB",
        "ftl.mapping-unit": "4KiB",
        "workload.read-share": 0,
        "workload.requests": 1,
    }
    result = flashmesh.run("preset:venice-z-nand", overrides=units)
    assert result.flash.units_skipped == 3
    assert "partly filled programs 3 mapping units left empty" in shown(result)


def test_a_wide_interval_of_a_steady_run_names_precision() -> None:
    drive = {"precondition.kind": "random", "measure.warm-up": "none"}
    found = [
        flashmesh.run("preset:venice-z-nand", overrides=drive | {"workload.read-share": 1, "workload.requests": count})
        for count in (3_000, 100_000)
    ]
    for result in found:
        interval = result.confidence.iops
        half = None if interval is None else (interval.high - interval.low) / 2 / result.iops
        is_wide = result.steadiness.steady and half is not None and half >= 0.1
        assert ("--precision 5%" in shown(result)) == is_wide
