"""Meanings of measures, from the descriptions of the result values that they are computed from."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from flashmesh._native import quantities

if TYPE_CHECKING:
    from flashmesh.report.measures.measure import Measure

COMPOSED = {
    "execution time": "Simulated time of the measured window, or of the run if it has no window.",
    "firmware": "Time on the cores of the firmware, mean over all requests.",
    "device cache": "Time in the cache of the drive, mean over all requests.",
    "waiting for the map": "Time waiting for entries of the mapping table, mean over all requests.",
    "read cache hit share": "Pages of reads found whole in the device cache, over all pages read.",
    "write cache hit share": "Pages of writes that were in the device cache already, over all pages written.",
    "energy of events": "Energy of the array operations and of the interconnect.",
    "nominal energy": "Nominal power over the length of the run.",
    "links": "Links of the interconnect of all kinds.",
    "link to the host busy": "Share of the time in which the host link carries data to the host.",
    "link to the drive busy": "Share of the time in which the host link carries data to the drive.",
    "links busy": "Share of the time in which a link of the interconnect is held, mean over all links.",
    "controllers busy": "Share of the time in which a flash controller has a transfer, mean over all controllers.",
    "dies busy": "Share of the time in which a die executes an operation or holds waiting data, mean over all dies.",
    "distance to the bound": "Time of the run over the least time that its busiest part needs, minus 1.",
    "written past the SLC cache": "Pages written past the SLC cache, over all pages written.",
    "max slowdown": "Latency of the stream that suffers most, over its latency alone on the drive.",
}
"""Meanings of measures that are computed from several values, or whose value has no description."""
KINDS = {"all": "all requests", "read": "reads", "write": "writes", "flush": "flushes"}
"""Names of the kinds of requests in texts, by their names in the keys of results (`latency_ps.read`)."""
WINDOW, LATENCY = "measured.", "latency_ps."


@cache
def of_keys() -> dict[str, str]:
    """Returns the meaning of each value of a result, by its key."""
    return {key: meaning for key, _, meaning in quantities()}


def meaning(measure: Measure) -> str:
    """Returns the meaning of a measure as text; empty for a value of a result without a description."""
    name = measure.name.strip()
    if name in COMPOSED:
        return COMPOSED[name]
    keys = {key.removeprefix(WINDOW) for key in measure.keys}
    if len(keys) != 1:
        return ""
    (key,) = keys
    found = of_keys().get(key, "")
    if key.startswith(LATENCY) and found:
        return f"Latency of {KINDS[key.split('.')[1]]}: {found[0].lower()}{found[1:]}"
    return found
