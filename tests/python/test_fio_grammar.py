"""The grammar of fio's job files: sizes, times, sections, comments, variables and included files."""

from __future__ import annotations

from pathlib import Path

import pytest

import flashmesh
from conftest import Read
from flashmesh.importers.fio import FioJobs, read_jobs
from flashmesh.importers.fio.notation.jobs import read
from flashmesh.importers.fio.notation.values import Misfit, percentage, size, time_us, whole


def read_text(folder: Path, text: str) -> FioJobs:
    (folder / "job.fio").write_text(text)
    return read_jobs(folder / "job.fio")


def options_of(folder: Path, text: str) -> dict[str, str]:
    """Returns the options of the only job."""
    (folder / "job.fio").write_text(text)
    _, (job,) = read(folder / "job.fio")
    return {option.name: option.value for option in job.options.values()}


@pytest.mark.parametrize(
    ("text", "kb_base", "count"),
    [
        ("512", 1024, 512),
        ("4k", 1024, 4096),
        ("4kb", 1024, 4096),
        ("4ki", 1024, 4096),
        ("64mi", 1024, 64 << 20),
        ("4KiB", 1024, 4000),
        ("64MiB", 1024, 64 * 10**6),
        ("1gib", 1024, 10**9),
        ("64meg", 1024, 64 << 20),
        ("4kilobytes", 1024, 4096),
        ("8192b", 1024, 8192),
        ("512bytes", 1024, 512),
        ("4KiB", 1000, 4096),
        ("4ki", 1000, 4000),
        ("4k", 1000, 4000),
        ("2G", 1024, 2 * 1024**3),
        ("0x1000", 1024, 4096),
        ("1t", 1000, 10**12),
        ("(4*1k)", 1024, 4096),
        ("((1m-8k)/2+512)", 1024, 520_704),
    ],
)
def test_sizes_follow_the_rules_of_suffixes(text: str, kb_base: int, count: int) -> None:
    assert size(text, kb_base) == count


@pytest.mark.parametrize(
    "text", ["", "4x", "-1", "k", "(4", "(a)", "(2**99)", "(1/0)", "(0-1)", "(" * 300, "9" * 20 + "p"]
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(Misfit):
        size(text, 1024)


def test_numbers_and_times_have_suffixes() -> None:
    assert [whole(text) for text in ("7", "0x10", "10k", "(2*3)")] == [7, 16, 10_240, 6]
    assert [percentage(text) for text in ("50%", "100 %", "4k")] == [0.5, 1.0, None]
    texts = ("2", "2s", "3ms", "3msec", "7us", "7usec", "1m", "1h", "1d")
    assert [time_us(text, "s") for text in texts] == [
        2_000_000,
        2_000_000,
        3_000,
        3_000,
        7,
        7,
        60_000_000,
        3_600_000_000,
        86_400_000_000,
    ]
    for text in ("", "1x", "-1", "1.5s"):
        with pytest.raises(Misfit):
            time_us(text, "s")


def test_a_section_that_begins_with_global_holds_for_all_jobs(tmp_path: Path) -> None:
    found = read_text(tmp_path, "[global settings]\nsize=1m\nbs=8k\n[a]\n[b]\nbs=16k\n").settings
    sizes = [found[f"stream.{name}.workload.request-size"] for name in "ab"]
    assert (sizes, len([key for key in found if key.endswith("workload.kind")])) == (["8KiB", "16KiB"], 2)


def test_comments_end_a_line(tmp_path: Path) -> None:
    text = "# all\n[job] ; the job\nbs=8k # large\niodepth=4 ; comment\n  ; nothing\nsize=1m;x\n"
    assert options_of(tmp_path, text) == {"bs": "8k", "iodepth": "4", "size": "1m"}


def test_the_last_of_two_options_counts_and_that_is_said(tmp_path: Path) -> None:
    found = read_text(tmp_path, "[a]\nsize=1m\nbs=4k\nbs=8k\n")
    assert found.settings["workload.request-size"] == "8KiB"
    assert "bs: given in line 3 and in line 4; the last one counts" in found.notes
    aliased = read_text(tmp_path, "[a]\nsize=1m\nbs=4k\nblocksize=16k\n")
    assert aliased.settings["workload.request-size"] == "16KiB"
    mixes = [
        read_text(tmp_path, f"[a]\nsize=1m\nrw=rw\n{mix}")
        for mix in ("rwmixread=90\nrwmixwrite=20\n", "rwmixwrite=20\nrwmixread=90\n", "rwmixread=80\nrwmixwrite=20\n")
    ]
    assert [mix.settings["workload.read-share"] for mix in mixes] == [0.8, 0.9, 0.8]
    told = "[a] rwmixread 90 and rwmixwrite 20 are not 100 % together: the later one counts, as in fio"
    assert [any(told in note for note in mix.notes) for mix in mixes] == [True, True, False]


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("timeout=3", "runtime=3"),
        ("fileoffset=1m", "offset=1m"),
        ("nr_files=2", "nrfiles=2"),
        ("ratemin=5k", "rate_min=5k"),
        ("blocksize=8k", "bs=8k"),
        ("readwrite=randread", "rw=randread"),
        ("blocksize_range=4k-8k", "bsrange=4k-8k"),
        ("blockalign=8k", "ba=8k"),
        ("io_limit=64k", "io_size=64k"),
        ("wait_for_previous", "stonewall"),
        ("allrandrepeat=0", "randrepeat=0"),
    ],
)
def test_options_have_other_names(tmp_path: Path, written: str, plain: str) -> None:
    head = "[a]\nsize=1m\n"
    found, expected = read_text(tmp_path, head + written + "\n"), read_text(tmp_path, head + plain + "\n")
    assert found.settings == expected.settings
    assert len(found.notes) == len(expected.notes)


