"""Passes that end before the last byte of a file, and jobs of trims and writes, agree with the real fio."""

from __future__ import annotations

from pathlib import Path

import pytest

import flashmesh
from conftest import Read
from long_cases import in_part
from real_fio import KIB, of_fio, of_flashmesh

pytestmark = pytest.mark.usefixtures("real_fio")


@pytest.mark.parametrize(
    ("options", "length_kib"),
    in_part(
        3,
        [
            ("rw=read\nsize=72k\nzonemode=strided\nzonesize=16k\nzoneskip=16k\n", 72),
            ("rw=write\nsize=70k\nloops=2\nzonemode=strided\nzonesize=16k\nzoneskip=16k\n", 70),
            ("rw=read\nsize=770k\nloops=3\nzonemode=strided\nzonesize=32k\nzoneskip=64k\n", 770),
            ("rw=trim\nbs=12k\nsize=100k\nloops=3\nzonemode=strided\nzonesize=24k\nzoneskip=12k\n", 100),
            ("rw=write:8k\nsize=62k\nloops=2\n", 62),
            ("rw=write:8k\nsize=62k\nio_size=30k\nloops=3\n", 62),
            ("rw=write:8k\nsize=62k\nio_size=100k\n", 62),
            ("rw=write:4k\nsize=44k\nloops=2\n", 44),
            ("rw=write:8k\nsize=124k\nnrfiles=2\nloops=2\n", 62),
            ("rw=trimwrite:4k\nsize=300k\nio_size=304k\n", 300),
        ],
    ),
)
def test_a_file_ends_a_pass_that_skips_parts_of_it(tmp_path: Path, options: str, length_kib: int) -> None:
    assert of_flashmesh(tmp_path, options) == of_fio(tmp_path, options, length_kib * KIB)


@pytest.mark.parametrize(
    ("options", "length_kib"),
    in_part(
        2,
        [
            ("size=64k\nnrfiles=2\nfile_service_type=sequential\n", 32),
            ("size=64k\nnrfiles=2\nfile_service_type=roundrobin:4\nloops=2\n", 32),
            ("size=96k\nnrfiles=3\nfile_service_type=roundrobin:2\n", 32),
            ("size=60k\nnrfiles=3\nfile_service_type=roundrobin:4\n", 20),
            ("size=64k\nnumber_ios=3\nloops=2\n", 64),
            ("size=64k\nnumber_ios=20\nloops=3\n", 64),
            ("size=64k\nbs=8k\nnumber_ios=5\nloops=3\n", 64),
        ],
    ),
)
def test_each_write_follows_its_trim_as_with_fio(tmp_path: Path, options: str, length_kib: int) -> None:
    options = f"rw=trimwrite\n{options}"
    assert of_flashmesh(tmp_path, options) == of_fio(tmp_path, options, length_kib * KIB)


