"""Section of a summary: the persistent map, and a power cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from flashmesh.results import PowerCut, Recovery, Result


def rows(result: Result) -> list[tuple[str, str]]:
    """Returns (name, text) rows on the pages of journal and checkpoints, and on the power cut; empty without both."""
    told: list[tuple[str, str]] = []
    kept = result.persistence
    if kept is not None:
        pages = f"{q.count(kept.journal_pages)} pages of journal, {q.count(kept.checkpoint_pages)} of the map"
        told.append(("map on flash", f"{pages}, {q.count(kept.checkpoints)} checkpoints completed"))
        if kept.write_amplification is not None:
            told.append(("  write amplification", f"{kept.write_amplification:.3f} of it is theirs"))
    planned = result.parameters["power"].get("cut")
    if result.power_cut is not None:
        told += cut(result.power_cut)
    elif planned is not None:
        told.append(("power cut", f"none: the run ended before {planned} (power.cut)"))
    return told


def cut(cut: PowerCut) -> list[tuple[str, str]]:
    """Returns (name, text) rows on the losses of a power cut, and on the recovery of the map."""
    told = [("power cut", f"at {q.time(cut.at_ps)}, {q.count(cut.requests_lost)} requests in flight lost")]
    if cut.capacitors:
        saved = f"{q.count(cut.pages_programmed)} pages of the cache"
        if cut.map_pages_programmed:
            saved += f" and {q.count(cut.map_pages_programmed)} of journal and map"
        told.append(("  with capacitors", f"{saved} programmed in {q.time(cut.duration_ps)}, {cut.energy_j:.3g} J"))
    else:
        lost = f"{q.count(cut.pages_lost)} pages ({cut.bytes_lost:,} B) acknowledged and lost"
        told.append(("  without capacitors", f"{lost}, {q.count(cut.programs_lost)} programs cut short"))
    return told if cut.recovery is None else told + recovery(cut.recovery)


def recovery(found: Recovery) -> list[tuple[str, str]]:
    """Returns (name, text) rows on the duration of the recovery of the map, its reads, and what it recovers."""
    read = found.reads
    pages = read.blocks + read.system + read.map + read.journal + read.open
    told = [
        ("  ready again", f"{q.time(found.duration_ps)} after the power is back, {q.count(pages)} pages read"),
        ("  replayed", f"{q.count(found.entries_replayed)} entries of the journal"),
        ("  found by a scan", f"{q.count(found.pages_found)} pages, {q.count(found.copies_found)} with a copy"),
    ]
    if found.deallocations_lost:
        told.append(("  undone", f"{q.count(found.deallocations_lost)} deallocations"))
    if found.pages_lost:
        told.append(("  not found", f"{q.count(found.pages_lost)} pages that were programmed"))
    return told
