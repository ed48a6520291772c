"""Findings on single streams, whose p99 figures of all requests together hide, on invented results."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import flashmesh
from flashmesh.comparison import ComparedRun, Comparison
from flashmesh.results import Result

DRIVE = {
    "preset": "venice-z-nand",
    "workload": {"requests": 100},
    "stream": {"reader": {"workload": {"read-share": 1}}, "writer": {"workload": {"read-share": 0}}},
}
CLOSE, WIDE = 0.01, 0.6


@pytest.fixture(scope="module")
def some() -> Result:
    return flashmesh.run(DRIVE)


def interval(value: float, half: float | None) -> dict[str, float] | None:
    return None if half is None else {"low": value * (1 - half), "high": value * (1 + half)}


def with_interval_of_mean(stream: dict[str, Any]) -> dict[str, Any]:
    """Returns a copy of a stream in which the mean latency is the only figure with an interval."""
    kinds = {kind: dict.fromkeys(("mean", "p50", "p95", "p99", "p99_9")) for kind in ("all", "read", "write")}
    copied = copy.deepcopy(stream)
    copied["confidence"] = {"iops": None, "bandwidth_bytes_per_s": None, "latency_ps": kinds}
    copied["confidence"]["latency_ps"]["all"]["mean"] = interval(copied["latency_ps"]["all"]["mean"], CLOSE)
    return copied


def invented(
    some: Result, reader: float, half: float | None, iops: float = 1e6, of_iops: float | None = None
) -> Result:
    """Returns a result with this p99 of the reader, with half the width of its interval as a share of it.

    The mean latency of both streams is known well.
    """
    first, second = (with_interval_of_mean(stream) for stream in some.document["streams"])
    first["latency_ps"]["all"]["p99"] = round(reader)
    first["confidence"]["latency_ps"]["all"]["p99"] = interval(reader, half)
    document = some.document | {
        "streams": [first, second],
        "iops": iops,
        "confidence": some.document["confidence"] | {"iops": interval(iops, of_iops)},
        "steadiness": some.document["steadiness"] | {"steady": True},
    }
    return Result.from_document(document)


def depths(*results: Result) -> Comparison:
    """Returns a sweep of two keys of which the first has these results and the second changes nothing."""
    kinds = ("bus", "ideal")
    runs = tuple(
        ComparedRun({"fabric.kind": kind, "host.queue-depth": depth}, result)
        for kind, result in zip(kinds, results, strict=True)
        for depth in (64, 1024)
    )
    return Comparison({"fabric.kind": kinds, "host.queue-depth": (64, 1024)}, runs)


def test_p99_of_a_stream_that_rises_is_told_though_that_of_all_does_not(some: Result) -> None:
    found = depths(invented(some, 50e6, CLOSE), invented(some, 450e6, CLOSE)).findings()
    assert found == [
        "fabric.kind, host.queue-depth: no clear effect on throughput or p99 of all requests together.",
        "fabric.kind=ideal instead of bus: 9.00 times the p99 of stream reader.",
    ]


def test_noise_of_a_stream_is_no_finding(some: Result) -> None:
    assert len(depths(invented(some, 50e6, WIDE), invented(some, 60e6, WIDE)).findings()) == 1
    assert len(depths(invented(some, 50e6, None), invented(some, 60e6, None)).findings()) == 1


def test_large_effect_without_intervals_is_said_to_be_of_unknown_noise(some: Result) -> None:
    found = depths(invented(some, 50e6, CLOSE), invented(some, 450e6, None)).findings()
    assert found[1] == "fabric.kind=ideal instead of bus: 9.00 times the p99 of stream reader (its noise is unknown)."


def test_small_effects_on_streams_are_left_out_beside_an_effect_on_all(some: Result) -> None:
    slow, fast = invented(some, 50e6, CLOSE), invented(some, 55e6, CLOSE, iops=2e6)
    assert not any("stream reader" in sentence for sentence in depths(slow, fast).findings())
    faster = invented(some, 150e6, CLOSE, iops=2e6)
    assert depths(slow, faster).findings()[-1].endswith("3.00 times the p99 of stream reader.")


def test_claims_of_no_effect_are_about_all_requests_of_several_streams(some: Result) -> None:
    result = invented(some, 50e6, CLOSE)
    runs = tuple(ComparedRun({"fabric.kind": kind}, result) for kind in ("bus", "ideal"))
    assert Comparison({"fabric.kind": ("bus", "ideal")}, runs).findings() == [
        "ideal and bus differ by no more than noise explains, in throughput and in p99 of all requests together."
    ]


def test_a_difference_within_the_intervals_of_two_runs_is_no_gain(some: Result) -> None:
    def findings_of(half: float) -> list[str]:
        results = (invented(some, 50e6, CLOSE, iops, half) for iops in (1e6, 1.1e6))
        runs = tuple(
            ComparedRun({"fabric.kind": kind}, result) for kind, result in zip(("bus", "ideal"), results, strict=True)
        )
        return Comparison({"fabric.kind": ("bus", "ideal")}, runs).findings()

    assert findings_of(CLOSE)[0].startswith("ideal is 1.10 times as fast as bus")
    assert "times as fast" not in findings_of(WIDE)[0]
