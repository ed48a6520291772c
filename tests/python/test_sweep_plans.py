"""Content of a sweep file: ranges, groups of keys, random points, intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import pytest

from flashmesh import ConfigError
from flashmesh.sweeps.inputs.plan import Plan, cartesian, drawn, seeds_of, zipped
from flashmesh.sweeps.inputs.ranges import Range, is_range, read_range


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1..4", ["1", "2", "3", "4"]),
        ("1..64 x4", ["1", "4", "16", "64"]),
        ("1..50 x4", ["1", "4", "16"]),
        ("4KiB..64KiB x4", ["4KiB", "16KiB", "64KiB"]),
        ("10us..1ms x10", ["10us", "100us", "1000us"]),
        ("0%..100% +25%", ["0%", "25%", "50%", "75%", "100%"]),
        ("0.1..0.3 +0.1", ["0.1", "0.2", "0.3"]),
        ("1_000..2_000 +500", ["1000", "1500", "2000"]),
        ("400MB/s..1.2GB/s +400MB/s", ["400MB/s", "800MB/s", "1200MB/s"]),
    ],
)
def test_range_has_its_values(text: str, values: list[str]) -> None:
    assert read_range("key", text).values() == values


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1..x", "is not a range"),
        ("4KiB..4us", "give both the same unit"),
        ("8..1", "ends before it begins"),
        ("1..8 x1", "never ends"),
        ("0..8 x2", "never ends"),
        ("1..8 +0", "never ends"),
        ("0..8 log", "logarithmic"),
        ("1furlong..2furlong", "a unit that ranges do not support"),
    ],
)
def test_what_is_no_range_is_refused(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        read_range("key", text)


def test_endless_range_is_refused() -> None:
    with pytest.raises(ConfigError, match="a range of 1,000,000,000 values: at most 100,000"):
        read_range("key", "1..1_000_000_000").values()


def test_paths_are_no_ranges() -> None:
    assert not any(map(is_range, ["../traces/a.csv", "a..b", "1..", "..2"]))


def test_groups_combine_with_the_last_varying_fastest() -> None:
    groups = [*cartesian({"a": [1, 2]}), zipped({"b": ["x", "y"], "c": [True, False]}), seeds_of(2)]
    points = list(Plan(tuple(groups)).points())
    assert len(points) == Plan(tuple(groups)).count == 8
    assert points[0] == {"a": "1", "b": "x", "c": "true", "seed": "0"}
    assert points[1] == {"a": "1", "b": "x", "c": "true", "seed": "1"}
    assert points[2] == {"a": "1", "b": "y", "c": "false", "seed": "0"}
    assert Plan(tuple(groups)).axes() == {"a": (1, 2), "b": ("x", "y"), "c": (True, False), "seed": (0, 1)}


def test_latin_hypercube_hits_every_interval_of_every_key_once() -> None:
    space: dict[str, Range | Sequence[str]] = {
        "share": read_range("share", "0..1.0"),
        "depth": read_range("depth", "1..16"),
        "kind": ["bus", "ideal"],
    }
    group = drawn(space, 16, seed=3, latin=True)
    assert sorted(math.floor(float(row[0]) * 16) for row in group.rows) == list(range(16))
    assert sorted(int(row[1]) for row in group.rows) == list(range(1, 17))
    assert Counter(row[2] for row in group.rows) == {"bus": 8, "ideal": 8}
    assert drawn(space, 16, seed=3, latin=True) == group
    assert drawn(space, 16, seed=4, latin=True) != group


def test_random_draws_keep_to_their_bounds_and_seed() -> None:
    space = {"size": read_range("size", "4KiB..64KiB x2"), "rate": read_range("rate", "1..1000 log")}
    group = drawn(space, 200, seed=1, latin=False)
    assert {row[0] for row in group.rows} == {"4KiB", "8KiB", "16KiB", "32KiB", "64KiB"}
    rates = [int(row[1]) for row in group.rows]
    assert 1 <= min(rates) <= max(rates) <= 1000
    assert sum(rate < 32 for rate in rates) == pytest.approx(len(rates) / 2, rel=0.25)
    assert drawn(space, 200, seed=1, latin=False) == group
