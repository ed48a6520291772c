"""Loops, zones and files of a job are those of the real fio."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from flashmesh.importers.fio.streams.fileorder import weights_of
from long_cases import in_part
from real_fio import KIB, Requests, of_fio, of_flashmesh

pytestmark = pytest.mark.usefixtures("real_fio")


def offsets(rows: Requests) -> list[int]:
    return [offset // KIB for _, offset, _ in rows]


@pytest.mark.parametrize(
    ("options", "engines"),
    in_part(
        2,
        [
            ("rw=write\nsize=64k\nio_size=32k\nloops=3\n", ("null", "libaio")),
            ("rw=write\nsize=64k\nio_size=96k\nloops=3\n", ("null", "libaio")),
            ("rw=write\nsize=64k\nio_size=300k\nloops=2\n", ("null", "libaio")),
            ("rw=write\nsize=64k\nio_size=160k\n", ("null", "libaio")),
            ("rw=read\nfilesize=64k\nsize=16k\nloops=3\n", ("null", "libaio")),
            ("rw=write:8k\nsize=60k\nloops=2\n", ("null", "libaio")),
            # The engine libaio cannot trim files, only devices, so jobs with trims use the engine null.
            ("rw=trimwrite\nsize=64k\nnumber_ios=7\n", ("null",)),
            ("rw=trimwrite\nsize=32k\nfsync=2\nloops=2\n", ("null",)),
        ],
    ),
)
def test_loops_of_a_sequential_job_are_those_of_fio(tmp_path: Path, options: str, engines: tuple[str, ...]) -> None:
    for engine in engines:
        ours = of_flashmesh(tmp_path, f"ioengine={engine}\n{options}")
        assert ours == of_fio(tmp_path, options, 64 * KIB, engine), engine


@pytest.mark.parametrize("engine", ["null", "libaio"])
@pytest.mark.parametrize(
    ("more", "count"), in_part(1, [("loops=3\n", 48), ("io_size=160k\n", 40), ("io_size=32k\nloops=3\n", 24)])
)
def test_a_job_that_does_not_cover_its_files_begins_anew_where_fio_does(
    tmp_path: Path, more: str, count: int, engine: str
) -> None:
    # Not compared: with the engine null, a sequential mix restarts at the end of a file.
    for rw in ("randread", "randwrite", "randrw", *(["rw"] if engine == "libaio" else [])):
        options = f"rw={rw}\nsize=64k\nnorandommap\n{more}"
        goes_on = engine == "null" or (rw in ("randwrite", "randrw") and "160k" in more)
        ours = of_flashmesh(tmp_path, f"ioengine={engine}\n{options}")
        for rows in (ours, of_fio(tmp_path, options, 64 * KIB, engine)):
            assert len(rows) == count, rw
            assert (offsets(rows)[16:24] == offsets(rows)[:8]) is not goes_on, rw


@pytest.mark.parametrize(
    "options",
    in_part(
        1,
        [
            "rw=randread\nzonesize=64k\nzonerange=64k\n",
            "rw=randread\nzonesize=32k\nzonerange=64k\nzoneskip=64k\n",
            "rw=randwrite\nzonesize=32k\nzonerange=64k\n",
            "rw=randread\nzonesize=128k\nzonerange=64k\nzoneskip=64k\n",
            "rw=randread\nzonesize=32k\nzoneskip=96k\nbs=8k\n",
        ],
    ),
)
def test_random_requests_stay_in_the_zones_in_which_those_of_fio_are(tmp_path: Path, options: str) -> None:
    options += "zonemode=strided\nsize=512k\n"
    ours, theirs = (offsets(rows) for rows in (of_flashmesh(tmp_path, options), of_fio(tmp_path, options, 512 * KIB)))
    assert [at // 64 for at in ours] == [at // 64 for at in theirs]
    assert len(set(ours)) == pytest.approx(len(set(theirs)), rel=0.25)
    assert max(ours) == pytest.approx(max(theirs), abs=24)


FILES = 8


def requests_of_files(rows: Requests) -> list[int]:
    """Returns the file of each request."""
    return [offset // (512 * KIB) for _, offset, _ in rows]


def drawing(order: str) -> str:
    size = f"size=4m\nio_size=24m\nnrfiles={FILES}\n"
    return f"rw=randread\nnorandommap\n{size}file_service_type={order}\n"


@pytest.mark.parametrize(
    "order",
    in_part(
        2,
        [
            "random",
            "random:4",
            "gauss",
            "gauss:40",
            "gauss:80",
            "gauss:10:0.2",
            "gauss:10:1",
            "zipf:1.2:0.3",
            "pareto:0.3:0.6",
        ],
    ),
)
def test_each_file_is_drawn_as_often_as_with_fio(tmp_path: Path, order: str) -> None:
    options = drawing(order)
    ours, theirs = (
        requests_of_files(rows) for rows in (of_flashmesh(tmp_path, options), of_fio(tmp_path, options, 512 * KIB))
    )
    switches = [sum(one != other for one, other in pairwise(files)) for files in (ours, theirs)]
    assert switches[0] == pytest.approx(switches[1], rel=0.1)
    # With `random:N` a file is drawn once for N requests, which multiplies the scatter of the counts by sqrt(N).
    noise = math.sqrt(int(order.removeprefix("random:"))) if order.startswith("random:") else 1
    counts, their_counts = Counter(ours), Counter(theirs)
    for file in range(FILES):
        assert counts[file] == pytest.approx(their_counts[file], rel=0.12 * noise, abs=0.01 * len(theirs)), file


@pytest.mark.parametrize("order", in_part(1, ["zipf:1.2", "pareto:0.3", "zipf", "pareto"]))
def test_a_skewed_order_is_that_of_fio_turned_by_its_draw(tmp_path: Path, order: str) -> None:
    theirs = Counter(requests_of_files(of_fio(tmp_path, drawing(order), 512 * KIB)))
    counts = [theirs[file] / theirs.total() for file in range(FILES)]
    word, _, text = order.partition(":")

    def distance(center: float) -> float:
        weights = weights_of(word, f"{text}:{center}", FILES)
        return max(abs(weight / sum(weights) - count) for weight, count in zip(weights, counts, strict=True))

    assert min(distance(step / 200) for step in range(201)) < 0.03
    first = Counter(requests_of_files(of_flashmesh(tmp_path, drawing(order))))
    expected = weights_of(word, text, FILES)
    assert [first[file] / first.total() for file in range(FILES)] == pytest.approx(
        [weight / sum(expected) for weight in expected], abs=0.03
    )
    assert first.most_common(1)[0][0] == 0
