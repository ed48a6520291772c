"""Section of a summary: the mapping cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flashmesh.report import quantities as q

if TYPE_CHECKING:
    from flashmesh.results import Result


def rows(result: Result) -> list[tuple[str, str]]:
    """Returns (name, text) rows on hits, misses and evictions of the mapping cache.

    Empty if the whole map is in DRAM.
    """
    cache = result.mapping_cache
    if cache is None:
        return []
    wanted = cache.hits + cache.misses + cache.joined_misses
    of_wanted = f", {q.share(cache.hit_share)} of {q.count(wanted)} lookups hit" if wanted else ""
    told = [
        ("mapping cache", f"{q.count(cache.entries)} entries{of_wanted}"),
        ("  misses", f"{q.count(cache.misses)} read, {q.count(cache.joined_misses)} joined a pending read"),
    ]
    if cache.waits_for_room:
        told.append(("  waited for space", f"{q.count(cache.waits_for_room)} misses, for write-backs"))
    if cache.evictions:
        backs = f"{q.count(cache.write_backs)} pages written back"
        without = f", {q.count(cache.write_backs_without_read)} without reading them" if cache.write_backs else ""
        told.append(("  evicted", f"{q.count(cache.evictions)} entries; {backs}{without}"))
    flash = f"{q.count(result.flash.map_reads)} reads, {q.count(result.flash.map_programs)} programs"
    collections = f"{q.count(result.gc.translation_collections)} of their blocks collected"
    told.append(("  translation pages", f"{flash}; {collections}"))
    return told
