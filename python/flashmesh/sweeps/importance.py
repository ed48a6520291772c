"""Which keys of a search its measures depend on: the share of the variance that each explains alone.

Of the drives tried, the values of a key make groups; the share is epsilon squared of the analysis of variance (Kelley,
PNAS 21, 1935), which is the correlation ratio without what groups explain by chance. Measures that are above 0 are
taken by their logarithms, so that a saturated drive does not outweigh all others. PED-ANOVA, as Optuna has it, ranks by
the best tenth of all trials: of a hundred it tells little, and of a choice among a few values next to nothing.
"""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DRIVES_MIN = 8
"""Drives below which nothing is said."""
GROUPS_MAX = 6
"""Values of a key beyond which they are taken together, in as many parts of equally many drives."""


def importance(trials: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> dict[str, dict[str, float]]:
    """The share of the variance of each measure that each key explains, the largest first.

    Args:
        trials: The trials of a search, as `search.json` has them.
        keys: The keys that are searched.

    Returns:
        By measure and key; nothing where too few drives were tried.
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
    """The share that one key explains among the drives that read it; None where that cannot be told."""
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
    """Values by the setting they belong to; of many settings neighbours are taken together."""
    from flashmesh.report.chart_spec import magnitude

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
