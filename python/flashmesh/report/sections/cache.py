"""Section of a summary: the device cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from flashmesh.results import CacheLookups, Result


def rows(result: Result) -> list[tuple[str, str]]:
    """Returns (name, text) rows on hits, destages and stalls of the device cache; empty without a cache."""
    cache = result.cache
    if cache is None:
        return []
    told = [("device cache", f"{q.count(cache.capacity_pages)} pages, DRAM {cache.dram_share:.0%} busy")]
    told += [(f"  pages {kind}", lookups(found)) for kind, found in (("read", cache.reads), ("written", cache.writes))]
    kept = f"{q.count(cache.dirty_pages_end)} dirty at the end, {q.count(cache.dirty_pages_max)} at most"
    told.append(("  to flash", f"{q.count(cache.destages)} pages; {kept}"))
    if cache.waits:
        told.append(("  writes waited", f"{q.count(cache.waits)} pages, {q.time(cache.wait_ps / cache.waits)} each"))
    if cache.throttled:
        told.append(("  slowed down", f"{q.count(cache.throttled)} pages, by cache.throttle-interval"))
    return told


def lookups(found: CacheLookups) -> str:
    """Returns the number of page lookups and of hits as text."""
    pages = found.hits + found.partial_hits + found.misses
    share = f" ({found.hits / pages:.0%})" if pages else ""
    return f"{q.count(pages)}: {q.count(found.hits)}{share} hits, {q.count(found.partial_hits)} partial hits"
