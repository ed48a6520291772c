"""Data of the animated view of the interconnect on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.plots.parts.geometry import Grid, places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.runs import Run


def recordings(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Returns the network recordings of those runs that have one, for the animated view."""
    return [recording(run) for run in runs if run.document.get("network")]


def recording(run: Run) -> dict[str, Any]:
    """Returns the recording of a run: for each kind of event, a list of events, each as a list of values."""
    network, table, grid = run.document["network"], run.document["links"], Grid.of(run)
    found = places(table["names"], table["kinds"], grid)
    return {
        "run": run.name,
        "kind": network.get("fabric", run.configuration["fabric"]["kind"]),
        "about": network.get("about", ""),
        "rows": grid.rows,
        "columns": grid.columns,
        "dies_per_chip": grid.dies_per_chip,
        "start": network["start_ps"],
        "end": network["end_ps"],
        "is_cut": network["is_cut"],
        "links": [
            [name, *((place.x, place.y, place.x2, place.y2) if place else ())]
            for name, place in zip(table["names"], found, strict=True)
        ],
        "requests": [
            [part[key] for key in ("number", "kind", "offset_bytes", "size_bytes", "issued_ps", "completed_ps")]
            for part in network["requests"]
        ],
        "transfers": [
            [
                part[key]
                for key in (
                    "die",
                    "phase",
                    "message",
                    "requests",
                    "asked_ps",
                    "granted_ps",
                    "delivered_ps",
                    "released_ps",
                    "causes",
                    "blocked_ps",
                )
            ]
            for part in network["transfers"]
        ],
        "holds": [
            [part[key] for key in ("link", "die", "transfer", "from_ps", "until_ps")] for part in network["holds"]
        ],
        "scouts": [
            [part[key] for key in ("at_ps", "controller", "die", "step", "to_chip")] for part in network["scouts"]
        ],
    }
