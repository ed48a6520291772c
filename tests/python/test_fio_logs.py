"""Logs of fio that a job replays."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

import flashmesh
from conftest import TIMEOUT_S, Read
from flashmesh.importers.fio.streams import iolog
from real_fio import FIO


def test_a_log_is_found_beside_the_job_file(jobs: Read, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("fio version 3 iolog\n0 /a add\n1 /a read 0 4096\n2 /a write 4096 4096\n")
    found = jobs("[a]\nread_iolog=log.txt\nreplay_time_scale=50\n").settings
    assert found["workload.trace"] == str(tmp_path / "log.txt")
    assert (found["replay.mode"], found["replay.time-scale"]) == ("open", 2.0)
    stalled = jobs("[a]\nread_iolog=log.txt\nreplay_no_stall=1\nioengine=libaio\niodepth=4\n").settings
    assert (stalled["replay.mode"], stalled["replay.outstanding"]) == ("stress", 4)


def test_a_log_with_times_has_at_most_the_depth_of_its_job_in_flight(jobs: Read, tmp_path: Path) -> None:
    """The default of `iodepth` is 1, and a synchronous engine supports no other depth."""
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
    """Like fio 3.33, which applies replay_time_scale to time stamps only."""
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
        assert f"[a] {line.partition('=')[0]}: no effect, the log of read_iolog determines the requests" in found.notes
    with pytest.raises(flashmesh.ConfigError, match="`thinktime` beside the times of a log is not modelled"):
        jobs(log + "thinktime=5")
    stalled = jobs(f"{log}replay_no_stall=1\nruntime=2").settings
    assert (stalled["replay.mode"], stalled["replay.stop-time"]) == ("closed", "2000000us")


LOG = (
    "fio version 2 iolog\n{0}/a add\n{0}/a open\n{0}/a read 12288 4096\n{0}/a write 40960 8192\n{0}/a read 20480 4096\n"
)


def copied(settings: Mapping[str, object]) -> list[int]:
    """Returns the offsets in the log that a job replays."""
    text = Path(str(settings["workload.trace"])).read_text().splitlines()[1:]
    return [int(line.split()[-2]) for line in text if line.split()[-1].isdigit()]


@pytest.mark.parametrize(
    ("options", "offsets"),
    [
        ("replay_scale=2\n", [6144, 20480, 10240]),
        ("replay_align=8k\n", [8192, 40960, 16384]),
        ("replay_scale=2\nreplay_align=8k\n", [0, 16384, 8192]),
        ("replay_scale=3\nreplay_align=4k\n", [4096, 12288, 4096]),
        ("replay_scale=0\nreplay_align=1\n", [12288, 40960, 20480]),
    ],
)
def test_offsets_of_a_log_are_divided_and_rounded_down_as_with_fio(
    jobs: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str, offsets: list[int], real_fio: None
) -> None:
    monkeypatch.setenv("FLASHMESH_CACHE", str(tmp_path / "cache"))
    iolog.folder.cache_clear()
    (tmp_path / "log.txt").write_text(LOG.format(tmp_path))
    for version, stamp in ((2, ""), (3, "7 ")):
        lines = LOG.replace("version 2", f"version {version}").splitlines(keepends=True)
        text = lines[0] + "".join(stamp + line for line in lines[1:])
        (tmp_path / "log.txt").write_text(text.format(tmp_path))
        assert copied(jobs(f"[a]\nread_iolog=log.txt\n{options}").settings) == offsets
    (tmp_path / "fio.fio").write_text(f"[a]\nioengine=null\nread_iolog={tmp_path}/log.txt\n{options}")
    done = subprocess.run(
        [str(FIO), "--debug=io", "fio.fio"], cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT_S, check=True
    )
    theirs = re.findall(r"prep: io_u \S+: off=(0x[0-9a-f]+|\d+)", done.stdout)
    assert [int(offset, 0) for offset in theirs] == offsets


def test_a_copy_of_a_log_needs_no_folder_for_kept_states(
    jobs: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHMESH_CACHE", "off")
    iolog.folder.cache_clear()
    (tmp_path / "log.txt").write_text(LOG.format("/d"))
    found = jobs("[a]\nread_iolog=log.txt\nreplay_scale=2\nreplay_no_stall=1\n")
    result = flashmesh.run({"preset": "venice-z-nand"}, fio=found)
    assert result.requests == 3
    iolog.folder.cache_clear()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("replay_align=6k\n", "`6k` is no power of 2"),
        ("replay_scale=x\n", "`x` is not a whole number"),
    ],
)
def test_what_is_no_offset_rule_is_refused(jobs: Read, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "log.txt").write_text(LOG.format("/d"))
    with pytest.raises(flashmesh.ConfigError, match=words):
        jobs(f"[a]\nread_iolog=log.txt\n{text}")


def test_offsets_of_other_traces_stay(jobs: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHMESH_CACHE", str(tmp_path / "cache"))
    iolog.folder.cache_clear()
    (tmp_path / "log.txt").write_text("0 0 8 8 1\n")
    with pytest.raises(flashmesh.ConfigError, match=r"`log\.txt` is no log of fio"):
        jobs("[a]\nread_iolog=log.txt\nreplay_scale=2\n")
    assert list((tmp_path / "cache" / "logs").iterdir()) == []
    iolog.folder.cache_clear()
