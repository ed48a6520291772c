"""Stepped drives in Python: they agree with a run, take arrays, and work in the examples."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flashmesh
from flashmesh import Drive, Op, Status
from flashmesh._native import request_codes

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = {"geometry.blocks-per-plane": 64, "replay.mode": "open"}
OF_THE_MACHINE = {"wall_s", "requests_per_wall_s", "peak_rss_bytes"}


def small(**keys: Any) -> Drive:
    return Drive("preset:venice-z-nand", overrides=SMALL | keys)


def test_a_trace_that_is_submitted_gives_the_json_of_a_run(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    count = 5_000
    time_ps = np.cumsum(random.integers(0, 4_000, count, dtype=np.uint64)) * 1000
    time_ps -= time_ps[0]
    offset = random.integers(0, 20_000, count, dtype=np.uint64) * 4096
    size = random.integers(1, 5, count, dtype=np.uint64) * 4096
    op = (random.random(count) < 0.3).astype(np.uint8)
    trace = tmp_path / "trace.txt"
    rows = zip(time_ps // 1000, offset // 512, size // 512, 1 - op, strict=True)
    trace.write_text("".join(f"{time} 0 {sector} {sectors} {kind}\n" for time, sector, sectors, kind in rows))
    keys = SMALL | {"workload.trace": str(trace), "workload.time-unit": "ns"}
    run = flashmesh.run("preset:venice-z-nand", overrides=keys)

    drive = Drive("preset:venice-z-nand", overrides=keys)
    begun = 0
    completed = []
    while begun < count:
        end = min(begun + 1000, count)
        rows_now = slice(begun, end)
        first = drive.submit_batch(time_ps[rows_now], op[rows_now], offset[rows_now], size[rows_now])
        assert first == begun
        # Advance to just before the next request: several may arrive at the same time.
        limit = int(time_ps[end]) - 1 if end < count else int(time_ps[-1])
        if limit >= drive.now_ps:
            completed.append(drive.advance(limit).id)
        begun = end
    completed.append(drive.drain().id)
    assert sorted(np.concatenate(completed).tolist()) == list(range(count))

    expected, found = dict(run.document), dict(drive.report().document)
    for document in (expected, found):
        for key in OF_THE_MACHINE:
            document.pop(key)
    for stream in (*expected["streams"], *found["streams"]):
        stream.pop("workload")
    assert expected.pop("workload") is not None
    assert found.pop("workload") is None
    assert json.dumps(expected) == json.dumps(found)


def test_operations_and_statuses_have_the_numbers_of_the_library() -> None:
    kinds, statuses = request_codes()
    assert [op.name.lower() for op in Op] == kinds
    assert [status.name.lower() for status in Status] == statuses


def test_operations_are_taken_by_the_words_that_run_takes() -> None:
    named, numbered = small(), small()
    words = {"read": Op.READ, "w": Op.WRITE, "trim": Op.DEALLOCATE, "Write-Zeroes": Op.WRITE_ZEROES}
    for number, (word, op) in enumerate(words.items()):
        named.submit(number * 1_000_000, word, 4096 * number, 4096)  # type: ignore[arg-type]
        numbered.submit(number * 1_000_000, op, 4096 * number, 4096)
    times = np.array([5_000_000], dtype=np.uint64)
    assert named.submit_batch(times, "read", 0, 4096) == numbered.submit_batch(times, Op.READ, 0, 4096)
    assert (named.drain().latency_ps == numbered.drain().latency_ps).all()
    with pytest.raises(ValueError, match="op 'red': there is no such operation: did you mean 'read'"):
        named.submit(6_000_000, "red", 0, 4096)  # type: ignore[arg-type]


def test_arrays_are_taken_as_they_are_and_of_no_other_type() -> None:
    drive = small()
    time_ps = np.arange(10, dtype=np.uint64) * 1_000_000
    assert drive.submit_batch(time_ps, Op.READ, np.arange(10, dtype=np.uint64) * 4096, 4096) == 0
    with pytest.raises(TypeError):
        drive.submit_batch(time_ps.astype(np.int64), Op.READ, 0, 4096)
    with pytest.raises((TypeError, ValueError)):
        drive.submit_batch(np.arange(20, dtype=np.uint64)[::2], Op.READ, 0, 4096)
    with pytest.raises(ValueError, match="offset has 3 values, and time_ps 10"):
        drive.submit_batch(time_ps, Op.READ, np.zeros(3, dtype=np.uint64), 4096)
    with pytest.raises(ValueError, match="from 0 to 4"):
        drive.submit_batch(time_ps, 9, 0, 4096)
    with pytest.raises(flashmesh.WorkloadError, match="row 0: a request of stream 0 arrives at 0"):
        drive.submit_batch(time_ps, Op.READ, 0, 4096)
    assert drive.outstanding == 10
    done = drive.drain()
    assert len(done) == 10
    assert done.status.tolist() == [Status.SUCCESS] * 10
    assert (done.time_ps - done.latency_ps == time_ps[done.id]).all()
    assert all(column.flags.owndata or column.base is not None for column in (done.id, done.time_ps))


def test_a_restored_drive_goes_the_same_way() -> None:
    drive = small()
    drive.submit(0, Op.WRITE, 0, 16_384)
    snapshot = drive.snapshot()

    def rest() -> list[int]:
        drive.submit(1_000_000, Op.READ, 0, 16_384)
        drive.submit(1_000_000, Op.FLUSH)
        return [int(latency) for latency in drive.drain().latency_ps]

    first = rest()
    drive.restore(snapshot)
    assert (drive.now_ps, drive.outstanding) == (0, 1)
    assert rest() == first


def test_a_snapshot_of_another_drive_is_refused_with_the_key_that_differs() -> None:
    snapshot = small().snapshot()
    for key, value, told in (
        ("fabric.kind", "ideal", "its fabric.kind is "),
        ("flash.read-time", "31us", r'its flash\.read-time is .*, and that of this drive is "31us"'),
        ("seed", "7", "its seed is .*, and that of this drive is 7"),
    ):
        other = small(**{key: value})
        other.advance(1_000)
        before = other.report()
        with pytest.raises(flashmesh.ConfigError, match=told):
            other.restore(snapshot)
        assert other.now_ps == 1_000
        assert (other.report().seed, other.report().config_hash) == (before.seed, before.config_hash)
    twin = small()
    twin.restore(snapshot)
    assert twin.now_ps == 0


def test_what_a_drive_cannot_do_is_an_error() -> None:
    with pytest.raises(flashmesh.ConfigError, match=r"replay\.mode"):
        small(**{"replay.mode": "closed"})
    drive = small()
    assert drive.next_event() is None
    drive.advance(1_000_000)
    with pytest.raises(flashmesh.WorkloadError, match="submit it before"):
        drive.submit(0, Op.READ, 0, 4096)
    with pytest.raises(flashmesh.WorkloadError, match="multiple of the sector size"):
        drive.submit(1_000_000, Op.READ, 5, 4096)
    with pytest.raises(flashmesh.WorkloadError, match="cannot be advanced"):
        drive.advance(999_999)
    with pytest.raises(IndexError, match="no stream 1"):
        drive.capacity(1)
    beyond = drive.submit(1_000_000, Op.READ, drive.capacity(), 4096)
    done = drive.advance_to_completion()
    assert (done.id.tolist(), done.status.tolist()) == ([beyond], [Status.LBA_OUT_OF_RANGE])


def test_the_oracles_watch_a_drive_that_is_stepped() -> None:
    drive = Drive("preset:venice-z-nand", overrides=SMALL, check=True)
    for number in range(100):
        drive.submit(number * 1_000_000, Op(number % 2), number * 4096, 4096)
    assert len(drive.drain()) == 100
    assert drive.report().requests == 100


def test_the_tenant_of_the_example_finds_a_depth() -> None:
    windows = runpy.run_path(str(EXAMPLES / "python" / "closed_loop_tenant.py"))["run"](12)
    depths = [depth for depth, _ in windows]
    assert depths[0] == 1
    assert max(depths) > 2
    assert runpy.run_path(str(EXAMPLES / "python" / "closed_loop_tenant.py"))["run"](12) == windows


def test_the_event_loop_of_the_example_ends() -> None:
    times = runpy.run_path(str(EXAMPLES / "python" / "event_loop.py"))["run"](4, 20)
    assert len(times) == 4
    assert times == sorted(times)
    assert min(times) > 20 * 3_000_000
