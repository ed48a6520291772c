"""Fuzzing of all Python readers with damaged files, for a given time; resumes a stopped run.

`python fuzz_importers.py FOLDER MINUTES [SEED]` keeps in FOLDER the number of executions of each target, and the files
that failed. Any bytes must give either a valid result or a printable error.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flashmesh
from flashmesh import configuration
from flashmesh.importers.fio import read_jobs
from flashmesh.importers.mqsim import Mode, translate
from flashmesh.sweeps.inputs.searchfile import read_search
from flashmesh.sweeps.inputs.sweepfile import read_sweep
from mqsim_files import FEW, TRACE, TRACE_TEXT, device_text, workload_text
from sweep_files import DRIVE, SEARCH, SWEEP

JOBS = """[global]
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
POINTS_MAX = 1000
"""Maximum number of points of a sweep that are read."""
TURN_S = 0.5
"""Seconds for which one target runs before the next target does."""
SLOW_S = 10.0
"""Processor time in seconds from which the reading of one file counts as a failure."""
WORDS = (
    *("0", "1", "-1", "1e9", "0.5", "nan", "inf", "99999999999999999999", "4k", "100%", "1..64 x2", "1..9 log", "true"),
    *(
        '"',
        "'",
        "[",
        "]",
        "{",
        "}",
        "=",
        ":",
        "/",
        ",",
        "<",
        ">",
        "&lt;",
        "<!--",
        "-->",
        "#",
        "\n",
        "\x00",
        "\x1b",
        "\u00e9",
    ),
)


def damage(rng: random.Random, whole: bytes) -> bytes:
    """Returns a copy with random damage: bytes, words or lines changed, lost, doubled, moved or exchanged."""
    text = bytearray(whole)
    for _ in range(rng.choice((1, 1, 2, 3))):
        if not text:
            break
        at, length = rng.randrange(len(text)), rng.randint(1, 12)
        match rng.randrange(12):
            case 0:
                text[at] = rng.randrange(256)
            case 1:
                del text[at : at + length]
            case 2:
                text[at:at] = text[at : at + length]
            case 3:
                other = rng.randrange(len(text))
                text[at : at + length] = text[other : other + length]
            case 4 | 5:
                text[at : at + length * rng.randrange(2)] = rng.choice(WORDS).encode()
            case 6 | 7:
                lines = bytes(text).split(b"\n")
                one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
                lines[one] = rng.choice((b"", lines[other], lines[one] + b"\n" + lines[other]))
                text[:] = b"\n".join(lines)
            case _:
                digit = rng.choice([at for at, byte in enumerate(text) if chr(byte).isdigit()] or [at])
                text[digit] = rng.choice(b"0123456789")
    return bytes(text)


def refuses(read: Callable[[Path], object], path: Path, content: bytes) -> bool:
    """Returns whether a file is refused, with a printable error message.

    Raises:
        Exception: If reading fails in another way.
    """
    path.write_bytes(content)
    started_s = time.process_time()
    try:
        read(path)
    except flashmesh.InternalError:
        raise
    except flashmesh.FlashmeshError as error:
        for line in str(error).split("\n"):
            assert line.isprintable(), line
        return True
    finally:
        assert time.process_time() - started_s < SLOW_S, "it takes too long"
    return False


def read_mqsim(device: Path, workload: Path) -> None:
    """Translates files of MQSim in both modes, and reads the translations."""
    for mode in Mode:
        for scenario in translate(device, workload, mode, requests_max=100):
            text = scenario.toml()
            assert all(line.isprintable() for line in text.split("\n")), text


def read_fio(path: Path) -> None:
    """Reads fio jobs and the configuration made from them."""
    configuration.load("preset:venice-z-nand", fio=read_jobs(path))


def read_plan(path: Path) -> None:
    """Reads a sweep and its first points."""
    for count, point in enumerate(read_sweep(path).plan.points()):
        assert all(isinstance(value, str) for value in point.values())
        if count > POINTS_MAX:
            return


def targets(folder: Path) -> dict[str, tuple[bytes, Callable[[Path], object]]]:
    """Returns by name the file to damage and its reader. Files that it refers to are in the same folder."""
    flows = workload_text([FEW, TRACE]).encode()
    (folder / "drive.toml").write_text(DRIVE)
    (folder / "ssd.xml").write_text(device_text())
    (folder / "work.xml").write_bytes(workload_text([FEW]).encode())
    (folder / "traces").mkdir(exist_ok=True)
    (folder / "traces/oltp.trace").write_text(TRACE_TEXT)
    result = json.dumps(flashmesh.run({"preset": "venice-z-nand", "workload": {"requests": 100}}).to_dict()).encode()
    return {
        "mqsim_device": (device_text().encode(), lambda path: read_mqsim(path, folder / "work.xml")),
        "mqsim_workload": (flows, lambda path: read_mqsim(folder / "ssd.xml", path)),
        "fio_jobs": (JOBS.encode(), read_fio),
        "sweep": (SWEEP.encode(), read_plan),
        "search": (SEARCH.encode(), read_search),
        "saved_result": (result, flashmesh.load),
    }


def main(out: Path, minutes: float, seed: int) -> int:
    """Runs all targets in turn. Returns the number of failed executions."""
    out.mkdir(parents=True, exist_ok=True)
    state = out / f"importers-{seed}.json"
    counts: dict[str, int] = json.loads(state.read_text()) if state.exists() else {}
    before, failures = sum(counts.values()), 0
    taken: dict[str, int] = {}
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        folder = Path(name)
        os.chdir(folder)
        all_targets = targets(folder)
        begun = time.monotonic()
        # Run at least once, however slow the machine is.
        while sum(counts.values()) == before or time.monotonic() - begun < 60 * minutes:
            for target, (whole, read) in all_targets.items():
                turn = time.monotonic()
                while time.monotonic() - turn < TURN_S:
                    count = counts[target] = counts.get(target, 0) + 1
                    content = damage(random.Random(f"{seed} {target} {count}"), whole)
                    try:
                        taken[target] = taken.get(target, 0) + (not refuses(read, folder / "fuzzed", content))
                    except Exception:
                        failures += 1
                        (out / f"{target}-{seed}-{count}").write_bytes(content)
                        print(f"{target}-{seed}-{count}: {traceback.format_exc()}", file=sys.stderr)
            state.write_text(json.dumps(counts, indent=2) + "\n")
    for target, count in counts.items():
        print(f"{target:24} {count:>12} executions, {taken.get(target, 0):>9} taken now")
    now = sum(counts.values()) - before
    seconds = time.monotonic() - begun
    print(f"{sum(counts.values())} executions, {now} now in {seconds:.0f} s, {failures} failures now")
    return failures


if __name__ == "__main__":
    arguments: list[Any] = sys.argv[1:]
    sys.exit(main(Path(arguments[0]).resolve(), float(arguments[1]), int((arguments[2:] or ["1"])[0])) > 0)
