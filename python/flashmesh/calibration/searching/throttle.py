"""The write throttle in the search: the interval, and the share of collecting dies from which on writes are throttled.

A load below saturation whose writes take longer than those of lower loads shows a throttle. Its writes wait like
customers of an M/D/1 queue whose service time is `cache.throttle-interval`: at w writes/s, an interval D delays them by
w D^2 / (2 (1 - w D)) on average. The rate of all requests stands for w, which measurements need not have. Lower loads
are not delayed if fewer dies collect than `cache.throttle-share` says.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from flashmesh.calibration.inputs.points import JobLoad, OpenLoad
from flashmesh.calibration.residuals import SERVED
from flashmesh.calibration.space import UNSET, FreeKey, Space
from flashmesh.keys import flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.calibration.inputs.facts import Facts
    from flashmesh.calibration.inputs.points import Target

INTERVAL, SHARE = "cache.throttle-interval", "cache.throttle-share"
WRITE_MEAN_US = "write_mean_us"
DELAYED_MIN = 1.3
"""Minimum mean latency of delayed writes, relative to the least mean latency of writes."""
SHARES = (UNSET, "0.5", "0.6", "0.7")
"""Choices of the share of collecting dies; no load determines it closely."""
PS_PER_US = 1e6


def with_throttle(facts: Facts, targets: Sequence[Target]) -> Facts:
    """Returns the facts with keys of the throttle to search, if the interval is searched and a load delays its writes.

    The search then tries the interval of the closed form, and the choices of the share unless the facts state it.

    Args:
        facts: The facts, with the searched keys.
        targets: The measured loads.
    """
    interval_ps = interval_of_delay_ps(targets)
    keys = {key.key: key for key in facts.space.keys}
    if interval_ps is None or INTERVAL not in keys:
        return facts
    keys[INTERVAL] = replace(keys[INTERVAL], alternative=keys[INTERVAL].nearest(interval_ps))
    if SHARE not in keys and SHARE not in flat(facts.stated):
        about = "share of collecting dies from which on writes are throttled"
        keys[SHARE] = FreeKey(SHARE, SHARES, about, needs=INTERVAL)
    return replace(facts, space=Space(tuple(keys.values())))


def interval_of_delay_ps(targets: Sequence[Target]) -> float | None:
    """Returns the interval of the throttle from the longest delay of writes that was measured below saturation.

    The delay of a load is its mean latency of writes less the least one of all loads. In picoseconds; None if the
    longest delay is within `DELAYED_MIN`.
    """
    means = [
        (held[WRITE_MEAN_US], held[SERVED])
        for target in targets
        if is_below_saturation(target)
        if {WRITE_MEAN_US, SERVED} <= (held := {each.figure: each.measured for each in target.held}).keys()
    ]
    if not means:
        return None
    least_us, _ = min(means)
    longest_us, rate = max(means)
    if longest_us < DELAYED_MIN * least_us:
        return None
    delay_us = longest_us - least_us
    return (math.sqrt(delay_us**2 + 2e6 * delay_us / rate) - delay_us) * PS_PER_US


def is_below_saturation(target: Target) -> bool:
    """Returns whether a load is an open loop, and the measured drive served all its requests."""
    match target.load:
        case OpenLoad(is_saturated=is_saturated):
            return not is_saturated
        case JobLoad() as jobs:
            return jobs.is_paced
        case _:
            return False
