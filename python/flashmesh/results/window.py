"""Results in which the figures of the measured window replace those of the whole run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def windowed(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a result with the figures of its measured window in place of the whole run.

    Unchanged without a window.
    """
    window = document.get("measured")
    if window is None:
        return document

    def merged(whole: Any, part: Any) -> Any:
        return {**whole, **part} if isinstance(whole, dict) and isinstance(part, dict) else part

    return {**document, **{key: merged(document[key], part) for key, part in window.items() if key in document}}
