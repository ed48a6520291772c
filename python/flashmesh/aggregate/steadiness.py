"""Note on runs whose measured window is not steady."""

from __future__ import annotations

REMEDY = "a longer run would give other values; --until-steady goes on until it is."


def unsteady_note(unsteady: int, points: int) -> str:
    """Returns a sentence on points whose measured window was not steady."""
    if points == 1:
        return f"The measured window is not steady: {REMEDY}"
    are = "is" if unsteady == 1 else "are"
    return f"{unsteady:,} of {points:,} points {are} of a window that is not steady: {REMEDY}"
