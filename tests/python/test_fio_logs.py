"""Logs of fio that a job replays."""

from __future__ import annotations

from pathlib import Path

import pytest

import flashmesh
from conftest import Read


def test_a_log_is_found_beside_the_job_file(jobs: Read, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("fio version 3 iolog\n0 /a add\n1 /a read 0 4096\n2 /a write 4096 4096\n")
    found = jobs("[a]\nread_iolog=log.txt\nreplay_time_scale=50\n").settings
    assert found["workload.trace"] == str(tmp_path / "log.txt")
    assert (found["replay.mode"], found["replay.time-scale"]) == ("open", 2.0)
    stalled = jobs("[a]\nread_iolog=log.txt\nreplay_no_stall=1\nioengine=libaio\niodepth=4\n").settings
    assert (stalled["replay.mode"], stalled["replay.outstanding"]) == ("stress", 4)


def test_a_log_with_times_has_at_most_the_depth_of_its_job_in_flight(jobs: Read, tmp_path: Path) -> None:
    """fio's default of `iodepth` is 1, and a synchronous engine has no other."""
    (tmp_path / "log.txt").write_text("fio version 3 iolog\n0 /a add\n1 /a read 0 4096\n1 /a read 4096 4096\n")
    log = "[a]\nread_iolog=log.txt\n"
    for options, depth in (("", 1), ("ioengine=libaio\n", 1), ("iodepth=8\n", 1), ("ioengine=libaio\niodepth=8\n", 8)):
        found = jobs(log + options)
        assert found.settings["replay.outstanding-max"] == depth, options
        assert any(f"with at most {depth} in flight" in note for note in found.notes)


def test_flushes_of_a_log_are_requests(jobs: Read, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("fio version 3 iolog\n0 /a add\n1 /a write 0 4096\n2 /a sync 0 0\n")
    result = flashmesh.run({"preset": "venice-z-nand"}, fio=jobs("[a]\nread_iolog=log.txt\n"))
    assert result.latency_ps.flush is not None
    assert (result.requests, result.latency_ps.flush.count) == (2, 1)


def test_clones_take_the_logs_of_a_list_in_turn(jobs: Read, tmp_path: Path) -> None:
    for name in ("one.log", "two.log"):
        (tmp_path / name).write_text("fio version 3 iolog\n0 /a add\n1 /a read 0 4096\n")
    found = jobs("[a]\nread_iolog=one.log:two.log\nnumjobs=3\n").settings
    traces = [found[f"stream.a-{number}.workload.trace"] for number in (1, 2, 3)]
    assert [Path(str(trace)).name for trace in traces] == ["one.log", "two.log", "one.log"]


def test_waits_of_a_log_are_not_scaled(jobs: Read, tmp_path: Path) -> None:
    """As in fio 3.33, where replay_time_scale is about time stamps."""
    (tmp_path / "log.txt").write_text("fio version 2 iolog\n/a add\n/a read 0 4096\n/a wait 10\n/a read 0 4096\n")
    found = jobs("[a]\nread_iolog=log.txt\nreplay_time_scale=50\n")
    assert found.settings["replay.time-scale"] == 1.0
    assert "replay_time_scale: no effect on waits, as in fio 3.33" in found.notes


def test_a_log_without_times_is_replayed_at_the_depth_of_its_job(jobs: Read, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("fio version 2 iolog\n/a add\n/a open\n/a read 0 4096\n/a write 4096 4096\n")
    found = jobs("[a]\nread_iolog=log.txt\nioengine=libaio\niodepth=8\n")
    assert (found.settings["replay.mode"], found.settings["replay.outstanding"]) == ("stress", 8)
    assert any("as replay_no_stall=1 asks for" in note for note in found.notes)


def test_the_reading_of_waits_is_said_and_the_other_one_offered(jobs: Read, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("fio version 2 iolog\n/a add\n/a read 0 4096\n/a wait 1000\n/a read 0 4096\n")
    found = jobs("[a]\nread_iolog=log.txt\nioengine=libaio\niodepth=8\n")
    assert (found.settings["replay.mode"], found.settings["replay.outstanding-max"]) == ("open", 8)
    assert found.settings["workload.iolog-wait"] == "since-start-ms"
    assert any("--set workload.iolog-wait=after-previous-us" in note for note in found.notes)


def test_a_log_leaves_nothing_to_say_about_its_requests(jobs: Read, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("fio version 3 iolog\n0 /a add\n1 /a read 0 4096\n")
    log = "[a]\nread_iolog=log.txt\n"
    plain = jobs(log).settings
    for line in (
        "loops=2",
        "io_size=1m",
        "rwmixread=70",
        "ba=8k",
        "time_based",
        "number_ios=1",
        "rate_iops=5",
        "fsync=1",
    ):
        found = jobs(log + line)
        assert found.settings == plain
        assert f"[a] {line.partition('=')[0]}: no effect, the log of read_iolog says it" in found.notes
    with pytest.raises(flashmesh.ConfigError, match="`thinktime` beside the times of a log is not modelled"):
        jobs(log + "thinktime=5")
    stalled = jobs(f"{log}replay_no_stall=1\nruntime=2").settings
    assert (stalled["replay.mode"], stalled["replay.stop-time"]) == ("closed", "2000000us")
