"""Averaging of runs that differ only in their seed: one run of means for each point of a chart."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from flashmesh.plots.runs import SPAN, Run, of_window

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MEANS = ("requests", "makespan_ps", SPAN, "iops", "latency_ps", "breakdown_ps", "path_conflict", "power", "utilisation")
"""Members of a result that are averaged over seeds. All other members, such as epochs, come from the first seed."""


def pooled(name: str, settings: Mapping[str, Any], documents: Sequence[Mapping[str, Any]]) -> Run:
    """Returns the runs of a point as one run with the means over seeds.

    Args:
        name: The name of the point.
        settings: The varied keys of the point, with their values.
        documents: The result of each seed; at least one.
    """
    documents = [of_window(document) for document in documents]
    first = documents[0]
    if len(documents) == 1:
        return Run(name, settings, first, first["configuration"])
    means = {key: mean_of([document[key] for document in documents]) for key in MEANS}
    kinds = first["distribution"]
    means["distribution"] = {kind: together([each["distribution"][kind] for each in documents]) for kind in kinds}
    return Run(name, settings, {**first, **means}, first["configuration"], tuple(documents))


def mean_of(values: Sequence[Any]) -> Any:
    """Returns the mean of numbers; None if all are None. Tables and lists are averaged number by number."""
    there = [value for value in values if value is not None]
    if not there:
        return None
    first = there[0]
    if isinstance(first, dict):
        return {key: mean_of([value[key] for value in there]) for key in first}
    if isinstance(first, list):
        return [mean_of(group) for group in zip(*there, strict=True)]
    return fmean(there) if isinstance(first, int | float) and not isinstance(first, bool) else first


def together(found: Sequence[Mapping[str, Sequence[int]] | None]) -> dict[str, list[int]] | None:
    """Returns the sum of several latency distributions: the number of requests up to each latency; None without any."""
    there = [each for each in found if each is not None]
    counts: dict[int, int] = {}
    for each in there:
        before = 0
        for latency, requests in zip(each["latency_ps"], each["requests"], strict=True):
            counts[latency] = counts.get(latency, 0) + requests - before
            before = requests
    if not there:
        return None
    latencies = sorted(counts)
    total, sums = 0, []
    for latency in latencies:
        total += counts[latency]
        sums.append(total)
    return {"latency_ps": latencies, "requests": sums}
