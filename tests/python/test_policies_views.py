"""Tables of the state that policies receive agree with the compiled module."""

from __future__ import annotations

from pathlib import Path

import flashmesh.policies
import view_tables

PAGE = Path(__file__).parents[2] / "docs/how-to/policies-in-python.md"


def test_the_documentation_has_a_row_for_every_field_of_what_policies_get() -> None:
    assert view_tables.markdown() in PAGE.read_text(encoding="utf-8")


def test_help_has_a_row_for_every_field_of_what_policies_get() -> None:
    assert view_tables.docstring() in (flashmesh.policies.__doc__ or "")


def test_every_field_in_the_tables_is_there() -> None:
    for view, name, _, _ in view_tables.fields():
        assert hasattr(getattr(flashmesh.policies, view), name.partition("(")[0]), f"{view}.{name}"
