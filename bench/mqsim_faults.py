"""Faults of MQSim that change a mean latency.

A custom build of MQSim, which can mend each fault, shows which faults explain a deviation. It reads the names of the
faults to mend from the environment variable `MQSIM_MENDED`, separated by commas. Its output has means in nanoseconds,
such as `mean: 9876 ns`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.mqsim_drawn import Case


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of MQSim, which the custom build of MQSim can mend."""

    switch: str
    """Name of the fault in `MQSIM_MENDED`."""
    name: str
    may_show: Callable[[Case], bool] = lambda _: True
    """Function that returns whether the fault can change the run of a case."""


def uses_cache(case: Case) -> bool:
    """Returns whether a flow uses the cache."""
    return any(tags["Device_Level_Data_Caching_Mode"] != "TURNED_OFF" for tags in case.flows)


def writes(case: Case) -> bool:
    """Returns whether a flow writes."""
    return any(tags["Read_Percentage"] != "100" for tags in case.flows)


def draws_lengths(case: Case) -> bool:
    """Returns whether a flow draws the lengths of its requests."""
    return any(tags["Request_Size_Distribution"] == "NORMAL" for tags in case.flows)


FAULTS = (
    Fault("ties", "simultaneous events in the order in which they were scheduled"),
    Fault("end", "what the end of a program admits goes before the next command of its chip", writes),
    Fault(
        "head",
        "a fetched command keeps its place in the queue until a completion comes",
        lambda case: any(tags["Synthetic_Generator_Type"] == "BANDWIDTH" for tags in case.flows),
    ),
    Fault("fold", "a request that goes beyond the working set is folded onto it"),
    Fault(
        "window",
        "the first pages that the cache writes are forgotten",
        lambda case: uses_cache(case) and writes(case),
    ),
    Fault(
        "whole",
        "of a page that is whole in the cache only a part is written",
        lambda case: uses_cache(case) and writes(case),
    ),
    Fault(
        "evict",
        "the cache gives up the place of a page before the page is on flash",
        lambda case: uses_cache(case) and writes(case),
    ),
    Fault("bound", "a plane gives pages to writes without limit", writes),
    Fault("modify", "a partial write reads only sectors that were written", writes),
    Fault("unprogrammed", "the map names pages that are not programmed yet", writes),
    Fault(
        "map",
        "the last translation page of a flow is missing, and others move without a program",
        lambda case: case.drive["Ideal_Mapping_Table"] == "false",
    ),
    Fault(
        "maps",
        "each flow has a map of its own, in blocks of its own",
        lambda case: case.drive["Ideal_Mapping_Table"] == "false" and len(case.flows) > 1,
    ),
    Fault(
        "waits",
        "what waits for a translation page goes on entry by entry",
        lambda case: case.drive["Ideal_Mapping_Table"] == "false",
    ),
    Fault(
        "turns",
        "turns of priority classes are lost",
        lambda case: case.drive["Transaction_Scheduling_Policy"] == "PRIORITY_OUT_OF_ORDER",
    ),
    Fault(
        "planes",
        "numbers of dies are taken for those of planes",
        lambda case: case.drive["Plane_Allocation_Scheme"] == "DWCP",
    ),
    Fault("pieces", "two pieces of a request are on one page", lambda case: len(case.flows) > 1),
    Fault("length", "the first drawn length is not initialised", draws_lengths),
)
"""Faults in the order in which `bench.mqsim_random` tries to drop them from an explanation. If either of two faults
explains a case, the later one in this order remains."""
