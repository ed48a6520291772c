"""The requests of a job are those of the real fio."""

from __future__ import annotations

import subprocess
from collections import Counter
from itertools import pairwise
from math import exp
from pathlib import Path

import pytest

from conftest import TIMEOUT_S
from flashmesh.importers.fio import read_jobs
from flashmesh.sweeps.inputs.ranges import quantity
from long_cases import in_part
from real_fio import FIO, KIB, Requests, of_fio, of_flashmesh

pytestmark = pytest.mark.usefixtures("real_fio")


@pytest.mark.parametrize(
    ("options", "length_kib"),
    in_part(
        5,
        [
            ("rw=write\nsize=32k\nfsync=3\n", 32),
            ("rw=read:8k\nsize=32k\n", 32),
            ("rw=read:-8k\nsize=32k\n", 32),
            ("rw=trimwrite\nsize=16k\n", 16),
            ("rw=read\nsize=36k\nnrfiles=3\n", 12),
            ("rw=read\nsize=32k\nnrfiles=2\nfile_service_type=sequential\n", 16),
            ("rw=read\nfilesize=8k\nnrfiles=2\n", 8),
            ("rw=write\nsize=10k\nloops=2\n", 10),
            ("rw=write\nsize=16k\nio_size=24k\n", 16),
            ("rw=read\nsize=16k\nio_size=24k\n", 16),
            ("rw=write\nsize=32k\nnumber_ios=3\nloops=2\n", 32),
            ("rw=write\nsize=16k\noffset=8k\n", 24),
            ("rw=read\nzonemode=strided\nzonesize=8k\nzonerange=8k\nzoneskip=8k\nsize=64k\n", 64),
            ("rw=read\nzonemode=strided\nzonesize=8k\nzonerange=16k\nzoneskip=8k\nsize=96k\n", 96),
            ("rw=read\nsize=64k\nnrfiles=2\nfile_service_type=roundrobin:3\n", 32),
            ("rw=write\nsize=60k\nnrfiles=2\nbs=8k\n", 30),
            ("rw=read\nfilesize=16k\nsize=64k\nnrfiles=2\n", 16),
            ("rw=read\nfilesize=64k\nsize=50%\n", 64),
            ("rw=write:8k\nsize=52k\n", 52),
            ("rw=write\nsize=16k\nend_fsync=1\n", 16),
            ("rw=read\nfilesize=64k\noffset=25%\nsize=16k\n", 64),
            ("rw=read\nfilesize=64k\noffset=25%\nsize=128k\n", 64),
            ("rw=read\nsize=32k\noffset=25%\nnrfiles=1\n", 40),
            ("rw=read\nsize=32k\noffset=50%\n", 48),
            ("rw=write\nsize=16k\nfsync=4\nfsync_on_close=1\n", 16),
            ("rw=write\nsize=16k\nbssplit=8k/50:12k/50\n", 16),
        ],
    ),
)
def test_a_sequential_job_issues_what_fio_issues(tmp_path: Path, options: str, length_kib: int) -> None:
    assert of_flashmesh(tmp_path, options) == of_fio(tmp_path, options, length_kib * KIB)


@pytest.mark.parametrize(
    "options",
    in_part(
        2,
        [
            "offset=33%\n",
            "offset=33%\noffset_align=64k\n",
            "offset=10k\noffset_align=64k\n",
            "offset=33%\nbs=12k\n",
            "offset=33%\nbs=8k,16k\n",
            "offset=33%\nbssplit=4k/50:16k/50\n",
            "offset=1%\noffset_increment=7%\nnumjobs=2\n",
            "offset=10k\noffset_increment=7%\nnumjobs=2\n",
        ],
    ),
)
def test_an_offset_is_rounded_as_fio_rounds_it(tmp_path: Path, options: str) -> None:
    size = 1000 * KIB
    with (tmp_path / "drive").open("wb") as file:
        file.truncate(size)
    text = f"[job]\nioengine=psync\nfilename={{name}}\nrw=read\nnumber_ios=1\n{options}"
    (tmp_path / "fio.fio").write_text(text.format(name="drive") + "write_iolog=fio.log\n")
    fio = [str(FIO), "fio.fio"]
    subprocess.run(fio, cwd=tmp_path, capture_output=True, timeout=TIMEOUT_S, check=True)
    lines = [line.split() for path in tmp_path.glob("fio.log*") for line in path.read_text().splitlines()]
    theirs = sorted(int(line[3]) for line in lines if line[2:3] == ["read"])
    assert theirs
    (tmp_path / "job.fio").write_text(text.format(name="/dev/sda"))
    settings = read_jobs(tmp_path / "job.fio", size).settings
    starts = [(key, str(value)) for key, value in settings.items() if key.endswith("footprint-start")]
    assert sorted(quantity(key, value).value for key, value in starts) == theirs


