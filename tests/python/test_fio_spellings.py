"""Spellings of times, sizes and shares in fio's job files that fio misreads, with what to write instead."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import flashmesh
from conftest import TIMEOUT_S, Read
from flashmesh.importers.fio.notation import meant
from flashmesh.importers.fio.notation.values import time_us
from long_cases import in_part
from real_fio import FIO

END = "number_ios=100\n"
TIMES = ("0.3", "1.5", "0.5s", "5sec", "5seconds", "2min", "1h30m", "00:00:05", "1.5ms", "1hour", "1ms-2ms")


@pytest.mark.parametrize(
    ("line", "words", "instead"),
    [
        ("ramp_time=0.3", "reads it as 0s", "ramp_time=300ms"),
        ("ramp_time=1.5", "reads it as 1s", "ramp_time=1500ms"),
        ("timeout=5sec", "reads it as 5us", "timeout=5s"),
        ("runtime=1h30m", "reads it as 1us", "runtime=90m"),
        ("runtime=00:01:30", "reads it as 00s", "runtime=90s"),
        ("thinktime=1.5ms", "reads it as 1us", "thinktime=1500us"),
        ("startdelay=0.2", "reads it as 0s", "startdelay=200ms"),
        ("size=1.5g", "reads it as 1 byte", "size=1536m"),
        ("size=10.5%", "reads it as 10 bytes", "size=10%"),
        ("rate=1.5m", "reads it as 1 byte", "rate=1536k"),
        ("rate_iops=1000.5", "reads it as 1000", "rate_iops=1000"),
        ("iodepth=1.5", "reads it as 1", "iodepth=1"),
        ("bs=4.5k", "reads it as 4 bytes", "bs=4608"),
        ("bs=4KiB", "is 4,000 bytes, in fio too", "bs=4k"),
        ("bs=4k-16k", "fio takes 4k", "bsrange=4k-16k"),
        ("bssplit=4k/33.3:8k/66", "reads it as 33", "bssplit=4k/33:8k/66"),
        ("rw=randrw\nrwmixread=70%", "not a whole number of percent", "rwmixread=70"),
        ("rw=randrw\nrwmixread=0.7", "not a whole number of percent", "rwmixread=70"),
        ("rw=randrw\nrwmixwrite=30:70", "not a whole number of percent", "rwmixwrite=30"),
        ("rw=randread\npercentage_random=50%", "not a whole number of percent", "percentage_random=50"),
        ("runtime=1\ntime_based=true", "neither 0 nor 1", "time_based=1"),
        ("rw=randread\nrandom_distribution=zipf:1", "any theta but 1", "zipf:1.1"),
        ("rw=randread\nrandom_distribution=pareto:1.5", "above 0 and below 1", "pareto:0.2"),
        ("numjobs=0", "not between 1 and 256", "a number from 1 to 256"),
        ("direct=yes", "fio refuses it", "0 or 1"),
    ],
)
def test_a_spelling_that_fio_misreads_is_refused_with_what_to_write(
    jobs: Read, line: str, words: str, instead: str
) -> None:
    with pytest.raises(flashmesh.ConfigError) as error:
        jobs(f"[a]\n{line}\n{END}")
    name = line.rpartition("\n")[2].partition("=")[0]
    assert words in str(error.value)
    assert f"{name}:" in str(error.value).splitlines()[0]
    assert f"job.fio:{line.count(chr(10)) + 2}:1" in str(error.value)
    assert str(error.value).endswith(f"help: write {instead}")


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("ramp_time=300ms", "replay.ramp-time", "300000us"),
        ("ramp_time=300msecs", "replay.ramp-time", "300000us"),
        ("ramp_time=2 s", "replay.ramp-time", "2000000us"),
        ("rw=randread\nbsrange=8k-4k", "workload.request-size", [["4KiB", 0.5], ["8KiB", 0.5]]),
        ("bs=4k\nrate=4m/s", "workload.interarrival", "976562500ps"),
        ("ioengine=aio\niodepth=4", "replay.outstanding", 4),
    ],
)
def test_other_spellings_that_fio_takes_are_taken(
    one: Callable[[str], dict[str, Any]], line: str, key: str, value: object
) -> None:
    assert one(f"{line}\n{END}")[key] == value


def test_thousands_behind_a_comma_are_told(jobs: Read) -> None:
    """Like fio, which takes the number behind the comma for the rate of writes."""
    assert any("for thousands write 10000" in note for note in jobs(f"[a]\nrate_iops=10,000\n{END}").notes)
    assert not any("thousands" in note for note in jobs(f"[a]\nrate_iops=400,600\nrw=randrw\n{END}").notes)


def test_sizes_of_powers_of_1000_are_told(jobs: Read) -> None:
    found = jobs("[a]\nsize=1GiB\n")
    assert found.settings["workload.footprint"] == "1000000000B"
    assert any(note.startswith("size=1GiB: as in fio") for note in found.notes)
    assert not any(
        "powers" in note for text in ("size=1g", "kb_base=1000\nsize=1GiB") for note in jobs(f"[a]\n{text}\n").notes
    )


@pytest.mark.skipif(FIO is None, reason="there is no fio")
@pytest.mark.parametrize("option", in_part(1, ["runtime", "thinktime"]))
def test_fio_reads_times_as_errors_say(tmp_path: Path, option: str) -> None:
    unit = {"runtime": "s", "thinktime": "us"}[option]
    for text in (*TIMES, "30", "300ms", "2 s"):
        (tmp_path / "job.fio").write_text(f"[a]\nioengine=null\nsize=4k\n{option}={text}\n")
        done = subprocess.run(
            [str(FIO), "--debug=parse", "--parse-only", "job.fio"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=True,
        )
        read = re.search(rf"__handle_option={option},.*\n.*out=(\d+)", done.stdout + done.stderr)
        assert read is not None
        assert time_us(meant.time_read(text, unit), unit) == int(read[1]), text
