"""Loads that exercise a key: whose figures can depend on it, because of the requests that they have.

A key that no load exercises is not searched, and a load is not simulated again for a drive that differs only by keys
that the load does not exercise.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from flashmesh.calibration.inputs.points import ClosedLoad, JobLoad
from flashmesh.validation.tables.sheets import EMPTY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flashmesh.calibration.inputs.points import Target
    from flashmesh.calibration.space import FreeKey

READS, WRITES, COLLECTION, MIX = "reads", "writes", "collection", "mix"
"""Traits of loads: reads; writes; writes to a full drive, whose blocks are collected; reads beside writes."""
ALL = frozenset({READS, WRITES, COLLECTION, MIX})
MISSING: Mapping[tuple[str, ...], str] = {
    (READS,): "no load reads",
    (WRITES,): "no load writes",
    (COLLECTION,): "no load writes to a full drive",
    (READS, COLLECTION): "no load reads, or writes to a full drive",
    (MIX,): "no load mixes reads and writes, so how they delay each other is not fitted",
}
"""Reason for the report why no load exercises a key, by the traits in `NEEDS` of the key."""
NEEDS: Mapping[str, tuple[str, ...]] = {
    "flash.read-time": (READS, COLLECTION),
    "flash.middle-page-read-time": (READS, COLLECTION),
    "flash.upper-page-read-time": (READS, COLLECTION),
    "flash.top-page-read-time": (READS, COLLECTION),
    "slc.read-time": (READS, COLLECTION),
    "flash.program-time": (WRITES,),
    "slc.program-time": (WRITES,),
    "flash.erase-time": (COLLECTION,),
    "geometry.blocks-per-plane": (COLLECTION,),
    "geometry.over-provisioning": (COLLECTION,),
    "flash.suspension": (MIX,),
    "flash.suspend-time": (MIX,),
    "cache.suspend-when-full": (MIX,),
    "cache.stall": (MIX,),
    "cache.throttle-interval": (WRITES,),
    "cache.throttle-share": (WRITES,),
    "cache.capacity": (WRITES,),
    "cache.destages-max": (WRITES,),
    "cache.destage-stripe": (WRITES,),
    "firmware.read-time": (READS,),
    "firmware.write-time": (WRITES,),
}
"""Traits of loads that exercise a key: a load with any one of them does. Every load exercises all other keys."""


def traits(target: Target) -> frozenset[str]:
    """Returns the traits of a load. A load whose requests are not known in advance has all traits."""
    load = target.load
    if isinstance(load, ClosedLoad):
        if has_cached_map(load.tables):
            return ALL
        return traits_of_share(load.load.read_share, is_full=load.load.precondition != EMPTY)
    if isinstance(load, JobLoad):
        settings = load.jobs.settings
        jobs = [key.removesuffix("replay.mode") for key in settings if key.endswith("replay.mode")]
        shares = {settings.get(f"{job}workload.read-share") for job in jobs}
        if shares and shares <= {0.0, 1.0} and not has_cached_map(load.tables):
            return traits_of_share(sum(map(float, map(str, shares))) / len(shares), is_full=True)
    return ALL


def traits_of_share(read_share: float, *, is_full: bool) -> frozenset[str]:
    """Returns the traits of a load with a share of reads, on a drive that is full or empty."""
    found = {READS} if read_share > 0.0 else set()
    if read_share < 1.0:
        found |= {WRITES, COLLECTION} if is_full else {WRITES}
    return frozenset(found | {MIX} if 0.0 < read_share < 1.0 else found)


def has_cached_map(drive: Mapping[str, Any]) -> bool:
    """Returns whether the drive keeps only a part of its map in memory, so that writes also read flash."""
    return "cache-capacity" in drive.get("mapping", {})


@cache
def is_exercised(key: str, by: frozenset[str]) -> bool:
    """Returns whether a load with the traits `by` exercises a key."""
    needs = NEEDS.get(key)
    return needs is None or not by.isdisjoint(needs)


def unexercised(keys: Iterable[FreeKey], targets: Sequence[Target]) -> dict[str, str]:
    """Returns the keys that no load exercises, each with a sentence that says why."""
    known = [traits(target) for target in targets]
    return {key.key: MISSING[NEEDS[key.key]] for key in keys if not any(is_exercised(key.key, each) for each in known)}
