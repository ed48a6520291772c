"""Section of a summary: the SLC cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from flashmesh.results import Result


def rows(result: Result) -> list[tuple[str, str]]:
    """Returns (name, text) rows on writes, folds and erases of the SLC cache; empty without an SLC cache."""
    slc = result.slc
    if slc is None:
        return []
    full = f", full {slc.full_share:.0%} of the time" if slc.full_share is not None else ""
    told = [("SLC cache", f"{q.count(slc.blocks)} blocks of {q.size(slc.capacity_bytes)} in all{full}")]
    past = f" ({slc.direct_share:.0%})" if slc.direct_share is not None else ""
    told.append(("  written", f"{q.count(slc.pages_written)} pages, {q.count(slc.pages_direct)}{past} past it"))
    told.append(("  folded", f"{q.count(slc.pages_folded)} pages of {q.count(slc.folds)} blocks"))
    wear = f"{slc.erases_per_block:.2f} a block, {slc.native_erases_per_block:.2f} a block outside it"
    told.append(("  erases", f"{q.count(slc.erases)}: {wear}"))
    return told
