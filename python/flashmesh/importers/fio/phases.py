"""Phases of a run: groups of jobs that wait for earlier jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.importers.fio.translate import Translation

PHASES_MAX = 255


def phases_of(translations: Sequence[Translation]) -> dict[int, int]:
    """Returns the phase of each job, by its line: a job begins when all jobs of earlier phases have ended.

    Raises:
        ConfigError: If a job waits for a job that is not defined before it.
    """
    found: dict[int, int] = {}
    by_name: dict[str, int] = {}
    current = 0
    for one in translations:
        wall, wait = one.options.get("stonewall"), one.options.get("wait_for")
        if wall is not None and wall.value != "0" and found:
            current = max(found.values()) + 1
        phase = current
        if wait is not None:
            if wait.value not in by_name:
                raise one.problem(wait, f"wait_for: no job `{wait.value}` comes before this one", "name an earlier job")
            phase = max(phase, by_name[wait.value] + 1)
            if any(other == phase - 1 for name, other in by_name.items() if name != wait.value):
                one.found.note(f"[{one.name}] wait_for: begins when all jobs of the phase of `{wait.value}` have ended")
        if phase > PHASES_MAX:
            raise one.problem(wall or wait or next(iter(one.options.values())), f"more than {PHASES_MAX} phases")
        found[one.job.line] = phase
        by_name[one.job.name] = phase
    return found
