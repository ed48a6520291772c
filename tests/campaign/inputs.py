"""Random inputs of drawn drives: traces in every format, and profiles fitted to traces."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import TYPE_CHECKING

from flashmesh import _native
from flashmesh.configuration import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from random import Random

    from campaign.values import Settings

Row = tuple[int, int, int, bool]
"""A request: arrival in microseconds, first sector of 512 B, number of sectors, and whether it reads."""
SECTOR = 512
LAST_SECTOR = 2**53 - 1
"""Largest whole number that a JSON number holds exactly."""
SPACE_SECTORS = 2048
BLKPARSE_DEVICE = "8,16"


def letter(reads: bool) -> str:
    """Returns `R` for a read, and `W` for a write."""
    return "R" if reads else "W"


def word(reads: bool) -> str:
    """Returns `Read` for a read, and `Write` for a write."""
    return "Read" if reads else "Write"


LINES: dict[str, Callable[[int, int, int, bool], str]] = {
    "msr": lambda at, lba, many, reads: f"{10 * at},hm,0,{word(reads)},{lba * SECTOR},{many * SECTOR},7",
    "msr-short": lambda at, lba, many, reads: f"{10 * at},{word(reads)},{lba * SECTOR},{many * SECTOR}",
    "ascii": lambda at, lba, many, reads: f"{1000 * at} 0 {lba} {many} {int(reads)}",
    "fio-iolog": lambda at, lba, many, reads: f"{at} /dev/x {word(reads).lower()} {lba * SECTOR} {many * SECTOR}",
    "spc": lambda at, lba, many, reads: f"0,{lba},{many * SECTOR},{letter(reads)},{at / 1e6:.6f}",
    "systor": lambda at, lba, many, reads: f"{at / 1e6:.9f},0.1,{letter(reads)},3,{lba * SECTOR},{many * SECTOR}",
    "blkparse": lambda at, lba, many, reads: (
        f"  {BLKPARSE_DEVICE} 3 1 {at / 1e6:.9f} 3645 D {letter(reads)} {lba} + {many} [java]"
    ),
    "diskmon": lambda at, lba, many, reads: f"1\t{at / 1e6:.6f}\t0.001\t0\t{word(reads)}\t{lba}\t{many}",
    "alibaba": lambda at, lba, many, reads: f"5,{letter(reads)},{lba * SECTOR},{many * SECTOR},{at}",
    "tencent": lambda at, lba, many, reads: f"{at // 10**6},{lba},{many},{int(not reads)},1283",
    "fiu": lambda at, lba, many, reads: f"{1000 * at} 4892 syslogd {lba} {many} {letter(reads)} 6 0",
    "libcachesim-csv": lambda at, lba, many, reads: f"1,{at / 1e6:.6f},{letter(reads)},{many * SECTOR},{lba}",
    "srt": lambda at, lba, many, reads: (
        f"{at / 1e6:.6f} {at / 1e6:.6f} {at / 1e6:.6f} {many * SECTOR} {letter(reads)} {lba // 2} 1f"
    ),
}
"""Functions from a request to its line, by text format."""
HEADS = {
    "fio-iolog": "fio version 3 iolog\n0 /dev/x add\n0 /dev/x open\n",
    "libcachesim-csv": "version,time,op,size,lbn\n",
}
RECORDS: dict[str, Callable[[int, int, int, bool], bytes]] = {
    "vscsi1": lambda at, lba, many, reads: struct.pack(
        "<IIIHHQQ", 7, many * SECTOR, 1, 0x28 if reads else 0x8A, 0x0107, lba, at
    ),
    "vscsi2": lambda at, lba, many, reads: struct.pack(
        "<HHIIIQQQ", 0x28 if reads else 0x8A, 0x0207, 7, many * SECTOR, 1, lba, at, 345
    ),
    "oracle-general": lambda at, lba, many, _reads: struct.pack("<IQIq", at // 10**6, lba, many * SECTOR, -1),
}
"""Functions from a request to its record, by binary format."""
FORMATS = (*LINES, *RECORDS)
AUTO = "auto"
"""Value of `workload.format` that detects the format from the content of the file."""


def rows(random: Random) -> Iterator[Row]:
    """Yields random requests; in some traces, a few are at the largest offsets that a format can hold."""
    at = 0
    gap = random.choice((0, 1, 30, 400_000))
    far = random.random() < 0.3
    for _ in range(random.choice((1, 30, 300))):
        at += random.randint(0, gap)
        lba = 8 * random.randrange(SPACE_SECTORS // 8) + random.choice((0, 0, 0, 1))
        if far and random.random() < 0.1:
            lba = random.choice((LAST_SECTOR, LAST_SECTOR - 8, 2**40))
        yield at, lba, random.choice((1, 8, 8, 40)), random.random() < 0.5


def written(folder: Path, text: bytes, suffix: str) -> Path:
    """Writes a file named by a hash of its content, with a suffix. Returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{hashlib.sha256(text).hexdigest()[:16]}.{suffix}"
    if not path.exists():
        path.write_bytes(text)
    return path.absolute()


def trace(random: Random, folder: Path, form: str) -> Path:
    """Writes a random trace in a format. Returns its path."""
    if form in RECORDS:
        return written(folder, b"".join(RECORDS[form](*row) for row in rows(random)), form)
    text = HEADS.get(form, "") + "".join(f"{LINES[form](*row)}\n" for row in rows(random))
    return written(folder, text.encode(), form)


def trace_settings(random: Random, folder: Path, form: str | None = None) -> Settings:
    """Returns settings that replay a random trace in a format; by default in a random one."""
    named = form or random.choice((AUTO, *FORMATS))
    form = random.choice(FORMATS) if named == AUTO else named
    settings = {
        "workload.trace": json.dumps(str(trace(random, folder, form))),
        "workload.format": f'"{named}"',
        "workload.beyond": random.choice(('"wrap"', '"send"', '"send"', '"reject"')),
        "workload.tolerate": "1.0",
    }
    if form == "ascii":
        settings["workload.time-unit"] = random.choice(('"ns"', '"us"'))
    return settings


def fitted_settings(random: Random, folder: Path) -> Settings:
    """Returns settings that draw requests from a profile fitted to a random trace; none if it cannot be fitted."""
    path = trace(random, folder, "msr")
    source = read({}, [f"workload.trace={json.dumps(str(path))}", "workload.tolerate=1.0", 'workload.format="msr"'])
    try:
        profile, _, _ = _native.fit_trace(source)
    except _native.FlashmeshError:
        return {}
    return {"workload.fitted": json.dumps(str(written(folder, profile.encode(), "profile")))}