def test_a_sequential_mix_has_the_positions_of_fio(tmp_path: Path) -> None:
    options = "rw=rw\nrwmixread=60\nsize=2m\nbs=4k,8k\n"
    ours, theirs = (
        {kind: [row for row in rows if row[0] == kind] for kind in ("read", "write")}
        for rows in (of_flashmesh(tmp_path, options), of_fio(tmp_path, options, 2 << 20))
    )
    for kind in ("read", "write"):
        assert len(ours[kind]) == pytest.approx(len(theirs[kind]), rel=0.2)
        assert all(one == other for one, other in zip(ours[kind], theirs[kind], strict=False)), kind


@pytest.mark.parametrize("more", ["", "randrepeat=0\n"])
def test_a_random_job_covers_each_block_once_in_a_pass_as_fio_does(tmp_path: Path, more: str) -> None:
    options = f"rw=randwrite\nsize=1m\nloops=3\n{more}"
    for rows in (of_flashmesh(tmp_path, options), of_fio(tmp_path, options, 1 << 20)):
        passes = [rows[at : at + 256] for at in (0, 256, 512)]
        assert len(rows) == 768
        assert all(sorted(each) == sorted(passes[0]) and len(set(each)) == 256 for each in passes)
        # With `randrepeat`, the default of fio, every pass has the order of the first.
        assert (passes[1] == passes[0] == passes[2]) is not bool(more)


def test_without_a_map_blocks_come_again_as_often_as_with_fio(tmp_path: Path) -> None:
    options = "rw=randread\nnorandommap\nsize=4m\n"

    def blocks_drawn(rows: Requests) -> list[int]:
        """Returns the number of blocks drawn once, and the number drawn twice."""
        often = Counter(Counter(rows).values())
        return [often[1], often[2]]

    # Use the mean of 20 seeds: for one draw of 1,024 blocks, 377 are drawn once with a standard deviation of 14.
    drawn = [blocks_drawn(of_flashmesh(tmp_path, options, seed)) for seed in range(20)]
    once, twice = (sum(counts) / len(drawn) for counts in zip(*drawn, strict=True))
    assert once == pytest.approx(1024 * exp(-1), rel=0.035)
    assert twice == pytest.approx(1024 * exp(-1) / 2, rel=0.06)
    fio_once, fio_twice = blocks_drawn(of_fio(tmp_path, options, 4 << 20))
    assert once == pytest.approx(fio_once, rel=0.15)
    assert twice == pytest.approx(fio_twice, rel=0.25)


@pytest.mark.parametrize(
    "sizes",
    in_part(
        3,
        [
            "bsrange=4k-10k",
            "bsrange=4k-16k",
            "bsrange=4k:16k\nbs=64k",
            "bssplit=4k/60:16k/30:64k/10",
            "bssplit=8k/50:16k/30",
            "bssplit=4k/10:8k/10",
            "bssplit=4k/0:8k/50",
            "bssplit=4k/60:8k/60",
            "bssplit=4k:8k:16k",
            "bssplit=4k/30:6k/40:10k/30",
        ],
    ),
)
def test_sizes_are_those_of_fio(tmp_path: Path, sizes: str) -> None:
    options = f"rw=write\nsize=16m\n{sizes}\n"
    ours, theirs = (
        Counter(size for _, _, size in rows)
        for rows in (of_flashmesh(tmp_path, options), of_fio(tmp_path, options, 16 << 20))
    )
    assert ours.keys() == theirs.keys()
    for size, count in theirs.items():
        assert ours[size] / ours.total() == pytest.approx(count / theirs.total(), abs=0.04), size


def test_requests_are_cut_where_a_pass_has_been_as_with_fio(tmp_path: Path) -> None:
    options = "rw=randwrite\nsize=8m\nbssplit=4k/50:32k/50\n"
    ours, theirs = (of_flashmesh(tmp_path, options), of_fio(tmp_path, options, 8 << 20))
    for rows in (ours, theirs):
        assert sum(size for _, _, size in rows) == 8 << 20
    assert len(ours) == pytest.approx(len(theirs), rel=0.1)


