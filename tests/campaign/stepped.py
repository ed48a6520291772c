"""Random stepped drives: runs after a restored snapshot, and snapshots of other drives."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from flashmesh import ConfigError, Drive, Op
from flashmesh.configuration import read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

    from campaign.values import Settings

LEFT_OUT = re.compile(r"^(power|policy)\.|(^|\.)(workload|replay)\.")
"""Keys that are left out: those of requests, which the caller submits, of a power cut, and of policies in Python."""
REQUESTS = 40
BYTES = 4096
GAP_PS = 5_000_000


def stepped(settings: Settings, seed: int, *, check: bool = False) -> Drive:
    """Returns a stepped drive with drawn settings, except for those in `LEFT_OUT`.

    Raises:
        ConfigError: If the settings give no valid drive, or none that can be stepped.
    """
    own = {key: text for key, text in settings.items() if not LEFT_OUT.search(key)} | {"seed": str(seed)}
    tables = tomllib.loads(read({}, [f"{key}={text}" for key, text in own.items()]).to_toml())
    return Drive(tables, check=check)


def submitted(drive: Drive, random: Random, requests: int) -> list[tuple[int, int, int]]:
    """Submits random reads, writes and deallocations. Returns the id, time in ps and status of each completion."""
    start = drive.now_ps
    pages = drive.capacity() // BYTES
    for number in range(requests):
        op = random.choice((Op.READ, Op.WRITE, Op.DEALLOCATE))
        drive.submit(start + number * GAP_PS, op, random.randrange(pages) * BYTES, BYTES)
    done = drive.drain()
    return [(int(a), int(b), int(c)) for a, b, c in zip(done.id, done.time_ps, done.status, strict=True)]


def restored(settings: Settings, random: Random) -> Iterator[str]:
    """Yields the faults of a drive that continues from a snapshot, is restored, and continues again.

    Raises:
        ConfigError: If the settings give no valid drive, or none that can be stepped.
    """
    drive = stepped(settings, 1, check=True)
    submitted(drive, random, REQUESTS)
    snapshot, state = drive.snapshot(), random.getstate()
    first, report = submitted(drive, random, REQUESTS), drive.report()
    drive.restore(snapshot)
    random.setstate(state)
    if submitted(drive, random, REQUESTS) != first:
        yield "after a snapshot was restored, the same requests complete otherwise"
    if drive.report().latency_ps != report.latency_ps:
        yield "after a snapshot was restored, the report is another one"


def foreign(settings: Settings, random: Random) -> Iterator[str]:
    """Yields the faults of a drive that is restored from the snapshot of another one.

    Raises:
        ConfigError: If the settings give no valid drive, or none that can be stepped.
    """
    seed = random.randrange(1, 1000)
    own, other = stepped(settings, seed), stepped(settings, seed + 1)
    submitted(own, random, 1)
    try:
        other.restore(own.snapshot())
    except ConfigError as error:
        if "seed" not in str(error):
            yield f"the error does not name the key that differs: {error}"
        return
    yield "the snapshot of a drive with another seed is restored"
