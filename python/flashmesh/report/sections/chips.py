"""Section of a summary: states of the chips over time, and flash work per request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from flashmesh.results import Result

STATES = {
    "exclusive_transfer": "moving data alone",
    "overlapped": "moving data beside the array",
    "exclusive_execution": "array alone",
    "idle": "idle",
}


def rows(result: Result) -> list[tuple[str, str]]:
    """Returns (name, text) rows on the time share of each chip state and on flash work per request.

    Empty without `measure.chip-states`.
    """
    states, work = result.chip_states, result.per_request
    if states is None:
        return []
    told = [("time of a chip", ", ".join(f"{q.share(getattr(states, key))} {name}" for key, name in STATES.items()))]
    if work is not None:
        moved = f"{q.size(work.transferred_bytes)} over the pins"
        told.append(("work of a request", f"{work.reads:.2f} array reads, {work.programs:.2f} programs, {moved}"))
        if work.partial_update_share:
            told.append(("", f"{q.share(work.partial_update_share)} of the pages written update a part"))
    return told