def test_variables_are_those_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOB_BS", "16k")
    assert options_of(tmp_path, "[a]\nbs=${JOB_BS}\nfilename=/x/${JOB_BS}.y\n") == {"bs": "16k", "filename": "/x/16k.y"}
    monkeypatch.delenv("JOB_BS")
    with pytest.raises(flashmesh.ConfigError, match="the environment has no `JOB_BS`") as error:
        read_text(tmp_path, "[a]\nsize=1m\nbs=${JOB_BS}\n")
    assert "job.fio:3:" in str(error.value)
    assert "JOB_BS=VALUE flashmesh run" in str(error.value)
    # An option without effect may name an environment variable that is not set.
    assert read_text(tmp_path, "[a]\nsize=1m\ndescription=${JOB_BS}\n").settings


def test_words_for_the_machine_are_numbers(tmp_path: Path) -> None:
    found = read_text(tmp_path, "[a]\nbs=$pagesize\nsize=64*$pagesize\n").settings
    assert found["workload.request-size"] == "4KiB"
    assert found["workload.footprint"] == "256KiB"


def test_a_file_is_included(tmp_path: Path) -> None:
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "sizes.fio").write_text("bs=8k ; of all\ninclude more.fio\n")
    (tmp_path / "common" / "more.fio").write_text("size=2m\n")
    assert options_of(tmp_path, "[a]\ninclude common/sizes.fio\nrw=read\n") == {"bs": "8k", "size": "2m", "rw": "read"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[a]\ninclude none.fio\n", "2 | include none.fio\n  | ^^^^^^^^^^^^^^^^"),
        ("[a]\ninclude\n", "`include` names no file"),
        ("[a]\ninclude sections.fio\n", "holds a section"),
        ("[a]\ninclude itself.fio\n", "more than 8 files include one another"),
    ],
)
def test_what_cannot_be_included_is_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "sections.fio").write_text("[b]\n")
    (tmp_path / "itself.fio").write_text("include itself.fio\n")
    with pytest.raises(flashmesh.ConfigError) as error:
        read_text(tmp_path, text)
    assert told in str(error.value)


def test_text_behind_a_heading_and_percent_signs_are_taken_as_by_fio(jobs: Read) -> None:
    found = jobs("[first] some words\nsize=1m\nbssplit=4k/60%:8k/40%\n[second]\nsize=1m\n").settings
    assert found["stream.first.workload.request-size"] == [["4KiB", 60.0], ["8KiB", 40.0]]
