"""Places of fio's files on the drive, and jobs that wait for others."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import flashmesh
from flashmesh import configuration
from flashmesh.importers.fio import FioJobs, read_jobs
from flashmesh.sweeps.inputs.ranges import quantity

GIB = 1 << 30


def read_text(folder: Path, text: str, capacity: int | None = None) -> FioJobs:
    (folder / "job.fio").write_text(text)
    return read_jobs(folder / "job.fio", capacity)


def ranges(jobs: FioJobs) -> list[tuple[str, str]]:
    """Returns the start and the length of each stream's footprint."""
    starts = {key.removesuffix("-start"): str(value) for key, value in jobs.settings.items() if key.endswith("-start")}
    return [(start, str(jobs.settings.get(key, "to the end"))) for key, start in starts.items() if "footprint" in key]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Each job has its own file, in a directory or not.
        ("[global]\ndirectory=/data\nsize=64m\n[a]\n[b]\n", [("0B", "64MiB"), ("64MiB", "64MiB")]),
        ("[a]\nsize=1m\n[b]\nsize=2m\n[c]\nsize=1m\n", [("0B", "1MiB"), ("1MiB", "2MiB"), ("3MiB", "1MiB")]),
        # A shared file has the size of the largest job that uses it.
        (
            "[global]\nfilename=x\n[a]\nsize=1m\n[b]\nsize=4m\n[c]\nfilename=y\nsize=1m\n",
            [("0B", "1MiB"), ("0B", "4MiB"), ("4MiB", "1MiB")],
        ),
        # Each clone has its own file, unless `filename` names a common one.
        ("[a]\nnumjobs=3\nsize=1m\n", [("0B", "1MiB"), ("1MiB", "1MiB"), ("2MiB", "1MiB")]),
        ("[a]\nnumjobs=2\nfilename=x\nsize=1m\n", [("0B", "1MiB"), ("0B", "1MiB")]),
        ("[a]\nnumjobs=2\nfilename=/dev/sda\nsize=1m\noffset_increment=4m\n", [("0B", "1MiB"), ("4MiB", "1MiB")]),
        ("[a]\nnumjobs=2\nfilename_format=same\nsize=1m\n", [("0B", "1MiB"), ("0B", "1MiB")]),
        # Clones use the directories alternately.
        ("[a]\nnumjobs=2\ndirectory=/x:/y\nfilename=f\nsize=1m\n", [("0B", "1MiB"), ("1MiB", "1MiB")]),
        # A single device is the whole drive; several devices get a range each.
        (
            "[a]\nfilename=/dev/sda\nsize=1m\n[b]\nfilename=/dev/sda\noffset=1m\nsize=1m\n",
            [("0B", "1MiB"), ("1MiB", "1MiB")],
        ),
        ("[a]\nfilename=/dev/sda\nsize=1m\n[b]\nfilename=/dev/sdb\nsize=1m\n", [("0B", "1MiB"), ("1MiB", "1MiB")]),
        # Each file begins at a whole mebibyte, even if the file before it has an odd size.
        ("[a]\nsize=1m\nfilesize=20k\n[b]\nsize=1m\n", [("0B", "20KiB"), ("1MiB", "1MiB")]),
    ],
)
def test_each_file_has_a_range_of_its_own(tmp_path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    assert ranges(read_text(tmp_path, text)) == expected


def test_a_job_of_several_files_goes_round_them(tmp_path: Path) -> None:
    found = read_text(
        tmp_path, "[a]\nnrfiles=4\nsize=4m\n[b]\nfilename=x:y\nsize=1m\nfile_service_type=random\n"
    ).settings
    assert [found[f"stream.{name}.workload.files"] for name in "ab"] == [4, 2]
    assert [found[f"stream.{name}.workload.file-order"] for name in "ab"] == ["round-robin", "random"]
    assert [found[f"stream.{name}.workload.footprint"] for name in "ab"] == ["4MiB", "1MiB"]
    each = read_text(tmp_path, "[a]\nnrfiles=3\nfilesize=1m\n").settings
    assert (each["workload.footprint"], each["workload.pass-size"]) == ("3MiB", "3MiB")


def test_files_that_do_not_lie_side_by_side_are_refused(tmp_path: Path) -> None:
    text = "[a]\nfilename=x\nsize=1m\n[b]\nfilename=y\nsize=1m\n[c]\nfilename=z:x\nsize=2m\n"
    with pytest.raises(flashmesh.ConfigError, match="belong to several jobs") as error:
        read_text(tmp_path, text)
    assert "job.fio:7:" in str(error.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a]\nfilename=/dev/sda\nsize=50%\noffset=25%\n", ("256MiB", "512MiB")),
        ("[a]\nfilename=/dev/sda\nsize=100%\noffset=25%\n", ("256MiB", "768MiB")),
        ("[a]\nfilename=/dev/sda\n", ("0B", "1GiB")),
        ("[a]\nfilename=old\n", ("0B", "1GiB")),
    ],
)
def test_shares_are_those_of_the_drive(tmp_path: Path, text: str, expected: tuple[str, str]) -> None:
    jobs = read_text(tmp_path, text)
    assert jobs.asks_capacity
    assert ranges(jobs.on(GIB)) == [expected]
    assert jobs.on(GIB).on(2 * GIB) == jobs.on(GIB), "what is known stays"
    assert jobs.on(GIB).settings["workload.pass-size"] == expected[1]


