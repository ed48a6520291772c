"""Section of a summary: copies of pages on other dies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from flashmesh.results import Result


def rows(result: Result) -> list[tuple[str, str]]:
    """Returns (name, text) rows on the effect and the cost of replication; empty without replication."""
    found = result.replication
    if found is None:
        return []
    total = found.imbalanced + found.imbalanced_avoided
    removed = f" ({q.share(found.imbalanced_avoided / total)})" if total else ""
    ended = f"{q.count(found.ended_by_writes)} by writes, {q.count(found.originals_kept)} at the limit"
    kept = f"{q.count(found.copies_kept)} took the place of the original"
    memory = found.list_bytes + found.map_bytes + found.flag_bytes
    dies = len(result.utilisation.dies)
    busy = found.program_ps / (result.makespan_ps * dies) if result.makespan_ps else 0.0
    limit = f"at most {q.count(found.copies_peak)} of {q.count(found.copies_max)}"
    programs = f"{q.count(found.made + found.wasted)} programs, {q.count(found.wasted)} of them wasted"
    tables = f"lists {found.list_bytes:,} B, map {found.map_bytes:,} B, flags {found.flag_bytes:,} B"
    avoided = f"{q.count(found.imbalanced_avoided)} avoided{removed}"
    return [
        ("replication", f"{q.count(found.made)} copies made, {q.count(found.dropped)} dropped before"),
        ("  copies ended", f"{ended}; {kept}"),
        ("  copies at the end", f"{q.count(found.copies_end)}, {limit}"),
        ("  reads of copied pages", f"{q.count(found.reads)}, {q.count(found.reads_of_copies)} of them by the copy"),
        ("  imbalanced collisions", f"{avoided}, {q.count(found.imbalanced)} left"),
        ("  cost", f"{programs}, {busy:.2%} of the dies' time"),
        ("", f"{q.size(found.extra_read_bytes)} read beyond what requests asked for"),
        ("  DRAM", f"{q.size(memory)}: {tables}"),
    ]
