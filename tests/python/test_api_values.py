"""Values of Python programs: NumPy scalars as input, results that can be compared and printed."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

import flashmesh
from flashmesh.configuration import plain, value_text

SMALL: dict[str, Any] = {"preset": "venice-z-nand", "workload": {"requests": 2_000}}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.int64(5), "5"),
        (np.uint8(5), "5"),
        (np.float64(0.5), "0.5"),
        (np.float32(0.5), "0.5"),
        (np.bool_(True), "true"),
        (np.str_("bus"), "bus"),
        (np.array([1, 2]), "[1, 2]"),
        ([np.int64(1), "a"], '[1, "a"]'),
    ],
)
def test_scalars_of_numpy_are_spelt_as_those_of_python(value: Any, text: str) -> None:
    assert value_text(value) == text


def test_plain_leaves_everything_else_alone() -> None:
    tables = {"a": {"b": [1, "x", None]}, "c": 2.5}
    assert plain(tables) == tables
    assert type(plain({"a": {"b": np.int64(3)}})["a"]["b"]) is int


def test_configurations_take_scalars_of_numpy_wherever_they_take_numbers() -> None:
    tables = {"preset": "venice-z-nand", "workload": {"requests": np.int64(2_000), "read-share": np.float64(0.5)}}
    # Use a cast, because type checkers do not accept NumPy scalars as numbers.
    requests, three, depths = cast("tuple[int, int, list[int]]", (np.int64(2_000), np.uint16(3), np.array([1, 8])))
    typed = flashmesh.Config(
        preset="venice-z-nand", workload=flashmesh.Workload(requests=requests, read_share=np.float64(0.5))
    )
    overrides = {"workload.requests": np.int32(2_000), "workload.read-share": np.float32(0.5)}
    results = [
        flashmesh.run(tables, seed=three),
        flashmesh.run(typed, seed=3),
        flashmesh.run("preset:venice-z-nand", overrides=overrides, seed=three),
    ]
    assert results[0] == results[1] == results[2]
    comparison = flashmesh.compare(SMALL, {"replay.outstanding": depths}, jobs=1)
    assert comparison.axes == {"replay.outstanding": (1, 8)}


def test_results_of_the_same_simulation_are_equal_and_others_are_not() -> None:
    one, same = flashmesh.run(SMALL), flashmesh.run(SMALL)
    other = flashmesh.run(SMALL, seed=1)
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != "a text"
    assert len({one, same, other}) == 2


def test_a_result_says_the_figures_of_its_measured_window() -> None:
    whole = flashmesh.run(SMALL)
    assert whole.window is whole
    warm = flashmesh.run(SMALL, overrides={"measure.warm-up": "requests", "measure.warm-up-requests": 500})
    assert warm.measured is not None
    assert warm.window is warm.measured
    assert (warm.window.requests, warm.requests) == (1_500, 2_000)
    assert repr(warm).startswith(f"<Result: 1,500 requests, {warm.measured.iops:,.0f} IOPS")


def test_representation_is_one_short_line() -> None:
    result = flashmesh.run(SMALL)
    assert repr(result).startswith("<Result: 2,000 requests, ")
    assert len(repr(result)) < 120
    assert result.setup is not None
    assert result.setup.total_seconds() > 0
