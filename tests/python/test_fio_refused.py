"""fio options that are refused, with their line, and options that are approximated or ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

import flashmesh
from conftest import Read
from flashmesh import configuration
from flashmesh.importers.fio import read_jobs
from flashmesh.importers.fio.notation.options import ALIASES, DIFFERENT, MEANINGLESS, REFUSED, TAKEN

END = "number_ios=100\n"


def test_options_without_effect_are_named_with_the_reason(jobs: Read) -> None:
    notes = jobs(f"[a]\nfilename=/dev/nvme0n1\ndirect=1\ngroup_reporting\nstonewall=0\n{END}").notes
    assert [note.split(":")[0] for note in notes] == ["group_reporting"]


def test_options_without_effect_share_a_line_for_each_reason(jobs: Read) -> None:
    options = "group_reporting\nlat_percentiles=1\nthread\npercentile_list=50:99\n"
    notes = jobs(f"[a]\nfilename=/dev/nvme0n1\ndirect=1\n{options}{END}").notes
    named = [note.split(":")[0] for note in notes]
    assert named == ["group_reporting", "lat_percentiles, percentile_list", "thread"]
    assert "each job has its own figures, also in --fio-json" in notes[0]


def test_several_devices_are_said_to_be_one_drive(jobs: Read) -> None:
    each = f"direct=1\nsize=1g\n{END}"
    notes = jobs(f"[a]\nfilename=/dev/nvme0n1\n{each}[b]\nfilename=/dev/nvme1n1\n{each}").notes
    assert (
        "/dev/nvme0n1, /dev/nvme1n1: each is a range of the one drive, whose jobs share its chips and its link" in notes
    )


def test_a_share_of_reads_is_checked_without_a_mix(jobs: Read) -> None:
    with pytest.raises(flashmesh.ConfigError, match="130 is not between 0 and 100"):
        jobs(f"[a]\nrw=randread\nrwmixread=130\n{END}")


def test_what_is_done_otherwise_is_said(jobs: Read) -> None:
    notes = jobs(f"[a]\nioengine=libaio\niodepth_batch_submit=8\nexitall\ndirect=0\nexitall_on_error=0\n{END}").notes
    assert (
        "iodepth_batch_submit: not followed, each request is issued as soon as fewer than iodepth are in flight"
        in notes
    )
    assert "exitall: not followed, each job ends by itself" in notes
    assert [note for note in notes if "direct" in note] == [
        "direct=0, buffered=1: no effect, there is no page cache: every request goes to the drive"
    ]
    assert [note for note in jobs(f"[a]\nbuffered=1\n{END}").notes if "buffered" in note] == [
        "direct=0, buffered=1: no effect, there is no page cache: every request goes to the drive"
    ]


def test_a_flush_that_the_run_time_leaves_out_is_said(jobs: Read) -> None:
    text = "[a]\nrw=write\nsize=1m\nend_fsync=1\n"
    note = "[a] end_fsync: when runtime ends the job, it issues no flush; fio does"
    assert [note in jobs(text + more).notes for more in ("runtime=1\n", "runtime=1\ntime_based\n", "")] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    "line",
    [
        "verify=md5",
        "create_only=1",
        "fill_device=1",
        "fill_fs=1",
        "file_append=1",
        "sg_write_mode=verify",
        "trim_percentage=5",
        "thinktime_iotime=5\nthinktime=5",
    ],
)
def test_what_changes_requests_or_the_drive_is_refused(jobs: Read, line: str) -> None:
    name = line.partition("=")[0].replace("fill_fs", "fill_device")
    with pytest.raises(flashmesh.ConfigError, match=f"`{name}` is not modelled") as error:
        jobs(f"[a]\n{line}\n{END}")
    assert "job.fio:2:1" in str(error.value)


def test_values_that_ask_for_what_is_done_anyway_are_taken(jobs: Read) -> None:
    neutral = {name: value for name, refusal in REFUSED.items() for value in refusal.neutral}
    assert {"create_only": "0", "fill_device": "0", "file_append": "0"}.items() <= neutral.items()
    text = "".join(f"{name}={value}\n" for name, value in neutral.items())
    assert jobs(f"[a]\n{text}{END}") == jobs(f"[a]\n{END}")
    assert jobs(f"[a]\nsync=none\nfsync=0\nexitall=0\n{END}") == jobs(f"[a]\n{END}")


def test_no_option_has_two_fates() -> None:
    fates = [TAKEN, MEANINGLESS.keys(), DIFFERENT.keys(), REFUSED.keys()]
    assert sum(map(len, fates)) == len(frozenset().union(*fates))
    assert set(ALIASES.values()) <= frozenset().union(*fates)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "there is no job"),
        ("[global]\nbs=4k\n", 1, "there is no job"),
        ("bs=4k\n[a]\n", 1, "before the first section"),
        ("[a\n", 1, "no heading of a section"),
        ("[]\n", 1, "no heading of a section"),
        ("[a]\n= 4\n", 2, "is no option"),
        ("[a]\nbs=4x\n", 2, "`4x` is not a size"),
        ("[a]\nbssplit=4k/50:8k/60:16k\n", 2, "nothing is left for the others"),
        ("[a]\nbssplit=:\n", 2, "has no size"),
        ("[a]\nbs_unaligned\nbsrange=4k-8k\n", 2, "a request of a block device has whole sectors"),
        ("[a]\nrw=randread:x\n", 2, "rw: `x` is not a whole number"),
        ("[a]\nrandom_distribution=sequence:1,2\nrw=randread\n", 2, "`sequence` is not modelled"),
        ("[a]\nrandom_distribution=zoned:50/5:30/15\nrw=randread\n", 2, "do not add up to 100"),
        ("[a]\nrandom_distribution=zoned:50/60:50/60\nrw=randread\n", 2, "add up to more than 100"),
        ("[a]\nsize=120%\n", 2, "is more than 100 %"),
        ("[a]\nverify=md5\n", 2, "no written data is read again and checked"),
        ("[a]\nioengine=http\nhttp_host=x\n", 2, "`http` goes to the network, not to a block device"),
        ("[a]\nzonemode=zbd\nsize=1z\n", 2, "`zbd` needs a zoned drive"),
        ("[a]\nwait_for=b\nsize=1m\n[b]\nsize=1m\n", 2, "no job `b` comes before this one"),
        ("[a]\nfile_service_type=zip\nnrfiles=2\nsize=1m\n", 2, "`zip` is not known"),
        ("[a]\nfile_service_type=zipf:1\nnrfiles=2\nsize=1m\n", 2, "1 is no parameter of zipf"),
        ("[a]\nfile_service_type=gauss:1:2\nnrfiles=2\nsize=1m\n", 2, "2 is no center between 0 and 1"),
        ("[a]\nzonemode=strided\nzonesize=8k\nrw=randread\nsize=1m\nbsrange=4k-8k\n", 3, "with requests of one size"),
        ("[a]\nzonemode=strided\nzonesize=8k\nrw=randread\nsize=1m\nnrfiles=2\n", 3, "with one file"),
        (
            "[a]\nzonemode=strided\nzonesize=8k\nrw=randread\nsize=1m\nrandom_distribution=zipf\n",
            3,
            "with random_distribution=random",
        ),
        ("[a]\nzonemode=strided\nzonesize=2m\nrw=randread\nsize=1m\n", 3, "0 zones"),
        ("[a]\nzonemode=strided\nzonesize=8k\nzonerange=4k\nsize=1m\n", 4, "less than zonesize"),
        ("[a]\nsync=maybe\nrw=write\nsize=1m\n", 2, "`maybe` is not known"),
        ("[a]\nbs=100\n", 2, "whole sectors"),
        ("[a]\nbs=\n", 2, "`bs` has no value"),
        ("[a]\nrw=rw\nrate_iops=,5\n" + END, 3, "paces only one kind of a mix"),
        ("[a]\nrw=randrw\nba=4k,8k\n" + END, 3, "differs between reads and writes"),
        ("[a]\nbsrange=1k-2m\n", 2, "more than 1024 times the smaller"),
        ("[a]\nsize=1g\nioengine=psinc\n", 3, "`psinc` is not modelled"),
        ("[a]\nsize=1k\n", 2, "less than one request"),
        ("[a]\niodeph=4\n", 2, "unknown option `iodeph`"),
        ("[a]\nrate_iops=5\nrate=4k\nsize=1m\n", 2, "exclude each other"),
        ("[a]\nnumjobs=257\n", 2, "is not between 1 and 256"),
        ("[a]\nnumjobs=200\nsize=1m\n[b]\nnumjobs=200\n", 4, "400 jobs"),
        ("[a]\nread_iolog=none.log\n", 2, "is not there"),
        (f"[a]\nread_iolog={'x' * 300}\n", 2, "the path cannot be used: File name too long"),
        ("[a]\nread_iolog=a\0b\n", 2, "the path cannot be used: embedded null byte"),
        ("[a]\nrandseed=1\nsize=1m\n[b]\nrandseed=2\nsize=1m\n", 5, "another job has a different `randseed`"),
    ],
)
def test_what_is_not_modelled_is_refused_with_its_line(jobs: Read, text: str, line: int, words: str) -> None:
    with pytest.raises(flashmesh.ConfigError) as error:
        jobs(text)
    assert words in str(error.value)
    assert f"job.fio:{line}:" in str(error.value)


def test_a_misspelt_option_has_a_suggestion(jobs: Read) -> None:
    with pytest.raises(flashmesh.ConfigError, match="did you mean `iodepth`"):
        jobs("[a]\niodeph=4\n")


@pytest.mark.parametrize(
    ("text", "line", "marked"),
    [
        ("[global]\nioengine=libaio\nsize = 1024t\n[oltp]\nnumber_ios=5\n[log]\nnumber_ios=5\n", 3, "size = 1024t"),
        ("[a]\nrw=randread\nrandom_distribution=zipf:99\nsize=1m\n", 3, "random_distribution=zipf:99"),
        ("[a]\nsize=1m\noffset=1024t\n", 3, "offset=1024t"),
    ],
)
def test_what_the_drive_does_not_take_is_shown_in_the_job_file(
    config: Path, tmp_path: Path, text: str, line: int, marked: str
) -> None:
    (tmp_path / "job.fio").write_text(text)
    with pytest.raises(flashmesh.ConfigError) as error:
        configuration.load(config, fio=read_jobs(tmp_path / "job.fio"))
    shown = str(error.value).split("\n")
    assert f"--> {tmp_path / 'job.fio'}:{line}:1" in shown[1]
    assert shown[3:5] == [f"{line} | {marked}", f"  | {'^' * len(marked)}"]
    assert "--fio" not in str(error.value)


def test_a_long_list_of_sizes_is_shown_in_the_job_file(tmp_path: Path) -> None:
    sizes = "bssplit=512/10:1k/10:2k/10:4k/10:8k/10:16k/10:32k/10:64k/30"
    (tmp_path / "job.fio").write_text(f"[global]\nsize=1m\n{sizes}\n[first]\n[second]\n")
    with pytest.raises(flashmesh.ConfigError, match=r"not a multiple of geometry\.sector-size") as error:
        configuration.load("preset:samsung-pm9a3", fio=read_jobs(tmp_path / "job.fio"))
    assert f"job.fio:3:1\n  |\n3 | {sizes}" in str(error.value)
