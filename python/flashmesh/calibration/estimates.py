"""Initial values of searched keys, from closed forms for the keys that one kind of load nearly determines.

| load | key | closed form |
|---|---|---|
| deep sequential writes, B bytes/s | `flash.program-time` | bytes of a program of every die / B |
| deep sequential reads, B bytes/s | `fabric.channel-rate` | B / channels |
| deep random reads, X requests/s | `firmware.read-time` | firmware cores / X |
| random reads of low depth or load, latency t | read times of all page types | t - host software - transfers |
| random writes at saturation, W pages/s | `geometry.blocks-per-plane` | write amplification = pages programmed / W |

Each closed form neglects all other limits, so the search starts near the drive and does not end there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.calibration.derived import PAGES_OF_WORD_LINE, bytes_of
from flashmesh.calibration.points import ClosedLoad
from flashmesh.calibration.residuals import SERVED
from flashmesh.calibration.space import SOFTWARE, software_time_us
from flashmesh.sweeps.ranges import quantity
from flashmesh.validation.workload import capacity_bytes, planes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flashmesh.calibration.facts import Facts
    from flashmesh.calibration.points import Target
    from flashmesh.calibration.space import FreeKey
    from flashmesh.validation.sheets import SheetLoad

DEEP = 32
"""Minimum outstanding requests of a load that keeps every die busy."""
PAGE_TYPES = {
    "flash.read-time": 0.85,
    "flash.middle-page-read-time": 0.95,
    "flash.upper-page-read-time": 1.2,
    "flash.top-page-read-time": 1.3,
}
"""Initial read time of each page type, as a multiple of the mean."""
COLLECTING = 0.7
"""Share of the time in which dies program during garbage collection. In the remaining time, they read and erase."""
READ_BYTES = 4096
"""Assumed size of the reads whose latency is measured."""


def initial_values(facts: Facts, targets: Sequence[Target]) -> dict[str, str]:
    """Returns the values at which the search starts: estimates, or else those of the preset or of the ranges.

    A preset that the facts name keeps its values.

    Args:
        facts: The facts, with the searched keys.
        targets: The measured loads.
    """
    start = facts.start()
    if "preset" in facts.stated:
        return start
    keys = {key.key: key for key in facts.space.keys}

    def put(name: str, value: float | None, unit: str) -> None:
        if value is not None and name in keys:
            start[name] = nearest(keys[name], value, unit)

    drive = facts.tables
    program_s = program_time_s(drive, targets)
    put("flash.program-time", program_s, "s")
    put("fabric.channel-rate", channel_rate(drive, targets), "B/s")
    put("firmware.read-time", firmware_time_s(drive, targets), "s")
    read_s = read_time_s(drive, targets, start, software_time_us(start, facts.software_us))
    for name, ratio in PAGE_TYPES.items():
        put(name, None if read_s is None else read_s * ratio, "s")
    put("geometry.blocks-per-plane", blocks_per_plane(drive, targets, program_s), "")
    return start


def nearest(key: FreeKey, value: float, unit: str) -> str:
    """Returns the value in the range of a key that is nearest to `value`, in the notation of the range.

    `unit` is the unit of `value`: `s`, `B/s`, or empty for a count.
    """
    low, high = (float(quantity(key.key, key.at(share)).value) for share in (0.0, 1.0))
    scale = {"s": 1e12}.get(unit, 1.0)
    inside = min(max(value * scale, low), high)
    text = {"s": f"{inside:.0f}ps", "B/s": f"{inside:.0f}B/s"}.get(unit, f"{inside:.0f}")
    share = key.share_of(text)
    return key.at(0.5 if share is None else share)


def best_rate(targets: Sequence[Target], wanted: Callable[[SheetLoad], bool]) -> float | None:
    """Returns the highest rate in bytes/s of the closed loops with at least `DEEP` outstanding requests.

    Only loads for which `wanted` holds count; None if there are none.
    """
    rates = [
        held.measured * target.load.load.request_bytes
        for target in targets
        if isinstance(target.load, ClosedLoad) and target.load.load.outstanding >= DEEP and wanted(target.load.load)
        for held in target.held
        if held.figure == SERVED
    ]
    return max(rates, default=None)


def program_time_s(drive: Mapping[str, Any], targets: Sequence[Target]) -> float | None:
    """Returns the program time with which all dies together reach the rate of sequential writes.

    In seconds; None if no deep sequential writes were measured.
    """
    rate = best_rate(targets, lambda load: load.pattern == "sequential" and load.read_share == 0.0)
    return None if rate is None else planes_of(drive["geometry"]) * program_bytes(drive) / rate


def program_bytes(drive: Mapping[str, Any]) -> int:
    """Returns the bytes that a program writes to one plane."""
    flash = drive["flash"]
    pages = PAGES_OF_WORD_LINE[flash["page-types"]] if flash["program-unit"] == "word-line" else 1
    return pages * bytes_of(drive["geometry"]["page-size"])


def channel_rate(drive: Mapping[str, Any], targets: Sequence[Target]) -> float | None:
    """Returns the channel rate in B/s with which all channels together reach the rate of sequential reads.

    None if no deep sequential reads were measured.
    """
    rate = best_rate(targets, lambda load: load.pattern == "sequential" and load.read_share == 1.0)
    return None if rate is None else rate / int(drive["geometry"]["channels"])


def firmware_time_s(drive: Mapping[str, Any], targets: Sequence[Target]) -> float | None:
    """Returns the firmware time of a read with which all cores together reach the rate of random reads.

    In seconds; None if no deep random reads were measured.
    """
    cores = int(drive.get("firmware", {}).get("cores", 0) or 0)
    rates = [
        held.measured
        for target in targets
        if isinstance(target.load, ClosedLoad)
        and (target.load.load.pattern, target.load.load.read_share) == ("random", 1.0)
        and target.load.load.outstanding >= DEEP
        for held in target.held
        if held.figure == SERVED
    ]
    return max(cores, 1) / max(rates) if rates else None


def read_time_s(
    drive: Mapping[str, Any], targets: Sequence[Target], start: Mapping[str, str], software_us: float
) -> float | None:
    """Returns the mean array read time in seconds: the smallest measured read latency without software and transfers.

    Considers mean and median latencies of all loads; None if none was measured.
    """
    columns = ("read_p50_us", "read_mean_us")
    latencies = [held.measured for target in targets for held in target.held if held.figure in columns]
    if not latencies:
        return None
    beside_us = 0.0 if SOFTWARE not in start and not software_us else software_us
    for name, section in (("fabric.channel-rate", "fabric"), ("host.link-rate", "host")):
        text = start.get(name, str(drive[section].get(name.rpartition(".")[2], "unlimited")))
        if text != "unlimited":
            beside_us += READ_BYTES / float(quantity(name, text).value) * 1e6
    return max(min(latencies) - beside_us, 1.0) / 1e6


def blocks_per_plane(drive: Mapping[str, Any], targets: Sequence[Target], program_s: float | None) -> float | None:
    """Returns the blocks per plane with whose spare space GC has the write amplification of the measured random writes.

    None if no deep random writes were measured, or the program time is unknown.

    Greedy collection under uniform writes has a write amplification of about (1 + r) / 2r, with r the ratio of spare to
    host-visible capacity (Desnoyers, TOS 2014).
    """
    written = best_rate(targets, lambda load: load.pattern == "random" and load.read_share == 0.0)
    if written is None or program_s is None:
        return None
    geometry = drive["geometry"]
    programmed = COLLECTING * planes_of(geometry) * program_bytes(drive) / program_s
    amplification = max(programmed / written, 1.5)
    spare = 1.0 / (2.0 * amplification - 1.0)
    block = planes_of(geometry) * int(geometry["pages-per-block"]) * bytes_of(geometry["page-size"])
    return capacity_bytes(drive) / block * (1.0 + spare)
