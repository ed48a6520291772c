"""Parametrized tests of which `make test` runs a part."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def in_part(short: int, cases: Iterable[Any]) -> list[Any]:
    """Returns the cases of `pytest.mark.parametrize`. Marks all but the first `short` cases as long.

    A case is a value, or a tuple of values, but no `pytest.param`.
    """

    def long(case: Any) -> Any:
        assert not hasattr(case, "marks"), case
        values = case if isinstance(case, tuple) else (case,)
        return pytest.param(*values, marks=pytest.mark.long)

    return [case if number < short else long(case) for number, case in enumerate(cases)]
