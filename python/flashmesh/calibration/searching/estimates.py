"""Initial values of searched keys, from closed forms for the keys that one kind of load nearly determines.

| load | key | closed form |
|---|---|---|
| deep sequential writes, B bytes/s | `flash.program-time` | bytes of a program of every die / B |
| the same to an empty drive with an SLC cache | `slc.program-time` | bytes of a page of every plane / B |
| deep sequential reads, B bytes/s | `fabric.channel-rate` | B / channels |
| deep random reads, X requests/s | `firmware.read-time` | firmware cores / X |
| random reads of low depth or load, latency t | read times of all page types | t - host software - transfers |
| reads of mean latency m beside writes at a share r of saturation | `flash.suspend-time` | (m - t) / r |
| random writes at saturation, W pages/s | `geometry.blocks-per-plane` | write amplification = pages programmed / W |
| writes at QD1, latency t, and up to X writes/s | `firmware.write-time` | t - software - transfer, <= 0.8 cores / X |
| rows of a data sheet only, least latency t | `software-time` | t / 5, or the time of the preset |

The interval of the write throttle also has a closed form; the search tries this interval as an alternative to no
throttle (`throttle.py`).
Each closed form neglects all other limits of a drive, so its value is only the start of the search.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flashmesh.calibration.derived import PAGES_OF_WORD_LINE, bytes_of
from flashmesh.calibration.inputs.points import ClosedLoad, OpenLoad
from flashmesh.calibration.residuals import SERVED, value
from flashmesh.calibration.space import SOFTWARE, software_time_us
from flashmesh.sweeps.inputs.ranges import quantity
from flashmesh.validation.drives import drives
from flashmesh.validation.loads.workload import capacity_bytes, planes_of
from flashmesh.validation.tables.sheets import EMPTY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.calibration.inputs.facts import Facts
    from flashmesh.calibration.inputs.points import Target
    from flashmesh.calibration.residuals import Held
    from flashmesh.calibration.searching.bench import Candidate
    from flashmesh.validation.figures import Figures

DEEP = 32
"""Minimum outstanding requests of a load that keeps every die busy."""
PAGE_TYPES = {
    "flash.read-time": 0.87,
    "flash.middle-page-read-time": 0.96,
    "flash.upper-page-read-time": 1.17,
    "flash.top-page-read-time": 1.3,
}
"""Initial read time of each page type, as a multiple of the mean.

The ratios of TLC are those of the preset `solidigm-p5520`. No measured drive has top pages.
"""
COLLECTING = 0.66
"""Program rate of a die during garbage collection, in which it also reads and erases, relative to a die that only
programs.

