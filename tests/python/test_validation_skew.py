"""Rates of writes to hot pages: the table, the model of the drive, and the effect of scattered hot pages."""

from __future__ import annotations

import pytest

import flashmesh
from flashmesh import ConfigError
from flashmesh.validation.drives import drives
from flashmesh.validation.engine import QUICK, Subject, Validating
from flashmesh.validation.figures import Figures
from flashmesh.validation.judging.outcome import RowOutcome, row_dict, row_outcome_of
from flashmesh.validation.loads.rows import kind_of, rows_of
from flashmesh.validation.loads.skew import (
    COLUMNS,
    KIND,
    MEASURED_TO,
    OVERWRITES_BEFORE,
    SkewLoad,
    bundled,
    parse,
    small_model,
    with_skew,
)
from flashmesh.validation.loads.workload import capacity_bytes, drive_tables, planes_of
from flashmesh.validation.tables import measurements

HEADING = ",".join(COLUMNS)
ROW = "Drive,SSD-iq,4KiB,512,0.1,1,5,100000"
LOAD = SkewLoad(0.0, 4096, "random", 512, 0.1, 0.95, 5.0)


def test_every_row_is_of_a_validated_drive_and_stands_behind_its_other_rows() -> None:
    measured = {drive.measured for drive in drives().values()}
    assert bundled()
    for row in bundled():
        assert row.drive in measured
        assert kind_of(row) == KIND
        assert row in rows_of(row.drive)
        assert row_outcome_of(row_dict(RowOutcome(row, row.value))).row == row


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("0.1,1,5", "0.3,1,5", "hot_share is '0.3': expected 1 / N of the pages"),
        ("0.1,1,5", "0.1,1.5,5", "hot_traffic is '1.5': expected more than 0, at most 1"),
        ("0.1,1,5", "0.1,1,0", "overwrites is '0': expected more than 3.1, after which a rate settles"),
        ("0.1,1,5", "0.1,1,3", "overwrites is '3': expected more than 3.1, after which a rate settles"),
        ("4KiB,512", "4KiB,510", "outstanding is 510: expected a multiple of 4"),
        ("100000", "-1", "iops is '-1': expected a number above 0"),
        ("4KiB", "4", "request_size is '4'"),
        ("SSD-iq", "", "source is empty"),
    ],
)
def test_an_invalid_row_is_refused_with_its_place(old: str, new: str, told: str) -> None:
    with pytest.raises(ConfigError, match=r"skew\.csv:2") as raised:
        parse(f"{HEADING}\n{ROW.replace(old, new)}\n", "skew.csv")
    assert told in str(raised.value)


def test_a_load_that_is_listed_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="Drive has random 0% reads 4KiB QD512"):
        parse(f"{HEADING}\n{ROW}\n{ROW}\n", "skew.csv")


@pytest.mark.parametrize("name", ["samsung-pm9a3", "sk-hynix-pe8110"])
def test_the_model_of_a_drive_keeps_its_spare_share_and_whole_word_lines(name: str) -> None:
    tables = drive_tables(f"preset:{name}", {})
    model = small_model(tables)

    def spare(drive: dict[str, dict[str, int]]) -> float:
        geometry = drive["geometry"]
        return planes_of(geometry) * geometry["blocks-per-plane"] * geometry["pages-per-block"] / capacity_bytes(drive)

    assert spare(model) == pytest.approx(spare(tables), rel=0.0005)
    assert capacity_bytes(model) == pytest.approx(capacity_bytes(tables) / 64, rel=0.005)
    assert model["geometry"]["pages-per-block"] % 3 == 0
    assert model["cache"]["capacity"] == f"{8 * 2**20}B"


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("channels", 6, "geometry.channels is 6: expected a multiple of 4"),
        ("pages-per-block", 1149, "geometry.pages-per-block is 1149: expected a multiple of 4"),
        ("blocks-per-plane", 399, "geometry.blocks-per-plane is 399: expected 400 or more"),
    ],
)
def test_a_drive_that_cannot_be_divided_is_validated_without_hot_pages_and_a_note_says_why(
    key: str, value: int, told: str
) -> None:
    tables = drive_tables("preset:samsung-pm9a3", {})
    geometry = {name: each for name, each in tables["geometry"].items() if name != "capacity"}
    config = {**tables, "geometry": {**geometry, key: value, "over-provisioning": 0.2}}
    (known,) = (each for each in measurements.bundled() if each.drive == "Samsung PM9A3")
    subject = Subject("drive", config, known, rows=rows_of(known.drive))
    validating = Validating([subject], QUICK, {}, None)
    (note,) = (each for each in validating.notes[0] if each.startswith("left out"))
    assert "10 % of the pages get 100 % of the writes" in note
    assert told in note
    assert KIND not in {kind_of(row) for row in validating.subjects[0].rows}
    assert len(validating.subjects[0].rows) == len(subject.rows) - 1


def test_the_rate_of_the_model_is_multiplied_to_that_of_the_drive() -> None:
    (row, *_) = bundled()
    assert row.value_of(Figures(read_iops=0.0, write_iops=10_000.0)) == 40_000.0


def test_the_run_is_measured_once_the_model_has_been_written_over_three_times() -> None:
    loaded = with_skew(drive_tables("preset:samsung-pm9a3", {}), LOAD, 0.0)
    writes = 5.0 * capacity_bytes(loaded) / 4096
    assert loaded["workload"]["requests"] == round(MEASURED_TO * writes)
    assert loaded["measure"]["warm-up-requests"] == round(OVERWRITES_BEFORE * writes / 5.0) == round(3 * writes / 5.0)
    assert (loaded["workload"]["hot-stride"], loaded["workload"]["hot-traffic"]) == (10, 0.95)
    assert loaded["precondition"]["kind"] == "sequential"


def test_hot_pages_scattered_over_the_drive_amplify_writes_more_than_hot_pages_side_by_side() -> None:
    def amplification(pattern: str, hot: dict[str, float]) -> float:
        workload = {"pattern": pattern, "hot-traffic": 1.0, "read-share": 0.0, "requests": 120_000, **hot}
        config = {
            "geometry": {
                "channels": 2,
                "chips-per-channel": 1,
                "dies-per-chip": 1,
                "planes-per-die": 1,
                "blocks-per-plane": 128,
                "pages-per-block": 64,
                "page-size": "4KiB",
                "over-provisioning": 0.15,
            },
            "precondition": {"kind": "sequential"},
            "workload": {"request-size": "4KiB", **workload},
            "measure": {"warm-up": "requests", "warm-up-requests": 60_000},
        }
        found = flashmesh.run(config).to_dict()["measured"]["write_amplification"]
        assert isinstance(found, float)
        return found

    scattered = amplification("hot-stride", {"hot-stride": 10})
    together = amplification("hot-cold", {"hot-footprint": 0.1})
    assert scattered > 2.0 * together
