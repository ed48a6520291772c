"""Ranges and plans that are too long to run: they are refused before any value is generated."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import flashmesh
from flashmesh import ConfigError
from flashmesh.calibration.space import free_key
from flashmesh.sweeps.inputs import plan
from flashmesh.sweeps.inputs.plan import Group, Plan
from flashmesh.sweeps.inputs.ranges import VALUES_MAX, Range, read_range
from flashmesh.sweeps.inputs.searchfile import read_search
from flashmesh.sweeps.inputs.sweepfile import read_sweep

SOON_S = 60
"""Limit of processor time. A refusal takes almost none; generating the values would take hours."""
ENDLESS = [
    ("1..1e9 x1.0000001", "a range of 207,232,669 values: at most 100,000 are allowed"),
    ("1..2 x1.00000000000000000000001", "values: at most 100,000"),
    ("1..2 x1.0000000000000000000000000000000000000000001", "a range of far more values"),
    ("1..1e200 x1.00000001", "values: at most 100,000"),
    ("1..1e9 +1", "a range of 1,000,000,000 values"),
    ("1..2 +1e-199", "a range of far more values"),
    ("1e16..1.00000000001e16 +0.1", "values: at most 100,000"),
    ("1..1.00000000000000001 +1e-18", "the step is too small to change a value"),
    ("1..1e999999999", "1e999999999 is not a number that a key can have"),
    ("1..1e999999999999s x2", "is not a number that a key can have"),
    ("1e-999999999..1 x2", "is not a number that a key can have"),
    (f"1..{'9' * 5000}", "9" * 30 + r"\.\.\. is not a number that a key can have"),
    ("1..2 +1e-999999999", "is not a number that a key can have"),
    ("1..2 x1e999999999", "is not a number that a key can have"),
]


@pytest.fixture(autouse=True)
def soon() -> object:
    """Limits the time of each test."""
    begun_s = time.process_time()
    yield
    assert time.process_time() - begun_s < SOON_S


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "drive.toml").write_text("[workload]\nrequests = 100\n")
    return tmp_path


def sweep_of(folder: Path, tables: str) -> Path:
    path = folder / "sweep.toml"
    path.write_text(f'config = "drive.toml"\n{tables}')
    return path


def search_of(folder: Path, tables: str) -> Path:
    path = folder / "search.toml"
    path.write_text(f'config = "drive.toml"\n{tables}\n[objectives]\np99 = "minimise"\n')
    return path


def readers(folder: Path, text: str) -> dict[str, Callable[[], object]]:
    """Returns all functions that read a range from a file, by name."""
    line = f'"replay.outstanding" = "{text}"\n'
    drawn = f"samples = 3\n{line}"
    return {
        "axes": lambda: read_sweep(sweep_of(folder, f"[axes]\n{line}")),
        "zip": lambda: read_sweep(sweep_of(folder, f"[[zip]]\n{line}seed = [1, 2]\n")),
        "random": lambda: read_sweep(sweep_of(folder, f"[random]\n{drawn}")),
        "latin-hypercube": lambda: read_sweep(sweep_of(folder, f"[latin-hypercube]\n{drawn}")),
        "space": lambda: read_search(search_of(folder, f"[space]\n{line}")),
        "calibrate": lambda: free_key("facts.toml", {"key": "replay.outstanding", "range": text}),
    }


@pytest.mark.parametrize(("text", "told"), ENDLESS)
def test_an_endless_range_is_refused_in_every_file_with_its_key(folder: Path, text: str, told: str) -> None:
    for place, read in readers(folder, text).items():
        with pytest.raises(ConfigError, match=told) as refused:
            read()
        assert "replay.outstanding" in str(refused.value), place


@pytest.mark.parametrize(
    "text", ["1..1e5 x1.01", "1e-9..1 x1.5", "1..99_999", "0..1 +0.001", "3us..1s x7", "1..1024 x2"]
)
def test_a_range_is_counted_by_arithmetic_as_it_is_listed(text: str) -> None:
    found = read_range("key", text)
    values = found.values()
    assert (found.count, found.value(0), found.value(len(values) - 1)) == (len(values), values[0], values[-1])
    assert len(set(values)) == len(values)


def test_a_long_range_with_a_factor_is_made_in_time_in_proportion_to_it() -> None:
    found = read_range("key", "1..100 x1.0001")
    values = found.values()
    assert len(values) == found.count == 46_055 < VALUES_MAX
    assert all(math.isclose(float(values[at]), 1.0001**at, rel_tol=1e-9) for at in (1, 1_000, 46_054))


def test_whole_numbers_without_end_may_be_drawn_from_and_stay_in_their_range(folder: Path) -> None:
    space = read_search(search_of(folder, '[space]\n"seed" = "1..1_000_000_000"\n')).space["seed"]
    assert isinstance(space, Range)
    assert [space.at(share) for share in (0.0, 0.5, 0.999999999999)] == ["1", "500000001", "1000000000"]
    narrow = read_range("key", "0.12345671..0.12345672")
    assert {0.12345671 <= float(narrow.at(share)) <= 0.12345672 for share in (0.0, 0.3, 0.99)} == {True}


MANY = [
    ("[axes]\n" + "".join(f'"stream.s{n}.seed" = "1..99_999"\n' for n in range(400)), "a sweep of far more points"),
    ('[axes]\na = "1..1001"\nb = "1..1000"\n', "a sweep of 1,001,000 points: at most 1,000,000"),
    ('[axes]\na = "1..1000"\n[random]\nsamples = 2000\nb = [1, 2]\n', "a sweep of 2,000,000 points"),
    ("seeds = 1_000_001\n[axes]\na = [1]\n", "a sweep of 1,000,001 points"),
    ("[random]\nsamples = 1_000_000\n" + "".join(f'k{n} = "0..1.0"\n' for n in range(50)), "at most 20,000,000 values"),
    ("[[zip]]\n" + "".join(f'k{n} = "1..99_999"\n' for n in range(400)), "at most 20,000,000 values can be planned"),
    ("seeds = 0x" + "f" * 9000, "has a whole number of more than 64 bits"),
    ("seeds = " + "9" * 9000, "is not TOML"),
    ("a." * 2000 + "b = 1", "has tables nested more than 50 deep"),
]


@pytest.mark.parametrize(("tables", "told"), MANY, ids=[told for _, told in MANY])
def test_a_plan_that_is_too_large_is_refused_before_a_point_is_made(
    folder: Path, tables: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_is_made(*_: object) -> None:
        raise AssertionError("a value was made")

    monkeypatch.setattr(Range, "values", none_is_made)
    monkeypatch.setattr(plan, "at", none_is_made)
    with pytest.raises(ConfigError, match=told):
        read_sweep(sweep_of(folder, tables))


def test_a_plan_of_a_program_is_held_to_the_same_limits() -> None:
    rows = tuple((str(number),) for number in range(1001))
    with pytest.raises(ConfigError, match="a sweep of 1,002,001 points"):
        Plan((Group(("a",), rows), Group(("b",), rows)))


def test_an_axis_of_a_program_is_counted_before_a_value_is_taken() -> None:
    for many, told in (
        (range(10**9), "an axis of 1,000,000,000 values"),
        (range(10**30), "an axis of far more values"),
    ):
        with pytest.raises(ConfigError, match=f"replay.outstanding: {told}: at most 1,000,000 are allowed"):
            flashmesh.compare({"workload": {"requests": 1}}, {"replay.outstanding": many})


def test_a_bound_of_a_search_that_is_no_number_is_refused(folder: Path) -> None:
    for bound in ("<= 1e999999999s", f"<= {'1' * 5000}s"):
        with pytest.raises(ConfigError, match="is not a number that a key can have"):
            read_search(search_of(folder, f'[space]\nseed = [1, 2]\n[constraints]\np99 = "{bound}"\n'))
