"""Measures computed from the whole result of a run, since arithmetic over its keys cannot express them."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def scout_visits_max(document: dict[str, Any]) -> float | None:
    """Returns the maximum number of recorded visits of one scout to one router; None without a recorded visit.

    A scout is the message that reserves the circuit of a transfer in Venice.
    """
    scouts = recorded(document)
    return max((max(visits.values()) for visits in scouts if visits), default=None)


def scouts_ended_share(document: dict[str, Any]) -> float | None:
    """Returns the share of sent scouts that reached their chip, or failed and returned; None without scouts.

    A scout is the message that reserves the circuit of a transfer in Venice.
    """
    found = document.get("scouts")
    if not found or not found["sent"]:
        return None
    circuits: int = sum(found["circuit_lengths"])
    ended: float = (circuits + found["failed"]) / found["sent"]
    return ended


def vertical_bytes(document: dict[str, Any]) -> float:
    """Returns the bytes over links between routers of different rows, in both directions and without commands."""
    links = document["links"]
    carried = zip(
        links["names"],
        links["kinds"],
        links["bytes_to_chips"],
        links["bytes_from_chips"],
        links["bytes_between_chips"],
        strict=True,
    )
    return float(sum(sum(counts) for name, kind, *counts in carried if kind == "mesh" and is_vertical(name)))


def copies_over_controllers(document: dict[str, Any]) -> float | None:
    """Returns the bytes of chip-to-chip copies over links of controllers; None without such copies."""
    if not document["gc"]["pages_copied"]:
        return None
    links = document["links"]
    carried = zip(links["kinds"], links["bytes_between_chips"], strict=True)
    return float(sum(count for kind, count in carried if kind == "controller"))


def latency_deviation(document: dict[str, Any]) -> float | None:
    """Returns the standard deviation of the completion latencies in picoseconds; None without a distribution."""
    distribution = document["distribution"]["all"]
    if distribution is None:
        return None
    below = [0, *distribution["requests"][:-1]]
    counts = [after - before for before, after in zip(below, distribution["requests"], strict=True)]
    total = sum(counts)
    points = list(zip(distribution["latency_ps"], counts, strict=True))
    mean = sum(latency * count for latency, count in points) / total
    spread: float = sum(count * (latency - mean) ** 2 for latency, count in points) / total
    return math.sqrt(spread)


def page_kib(document: dict[str, Any]) -> float:
    """Returns the size of a page in KiB."""
    from flashmesh.sweeps.inputs.ranges import quantity

    key = "page-size"
    return float(quantity(key, document["configuration"]["geometry"][key]).value / 1024)


def recorded(document: dict[str, Any]) -> list[Counter[int]]:
    """Returns, for each scout whose start was recorded, how often it visited each router, by index of its chip."""
    network = document.get("network")
    scouts: list[Counter[int]] = []
    under_way: dict[int, Counter[int]] = {}
    for step in network["scouts"] if network else []:
        # A controller has at most one scout in flight.
        if step["step"] == "sent":
            under_way[step["controller"]] = Counter()
            scouts.append(under_way[step["controller"]])
        elif step["step"] in ("forward", "back") and step["to_chip"] is not None and step["controller"] in under_way:
            under_way[step["controller"]][step["to_chip"]] += 1
    return scouts


def is_vertical(name: str) -> bool:
    """Returns whether a mesh link joins routers of two rows; its name contains the coordinates of both routers."""
    import re

    rows = [int(row) for row in re.findall(r"\((\d+),", name)]
    return len(set(rows)) > 1


MEASURES: dict[str, Callable[[dict[str, Any]], float | None]] = {
    "scout_visits_max": scout_visits_max,
    "scouts_ended_share": scouts_ended_share,
    "vertical_bytes": vertical_bytes,
    "copies_over_controllers": copies_over_controllers,
    "latency_deviation": latency_deviation,
    "page_kib": page_kib,
}
"""Functions that a measure may call, by name."""
