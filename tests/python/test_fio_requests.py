"""Kinds, sizes, addresses and order of the requests of a fio job."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import flashmesh
from conftest import Read

END = "number_ios=100\n"


def test_sizes_may_be_several(one: Callable[[str], dict[str, Any]]) -> None:
    assert one(f"bssplit=4k/60:64k/\n{END}")["workload.request-size"] == [["4KiB", 60.0], ["64KiB", 40.0]]
    assert one(f"bssplit=4k/50:8k/30\n{END}")["workload.request-size"] == [["4KiB", 70.0], ["8KiB", 30.0]]
    assert one(f"bsrange=4k-16k\n{END}")["workload.request-size"] == [[f"{n}KiB", 0.25] for n in (4, 8, 12, 16)]
    assert one(f"bssplit=4k/10:8k/10\n{END}")["workload.request-size"] == [["4KiB", 10.0], ["8KiB", 90.0]]
    assert one(f"bssplit=4k:8k:16k\n{END}")["workload.request-size"] == [
        ["4KiB", 33.0],
        ["8KiB", 33.0],
        ["16KiB", 34.0],
    ]
    assert one(f"bssplit=4k/60:8k/60\n{END}")["workload.request-size"] == [["4KiB", 60.0], ["8KiB", 40.0]]
    assert one(f"bssplit=8k/50:12k/50\n{END}")["workload.request-size"] == "8KiB"
    unaligned = one(f"bssplit=8k/50:12k/50\nbs_unaligned=1\n{END}")["workload.request-size"]
    assert unaligned == [["8KiB", 50.0], ["12KiB", 50.0]]
    assert one(f"bsrange=4k:8k\nbs=64k\n{END}")["workload.request-size"] == [["4KiB", 0.5], ["8KiB", 0.5]]
    found = one(f"rw=randwrite\nbs=4k,64k\nba=1m\n{END}")
    assert (found["workload.request-size"], found["workload.alignment"]) == ("64KiB", "1MiB")


def test_a_range_of_sizes_is_drawn_as_fio_draws_it(one: Callable[[str], dict[str, Any]]) -> None:
    sizes = one(f"bsrange=4k-10k\n{END}")["workload.request-size"]
    assert sizes == [["4KiB", 0.4], ["8KiB", 0.4], ["10KiB", 0.2]]
    assert sum(int(size.removesuffix("KiB")) * weight for size, weight in sizes) == pytest.approx(6.8)


def test_metadata_of_blocks_is_left_out_of_their_size(jobs: Read) -> None:
    head = f"[a]\nioengine=io_uring_cmd\ncmd_type=nvme\n{END}"
    for written, data, note in (
        ("4160", "4KiB", "64"),
        ("8320", "8KiB", "64"),
        ("1040", "1KiB", "8"),
        ("4104", "4KiB", "8"),
    ):
        found = jobs(f"{head}bs={written}\npi_act=0\n")
        assert found.settings["workload.request-size"] == data
        assert any(f"{note} are metadata, which is not simulated" in each for each in found.notes)
    for text in (f"[a]\nioengine=libaio\nbs=4160\n{END}", f"{head}bs=4100\n"):
        with pytest.raises(flashmesh.ConfigError, match="whole sectors of 512 B"):
            jobs(text)


def test_each_direction_has_its_own_sizes(one: Callable[[str], dict[str, Any]]) -> None:
    found = one(f"rw=randrw\nbs=4k,8k\n{END}")
    assert (found["workload.request-size"], found["workload.write-size"]) == ("4KiB", "8KiB")
    found = one(f"rw=rw\nbssplit=64k/40:1m/60,1m/100\n{END}")
    assert found["workload.request-size"] == [["64KiB", 40.0], ["1MiB", 60.0]]
    assert found["workload.write-size"] == "1MiB"
    assert one(f"rw=randrw\nbs=8k,\n{END}")["workload.write-size"] == "4KiB"
    assert one(f"rw=randread\nbs=4k,8k\nbs_is_seq_rand=1\n{END}")["workload.request-size"] == "8KiB"


@pytest.mark.parametrize(
    ("word", "pattern", "key", "value"),
    [
        ("zipf:0.8", "zipf", "zipf-theta", 0.8),
        ("zipf", "zipf", "zipf-theta", 1.1),
        ("pareto:0.3", "pareto", "pareto-share", 0.3),
        ("normal:20", "normal", "normal-deviation", 0.2),
        ("zoned:50/5:30/15:20/", "zoned", "zones", "50/5:30/15:20/80"),
        ("zoned:60/10:/", "zoned", "zones", "60/10:40/90"),
        ("zoned_abs:50/256k:50/", "zoned", "zones", "50/25:50/75"),
    ],
)
def test_distributions_become_patterns(
    one: Callable[[str], dict[str, Any]], word: str, pattern: str, key: str, value: object
) -> None:
    found = one(f"rw=randread\nsize=1m\nrandom_distribution={word}\n")
    assert (found["workload.pattern"], found[f"workload.{key}"]) == (pattern, value)
    assert "workload.random-map" not in found, "only uniform draws have a map"


def test_blocks_come_once_a_pass_unless_the_job_says_otherwise(one: Callable[[str], dict[str, Any]]) -> None:
    has_map = [
        "workload.random-map" in one(f"rw=randread\nsize=1m\n{more}")
        for more in ("", "norandommap=0\n", "ba=4k\n", "norandommap\n", "ba=8k\n", "rw=read\n")
    ]
    assert has_map == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("options", "keys"),
    [
        ("rw=randread:8", {"run-length": 8}),
        ("rw=randread:8\nrw_sequencer=identical", {"run-length": 8, "run-kind": "identical"}),
        ("rw=randread\npercentage_random=30", {"random-share": 0.3}),
        ("rw=read:8k", {"skip": "8KiB", "skip-back": False}),
        ("rw=read:-8k", {"skip": "8KiB", "skip-back": True}),
        ("rw=read\nzonemode=strided\nzonesize=256k\nzoneskip=1m", {"skip": "1MiB", "skip-after": "256KiB"}),
        ("rw=randtrimwrite", {"deallocate-first": True}),
        ("rw=write\nfsync=3", {"flush-every": 3}),
        ("rw=write\nfsync=8\nfdatasync=2", {"flush-every": 2}),
        ("rw=write\nsync=dsync", {"flush-every": 1}),
        ("rw=read\nfsync=3", {}),
        ("rw=write\nend_fsync=1", {"flush-last": True}),
        ("rw=randrw\nfsync_on_close=1", {"flush-last": True}),
        ("rw=read\nend_fsync=1", {}),
        ("rw=randrw\npercentage_random=100,0", {"write-random-share": 0.0}),
        ("rw=randrw\npercentage_random=20,60", {"random-share": 0.2, "write-random-share": 0.6}),
        ("rw=randtrimwrite\npercentage_random=100,100,40", {"deallocate-first": True, "random-share": 0.4}),
        (
            "rw=read\nzonemode=strided\nzonesize=64k\nzonerange=128k\nzoneskip=64k",
            {"skip": "128KiB", "skip-after": "64KiB"},
        ),
    ],
)
def test_the_order_of_requests_is_that_of_the_job(
    one: Callable[[str], dict[str, Any]], options: str, keys: dict[str, Any]
) -> None:
    found = one(f"size=64m\n{options}\n")
    order = ("run-length", "run-kind", "random-share", "write-random-share", "skip", "skip-back", "skip-after")
    order_keys = (*order, "deallocate-first", "flush-every", "flush-last")
    assert {key: found[f"workload.{key}"] for key in order_keys if f"workload.{key}" in found} == keys


def test_kinds_of_several_sizes_have_no_map(jobs: Read) -> None:
    """fio keeps one random map for all kinds, so kinds with different smallest sizes cover some blocks twice."""
    for options, has_map, is_said in (
        ("rw=randrw\nbs=4k", True, False),
        ("rw=randrw\nbs=4k,16k", False, True),
        ("rw=randrw\nbssplit=4k/50:8k/50,4k/10:64k/90", True, False),
        ("rw=randread\nbs=4k,64k", True, False),
        ("rw=randwrite\nbs=4k,64k", True, True),
        ("rw=randrw\nbs=4k,16k\nnorandommap", False, False),
    ):
        found = jobs(f"[a]\nsize=1m\n{options}\n")
        assert ("workload.random-map" in found.settings) is has_map, options
        assert any("fio 3.33 mixes their blocks up" in note for note in found.notes) is is_said, options


def test_an_offset_of_no_percent_is_the_start(one: Callable[[str], dict[str, Any]]) -> None:
    assert one("filename=/dev/nvme0n1\noffset=0%\nsize=1m")["workload.footprint-start"] == "0B"


@pytest.mark.parametrize(
    ("order", "keys"),
    [
        ("", {"file-order": "round-robin"}),
        ("roundrobin:4", {"file-order": "round-robin", "file-run": 4}),
        ("random:8", {"file-order": "random", "file-run": 8}),
        ("sequential:8", {"file-order": "sequential"}),
        ("zipf:1.2", {"file-order": "random", "file-weights": 4}),
        ("gauss", {"file-order": "random", "file-weights": 4}),
    ],
)
def test_the_order_of_files_is_that_of_the_job(
    one: Callable[[str], dict[str, Any]], order: str, keys: dict[str, Any]
) -> None:
    found = one(f"size=4m\nnrfiles=4\n{f'file_service_type={order}' if order else ''}\n")
    names = ("file-order", "file-run", "file-weights")
    of_files = {name: found[f"workload.{name}"] for name in names if f"workload.{name}" in found}
    if "file-weights" in of_files:
        of_files["file-weights"] = len(of_files["file-weights"].split(":"))
    assert of_files == keys
