"""Importance of the keys of a search: the share of the variance of each measure that a key explains alone.

The values of a key divide the tried drives into groups. The share is epsilon squared of the analysis of variance
(Kelley, PNAS 21, 1935): the correlation ratio without the part that groups explain by chance. Measures above 0 are
replaced by their logarithms, so that one saturated drive does not outweigh all others. Optuna's PED-ANOVA uses only the
best tenth of all trials, which is too few of a hundred, and of little use for keys with few values.
"""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DRIVES_MIN = 8
"""Minimum number of tried drives for a report of importance."""
GROUPS_MAX = 6
"""Maximum number of groups; a key with more values gets this many groups of about equal size."""


def importance(trials: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> dict[str, dict[str, float]]:
    """Returns the share of the variance of each measure that each key explains, the largest first.

    Args:
        trials: The trials of a search, as in `search.json`.
        keys: The searched keys.

    Returns:
        The shares by measure and key; empty if too few drives were tried.
    """
    drives = {trial["run"]: trial for trial in trials if trial["measures"] is not None}
    if len(drives) < DRIVES_MIN:
        return {}
    found: dict[str, dict[str, float]] = {}
    for name in next(iter(drives.values()))["measures"]:
        shares = {key: explained(list(drives.values()), key, name) for key in keys}
        known = {key: share for key, share in shares.items() if share is not None}
        found[name] = dict(sorted(known.items(), key=lambda pair: -pair[1]))
    return found


def explained(drives: Sequence[Mapping[str, Any]], key: str, name: str) -> float | None:
    """Returns the share of the variance of the measure `name` that a key explains; None for too few values.

    Drives that do not read the key are ignored.
    """
    readers = [drive for drive in drives if key not in drive["idle"]]
    values = [drive["measures"][name] for drive in readers]
    if values and min(values) > 0:
        values = [math.log(value) for value in values]
    groups = grouped([drive["settings"][key] for drive in readers], values)
    if len(groups) < 2 or len(values) <= len(groups):
        return None
    mean = fmean(values)
    total = sum((value - mean) ** 2 for value in values)
    if total <= 0:
        return 0.0
    within = sum(sum((value - fmean(group)) ** 2 for value in group) for group in groups)
    by_chance = (len(groups) - 1) * within / (len(values) - len(groups))
    share: float = (total - within - by_chance) / total
    return min(max(share, 0.0), 1.0)


def grouped(settings: Sequence[Any], values: Sequence[float]) -> list[list[float]]:
    """Returns the values in groups of equal settings.

    Of more than `GROUPS_MAX` settings that are quantities, neighbouring ones are joined.
    """
    from flashmesh.report.measures.chart_spec import magnitude

    by_setting: dict[Any, list[float]] = {}
    for setting, value in zip(settings, values, strict=True):
        by_setting.setdefault(setting, []).append(value)
    sizes = {setting: magnitude(setting) for setting in by_setting}
    if len(by_setting) <= GROUPS_MAX or None in sizes.values():
        return list(by_setting.values())
    ordered = sorted(by_setting, key=lambda setting: (sizes[setting] or (0.0, ""))[0])
    joined: list[list[float]] = [[] for _ in range(GROUPS_MAX)]
    taken = 0
    for setting in ordered:
        joined[min(taken * GROUPS_MAX // len(values), GROUPS_MAX - 1)] += by_setting[setting]
        taken += len(by_setting[setting])
    return [group for group in joined if group]