def test_files_without_a_size_share_what_is_left(tmp_path: Path) -> None:
    jobs = read_text(tmp_path, "[a]\nfilename=old\n[b]\nsize=256m\n[c]\nfilename=older\n", GIB)
    assert ranges(jobs) == [("256MiB", "384MiB"), ("0B", "256MiB"), ("640MiB", "384MiB")]
    assert any("has no size: its files share the space that other files leave" in note for note in jobs.notes)
    with pytest.raises(flashmesh.ConfigError, match="no space is left on the drive for `old`"):
        read_text(tmp_path, "[a]\nfilename=old\n[b]\nsize=1g\n", GIB)


def test_jobs_whose_files_exceed_the_drive_are_told_to_share_one(tmp_path: Path) -> None:
    text = "[global]\nsize=100%\n[reader]\nrw=randread\n[writer]\nrw=randwrite\n"
    with pytest.raises(flashmesh.ConfigError, match="the 2 files of the jobs have 2 GiB, and the drive 1 GiB") as told:
        read_text(tmp_path, text, GIB)
    assert "share a device or a file by `filename`" in str(told.value)
    assert ranges(read_text(tmp_path, text.replace("\n", "\nfilename=/dev/sda\n", 1), GIB)) == [("0B", "1GiB")] * 2


def test_a_share_of_the_drive_follows_the_configuration(config: Path, tmp_path: Path) -> None:
    jobs = read_text(tmp_path, "[a]\nfilename=/dev/sda\nsize=50%\nnumber_ios=5\n")
    capacity = configuration.capacity_of(config, None, None)
    loaded = tomllib.loads(configuration.load(config, fio=jobs).to_toml())
    footprint = int(quantity("workload.footprint", loaded["workload"]["footprint"]).value)
    assert footprint == capacity // 2 // 4096 * 4096


@pytest.mark.parametrize(
    ("text", "phases"),
    [
        ("[a]\n[b]\n", [0, 0]),
        ("[a]\nstonewall\n[b]\n", [0, 0]),
        ("[a]\n[b]\nstonewall\n[c]\n[d]\nwait_for_previous\n", [0, 1, 1, 2]),
        ("[global]\nstonewall\n[a]\n[b]\nnumjobs=2\n", [0, 1, 1]),
        ("[a]\n[b]\nwait_for=a\n[c]\nwait_for=b\n[d]\n", [0, 1, 2, 0]),
        ("[a]\n[b]\nwait_for=a\n[c]\nstonewall\n", [0, 1, 2]),
        ("[a]\n[b]\nstonewall=0\n", [0, 0]),
    ],
)
def test_jobs_that_wait_are_in_later_phases(tmp_path: Path, text: str, phases: list[int]) -> None:
    text = "[global]\nsize=1m\n" + text
    jobs = read_text(tmp_path, text)
    names = [key.removesuffix(".workload.kind") for key in jobs.settings if key.endswith(".workload.kind")]
    assert [jobs.settings.get(f"{name}.replay.phase", 0) for name in names] == phases


def test_a_job_begins_after_its_delay(tmp_path: Path) -> None:
    found = read_text(tmp_path, "[global]\nsize=1m\n[a]\nstartdelay=3\n[b]\nstartdelay=5ms-9ms\n").settings
    assert [found[f"stream.{name}.replay.start-delay"] for name in "ab"] == ["3000000us", "7000us"]


def test_jobs_of_one_name_are_streams_of_their_own(tmp_path: Path) -> None:
    found = read_text(tmp_path, "[a]\nsize=1m\n[a]\nsize=2m\n")
    assert [name for name, _ in found.jobs] == ["a", "a"]
    assert {key.split(".")[1] for key in found.settings} == {"a", "a-2"}
