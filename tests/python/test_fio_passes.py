"""Passes over files end as with the real fio: with flushes, files in turn, and both kinds of a mix."""

from __future__ import annotations

from pathlib import Path

import pytest

from long_cases import in_part
from real_fio import KIB, of_fio, of_flashmesh

pytestmark = pytest.mark.usefixtures("real_fio")


@pytest.mark.parametrize(
    ("options", "length_kib"),
    in_part(
        2,
        [
            ("rw=write\nsize=32k\nnrfiles=2\nloops=2\nend_fsync=1\n", 16),
            ("rw=write\nsize=64k\nnrfiles=2\nfile_service_type=sequential\nloops=2\nfsync_on_close=1\n", 32),
            ("rw=write\nsize=64k\nnrfiles=4\nio_size=100k\nend_fsync=1\n", 16),
            ("rw=write\nsize=16k\nio_size=40k\nend_fsync=1\n", 16),
            ("rw=write\nsize=16k\nnumber_ios=3\nloops=3\nend_fsync=1\n", 16),
            ("rw=write\nsize=18k\nfsync=4\nend_fsync=1\n", 18),
            ("rw=write\nsize=32k\nnrfiles=2\nfsync=3\n", 16),
            ("rw=write\nsize=64k\nnrfiles=4\nfile_service_type=roundrobin:3\nfsync=3\n", 16),
        ],
    ),
)
def test_flushes_come_for_each_file_and_loop_as_with_fio(tmp_path: Path, options: str, length_kib: int) -> None:
    assert of_flashmesh(tmp_path, options) == of_fio(tmp_path, options, length_kib * KIB)


@pytest.mark.parametrize("zones", ["zonesize=8k\nzonerange=8k\nzoneskip=20k\n", "zonesize=8k\nzonerange=28k\n"])
def test_zones_begin_anew_behind_a_zone_that_ends_with_the_file(tmp_path: Path, zones: str) -> None:
    options = f"rw=read\nsize=64k\nzonemode=strided\n{zones}"
    assert of_flashmesh(tmp_path, options) == of_fio(tmp_path, options, 64 * KIB)


@pytest.mark.parametrize("more", ["loops=3\n", "io_size=160k\n"])
def test_a_sequential_mix_begins_anew_at_the_end_of_a_file_as_with_fio(tmp_path: Path, more: str) -> None:
    options = f"rw=rw\nsize=64k\n{more}"
    for rows in (of_flashmesh(tmp_path, options), of_fio(tmp_path, options, 64 * KIB)):
        positions, restarts = {"read": 0, "write": 0}, 0
        for kind, offset, size in rows:
            if offset == 0 < positions[kind]:
                assert max(positions.values()) == 64 * KIB
                positions, restarts = {"read": 0, "write": 0}, restarts + 1
            assert offset == positions[kind]
            positions[kind] += size
        assert restarts
