"""Measurements of drives: the bundled ones agree with the publication, and impossible ones are refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import flashmesh.validation
from flashmesh import ConfigError
from flashmesh.validation.tables.measurements import Measurements, bundled, chosen, parse
from made_up_drive import csv_of, measurements

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data" / "real_drives.csv"
DATA = Path(flashmesh.validation.__file__).parent / "data"


def test_the_measurements_that_come_along_are_those_that_were_published() -> None:
    if not SHARED.is_file():
        assert os.environ.get("FLASHMESH_CI") != "1", f"{SHARED} is not there"
        pytest.skip("the published measurements are not there")
    assert (DATA / "real_drives.csv").read_bytes() == SHARED.read_bytes()


def test_four_drives_were_measured_up_to_their_saturation() -> None:
    known = {each.drive: each for each in bundled()}
    assert {name: round(each.saturation_iops or 0) for name, each in known.items()} == {
        "SK Hynix PE8110": 85_146,
        "Solidigm D7-P5520": 124_995,
        "Kioxia CM7-R": 332_511,
        "Samsung PM9A3": 82_265,
    }
    assert [each.is_saturated for each in known["Samsung PM9A3"].points[:4]] == [False, False, False, True]


def test_what_is_written_is_read_again() -> None:
    known = measurements()
    (again,) = parse(csv_of(known), "made-up.csv", "")
    assert again == known


def test_latencies_in_other_units_become_microseconds() -> None:
    known = measurements()
    text = csv_of(known).replace("read_mean_us", "read_mean_ms").replace(",100.0,90.0,200.0", ",0.1,90.0,200.0", 1)
    (again,) = parse(text, "made-up.csv", "")
    assert again.points[0].figures.read_mean_us == pytest.approx(100.0)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("read_p99_us", "read_p99", "the column read_p99 has no unit: name it read_p99_us"),
        ("read_p99_us", "read_tail", "lacks the column read_p99_us"),
        ("offered_iops", "rate", "lacks the column offered_iops"),
        ("read_p99_us,", "read_p99_us,read_p99_ms,", "read_p99_us and read_p99_ms have the same meaning"),
        ("8000.0,5000.0,8000.0", "8000.0,5000.0,30000.0", ":2: 35,000 requests a second were served and only 13,000"),
        ("8000.0,5000.0,8000.0", "4000.0,5000.0,1000.0", ":2: offered_iops is 4,000: the first thread alone issues"),
        ("8000.0,5000.0,8000.0", "8000.0,-5.0,8000.0", ":2: read_iops is '-5.0': expected a number above 0"),
        ("8000.0,5000.0,8000.0", "8000.0,fast,8000.0", ":2: read_iops is 'fast': expected a number above 0"),
        ("8000.0,5000.0,8000.0", "8000.0,,8000.0", ":2: read_iops is empty"),
        ("8000.0,5000.0,8000.0", "8000.0,5000.0", ":2: has another number of cells than the heading"),
        ("12000.0,5000.0,12000.0", "8000.0,5000.0,8000.0", "made up has 8,000 offered IOPS twice"),
        (
            "90.0,200.0,300.0",
            "90.0,80.0,300.0",
            ":2: read_p99_us is 80 and read_p50_us is 90: percentiles must not decrease",
        ),
    ],
)
def test_bad_measurements_are_refused_with_their_place(old: str, new: str, told: str) -> None:
    text = csv_of(measurements())
    assert old in text
    with pytest.raises(ConfigError) as caught:
        parse(text.replace(old, new, 1), "made-up.csv", "")
    assert told in str(caught.value)
    assert str(caught.value).startswith("made-up.csv")


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(ConfigError, match="has no measurement"):
        parse(csv_of(measurements()).splitlines()[0], "made-up.csv", "")


def test_of_several_drives_one_is_to_be_chosen() -> None:
    one, other = measurements(), Measurements("another", 1.0, measurements().points)
    assert chosen([one], None, "x.csv") is one
    assert chosen([one, other], "another", "x.csv") is other
    with pytest.raises(ConfigError, match="several drives: choose one with --drive: made up, another"):
        chosen([one, other], None, "x.csv")
    with pytest.raises(ConfigError, match="has no drive 'a third'"):
        chosen([one, other], "a third", "x.csv")
