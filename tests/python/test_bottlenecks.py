"""Sentences on what limits a run, where it is no part of the drive."""

from __future__ import annotations

import pytest

import flashmesh
from flashmesh.report.streams.bottleneck import bound_sentence
from summary_text import shown

DRIVE = "preset:samsung-pm9a3"
THINKING = {"replay.mode": "closed", "replay.threads": 1, "workload.requests": 600}


def test_the_think_time_bounds_a_job_that_mostly_thinks() -> None:
    result = flashmesh.run(DRIVE, overrides=THINKING | {"replay.think-time": "1ms"})
    assert result.iops < 1_000
    told = shown(result)
    assert "bound by the think time, 1.000 ms for each request and longer than the request: " in told
    assert "is the busiest part" in told
    # A percentage of the bound would have five digits.
    assert " times the " in told
    assert "longer than the" not in told.replace("longer than the request", "")


@pytest.mark.parametrize("think", ["0ps", "1us"])
def test_latency_bounds_a_job_that_hardly_thinks(think: str) -> None:
    result = flashmesh.run(DRIVE, overrides=THINKING | {"replay.think-time": think})
    assert result.bound.sentence.startswith("bound by latency")
    assert bound_sentence(result.document) == result.bound.sentence


def test_think_times_count_only_if_all_streams_think() -> None:
    thinking = {"replay": {"mode": "closed", "threads": 1, "think-time": "1ms"}, "workload": {"requests": 200}}
    busy = {"replay": {"mode": "closed", "threads": 1}, "workload": {"requests": 2_000}}
    one = flashmesh.run({"preset": "samsung-pm9a3", "stream": {"a": thinking, "b": busy}})
    assert "think time" not in bound_sentence(one.document)
    both = flashmesh.run({"preset": "samsung-pm9a3", "stream": {"a": thinking, "b": thinking}})
    assert bound_sentence(both.document).startswith("bound by the think time, 1.000 ms")
