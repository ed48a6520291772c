"""Comparison of reports without the fields that vary between runs of the same simulation."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

VARYING = {"wall_s", "requests_per_wall_s", "peak_rss_bytes", "version", "config_hash", "timeline"}
"""Keys that may differ between two runs of the same simulation."""


CITATIONS = "source"
"""Key of the citation of a constant of the model, a text that is not part of the simulated result."""


def result_of(report: dict[str, Any]) -> dict[str, Any]:
    """Returns the simulated result of a report."""
    return {key: without_citations(value) for key, value in report.items() if key not in VARYING}


def without_citations(value: Any) -> Any:
    """Returns a value without the citations of constants, also in nested tables and lists."""
    match value:
        case dict():
            return {key: without_citations(part) for key, part in value.items() if key != CITATIONS}
        case list():
            return [without_citations(part) for part in value]
        case _:
            return value


def hash_of(result: dict[str, Any]) -> str:
    """Returns the first twelve hexadecimal digits of a hash of a result."""
    return hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()[:12]


def leaves(value: Any, path: str = "") -> dict[str, str]:
    """Returns every value of a document by its path."""
    match value:
        case dict():
            parts = [(f"{path}.{key}" if path else key, part) for key, part in value.items()]
        case list():
            parts = [(f"{path}[{index}]", part) for index, part in enumerate(value)]
        case _:
            return {path: json.dumps(value)}
    return {name: leaf for inner, part in parts for name, leaf in leaves(part, inner).items()}


def differences(now: dict[str, Any], before: dict[str, Any]) -> list[str]:
    """Returns the fields in which `now` differs from `before`, or that it lacks; not renamed and added fields."""
    new, old = leaves(now), leaves(before)
    changed = [f"{path}: {old[path]} -> {new[path]}" for path in old.keys() & new.keys() if old[path] != new[path]]
    lost = Counter(old[path] for path in old.keys() - new.keys())
    lost -= Counter(new[path] for path in new.keys() - old.keys())
    gone = [f"{path}: {old[path]} is gone" for path in old.keys() - new.keys() if old[path] in lost]
    return sorted(changed) + sorted(gone)
