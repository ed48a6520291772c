"""Random jobs issue what the real fio issues: equal lists, or equal counts and similar shares if fio draws."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from flashmesh.importers.fio import read_jobs
from flashmesh.sweeps.inputs.ranges import quantity
from real_fio import KIB, logged, run_fio, simulated

pytestmark = pytest.mark.usefixtures("real_fio")

JOBS = 60
SEED = 4
PATTERNS = (
    *("read", "write", "trim", "randread", "randwrite", "randtrim"),
    *("rw", "randrw", "trimwrite", "randtrimwrite"),
)
SIGMAS = 5
"""Maximum deviation of a drawn share that counts as chance, in standard deviations."""
FEW = 40
"""Minimum number of requests of a file for a comparison of their last addresses."""
Rows = list[tuple[str, int, int, int]]
"""Kind, number of the file, offset in the file and size of each request."""


def drawn_job(draws: random.Random) -> dict[str, str]:
    """Returns the options of a random job.

    Combinations in which flashmesh deliberately differs from fio are left out.
    """

    def is_so(chance: float) -> bool:
        return draws.random() < chance

    rw = draws.choice(PATTERNS)
    is_random, is_mix = rw.startswith("rand"), rw in ("rw", "randrw")
    job = {"rw": rw, "bs": draws.choice(["4k", "8k", "16k"])}
    files = draws.choice([1, 1, 2, 4])
    size = draws.choice([256, 512, 768, 1024])
    job |= {"size": f"{size * files}k"} if is_so(0.7) else {"filesize": f"{size}k"}
    if files > 1:
        job["nrfiles"] = str(files)
        orders = ["roundrobin", "sequential", "random", "roundrobin:3"]
        # Left out: with an odd number of requests per turn, fio changes files between the trims and the writes of
        # blocks.
        job["file_service_type"] = draws.choice(["sequential", "roundrobin:4"] if "trimwrite" in rw else orders)
    if is_mix:
        job["rwmixread"] = draws.choice(["10", "30", "50", "75"])
    if is_so(0.25) and "trim" not in rw:
        sizes = {"bsrange": ["4k-16k", "8k-20k"], "bssplit": ["4k/60:16k/40", "8k/50:16k/30:32k/20"]}
        name = draws.choice([*sizes])
        job[name] = draws.choice(sizes[name])
    # Left out: with several request sizes, fio changes files at different places in each loop.
    if is_so(0.25) and rw != "rw" and (files == 1 or not {"bsrange", "bssplit"} & job.keys()):
        job["loops"] = draws.choice(["2", "3"])
    if is_so(0.25) and rw != "rw":
        job["io_size"] = draws.choice(["96k", "304k", "1504k"])
    if is_so(0.2) and files == 1 and rw != "randtrimwrite":
        job["offset"] = draws.choice(["64k", "112k"])
    # Left out: in loops fio doubles `number_ios` of trims and writes, and starts in the file where the last loop ended.
    if is_so(0.15) and not ("trimwrite" in rw and (job.get("loops") == "3" or ("loops" in job and files > 1))):
        job["number_ios"] = draws.choice(["7", "50"])
    if is_so(0.2) and is_random and "trimwrite" not in rw:
        job["norandommap"] = "1"
    is_plain = files == 1 and "size" in job and not {"bsrange", "bssplit"} & job.keys()
    if is_so(0.4) and is_plain and not is_random and not is_mix:
        zone = draws.choice([32, 64])
        job |= {"zonemode": "strided", "zonesize": f"{zone}k", "zonerange": f"{zone}k", "zoneskip": f"{zone}k"}
    # Left out: without `size`, the engine null does not know the end of a file.
    elif is_so(0.3) and "size" in job and not is_random and not is_mix and not {"bsrange", "bssplit"} & job.keys():
        job["rw"] += draws.choice([":4k", ":8k", ":12k"])
    # Left out: fio counts a flush as a request of the file's turn, and flushes twice between loops.
    if is_so(0.2) and files == 1 and not {"loops", "io_size"} & job.keys():
        job["fsync"] = draws.choice(["3", "8"])
    if is_so(0.15):
        job["numjobs"] = "2"
    return job


def written(folder: Path, name: str, jobs: list[dict[str, str]], log: bool) -> str:
    """Writes a job file, and returns its text."""
    text = ""
    for number, options in enumerate(jobs):
        more = {"ioengine": "null"} | ({"write_iolog": f"j{number}.log"} if log else {})
        text += f"[j{number}]\n" + "".join(f"{key}={value}\n" for key, value in (more | options).items())
    (folder / name).write_text(text)
    return text


def of_real_fio(folder: Path, jobs: list[dict[str, str]]) -> dict[str, Rows]:
    """Returns the requests of each clone of each job."""
    run_fio(folder, written(folder, "fio.fio", jobs, log=True))
    found: dict[str, Rows] = {}
    for number, options in enumerate(jobs):
        clones = int(options.get("numjobs", "1"))
        for clone in range(clones):
            mine = f"j{number}.{clone}."
            rows = [row for row in logged(folder / f"j{number}.log") if row[0].startswith(mine)]
            stream = f"j{number}" + (f"-{clone + 1}" if clones > 1 else "")
            found[stream] = [
                (kind, 0 if kind == "flush" else int(name.rpartition(".")[2]), offset, size)
                for name, kind, _, offset, size in rows
            ]
    return found


def of_simulation(folder: Path, jobs: list[dict[str, str]]) -> dict[str, Rows]:
    """Returns the simulated requests of each stream."""
    written(folder, "job.fio", jobs, log=False)
    settings = read_jobs(folder / "job.fio").settings
    found: dict[str, Rows] = {}
    for stream, rows in simulated(folder, "job.fio").items():
        keys = {key: f"stream.{stream}.workload.{key}" for key in ("footprint-start", "footprint", "files")}
        start, span = (
            int(quantity(keys[key], str(settings[keys[key]])).value) for key in ("footprint-start", "footprint")
        )
        length = span // int(str(settings.get(keys["files"], 1)))
        offset = jobs[int(stream.partition("-")[0][1:])].get("offset", "0k")
        first = int(offset.removesuffix("k")) * KIB
        found[stream] = [
            ("flush", 0, 0, 0)
            if kind == "flush"
            else (kind, (at - start) // length, (at - start) % length + first, size)
            for kind, at, size in rows
        ]
    return found


def differences(options: dict[str, str], ours: Rows, theirs: Rows) -> list[str]:
    """Returns the differences between the requests that exceed chance; empty if there are none."""
    rw = options["rw"].partition(":")[0]
    is_one_size = not {"bsrange", "bssplit"} & options.keys()
    is_drawn = rw.startswith("rand") or rw == "rw" or not is_one_size or options.get("file_service_type") == "random"
    if not is_drawn:
        return [] if ours == theirs else ["the lists"]
    found = []
    for name, rows in (("count", lambda rows: len(rows)), ("bytes", lambda rows: sum(row[3] for row in rows))):
        mine, their = (rows([row for row in each if row[0] != "flush"]) for each in (ours, theirs))
        exact = is_one_size and rw != "rw"
        if mine != their and (exact or abs(mine - their) > 0.3 * their + (100 * KIB if name == "bytes" else 8)):
            found.append(f"{name} {mine} {their}")
    kinds = {"kind": 0, "file": 1, "size": 3}
    for name, at in kinds.items():
        mine, their = (Counter(row[at] for row in rows if row[0] != "flush") for rows in (ours, theirs))
        for value in mine.keys() | their.keys():
            shares = [count[value] / max(count.total(), 1) for count in (mine, their)]
            least = max(min(mine.total(), their.total()), 1)
            if abs(shares[0] - shares[1]) > SIGMAS * (0.5 / least) ** 0.5:
                found.append(f"{name} {value}: {mine[value]} of {mine.total()}, {their[value]} of {their.total()}")
    mine, their = (len({row[:3] for row in rows}) for rows in (ours, theirs))
    if abs(mine - their) > 0.3 * their + 8:
        found.append(f"distinct {mine} {their}")
    for file in {row[1] for row in theirs}:
        ends = [max((row[2] + row[3] for row in rows if row[1] == file), default=0) for rows in (ours, theirs)]
        if sum(row[1] == file for row in theirs) >= FEW and abs(ends[0] - ends[1]) > 0.25 * ends[1] + 128 * KIB:
            found.append(f"end of file {file}: {ends}")
    return found


def test_random_jobs_issue_what_fio_issues(tmp_path: Path) -> None:
    draws = random.Random(SEED)
    jobs = [drawn_job(draws) for _ in range(JOBS)]
    theirs, ours = of_real_fio(tmp_path, jobs), of_simulation(tmp_path, jobs)
    assert ours.keys() == theirs.keys()
    found = {
        name: (jobs[int(name.partition("-")[0][1:])], differing)
        for name in theirs
        if (differing := differences(jobs[int(name.partition("-")[0][1:])], ours[name], theirs[name]))
    }
    assert not found