@pytest.mark.parametrize(
    ("options", "count"),
    in_part(
        1,
        [
            # The file ends in a skipped part of a zone.
            ("rw=randread\nsize=1024k\nzonesize=32k\nzonerange=64k\nzoneskip=32k\n", 256),
            ("rw=randread\nsize=1m\nzonesize=8k\nzoneskip=1m\n", 256),
            # A zone that is no multiple of the request size gets one more request.
            ("rw=randread\nbs=8k\nsize=768k\nzonesize=20k\nzonerange=64k\nzoneskip=32k\n", 96),
            ("rw=randread\nsize=100k\nzonesize=32k\nloops=2\n", 48),
        ],
    ),
)
def test_random_zones_have_as_many_requests_as_with_fio(tmp_path: Path, options: str, count: int) -> None:
    options += "zonemode=strided\n"
    ours, theirs = of_flashmesh(tmp_path, options), of_fio(tmp_path, options, 0)
    assert (len(ours), len(theirs)) == (count, count)
    zone = 96 if "zoneskip=32k" in options else 1024 if "1m" in options else 32
    assert [offset // KIB // zone for _, offset, _ in ours] == [offset // KIB // zone for _, offset, _ in theirs]


def test_a_pass_over_random_zones_ends_behind_the_last_whole_one(tmp_path: Path) -> None:
    """After the last whole zone, fio goes on until it draws a block beyond the end of the file."""
    options = "rw=randread\nsize=1000k\nzonemode=strided\nzonesize=20k\nzonerange=64k\n"
    ours, theirs = of_flashmesh(tmp_path, options), of_fio(tmp_path, options, 0)
    assert len(ours) == 15 * 5
    assert len(ours) <= len(theirs) < len(ours) + 20


@pytest.mark.parametrize("distribution", ["zipf:0.8", "normal:20"])
def test_an_alignment_below_the_block_size_shrinks_a_skewed_range(tmp_path: Path, distribution: str) -> None:
    options = f"rw=randread\nbs=16k\nba=4k\nsize=1m\nio_size=8m\nrandom_distribution={distribution}\n"
    for rows in (of_flashmesh(tmp_path, options), of_fio(tmp_path, options, 0)):
        assert 200 * KIB < max(offset for _, offset, _ in rows) < 256 * KIB


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rw=trimwrite\nnrfiles=2\n", "fio trims blocks of other files before it writes one"),
        ("rw=trimwrite\nnrfiles=2\nfile_service_type=roundrobin:3\n", "fio trims blocks of other files"),
        ("rw=randtrimwrite\nnrfiles=2\nfile_service_type=random:2\n", "fio trims blocks of other files"),
        ("rw=trimwrite\nnumber_ios=3\nloops=3\n", "fio 3.33 doubles it in each loop"),
        (
            "rw=trimwrite\nnumber_ios=3\nloops=2\nnrfiles=2\nfile_service_type=sequential\n",
            "modelled for two loops over one file",
        ),
        ("rw=randtrimwrite:4\nnumber_ios=3\nloops=3\n", "fio 3.33 doubles it in each loop"),
        ("rw=read\nnrfiles=2\nzonemode=strided\nzonesize=8k\n", "which is modelled with one file"),
        ("rw=trimwrite\nzonemode=strided\nzonesize=20k\n", "leaves a zone between a trim and its write"),
        ("rw=read:4k\nzonemode=strided\nzonesize=8k\n", "goes back to the start of a zone"),
        ("rw=randtrimwrite\nzonemode=strided\nzonesize=8k\n", "fio 3.33 writes one block again and again"),
    ],
)
def test_what_fio_issues_in_another_order_is_refused(jobs: Read, text: str, words: str) -> None:
    with pytest.raises(flashmesh.ConfigError, match=words):
        jobs(f"[a]\nsize=1m\n{text}")


@pytest.mark.parametrize(
    ("options", "length_kib"),
    in_part(
        2,
        [
            ("rw=read:4k\nsize=64k\noffset=16k\n", 80),
            ("rw=read:4k\nsize=64k\noffset=16k\nloops=2\n", 80),
            ("rw=read:8k\nsize=60k\noffset=8k\n", 68),
            ("rw=trim:8k\nsize=64k\noffset=64k\nio_size=200k\n", 128),
            ("rw=trimwrite\nsize=256k\nzonemode=strided\nzonesize=16k\nzoneskip=64k\n", 256),
        ],
    ),
)
def test_a_job_with_an_offset_ends_at_the_end_of_its_file(tmp_path: Path, options: str, length_kib: int) -> None:
    assert of_flashmesh(tmp_path, options) == of_fio(tmp_path, options, length_kib * KIB)


def test_passes_that_end_by_chance_are_followed_by_others_until_io_size(tmp_path: Path) -> None:
    options = "rw=randread:8\nbs=12k\nsize=770k\nio_size=4m\nnorandommap\n"
    for rows in (of_flashmesh(tmp_path, options), of_fio(tmp_path, options, 0)):
        assert len(rows) == -(-4 * KIB // 12)


def test_a_loop_that_ends_by_chance_is_not_made_up_for(tmp_path: Path) -> None:
    options = "rw=randread:8\nbs=12k\nsize=3850k\nnrfiles=5\nloops=2\n"
    whole = 2 * -(-3850 // 12)
    assert len(of_fio(tmp_path, options, 0)) < whole
    counts = {len(of_flashmesh(tmp_path, options, seed)) for seed in range(6)}
    assert len(counts) > 1
    assert max(counts) <= whole


def test_blocks_of_random_reads_are_placed_by_the_size_of_reads(tmp_path: Path) -> None:
    options = "rw=randread\nbs=8k,16k\nbs_is_seq_rand=1\nsize=2m\nio_size=8m\nnorandommap\n"
    for rows in (of_flashmesh(tmp_path, options), of_fio(tmp_path, options, 0)):
        assert {size for *_, size in rows} == {16 * KIB}
        assert {offset % (16 * KIB) for _, offset, _ in rows} == {0, 8 * KIB}
