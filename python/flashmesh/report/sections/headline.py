"""Head of a summary: the simulated drive and workload, and whether the figures are steady."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from flashmesh._native import Config, presets
from flashmesh.aggregate.estimate import Estimate
from flashmesh.aggregate.steadiness import is_whole_trace
from flashmesh.report import quantities as q
from flashmesh.report.streams import depth, more_requests
from flashmesh.report.streams.replay import phases, stops_at_a_time

if TYPE_CHECKING:
    from flashmesh.results import ConfidenceInterval, Result

STATES = {
    "none": "empty",
    "sequential": "full, written in order",
    "random": "full, overwritten at random",
    "aged": "full, aged (valid pages spread over blocks of invalid ones)",
}
"""Text on the state in which a drive begins, by `precondition.kind`."""
REASONS = {
    "collection-ahead": "collection has not begun: writes take free blocks",
    "free-pages-fall": "writes still take more free pages than collection gives back",
    "free-pages-rise": "collection still gives back more free pages than writes take",
    "rounds": "the window is shorter than two rounds of collection",
    "overwrites": "the drive has not been overwritten twice since it began in another state",
    "cache-fills": "the device cache fills or empties",
    "slc-fills": "the SLC cache fills or empties",
    "backlog": "requests arrive faster than the drive completes them, so that the queue grows without end",
    "warm-up": "no end of the warm-up was found",
    "drift": "IOPS or latency still drift",
    "short": "there are too few requests to tell",
}
"""Reasons why figures are not from the steady state, as texts, by their names in results."""
TOO_FEW = "short"
RATE_MIN = 1_000
"""Minimum number of requests from which the rate of a run is known well enough to tell the time of a longer one."""
BURST = "collection-ahead"
OVERWRITES = "overwrites"
BACKLOG = "backlog"
BEGIN_FULL = 'precondition.kind = "random" begins with a full drive'
"""Advice for a run whose writes fill an empty drive."""
FILLS_MIN = 10
"""Minimum number of requests that a steady run needs, as a multiple of those of an empty drive, for the advice to begin
with a full drive instead."""
SIZE = re.compile(r"(\d)([A-Za-z])")
"""Boundary between the number and the unit of a size."""
GRIDS = ("pnssd", "nossd", "venice", "ideal")
"""Interconnects whose chips are arranged in rows, not on channels."""
WIDE_MIN = 0.1
"""Minimum half-width of the interval of IOPS, as a share of the IOPS, that a summary mentions."""
GUESSED = frozenset({"drift", "warm-up"})
"""Reasons against a steady state with which the number of requests that a steady run needs is only a guess."""
TENTHS_MAX = 10.0
"""Maximum factor that is shown with a decimal."""
NOT_OF_DRIVE = frozenset({"workload", "replay", "queue", "stream", "namespace", "measure", "precondition", "seed"})
"""Tables and keys of a configuration that state what is run and measured, not the drive."""
UNWRITTEN_MIN = 0.01
"""Minimum share of reads of pages without data (never written, or deallocated) that a summary mentions."""


def drive(parameters: dict[str, Any], *, is_steady: bool) -> str:
    """Returns a text on preset, geometry and state of a drive; the state is "full and steady" only if `is_steady`."""
    condition = parameters["precondition"]
    shape = array(parameters["geometry"], parameters["fabric"]["kind"])
    name = drive_name(parameters)
    state = STATES[condition["kind"]]
    if condition["kind"] != "none" and condition["fill"] < 1:
        state = state.replace("full", f"{q.share(condition['fill'])} full")
    if condition["kind"] == "random" and is_steady:
        state = "full and steady"
    return f"{name}, {shape}, {state}" if name else f"{shape}, {state}"


def array(geometry: dict[str, Any], kind: str) -> str:
    """Returns the rows or channels of a drive, the chips in each, and the interconnect, as text."""
    rows, each = geometry["channels"], geometry["chips-per-channel"]
    channels = "1 channel" if rows == 1 else f"{rows} channels"
    groups = ("1 row" if rows == 1 else f"{rows} rows") if kind in GRIDS else channels
    chips = "1 chip" if each == 1 else f"{each} chips"
    return f"{groups} of {chips} ({kind})"


@cache
def tables_of_presets() -> dict[str, dict[str, Any]]:
    """Returns the tables of the presets by their names."""
    return {name: json.loads(Config.from_str(f'preset = "{name}"', name, []).to_json()) for name in presets()}


@cache
def presets_by_parts() -> dict[str, list[str]]:
    """Returns the names of presets by the JSON of their flash and firmware sections."""
    found: dict[str, list[str]] = {}
    for name, tables in tables_of_presets().items():
        found.setdefault(json.dumps([tables["flash"], tables["ftl"]], sort_keys=True), []).append(name)
    return found


def preset_of(parameters: dict[str, Any]) -> str:
    """Returns the name of the preset with the flash and firmware of a drive; empty unless exactly one has them."""
    names = presets_by_parts().get(json.dumps([parameters["flash"], parameters["ftl"]], sort_keys=True), [])
    return names[0] if len(names) == 1 else ""


def drive_name(parameters: dict[str, Any]) -> str:
    """Returns the name of a preset, or of the preset that a drive changes outside its flash and firmware.

    Empty for other drives.
    """
    name = preset_of(parameters)
    if not name:
        return ""
    preset = tables_of_presets()[name]
    keys = (preset.keys() | parameters.keys()) - NOT_OF_DRIVE
    is_changed = any(preset.get(key) != parameters.get(key) for key in keys)
    return f"based on {name}" if is_changed else name


def workload(parameters: dict[str, Any]) -> str:
    """Returns a text on pattern, kind and size of synthetic requests.

    Empty for other workloads and for named streams.
    """
    asked = parameters.get("workload", {})
    if parameters.get("stream") or asked.get("kind") != "synthetic":
        return ""
    share, size = asked["read-share"], asked["request-size"]
    kinds = {0: "writes", 1: "reads"}.get(share, "requests")
    of = " of " + SIZE.sub(r"\1 \2", size) if isinstance(size, str) else ""
    mixed = f", {100 * share:.4g} % reads" if 0 < share < 1 else ""
    return f"{asked['pattern']} {kinds}{of}{mixed}"


def window(result: Result) -> str:
    """Returns a text on the measured requests and their time span, and on the warm-up."""
    found, warm_up = result.measured, result.warm_up
    if found is None or warm_up is None or warm_up.ended_ps is None:
        span = f"{result.requests:,} requests in {q.time(result.makespan_ps)} of simulated time"
        return f"{span}, seed {result.seed}"
    span = f"{found.requests:,} requests in {q.time(found.end_ps - found.start_ps)}"
    before = f"after a warm-up of {q.time(warm_up.ended_ps)} ({warm_up.requests:,} requests)"
    return f"Measured: {span}, {before}, seed {result.seed}"


def verdict(result: Result) -> str:
    """Returns why the figures are not from the steady state.

    Empty if they are, if the reason is unknown, or if the run was interrupted.
    """
    found = result.steadiness
    if found.steady or result.interrupted or not found.reasons:
        return ""
    is_preconditioned = result.parameters["precondition"]["kind"] != "none"
    if found.reasons[0] == BURST and is_preconditioned:
        return f"burst: collection has not begun{longer(result)}"
    # `missed_rate` gives the reason of such a backlog.
    left_out = {BACKLOG} if depth.explains_backlog(result.document) else set()
    told = "; ".join(REASONS[reason] for reason in found.reasons if reason not in left_out)
    if not told:
        return ""
    return f"NOT STEADY: {told}{longer(result)}"


def missed_rate(result: Result) -> str:
    """Returns why streams did not reach the rate of their requests; empty if their depth did not prevent it."""
    told = depth.text(depth.missed(result.document))
    return f"RATE NOT REACHED: {told}." if told else ""


def longer(result: Result) -> str:
    """Returns the end of a sentence: the number of requests that a steady run needs; a full stop if that is unknown."""
    needed, key = result.steadiness.requests_needed, more_requests.keys(result.parameters)
    is_short = TOO_FEW in result.steadiness.reasons
    if began_empty(result) and (needed is None or needed > FILLS_MIN * result.requests):
        filled = "" if needed is None else f" (about {rounded(needed):,} requests would fill this one)"
        return f"; {BEGIN_FULL}{filled}."
    if needed is None:
        return f": raise their number ({key})." if is_short else "."
    # The end of a drift is unknown, so that the number is a guess: twice the requests of the window.
    is_guess = not GUESSED.isdisjoint(result.steadiness.reasons)
    verb = "may be enough" if is_guess else "would be enough"
    enough = f"; about {rounded(needed):,} requests {verb}"
    if is_short:
        enough = f"; at least {rounded(needed):,} requests are needed"
    if is_whole_trace(result.document):
        return f"{enough}, and the trace has {result.requests:,}."
    parameters = result.parameters
    if result.requests >= RATE_MIN and phases(parameters) == 1 and stops_at_a_time(parameters):
        return f"{enough}, {q.time(needed / result.iops * 10**12)} at this rate ({key})."
    if len(parameters.get("stream", {})) > 1:
        times = needed / result.requests
        shown = f"{times:.1f}" if times < TENTHS_MAX else f"{rounded(round(times)):,}"
        if is_short:
            return f"; at least {shown} times as many requests of each stream are needed ({key})."
        return f"; about {shown} times as many requests of each stream {verb} ({key})."
    return f"{enough} ({key})."


def began_empty(result: Result) -> bool:
    """Returns whether a run began with an empty drive that its writes have not filled, or not overwritten since."""
    is_filling = not {BURST, OVERWRITES}.isdisjoint(result.steadiness.reasons)
    return is_filling and result.parameters["precondition"]["kind"] == "none"


def rounded(count: int) -> int:
    """Returns a count rounded up to two significant digits."""
    unit: int = 10 ** max(len(str(count)) - 2, 0)
    return -(-count // unit) * unit


def wide(result: Result) -> str:
    """Returns a sentence on the wide interval of the IOPS of a steady run; empty if the interval is narrow."""
    interval, iops = result.confidence.iops, result.window.iops
    is_told = result.precision is not None or result.interrupted or not result.steadiness.steady
    if is_told or interval is None or interval.high - interval.low < 2 * WIDE_MIN * iops:
        return ""
    told = interval_text(interval, iops)
    return f"The IOPS are known to {told} only: --precision 5% runs until they are known better."


def unwritten(result: Result) -> str:
    """Returns a sentence on the share of the pages read that hold nothing; empty below `UNWRITTEN_MIN`."""
    reads = result.flash.user_reads
    share = min(result.flash.unwritten_reads / reads, 1.0) if reads else 0.0
    if share < UNWRITTEN_MIN:
        return ""
    return (
        f"{q.share(share)} of the pages read hold nothing: they were never written, or were deallocated "
        '(precondition.kind = "random" fills the drive).'
    )


def interval_text(interval: ConfidenceInterval | None, value: float | None) -> str:
    """Returns a 95 % interval relative to its figure, as comparisons show it; empty without an interval."""
    if interval is None or value is None:
        return ""
    return Estimate(value, interval.low, interval.high, 1, "batches").spread_text
