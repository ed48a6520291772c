"""Whatever the bytes of a file for an importer, what comes is a translation or an error that a terminal can show."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import flashmesh
from flashmesh.importers.fio import read_jobs
from flashmesh.importers.mqsim import import_mqsim
from flashmesh.importers.problems import Source
from mqsim_files import FEW, device_text, workload_text

JOBS = b"""[global]
direct=1
ioengine=libaio
size=64m
kb_base=1024
[oltp]
rw=randrw
rwmixread=70
bssplit=4k/60:64k/
random_distribution=zipf:0.9
iodepth=4
[log]
rw=write
bs=64k,128k
rate_iops=1000
runtime=2s
numjobs=2
offset_increment=1g
[tail]
number_ios=100
ioengine=psync
thinktime=50
norandommap
"""
TRIES = 300


def damaged(seed: int, whole: bytes) -> Iterator[bytes]:
    """Files made of nothing but chance, and copies of one with bytes changed, lost, doubled or moved."""
    rng = random.Random(seed)
    for _ in range(TRIES // 3):
        yield rng.randbytes(rng.randrange(200))
    for _ in range(TRIES):
        text = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            at, length = rng.randrange(len(text)), rng.randint(1, 12)
            match rng.randrange(8):
                case 0:
                    text[at] = rng.randrange(256)
                case 1:
                    del text[at : at + length]
                case 2:
                    text[at:at] = text[at : at + length]
                case 3:
                    other = rng.randrange(len(text))
                    text[at : at + length] = text[other : other + length]
                case _:
                    digit = rng.choice([at for at, byte in enumerate(text) if chr(byte).isdigit()] or [at])
                    text[digit] = rng.choice(b"0123456789")
        yield bytes(text)


def try_all(files: Iterator[bytes], path: Path, read: Callable[[], object]) -> tuple[int, int]:
    """How many files are taken and how many refused, each refusal with nothing in it but what can be seen."""
    taken = refused = 0
    for content in files:
        path.write_bytes(content)
        try:
            read()
        except flashmesh.ConfigError as error:
            refused += 1
            for line in str(error).split("\n"):
                assert line.isprintable(), (content, line)
        else:
            taken += 1
    return taken, refused


@pytest.mark.parametrize("seed", [1, 2])
def test_damaged_job_files_are_jobs_or_errors(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "job.fio"
    taken, refused = try_all(damaged(seed, JOBS), path, lambda: read_jobs(path))
    assert taken > 0
    assert refused > TRIES // 2


@pytest.mark.parametrize("exchanged", ["ssd.xml", "work.xml"])
def test_damaged_files_of_mqsim_are_configurations_or_errors(tmp_path: Path, exchanged: str) -> None:
    whole = {"ssd.xml": device_text().encode(), "work.xml": workload_text([FEW]).encode()}
    for name, content in whole.items():
        (tmp_path / name).write_bytes(content)

    def read() -> None:
        import_mqsim(tmp_path / "ssd.xml", tmp_path / "work.xml", tmp_path / "out", requests_max=100)

    taken, refused = try_all(damaged(3, whole[exchanged]), tmp_path / exchanged, read)
    assert taken > 0
    assert refused > TRIES // 2


def test_an_error_shows_control_characters_as_escapes_and_long_lines_in_part(tmp_path: Path) -> None:
    line = f"{'a' * 200}\x1b[31m{'b' * 200}"
    text = str(Source("x", line).problem(1, f"bad \x07 {'9' * 900} is no number", mark="\x1b[31m"))
    message, place, _, shown, carets = text.split("\n")
    assert message == f"bad \\x07 {'9' * 200}... is no number"
    assert place.endswith("x:1:201")
    assert shown == f"1 | ...{'a' * 50}\\x1b[31m{'b' * 45}..."
    assert shown[carets.index("^") : carets.rindex("^") + 1] == "\\x1b[31m"
    (tmp_path / "job.fio").write_bytes(b"[a]\n\x1b]0;title\x07=1\n")
    with pytest.raises(flashmesh.ConfigError, match=r"`\\x1b\]0;title\\x07` is no option"):
        read_jobs(tmp_path / "job.fio")
