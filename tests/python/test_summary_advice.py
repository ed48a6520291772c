"""Sentences of a summary on what its figures leave out: early ends, spare space, wide intervals, empty units."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import flashmesh
from flashmesh._native import Config
from flashmesh.html.saved import study_of
from flashmesh.report import quantities as q
from flashmesh.report.sections import headline
from flashmesh.results import Result
from summary_text import shown

STREAMS: dict[str, Any] = {
    "preset": "venice-z-nand",
    "stream": {"short": {"workload": {"requests": 300}}, "long": {"workload": {"requests": 3_000}}},
}
STOP = "With replay.stop-time = "


def test_a_stream_that_ends_early_is_named_beside_the_slowdowns() -> None:
    apart = shown(flashmesh.run(STREAMS, fairness=True))
    assert "short ended at" in apart
    assert STOP in apart
    both = {f"stream.{name}.replay.stop-time": "300us" for name in ("short", "long")}
    assert STOP not in shown(flashmesh.run(STREAMS, overrides=both, fairness=True))


def test_streams_of_different_phases_are_not_said_to_end_early() -> None:
    phases = {"stream.long.replay.phase": 1}
    assert STOP not in shown(flashmesh.run(STREAMS, overrides=phases, fairness=True))


def test_a_changed_drive_is_not_headed_by_the_name_of_the_preset_alone() -> None:
    small = {"workload.requests": 100, "measure.warm-up": "none"}
    head = "flashmesh {}: {}venice-z-nand, 8 channels of 8 chips (bus), ".format
    for preset, changed in (
        ("", {"workload.read-share": 0.5, "seed": 4, "replay.outstanding": 2}),
        ("", {"precondition.kind": "sequential", "measure.epoch": "1ms"}),
        ("based on ", {"geometry.capacity": "64GiB"}),
        ("based on ", {"gc.threshold": "4%"}),
        ("based on ", {"host.link-rate": "1GB/s"}),
    ):
        result = flashmesh.run("preset:venice-z-nand", overrides=small | changed)
        assert shown(result).startswith(head(result.version, preset)), changed
    other = flashmesh.run("preset:venice-z-nand", overrides=small | {"flash.read-time": "9us"})
    assert shown(other).startswith(f"flashmesh {other.version}: 8 channels")


def test_every_preset_is_headed_by_its_name() -> None:
    for name in flashmesh.presets():
        text = f'preset = "{name}"\nprecondition.kind = "sequential"\nworkload.requests = 10'
        parameters = json.loads(Config.from_str(text, name, []).to_json())
        assert headline.drive_name(parameters) in (name, ""), name


def settled(think_time: str) -> Result:
    """Returns a run of a full drive with a reader that thinks between its requests, and a writer that does not."""
    drive: dict[str, Any] = {
        "preset": "venice-z-nand",
        "geometry": {"channels": 2, "chips-per-channel": 2, "blocks-per-plane": 64},
        "precondition": {"kind": "random"},
        "workload": {"requests": 2_000},
        "stream": {
            "reader": {"workload": {"read-share": 1}, "replay": {"mode": "closed", "think-time": think_time}},
            "writer": {"workload": {"read-share": 0}, "replay": {"outstanding": 32}},
        },
    }
    return flashmesh.run(drive)


def test_a_stream_whose_requests_a_faster_one_used_up_is_named_with_the_key_that_helps() -> None:
    result = settled("5ms")
    assert result.measured is not None
    reader = result.measured.streams[0].requests
    told = f"reader has only {reader} of the 4,000 measured requests"
    times = math.ceil(2_000 / reader)
    assert told in shown(result)
    document = copy.deepcopy(result.document)
    enough = f"About {times} times as many give reader 2,000 (stream.NAME.workload.requests)."
    for is_steady, more in (
        (True, enough),
        (False, "Raise the requests of each stream (stream.NAME.workload.requests)."),
    ):
        document["steadiness"] |= {"steady": is_steady}
        assert f"faster streams use up. {more}" in shown(Result.from_document(document))
    value = result.measured.streams[0].latency_ps.all
    assert value is not None
    known = {"low": 0.99 * value.p99, "high": 1.01 * value.p99}
    document["streams"][0]["confidence"] = copy.deepcopy(document["streams"][1]["confidence"])
    document["streams"][0]["confidence"]["latency_ps"]["all"]["p99"] = known
    assert told not in shown(Result.from_document(document)), "its p99 is known well"


def test_a_page_of_one_run_says_how_well_its_figures_are_known() -> None:
    result = settled("5ms")
    sentences = study_of([result]).findings
    interval = headline.interval_text(result.confidence.iops, result.window.iops)
    assert interval
    assert sentences[0].startswith(f"IOPS {q.scaled(result.window.iops)} {interval}, p99 ")
    assert not result.steadiness.steady
    assert sentences[1].startswith("The measured window is not steady")
    assert sentences[2].startswith("reader has only")


def test_streams_with_about_as_many_requests_get_no_note() -> None:
    alike = settled("0s")
    assert alike.measured is not None
    assert min(stream.requests for stream in alike.measured.streams) > 400
    assert "measured requests, so that its" not in shown(alike)


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


def test_an_empty_drive_is_told_to_begin_full_before_a_thousandfold_run() -> None:
    writes = {"workload.read-share": 0.0, "workload.requests": 5_000}
    told = shown(flashmesh.run("preset:samsung-pm9a3", overrides=writes))
    assert "NOT STEADY: collection has not begun" in told
    assert 'precondition.kind = "random" begins with a full drive (about ' in told
    assert "would be enough" not in told
    full = shown(flashmesh.run("preset:venice-z-nand", overrides=writes | {"precondition.kind": "random"}))
    assert "begins with a full drive" not in full
