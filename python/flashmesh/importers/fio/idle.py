"""Options that have no effect on a job because of its other options, as in fio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.importers.fio.notation import values
from flashmesh.importers.fio.notation.options import names
from flashmesh.importers.fio.streams.requests import PATTERNS, mix

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flashmesh.importers.fio.notation.jobs import Option
    from flashmesh.importers.fio.translate import Translation

NEUTRAL = names("0 none random")
"""Values with which an option asks for nothing."""
OF_RANDOM = names("random_distribution percentage_random norandommap")
OF_MIX = names("rwmixread rwmixwrite")
OF_WRITES = names("fsync fdatasync sync end_fsync fsync_on_close")
OF_RATE = names("rate_process rate_ignore_thinktime")
OF_LENGTH = names("loops number_ios io_size")
OF_ZONES = names("zonerange zoneskip")


def idle_options(job: Translation) -> Iterator[tuple[Option, str]]:
    """Yields each option without effect on the requests that a job generates, with the reason."""
    if "read_iolog" in job.options:
        return
    rw = job.options.get("rw")
    word = rw.value.partition(":")[0] if rw is not None else "read"
    pattern, kinds = PATTERNS.get(word, ("", ()))
    timed = "runtime" in job.options and job.get("time_based", values.flag, False)
    has_writes = 1 in kinds and not (kinds == (0, 1) and mix(job) == 100)
    has_rate = any(name in job.options for name in ("rate", "rate_iops"))
    reasons = {
        f"rw={word} is sequential": (OF_RANDOM, pattern == "sequential"),
        f"rw={word} does not mix reads and writes": (OF_MIX, kinds not in ((), (0, 1))),
        "the job does not write": (OF_WRITES, bool(kinds) and not has_writes),
        "the job has no rate": (OF_RATE, not has_rate),
        "the job has no thinktime": (names("thinktime_blocks"), "thinktime" not in job.options),
        "with time_based only runtime ends the job": (OF_LENGTH, timed),
        "the job has no zonesize": (OF_ZONES, "zonesize" not in job.options),
        "bssplit counts": (names("bs bsrange"), "bssplit" in job.options),
        "bsrange counts": (names("bs"), "bsrange" in job.options and "bssplit" not in job.options),
        "numjobs is 1": (names("offset_increment"), job.clones == 1),
    }
    for reason, (options, holds) in reasons.items():
        for name in sorted(options & job.options.keys()) if holds else ():
            if job.options[name].value not in NEUTRAL:
                yield job.options[name], reason


def note_idle(jobs: Sequence[Translation]) -> None:
    """Adds a note on each option without effect; an option of a global section only if no job uses it."""
    reasons: dict[Option, list[str]] = {}
    for job in jobs:
        for option, reason in idle_options(job):
            reasons.setdefault(option, []).append(reason)
    for option, found in reasons.items():
        having = [job for job in jobs if job.options.get(option.name) == option]
        if len(found) == len(having):
            several = " or ".join(dict.fromkeys(found))
            having[0].found.note(f"{option.written}={option.value}: no effect, {several} (line {option.line})")
