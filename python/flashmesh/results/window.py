"""Replacement of the figures of a run by those of its measured window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def windowed(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a result with the values of its measured window instead of the whole run, if it has one."""
    window = document.get("measured")
    if window is None:
        return document

    def merged(whole: Any, part: Any) -> Any:
        return {**whole, **part} if isinstance(whole, dict) and isinstance(part, dict) else part

    return {**document, **{key: merged(document[key], part) for key, part in window.items() if key in document}}
