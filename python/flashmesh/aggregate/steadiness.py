"""Note on runs whose measured window is not steady."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flashmesh.running.steady import is_behind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from flashmesh.aggregate.table import RunTable

REMEDY = "a longer run would give other values; --until-steady extends the run until it is."
REMEDY_LIMITED = "a longer run would give other values; a larger --steady-limit extends the run."
REMEDY_INTERRUPTED = "the tries of --until-steady were interrupted."
REMEDY_BEHIND = "requests are due faster than they complete, which a longer run does not change."
JUDGED_MAX = 12
"""Maximum number of points whose results are read for a note."""
FULL_DRIVE = "a full drive (precondition.kind=random)"
LATER_START = "a start left out (measure.warm-up)"


def unsteady_note(unsteady: int, points: int, documents: Sequence[Mapping[str, Any]], remedy_of_others: str) -> str:
    """Returns a sentence that says how many points had no steady measured window, and what to do.

    Args:
        unsteady: The number of these points.
        points: The number of all points.
        documents: A result of each of these points, in order; of more than `JUDGED_MAX` points, of the first ones.
        remedy_of_others: What to do, unless the points fall behind or replay a trace to its end.
    """
    first = documents[0]
    if len(documents) == unsteady and all(map(is_behind, documents)):
        remedy = REMEDY_BEHIND
    else:
        remedy = remedy_of_trace(first["configuration"]) if is_whole_trace(first) else remedy_of_others
    if points == 1:
        return f"The measured window is not steady: {remedy}"
    are = "is" if unsteady == 1 else "are"
    return f"{unsteady:,} of {points:,} points {are} not steady: {remedy}"


def remedy_of(tables: Iterable[RunTable]) -> str:
    """Returns advice for runs that are not steady. Does not advise `--until-steady` if all runs were made with it."""
    found = list(tables)
    if not all(table.until_steady for table in found):
        return REMEDY
    return REMEDY_INTERRUPTED if any(table.unfinished for table in found) else REMEDY_LIMITED


def remedy_of_trace(configuration: Mapping[str, Any]) -> str:
    """Returns advice for a trace that ends before the measured window is steady.

    The advice to fill the drive first is left out if the configuration already does so.
    """
    is_full = configuration["precondition"]["kind"] == "random"
    others = [*([] if is_full else [FULL_DRIVE]), LATER_START]
    return f"the trace ends too early; a longer one, {' or '.join(others)} gives other values."


def is_whole_trace(document: Mapping[str, Any]) -> bool:
    """Returns whether every stream of a result replayed a trace to its end, so that no run can be longer."""
    tables = document["configuration"].get("stream") or {"": document["configuration"]}
    # A stepped or served drive has no workload: its streams have None or an empty table.
    workloads = [stream["workload"] or {} for stream in document["streams"]]
    if any(workload.get("kind") != "trace" for workload in workloads):
        return False
    asked = [table["workload"].get("requests") for table in tables.values()]
    return all(limit is None or read["requests"] < limit for limit, read in zip(asked, workloads, strict=True))
