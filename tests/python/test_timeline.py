"""Timelines, read with Perfetto's published message definitions, and with its trace processor if that is installed."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

import flashmesh
from conftest import Cli

SHELL = shutil.which("trace_processor_shell") or shutil.which("trace_processor")
CONFIG = {"preset": "venice-z-nand", "fabric": {"kind": "venice"}, "workload": {"requests": 300, "read-share": 0.7}}


@pytest.fixture
def timeline(tmp_path: Path) -> tuple[Path, flashmesh.Result]:
    path = tmp_path / "run.pftrace"
    return path, flashmesh.run(CONFIG, timeline_file=path)


def test_perfetto_knows_every_field_of_a_timeline(timeline: tuple[Path, flashmesh.Result]) -> None:
    path, result = timeline
    trace = Trace.FromString(path.read_bytes())
    assert Trace.FromString(trace.SerializeToString(deterministic=True)) == trace
    # Perfetto would keep an unknown field without reading it. Discarding unknown fields loses no byte, so there are
    # none.
    trace.DiscardUnknownFields()
    assert trace.ByteSize() == path.stat().st_size
    tracks = {
        packet.track_descriptor.uuid: packet.track_descriptor
        for packet in trace.packet
        if packet.HasField("track_descriptor")
    }
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    assert all(packet.track_event.track_uuid in tracks for packet in events)
    begun = [packet for packet in events if packet.track_event.type == TrackEvent.TYPE_SLICE_BEGIN]
    counts = Counter(packet.track_event.categories[0] for packet in begun)
    assert counts["request"] == result.requests
    assert counts["command"] + counts["data"] == result.path_conflict.transfers
    assert Counter(packet.track_event.type for packet in events)[TrackEvent.TYPE_SLICE_END] == len(begun)
    last = max(packet.timestamp for packet in events)
    assert last == result.makespan_ps // 1000
    names = Counter(track.name for track in tracks.values())
    assert names["array"] == 64
    assert names["router (0, 0) to (0, 1)"] == 1


def test_tracks_sort_by_name_as_by_number(tmp_path: Path) -> None:
    path = tmp_path / "run.pftrace"
    geometry = {"geometry.channels": 12, "geometry.chips-per-channel": 2}
    flashmesh.run(CONFIG, overrides=geometry, timeline_file=path)
    found = [packet.track_descriptor for packet in Trace.FromString(path.read_bytes()).packet]
    (dies,) = [track.uuid for track in found if track.name == "dies"]
    below = [track for track in found if track.parent_uuid == dies]
    assert len(below) == 24
    named, ranked = (sorted(below, key=key) for key in (lambda t: t.name, lambda t: t.sibling_order_rank))
    assert named == ranked
    assert named[2].name == "die 02 (channel 01, way 0)"


def test_trace_processor_answers_queries(timeline: tuple[Path, flashmesh.Result]) -> None:
    if SHELL is None:
        pytest.skip("Perfetto's trace processor is not installed")
    path, result = timeline
    with TraceProcessor(trace=str(path), config=TraceProcessorConfig(bin_path=SHELL)) as processor:
        (row,) = processor.query("select count(*) as count, max(dur) as longest from slice where category = 'request'")
        assert row.count == result.requests
        assert result.latency_ps.all is not None
        assert row.longest == pytest.approx(result.latency_ps.all.max / 1000, abs=1)
        (row,) = processor.query("select count(distinct slice_out) as count from flow")
        assert row.count >= result.requests


def test_timeline_says_when_it_is_full(cli: Cli, tmp_path: Path) -> None:
    arguments = ("run", "preset:venice-z-nand", "--set", "workload.requests=500", "--timeline", "run.pftrace")
    done = cli(*arguments, "--set", "measure.timeline-events-max=100")
    assert done.returncode == 0
    assert "the timeline is full at " in done.stderr
    assert "The timeline ends at " in done.stdout
    assert "raise measure.timeline-events-max for a longer one." in done.stdout.replace("\n", " ")
    assert (tmp_path / "run.pftrace").stat().st_size > 1000
    done = cli(*arguments, "--quiet")
    assert (done.returncode, done.stderr) == (0, "")


def test_timeline_that_cannot_be_written_is_an_error(cli: Cli, tmp_path: Path) -> None:
    done = cli("run", "preset:venice-z-nand", "--timeline", "no/such/folder.pftrace")
    assert done.returncode == 2
    assert "folder.pftrace: cannot be written: " in done.stderr
    done = cli("run", "preset:venice-z-nand", "--timeline", "-")
    assert done.returncode == 2
    assert "a timeline cannot go to stdout" in done.stderr
    full = Path("/dev/full")
    if full.exists():
        done = cli("run", "preset:venice-z-nand", "--set", "workload.requests=100", "--timeline", full)
        assert done.returncode == 2
        assert done.stderr == "error: /dev/full: the timeline cannot be written: No space left on device\n"
        assert "IOPS" in done.stdout
