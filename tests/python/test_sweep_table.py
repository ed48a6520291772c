"""The table of a sweep: column types that follow from the values, and texts too long for one chunk."""

from __future__ import annotations

from typing import Any

import pytest

from flashmesh.sweeps.results import table
from flashmesh.sweeps.results.table import axis_column


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, -2, 3], "int64"),
        ([1.5, 2.0], "double"),
        ([True, False, True] * 5, "bool"),
        (["bus", "", "Größe"], "string"),
        ([1, 2.5], "double"),
        ([1, "all"], "string"),
    ],
)
def test_axis_becomes_a_column_of_its_type(values: list[Any], kind: str) -> None:
    column = axis_column(values)
    assert str(column.type) == kind
    column.validate(full=True)
    assert column.to_pylist() == ([str(value) for value in values] if kind == "string" else values)


def test_long_texts_are_spread_over_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "TEXT_MAX", 10)
    texts = ["12345678901234", "", "1234", "12345678", "é", "x" * 40]
    column = table.column(texts, str)
    assert column.num_chunks == 3
    column.validate(full=True)
    assert column.to_pylist() == texts
    assert table.column([], str).to_pylist() == []
