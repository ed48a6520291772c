"""Options of fio without effect on a job, because of its other options."""

from __future__ import annotations

import pytest

from conftest import Read

TIMED = "runtime=10ms\ntime_based\n"


@pytest.mark.parametrize(
    ("option", "rest", "reason"),
    [
        ("random_distribution=zipf:1.2", "rw=read", "rw=read is sequential"),
        ("percentage_random=50", "rw=write", "rw=write is sequential"),
        ("rwmixread=70", "rw=randread", "rw=randread does not mix reads and writes"),
        ("rwmixread=70", "bs=4k", "rw=read does not mix reads and writes"),
        ("fsync=1", "rw=randread", "the job does not write"),
        ("end_fsync=1", "rw=randrw\nrwmixread=100", "the job does not write"),
        ("thinktime_blocks=4", "rw=read", "the job has no thinktime"),
        ("rate_process=poisson", "rw=read", "the job has no rate"),
        ("loops=3", TIMED, "with time_based only runtime ends the job"),
        ("number_ios=3", TIMED, "with time_based only runtime ends the job"),
        ("bs=4k", "bssplit=8k/50:16k/50", "bssplit counts"),
        ("zoneskip=1m", "rw=read", "the job has no zonesize"),
        ("offset_increment=1m", "rw=read", "numjobs is 1"),
    ],
)
def test_an_option_that_changes_nothing_is_told_and_changes_nothing(
    jobs: Read, option: str, rest: str, reason: str
) -> None:
    found = jobs(f"[a]\nsize=1m\n{option}\n{rest}\n")
    assert f"{option}: no effect, {reason} (line 3)" in found.notes
    assert found.settings == jobs(f"[a]\nsize=1m\n{rest}\n").settings


@pytest.mark.parametrize(
    "text",
    [
        "rw=randread\nrandom_distribution=zipf:1.2",
        "rw=randrw\nrwmixread=70",
        "rw=randrw\nfsync=1",
        "rw=read\nfsync=0",
        "rw=read\nthinktime=1ms\nthinktime_blocks=4",
        "loops=3",
        "runtime=10ms\nloops=3",
        "numjobs=2\noffset_increment=512k\nfilename=f",
    ],
)
def test_an_option_that_counts_is_not_told(jobs: Read, text: str) -> None:
    assert not any("(line " in note for note in jobs(f"[a]\nsize=1m\n{text}\n").notes)


def test_an_option_of_all_jobs_is_told_only_if_no_job_uses_it(jobs: Read) -> None:
    shared = "[global]\nsize=1m\nrandom_distribution=zipf:1.2\n[a]\nrw=read\n"
    assert not any("no effect, rw=" in note for note in jobs(f"{shared}[b]\nrw=randread\n").notes)
    assert any(
        note == "random_distribution=zipf:1.2: no effect, rw=read is sequential or rw=write is sequential (line 3)"
        for note in jobs(f"{shared}[b]\nrw=write\n").notes
    )
