"""Records behave like frozen dataclasses with slots."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from flashmesh.record import record


@record
class Point:
    """A record with a required field and a field that has a default."""

    x: int
    y: int = 0


@record
class Named(Point):
    """A record that inherits the fields of another record, and defines its own `repr`."""

    name: str = "here"

    def __repr__(self) -> str:
        return f"<{self.name}>"


@record
class Noted:
    """A record with a field that comparisons and `repr` ignore."""

    x: int
    remarks: dict[str, int] = dataclasses.field(repr=False, compare=False)


def test_fields_are_taken_in_order_and_by_name() -> None:
    assert (Point(1).x, Point(1).y, Point(1, y=2).y) == (1, 0, 2)
    assert dataclasses.astuple(Named(1, 2, "there")) == (1, 2, "there")
    assert [each.name for each in dataclasses.fields(Named)] == ["x", "y", "name"]


@pytest.mark.parametrize(
    ("values", "named", "words"),
    [
        ((), {}, "lacks 'x'"),
        ((1, 2, 3), {}, "takes 2 values, not 3"),
        ((1,), {"x": 1}, "got 'x' twice"),
        ((1,), {"z": 1}, "has no 'z'"),
    ],
)
def test_wrong_fields_are_refused(values: tuple[int, ...], named: dict[str, int], words: str) -> None:
    kind: Any = Point
    with pytest.raises(TypeError, match=words):
        kind(*values, **named)


def test_values_decide_whether_records_are_equal() -> None:
    assert Point(1, 2) == Point(1, 2) != Point(1, 3)
    assert hash(Point(1, 2)) == hash(Point(1, 2))
    assert Named(1, 2) != Point(1, 2)
    assert Noted(1, {"a": 1}) == Noted(1, {})
    assert hash(Noted(1, {"a": 1})) == hash(Noted(1, {}))
    assert repr(Noted(1, {})) == "Noted(x=1)"
    assert (repr(Point(1, 2)), repr(Named(1))) == ("Point(x=1, y=2)", "<here>")


def test_records_are_not_changed() -> None:
    point: Any = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    assert not hasattr(point, "__dict__")
    assert dataclasses.replace(point, y=5) == Point(1, 5)


def test_records_can_be_copied_and_sent() -> None:
    assert copy.deepcopy(Named(1)) == Named(1) == pickle.loads(pickle.dumps(Named(1)))