The ratio is that of the preset `solidigm-p5520` at saturation.
"""
AMPLIFICATION_MIN = 1.5
"""Minimum estimate of the write amplification; a smaller one would need more spare space than drives have."""
READ_BYTES = 4096
"""Assumed size of the requests whose latency is measured."""
SOFTWARE_SHARE = 0.2
"""Initial host software time for the rows of a data sheet, as a share of the least latency."""
BUSY_MAX = 0.8
"""Maximum utilisation of the firmware cores at the highest write rate, as a bound on the initial write time."""
CORRECTION_MAX = 2.0
"""Maximum factor by which one simulation adjusts a figure for the closed forms, up or down."""
SLC_PROGRAM = "slc.program-time"
US_PER_S = 1e6
PS_PER_S = 1e12
PS_PER_US = 1e6


def initial_values(facts: Facts, targets: Sequence[Target]) -> dict[str, str]:
    """Returns the values at which the search starts.

    If the facts name a preset, these are `facts.start()`. Otherwise they are estimates, and `facts.start()` for keys
    without an estimate. The host software time has an estimate in both cases.

    Args:
        facts: The facts, with the searched keys.
        targets: The measured loads.
    """
    start = facts.start() | software_time(facts, targets)
    return start if "preset" in facts.stated else start | estimates(facts, targets, start)


def estimates(facts: Facts, targets: Sequence[Target], start: Mapping[str, str]) -> dict[str, str]:
    """Returns the values of the keys that have a closed form, as far as their figures are measured.

    Args:
        facts: The facts, with the searched keys.
        targets: The loads, with their figures.
        start: The initial values, for the host software time.
    """
    drive = facts.tables
    has_slc = any(key.key == SLC_PROGRAM for key in facts.space.ranged)
    program_s = program_time_s(drive, [target for target in targets if not (has_slc and is_burst(target))])
    burst = deep_rate([target for target in targets if is_burst(target)], "sequential", 0.0)
    slc_s = (
        None if burst is None else planes_of(drive["geometry"]) * bytes_of(drive["geometry"]["page-size"]) / burst[1]
    )
    rate = channel_rate(drive, targets)
    firmware_s = firmware_time_s(drive, targets)
    software_us = software_time_us(start, facts.software_us)
    read_s = read_time_s(drive, targets, rate, software_us)
    write_s = write_time_s(drive, targets, software_us)
    full = [target for target in targets if not is_burst(target)]
    values = {
        "flash.program-time": program_s and program_s * PS_PER_S,
        SLC_PROGRAM: slc_s and slc_s * PS_PER_S,
        "fabric.channel-rate": rate,
        "firmware.read-time": firmware_s and firmware_s * PS_PER_S,
        "firmware.write-time": write_s and write_s * PS_PER_S,
        "geometry.blocks-per-plane": blocks_per_plane(drive, full, program_s),
        "flash.suspend-time": suspend_time_ps(targets),
        **{name: read_s and read_s * ratio * PS_PER_S for name, ratio in PAGE_TYPES.items()},
    }
    found = {key.key: (key, values.get(key.key)) for key in facts.space.ranged}
    return {name: key.nearest(number) for name, (key, number) in found.items() if number is not None}


def is_burst(target: Target) -> bool:
    """Returns whether a load writes to an empty drive."""
    return isinstance(target.load, ClosedLoad) and target.load.load.precondition == EMPTY


class Aim:
    """Closed forms of figures that are adjusted after each simulation, so that simulated figures approach the measured.

    Closed forms neglect all other limits of a drive. If a drive with their values misses a figure by a factor, the next
    drive aims at the figure divided by this factor. Each such drive costs as much as any, and least squares need one
    for each key.
    """

    def __init__(self, facts: Facts, targets: Sequence[Target], start: Mapping[str, str]) -> None:
        """Creates closed forms of the measured figures, not yet adjusted.

        Args:
            facts: The facts, with the searched keys.
            targets: The loads, which are rows of a data sheet.
            start: The initial values, which keys without a closed form keep.
        """
        self.facts = facts
        self.targets = targets
        self.aimed = list(targets)
        self.start = dict(start)

    def settings(self) -> dict[str, str]:
        """Returns the settings of the next drive."""
        return self.start | estimates(self.facts, self.aimed, self.start)

    def correct(self, candidate: Candidate) -> None:
        """Multiplies each adjusted figure by measured / simulated figure of the last drive, `candidate`."""
        self.aimed = [
            replace(
                aimed, held=tuple(self.corrected(*each, figures) for each in zip(aimed.held, target.held, strict=True))
            )
            for aimed, target, figures in zip(self.aimed, self.targets, candidate.figures, strict=True)
        ]

    def corrected(self, aimed: Held, measured: Held, figures: Figures | None) -> Held:
        """Returns the adjusted figure times measured / simulated, a factor limited by `CORRECTION_MAX`."""
        simulated = None if figures is None else value(figures, measured.figure)
        factor = measured.measured / simulated if simulated else 1.0
        return replace(aimed, measured=aimed.measured * min(max(factor, 1.0 / CORRECTION_MAX), CORRECTION_MAX))


def software_time(facts: Facts, targets: Sequence[Target]) -> dict[str, str]:
    """Returns the initial host software time by its key; empty for the default, `FreeKey.first`, or an unsearched key.

    Measurements have a host, so their search begins in the middle of the range. A data sheet names no host, and its
    rows hardly tell software time from firmware time: there the search begins at the time of the preset, if measured,
    or else at `SOFTWARE_SHARE` of the least latency, but not above the middle of the range. A larger time would be
    missing in the written drive.
    """
    key = next((each for each in facts.space.ranged if each.key == SOFTWARE), None)
    if key is None or not all(isinstance(target.load, ClosedLoad) for target in targets):
        return {}
    preset = drives().get(str(facts.stated.get("preset")))
    if preset is not None and preset.software_us:
        return {SOFTWARE: key.nearest(preset.software_us * PS_PER_US)}
    least_us = min((us for target in targets for us in latencies_us(target)), default=0.0)
    middle_ps = float(quantity(SOFTWARE, key.at(0.5)).value)
    return {SOFTWARE: key.nearest(min(SOFTWARE_SHARE * least_us * PS_PER_US, middle_ps))}


def latencies_us(target: Target) -> list[float]:
    """Returns the mean and median latencies of a row in microseconds; at QD1 also the inverse of the request rate."""
    found = [held.measured for held in target.held if held.figure.endswith(("_mean_us", "_p50_us"))]
    if isinstance(target.load, ClosedLoad) and target.load.load.outstanding == 1:
        found += [US_PER_S / held.measured for held in target.held if held.figure == SERVED]
    return found


def write_time_s(drive: Mapping[str, Any], targets: Sequence[Target], software_us: float) -> float | None:
    """Returns the firmware time of a write that explains the least latency of single writes, in seconds.

    At most `BUSY_MAX` of the time of all cores at the highest rate of writes: flash or the write buffer bounds writes,
    and firmware that did would delay reads beside them. None if no writes at QD1 were measured.
    """
    writes = [
        (target, target.load.load.outstanding)
        for target in targets
        if isinstance(target.load, ClosedLoad) and target.load.load.read_share == 0.0
    ]
    single = [us for target, outstanding in writes if outstanding == 1 for us in latencies_us(target)]
    if not single:
        return None
    transfer_s = READ_BYTES / rate_of(drive["host"]["link-rate"])
    rates = [held.measured for target, _ in writes for held in target.held if held.figure == SERVED]
    bound_s = BUSY_MAX * int(drive["firmware"]["cores"]) / max(rates) if rates else float("inf")
    return max(min((min(single) - software_us) / US_PER_S - transfer_s, bound_s), 0.0)


def deep_rate(targets: Sequence[Target], pattern: str, read_share: float) -> tuple[float, float] | None:
    """Returns (requests/s, bytes/s) of the measured closed loop with the most bytes/s of a pattern and a read share.

    Considers loops with at least `DEEP` outstanding requests; None if no such loop was measured.
    """
    rates = [
        (held.measured, held.measured * target.load.load.request_bytes)
        for target in targets
        if isinstance(target.load, ClosedLoad)
        and (target.load.load.pattern, target.load.load.read_share) == (pattern, read_share)
        and target.load.load.outstanding >= DEEP
        for held in target.held
        if held.figure == SERVED
    ]
    return max(rates, key=lambda rate: rate[1], default=None)


def program_time_s(drive: Mapping[str, Any], targets: Sequence[Target]) -> float | None:
    """Returns the program time with which all dies together reach the rate of sequential writes.

    In seconds; None if no deep sequential writes were measured.
    """
    rate = deep_rate(targets, "sequential", 0.0)
    return None if rate is None else planes_of(drive["geometry"]) * program_bytes(drive) / rate[1]


def program_bytes(drive: Mapping[str, Any]) -> int:
    """Returns the bytes that a program writes to one plane."""
    flash = drive["flash"]
    pages = PAGES_OF_WORD_LINE[flash["page-types"]] if flash["program-unit"] == "word-line" else 1
    return pages * bytes_of(drive["geometry"]["page-size"])


def channel_rate(drive: Mapping[str, Any], targets: Sequence[Target]) -> float | None:
    """Returns the channel rate in B/s with which all channels together reach the rate of sequential reads.

    None if no deep sequential reads were measured.
    """
    rate = deep_rate(targets, "sequential", 1.0)
    return None if rate is None else rate[1] / int(drive["geometry"]["channels"])


def firmware_time_s(drive: Mapping[str, Any], targets: Sequence[Target]) -> float | None:
    """Returns the firmware time of a read with which all cores together reach the rate of random reads.

    In seconds; None if no deep random reads were measured.
    """
    rate = deep_rate(targets, "random", 1.0)
    return None if rate is None else int(drive["firmware"]["cores"]) / rate[0]


def read_time_s(
    drive: Mapping[str, Any], targets: Sequence[Target], channel_rate: float | None, software_us: float
) -> float | None:
    """Returns the mean array read time in seconds: the smallest measured read latency without software and transfers.

    Considers mean and median latencies of all loads; None if none was measured.

    Args:
        drive: The drive, as tables.
        targets: The measured loads.
        channel_rate: The estimated channel rate in B/s; None for that of the drive.
        software_us: The host software time in microseconds.
    """
    latency_us = shortest_read_us(targets)
    if latency_us is None:
        return None
    channel, link = rate_of(drive["fabric"]["channel-rate"]), rate_of(drive["host"]["link-rate"])
    transfer_s = READ_BYTES / (channel_rate or channel) + READ_BYTES / link
    return max((latency_us - software_us) / 1e6 - transfer_s, 0.0)


def shortest_read_us(targets: Sequence[Target]) -> float | None:
    """Returns the smallest mean or median latency of reads of all loads, in microseconds; None if none was measured.

    The inverse of a request rate at QD1 counts as a mean latency.
    """
    columns = ("read_p50_us", "read_mean_us")
    found = [held.measured for target in targets for held in target.held if held.figure in columns]
    for target in targets:
        if isinstance(target.load, ClosedLoad) and target.load.load.read_share == 1.0:
            found += latencies_us(target)
    return min(found, default=None)


def suspend_time_ps(targets: Sequence[Target]) -> float | None:
    """Returns the suspension time that explains the mean latency of reads at the lowest open load, in picoseconds.

    A die programs for about load / saturation of the time, and a read that meets a program waits for its suspension.
    None without a saturated open load, or without an unsaturated one whose reads were measured.
    """
    loads = [
        (target.load.is_saturated, {held.figure: held.measured for held in target.held})
        for target in targets
        if isinstance(target.load, OpenLoad)
    ]
    saturation = max((held.get(SERVED, 0.0) for is_saturated, held in loads if is_saturated), default=0.0)
    below = [held for is_saturated, held in loads if not is_saturated and {SERVED, "read_mean_us"} <= held.keys()]
    shortest = shortest_read_us(targets)
    if not saturation or not below or shortest is None:
        return None
    lowest = min(below, key=lambda held: held[SERVED])
    return max(lowest["read_mean_us"] - shortest, 0.0) * saturation / lowest[SERVED] * PS_PER_US


def rate_of(text: str) -> float:
    """Returns a transfer rate in B/s; infinity for `unlimited`."""
    return float("inf") if text == "unlimited" else float(quantity("rate", text).value)


def blocks_per_plane(drive: Mapping[str, Any], targets: Sequence[Target], program_s: float | None) -> float | None:
    """Returns the blocks per plane that give GC the write amplification of the measured random writes.

    None if no deep random writes were measured, or the program time is unknown.

    Greedy collection under uniform writes has a write amplification of about (1 + r) / 2r, with r the ratio of spare to
    host-visible capacity (Agarwal and Marrow, GLOBECOM Workshops 2010).
    """
    written = deep_rate(targets, "random", 0.0)
    if written is None or program_s is None:
        return None
    geometry = drive["geometry"]
    programmed = COLLECTING * planes_of(geometry) * program_bytes(drive) / program_s
    amplification = max(programmed / written[1], AMPLIFICATION_MIN)
    spare = 1.0 / (2.0 * amplification - 1.0)
    block = planes_of(geometry) * int(geometry["pages-per-block"]) * bytes_of(geometry["page-size"])
    return capacity_bytes(drive) / block * (1.0 + spare)
