"""Sentences of a summary on what its figures leave out: early ends, spare space, wide intervals, empty units."""

from __future__ import annotations

import copy
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
STOP = "With replay.stop-time = "


def shown(result: Result) -> str:
    """Returns the summary of a result as it is printed, on one line."""
    stream = io.StringIO()
    summary.show(result, Terminal(stream, 120))
    return " ".join(stream.getvalue().split())


def test_a_stream_that_ends_early_is_named_beside_the_slowdowns() -> None:
    apart = shown(flashmesh.run(STREAMS, fairness=True))
    assert "short ended at" in apart
    assert STOP in apart
    both = {f"stream.{name}.replay.stop-time": "300us" for name in ("short", "long")}
    assert STOP not in shown(flashmesh.run(STREAMS, overrides=both, fairness=True))


def test_streams_of_different_phases_are_not_said_to_end_early() -> None:
    phases = {"stream.long.replay.phase": 1}
    assert STOP not in shown(flashmesh.run(STREAMS, overrides=phases, fairness=True))


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
    reads = {"precondition.kind": "random", "workload.read-share": 1, "workload.requests": 20_000}
    narrow = flashmesh.run("preset:venice-z-nand", overrides=reads)
    assert narrow.steadiness.steady
    assert "--precision 5%" not in shown(narrow)
    document, iops = copy.deepcopy(narrow.document), narrow.window.iops
    document["confidence"]["iops"] = {"low": 0.7 * iops, "high": 1.3 * iops}
    wide = Result.from_document(document)
    assert "The IOPS are known to +-30.0 % only: --precision 5%" in shown(wide)
    document["steadiness"] |= {"steady": False, "reasons": ["short"]}
    assert "--precision 5%" not in shown(Result.from_document(document))
