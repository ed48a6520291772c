"""Files that appear completely or not at all, however the writing process ends."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import flashmesh
from flashmesh import files
from flashmesh.files import whole_file, write_text

WRITER = """
import os, signal, sys, time
from flashmesh import files
# A shell that runs jobs in the background has them ignore it.
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
if sys.argv[1] == "named":
    files.nameless = lambda folder: None
with files.whole_file("result.json") as file:
    files.write_text(file, "half")
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.fixture(params=["nameless", "named"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Selects how a file is created: without a name until it is complete, or under a temporary name."""
    name: str = request.param
    if name == "named":
        monkeypatch.setattr(files, "nameless", lambda folder: None)
    return name


def write(path: Path, text: str) -> None:
    with whole_file(path) as file:
        write_text(file, text)


def test_file_replaces_an_older_one_and_leaves_nothing_else(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "result.json"
    write(path, "older")
    with whole_file(path) as file:
        write_text(file, "newer")
        assert path.read_text() == "older"
    assert path.read_text() == "newer"
    assert list(tmp_path.iterdir()) == [path]


def test_exception_leaves_the_older_file(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "result.json"
    write(path, "older")

    def fail(file: Path) -> None:
        write_text(file, "half")
        raise RuntimeError

    with pytest.raises(RuntimeError), whole_file(path) as file:
        fail(file)
    assert path.read_text() == "older"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGQUIT, signal.SIGABRT])
def test_signal_leaves_nothing_that_stops_the_next_run(tmp_path: Path, kind: str, number: signal.Signals) -> None:
    path = tmp_path / "result.json"
    path.write_text("older")
    with subprocess.Popen([sys.executable, "-c", WRITER, kind], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
    assert path.read_text() == "older"
    if kind == "nameless":
        assert list(tmp_path.iterdir()) == [path]
    write(path, "newer")
    assert path.read_text() == "newer"
    assert list(tmp_path.iterdir()) == [path]


def test_file_that_another_process_writes_is_no_stale_one(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, "named"], cwd=tmp_path, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        files.remove_stale(tmp_path)
        assert len(list(tmp_path.iterdir())) == 1
        process.kill()
    files.remove_stale(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_name_of_maximum_length_is_written(tmp_path: Path, kind: str) -> None:
    path = tmp_path / ("n" * 255)
    write(path, "all of it")
    assert path.read_text() == "all of it"


def test_name_that_is_too_long_shows_at_once(tmp_path: Path, kind: str) -> None:
    with pytest.raises(flashmesh.OutputError, match="nnn: cannot be written: File name too long"):
        write(tmp_path / ("n" * 300), "text")
    assert list(tmp_path.iterdir()) == []


def test_link_is_followed(tmp_path: Path, kind: str) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to("far/result.json")
    write(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far/result.json").read_text() == "text"


def test_links_in_a_circle_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(flashmesh.OutputError, match="one: cannot be written: its symbolic links form a cycle"):
        write(tmp_path / "one", "text")


def test_errors_name_the_file_that_was_asked_for(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result.json"

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(flashmesh.OutputError) as caught:
        write(path, "text")
    assert str(caught.value) == f"{path}: cannot be written: No space left on device"
    assert list(tmp_path.iterdir()) == []


def test_error_of_a_writer_names_the_file_that_was_asked_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "result.json"
    with pytest.raises(flashmesh.OutputError) as caught, whole_file(path) as file:
        raise flashmesh.OutputError(f"{file}: cannot be written: out of ink")
    assert str(caught.value) == f"{path}: cannot be written: out of ink"


@pytest.mark.parametrize("place", ["missing/result.json", "drive.toml/result.json"])
def test_folder_that_is_none_shows_at_once(tmp_path: Path, kind: str, place: str) -> None:
    (tmp_path / "drive.toml").touch()
    with pytest.raises(flashmesh.OutputError, match=f"{place}: cannot be written: "):
        write(tmp_path / place, "text")