@pytest.mark.parametrize("order", ["", "rw_sequencer=identical\n"])
def test_runs_of_a_random_job_are_those_of_fio(tmp_path: Path, order: str) -> None:
    options = f"rw=randread:4\nnorandommap\nsize=4m\n{order}"

    def steps(rows: Requests) -> list[int]:
        return [later[1] - row[1] for row, later in pairwise(rows)]

    step = 0 if order else 4 * KIB
    ours, theirs = steps(of_flashmesh(tmp_path, options)), steps(of_fio(tmp_path, options, 4 << 20))
    for found in (ours, theirs):
        assert [found[at] for at in (0, 1, 2, 4, 5, 6, 8, 9, 10)] == [step] * 9
    assert ours.count(step) == pytest.approx(theirs.count(step), rel=0.05)


@pytest.mark.parametrize("options", in_part(1, ["rw=rw\n", "rw=randread\nnorandommap\n", "rw=randread:8\n"]))
def test_loops_of_a_job_that_does_not_cover_its_files_go_on(tmp_path: Path, options: str) -> None:
    ours, theirs = (
        [offset for _, offset, _ in rows]
        for rows in (
            of_flashmesh(tmp_path, f"{options}size=1m\nloops=3\n"),
            of_fio(tmp_path, f"{options}size=1m\nloops=3\n", 1 << 20),
        )
    )
    assert len(ours) == len(theirs) == 768
    assert len(set(ours)) == pytest.approx(len(set(theirs)), rel=0.12)
    assert ours[256:512] != ours[:256]


@pytest.mark.parametrize("options", ["rw=randrw\nrwmixread=60\nfsync=4\n", "rw=rw\nfdatasync=3\n"])
def test_a_mix_flushes_when_fio_flushes(tmp_path: Path, options: str) -> None:
    every = int(options.rstrip().rpartition("=")[2])
    for rows in (of_flashmesh(tmp_path, f"{options}size=2m\n"), of_fio(tmp_path, f"{options}size=2m\n", 2 << 20)):
        writes = 0
        kinds = [kind for kind, _, _ in rows]
        for before, after in pairwise(kinds):
            writes += before == "write"
            assert (after == "flush") == (writes > 0 and writes % every == 0 and before != "flush")
        assert any(pair == ("read", "flush") for pair in pairwise(kinds))


def test_reads_are_random_and_writes_sequential_as_with_fio(tmp_path: Path) -> None:
    options = "rw=randrw\npercentage_random=100,0\nsize=4m\nnorandommap\n"
    for rows in (of_flashmesh(tmp_path, options), of_fio(tmp_path, options, 4 << 20)):
        writes, reads = ([at for kind, at, _ in rows if kind == word] for word in ("write", "read"))
        assert writes == [4 * KIB * number for number in range(len(writes))]
        assert sum(later == at + 4 * KIB for at, later in pairwise(reads)) < 10


@pytest.mark.parametrize("word", ["zoned:60/10:30/20:10/70", "zoned_abs:60/1m:40/3m"])
def test_zones_get_their_share_as_with_fio(tmp_path: Path, word: str) -> None:
    options = f"rw=randread\nsize=4m\nio_size=16m\nrandom_distribution={word}\n"
    ours, theirs = (
        Counter(offset * 10 // (4 << 20) for _, offset, _ in rows)
        for rows in (of_flashmesh(tmp_path, options), of_fio(tmp_path, options, 4 << 20))
    )
    for tenth in range(10):
        assert ours[tenth] / ours.total() == pytest.approx(theirs[tenth] / theirs.total(), abs=0.04), tenth


@pytest.mark.parametrize("word", in_part(1, ["pareto:0.2", "normal:10", "zipf:1.2"]))
def test_skew_is_that_of_fio(tmp_path: Path, word: str) -> None:
    options = f"rw=randread\nsize=4m\nio_size=32m\nrandom_distribution={word}\n"

    def hottest(rows: Requests) -> float:
        counts = sorted(Counter(offset for _, offset, _ in rows).values(), reverse=True)
        return sum(counts[: len(counts) // 5]) / sum(counts)

    ours, theirs = hottest(of_flashmesh(tmp_path, options)), hottest(of_fio(tmp_path, options, 4 << 20))
    assert ours == pytest.approx(theirs, rel=0.12)
