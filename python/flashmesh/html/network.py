"""What the moving view of a page is drawn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.plots.geometry import Grid, places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.plots.runs import Run

ABOUT = {
    "bus": (
        "Each row of chips shares one channel. A die asks for the channel to get a command or to send data, and waits "
        "while another transfer holds it. The array of a die works without the channel."
    ),
    "pssd": (
        "Each row of chips shares one channel, as on a bus; commands and data are packets, and a controller on every "
        "die decodes them."
    ),
    "pnssd": (
        "Each chip is on two channels: one along its row, one along its column. A transfer takes whichever is free."
    ),
    "nossd": (
        "Every chip has a router. Commands and data are packets that move from router to router; a packet that "
        "finds its next link taken waits where it is, and holds the links behind it."
    ),
    "venice": (
        "Every chip has a router, and every row a controller. Before anything is sent, a controller sends a scout. "
        "The scout reserves links one after the other on its way to the chip. Where all links that lead nearer are "
        "taken it goes another way; where there is none it steps back, gives the link free and tries again from "
        "there. When it has reached the chip, the reserved links are a circuit: the scout returns over it, and "
        "command or data cross it without meeting anybody. A scout that is back without a path is sent again later."
    ),
    "ideal": "Every chip has a channel of its own. Nothing is in the way of anything.",
}
"""How each interconnect works, for somebody who sees it for the first time."""


def recordings(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The recordings of those runs that have one, as compact tables."""
    return [recording(run) for run in runs if run.document.get("network")]


def recording(run: Run) -> dict[str, Any]:
    """The recording of a run: a list for each kind of event, each event a list of its values."""
    network, table, grid = run.document["network"], run.document["links"], Grid.of(run)
    found = places(table["names"], table["kinds"], grid)
    return {
        "run": run.name,
        "kind": run.configuration["fabric"]["kind"],
        "about": ABOUT.get(run.configuration["fabric"]["kind"], ""),
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
