"""Rows of data sheets: bad ones are refused, simulated values agree with closed forms, and tolerances are counted."""

from __future__ import annotations

import csv
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from flashmesh import ConfigError
from flashmesh.sweeps.executors.local import LocalThreads
from flashmesh.validation.drives import drives
from flashmesh.validation.engine import FULL, QUICK, Subject, Validating
from flashmesh.validation.figures import STATISTICS, Figures
from flashmesh.validation.judging.outcome import PointOutcome, RowOutcome, Validation, from_dict, to_dict
from flashmesh.validation.judging.verdict import mean_difference
from flashmesh.validation.loads.workload import Extent, drive_tables, with_row
from flashmesh.validation.tables.measurements import bundled as bundled_measurements
from flashmesh.validation.tables.measurements import read as read_measurements
from flashmesh.validation.tables.sheets import (
    COLUMNS,
    PATTERNS,
    RATE,
    ROW_PRECISION,
    UNITS,
    SheetLoad,
    SheetRow,
    bundled,
    parse,
    rows_of,
)
from made_up_drive import measurements, written

EXAMPLE = Path(__file__).parents[2] / "examples" / "calibrate" / "sheet.csv"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "validate-a-drive.md"
SHARED = Path(__file__).parents[3] / "shared" / "data" / "datasheets.csv"
SHORT_NAMES = {
    "pm9a3": "Samsung PM9A3",
    "pe8110": "SK Hynix PE8110",
    "p5520": "Solidigm D7-P5520",
    "cm7r": "Kioxia CM7-R",
}
READ_US, PROGRAM_US, ERASE_US, SOFTWARE_US, PAGES = 40.0, 100.0, 1_600.0, 5.0, 64
DIE = f"""
preset = "venice-z-nand"

[geometry]
channels = 1
chips-per-channel = 1
dies-per-chip = 1
planes-per-die = 1
blocks-per-plane = 64
pages-per-block = {PAGES}
page-size = "4KiB"
over-provisioning = 0.3

[flash]
read-time = "{READ_US}us"
program-time = "{PROGRAM_US}us"
erase-time = "{ERASE_US}us"
command-time = "0ps"

[fabric]
kind = "ideal"
channel-rate = "unlimited"

[host]
link-rate = "unlimited"
"""
"""Drive with a single die and without transfer times, whose operations run one at a time."""
HEADING = ",".join(COLUMNS)
GOOD = "made up,random read 4 KiB QD1 mean,data sheet,40,us,1,4KiB,random,1,mean"


READS, WRITES = SheetLoad(1.0, 4096, "random", 1), SheetLoad(0.0, 4096, "sequential", 1)
DEEP_READS = replace(READS, outstanding=8)


def row(
    value: float,
    unit: str = "IOPS",
    load: SheetLoad = DEEP_READS,
    statistic: str = "rate",
    reference: str = "data sheet",
) -> SheetRow:
    return SheetRow("made up", f"{load.label} {statistic}", reference, value, unit, load, statistic)


BLOCK_US = PAGES * PROGRAM_US + ERASE_US
CLOSED_FORMS = (
    row(READ_US + SOFTWARE_US, "us", READS, "mean"),
    row(READ_US + SOFTWARE_US, "us", READS, "p50"),
    row(1e6 / (READ_US + SOFTWARE_US), load=READS),
    row(1e6 / READ_US),
    row(4096 / READ_US, "MB/s", SheetLoad(1.0, 128 * 1024, "sequential", 4)),
    row(PROGRAM_US + SOFTWARE_US, "us", WRITES, "p50"),
    row(PAGES * 4096 / BLOCK_US * 1e6 / 2**20, "MiB/s", SheetLoad(0.0, 128 * 1024, "sequential", 4)),
    row(PAGES / BLOCK_US * 1e6, "IOPS", SheetLoad(0.0, 4096, "sequential", 16)),
)
"""Rows with the figures of the die: every overwritten block of sequential writes costs an erase. A single program waits
for its software between requests; several programs keep the die busy meanwhile."""


def simulated(tmp_path: Path, rows: tuple[SheetRow, ...], software_us: float = 0.0) -> Validation:
    subject = Subject("drive", written(tmp_path, DIE), measurements(()), software_us=software_us, rows=rows)
    validating = Validating([subject], Extent(20_000), {}, None)
    assert len(validating.configs) == len({each.load for each in rows})
    validating.run(LocalThreads(2), lambda session: lambda outcome: None)
    (found,) = validating.validations()
    assert not found.failures
    return found


def test_the_rows_that_come_along_have_the_published_figures() -> None:
    if not SHARED.is_file():
        assert os.environ.get("FLASHMESH_CI") != "1", f"{SHARED} is not there"
        pytest.skip("the published figures are not there")
    with SHARED.open(encoding="utf-8", newline="") as file:
        published = [(SHORT_NAMES[each["drive"]], float(each["value"])) for each in csv.DictReader(file)]
    assert [(each.drive, each.value) for each in bundled()] == published


def test_every_measured_drive_has_rows_of_each_kind() -> None:
    assert {each.drive for each in bundled()} == {each.drive for each in bundled_measurements()}
    sheets = {each.drive for each in bundled()}
    for drive in drives().values():
        if drive.measured not in sheets:
            continue
        loads = {
            (each.unit, each.load.pattern, each.load.read_share, each.load.outstanding)
            for each in rows_of(drive.measured)
        }
        assert loads == {
            ("MB/s", "sequential", 1.0, 32),
            ("MB/s", "sequential", 1.0, 128),
            ("MB/s", "sequential", 0.0, 32),
            ("MiB/s", "sequential", 0.0, 32),
            *(("IOPS", "random", 1.0, depth) for depth in (256, 512, 1024)),
            ("IOPS", "random", 0.0, 512),
            ("us", "random", 1.0, 1),
            ("us", "sequential", 0.0, 1),
        }


def test_a_row_is_read() -> None:
    assert parse(f"{HEADING}\n{GOOD}\n", "sheet.csv") == (
        SheetRow(
            "made up", "random read 4 KiB QD1 mean", "data sheet", 40.0, "us", SheetLoad(1.0, 4096, "random", 1), "mean"
        ),
    )


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            ",pattern",
            ",order",
            ":1: lacks the column pattern: the columns are drive, what, reference, value, unit, read_share, "
            "request_size, pattern, outstanding, statistic; not read: 'order'",
        ),
        (",pattern", ",unit", ":1: has the column unit twice: keep one of them"),
        (",pattern", ",offered_iops", ":1: has the column offered_iops: this is a table of measurements"),
        ("made up,", ",", ":2: drive is empty: expected the name of the drive"),
        ("data sheet", "", ":2: reference is empty: expected the origin of the value, such as data sheet"),
        (",40,", ",fast,", ":2: value is 'fast': expected a number above 0, without separators of thousands"),
        (",40,", ",0,", ":2: value is '0': expected a number above 0"),
        (",us,", ",ms,", ":2: unit is 'ms': there are MB/s, MiB/s, IOPS, us"),
        (",us,", ",IOPS,", ":2: statistic is 'mean' and unit is 'IOPS': the unit needs rate"),
        (",mean\n", ",rate\n", ":2: statistic is 'rate' and unit is 'us': the unit needs mean, p50"),
        (",mean\n", ",median\n", ":2: statistic is 'median': there are rate, mean"),
        (",1,4KiB", ",1.5,4KiB", ":2: read_share is '1.5': expected a number from 0 (only writes) to 1 (only reads)"),
        (",1,4KiB", ",0.5,4KiB", ":2: read_share is 0.5: a latency is of reads (1) or of writes (0)"),
        (",4KiB,", ",4us,", ":2: request_size is '4us': expected a size with its unit, such as 512B, 4KiB or 1MiB"),
        (",4KiB,", ",large,", ":2: request_size is 'large': expected a size with its unit"),
        (",4KiB,", ",4096,", ":2: request_size is '4096': expected a size with its unit"),
        (",random,1,", ",zipf,1,", ":2: pattern is 'zipf': there are sequential, random"),
        (",random,1,", ",random,0,", ":2: outstanding is '0': expected an integer, 1 to 65,535"),
        (",random,1,", ",random,1.5,", ":2: outstanding is '1.5': expected an integer"),
        (",mean\n", "\n", ":2: has another number of cells than the heading: 9, not 10"),
        (
            ",40,",
            ",1,040,",
            ":2: has another number of cells than the heading: 11, not 10; a number has no separators of thousands",
        ),
        (f"{GOOD}\n", f"{GOOD}\n{GOOD}\n", ":3: made up has 'random read 4 KiB QD1 mean' of 'data sheet' twice"),
        (f"{GOOD}\n", "", ": has no row"),
    ],
)
def test_a_bad_row_is_refused_with_its_place(old: str, new: str, told: str) -> None:
    text = f"{HEADING}\n{GOOD}\n"
    assert old in text
    with pytest.raises(ConfigError) as caught:
        parse(text.replace(old, new, 1), "sheet.csv")
    assert str(caught.value).startswith(f"sheet.csv{told}")


def test_the_documented_example_has_a_row_of_each_kind_and_is_that_of_the_page() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert text in PAGE.read_text(encoding="utf-8")
    rows = parse(text, EXAMPLE.name)
    assert len(rows) == 4
    assert {(each.load.pattern, each.load.read_share) for each in rows} == {
        (pattern, share) for pattern in PATTERNS for share in (0.0, 1.0)
    }


def test_every_column_and_allowed_word_is_on_the_page() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("### Data sheets of your own")[2].partition("\n## ")[0]
    table = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE))
    assert tuple(table) == COLUMNS
    for column, words in (("unit", UNITS), ("pattern", PATTERNS), ("statistic", (RATE, *STATISTICS))):
        assert [word for word in words if f"`{word}`" not in table[column]] == []


def test_a_data_sheet_as_measurements_is_refused_with_the_option_that_takes_it() -> None:
    with pytest.raises(
        ConfigError, match="this is a data sheet, not a table of measurements: give it with --data-sheet"
    ):
        read_measurements(EXAMPLE)


def test_simulated_values_are_those_of_closed_forms(tmp_path: Path) -> None:
    found = simulated(tmp_path, CLOSED_FORMS, SOFTWARE_US)
    assert [each.row for each in found.rows] == list(CLOSED_FORMS)
    for each in found.rows:
        assert each.simulated == pytest.approx(each.row.value, rel=0.01), each.row.what
        assert each.requests > 0
    assert found.is_met


def test_random_writes_find_a_drive_in_steady_state(tmp_path: Path) -> None:
    tables = drive_tables(written(tmp_path, DIE), {})
    kinds = {
        load: with_row(tables, load, Extent(1_000), 0.0)["precondition"]["kind"]
        for load in (READS, WRITES, replace(WRITES, pattern="random"))
    }
    assert list(kinds.values()) == ["sequential", "sequential", "random"]
    (outcome,) = simulated(tmp_path, (row(1.0, load=SheetLoad(0.0, 4096, "random", 16)),)).rows
    assert outcome.simulated is not None
    # GC has to copy valid pages under random overwrites, but not under sequential ones.
    assert outcome.simulated < 0.8 * PAGES / BLOCK_US * 1e6


def test_a_row_of_an_empty_drive_runs_on_one_and_others_on_a_full_one(tmp_path: Path) -> None:
    writes = "made up,writes,data sheet,40,MB/s,0,4KiB,random,8,rate"
    text = "\n".join([f"{HEADING},fill", f"{writes},", f"{writes.replace('writes', 'burst')},none", f"{GOOD},full"])
    rows = parse(text, "sheet.csv")
    assert [row.load.precondition for row in rows] == ["random", "none", "sequential"]
    full, empty, reads = (
        with_row(drive_tables(written(tmp_path, DIE), {}), row.load, Extent(1_000), 0.0) for row in rows
    )
    assert (empty["precondition"]["kind"], empty["measure"]["warm-up-requests"]) == ("none", 500)
    assert "fill" not in empty["precondition"]
    assert (full["precondition"]["kind"], reads["precondition"]["fill"]) == ("random", 1.0)
    first, burst = simulated(tmp_path, rows[:2]).rows
    assert first.simulated is not None
    assert burst.simulated is not None
    assert burst.simulated == pytest.approx(4096 / PROGRAM_US, rel=0.05), "no collection delays a burst"
    assert first.simulated < 0.8 * burst.simulated
    validation = Validation("drive", "A drive", measurements(()), (), 0.0, None, 1_000, rows=(burst,))
    assert from_dict(to_dict([validation])) == [validation], "the state of the drive is kept"


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (f"{GOOD},none", "fill is 'none': an empty drive has nothing to read: expected full"),
        (f"{GOOD},half", "fill is 'half': there are full, none"),
    ],
)
def test_a_state_of_the_drive_that_a_row_cannot_have_is_refused(row: str, told: str) -> None:
    with pytest.raises(ConfigError, match=f"sheet.csv:2: {told}"):
        parse(f"{HEADING},fill\n{row}\n", "sheet.csv")


def test_a_run_has_fewer_requests_with_quick() -> None:
    for load in (READS, WRITES, SheetLoad(0.0, 512 * 1024, "sequential", 32), SheetLoad(0.0, 4096, "random", 512)):
        assert QUICK.row_requests(load) < FULL.row_requests(load) / 2
        assert QUICK.row_requests(load) >= 10 * load.outstanding


@pytest.mark.parametrize(("share", "is_met"), [(1.15, True), (1.151, False), (0.85, True), (0.849, False)])
def test_each_row_counts_with_its_tolerance(share: float, is_met: bool) -> None:
    known = measurements()
    loads = Validation("drive", "A drive", known, (), 0.0, None, 1_000)
    met = RowOutcome(row(100.0, reference="measured"), 100.0, 50, 0.0)
    edge = RowOutcome(row(100.0), 100.0 * share, 50, 0.0)
    found = replace(loads, measurements=replace(known, points=()), rows=(met, edge))
    assert [check.is_met for check in found.checks] == [True, is_met]
    assert found.is_met is is_met
    assert mean_difference(found.checks) == pytest.approx(abs(share - 1) / 2)


def test_a_row_that_was_not_simulated_is_a_miss_and_has_no_error() -> None:
    check = RowOutcome(row(100.0), None).check
    assert not check.is_met
    assert mean_difference([check]) is None


def test_a_row_is_settled_at_its_precision_and_percentiles_always() -> None:
    rate = RowOutcome(row(100.0), 100.0, 50, ROW_PRECISION)
    assert rate.is_settled
    assert not replace(rate, precision=ROW_PRECISION * 1.01).is_settled
    assert not replace(rate, precision=None).is_settled
    assert RowOutcome(row(40.0, "us", READS, "p50"), 40.0, 50, 0.5).is_settled


def test_values_have_the_unit_of_their_row() -> None:
    figures = Figures(read_iops=1_000.0, write_iops=500.0, read_mean_us=40.0, write_mean_us=10.0)
    mixed = SheetLoad(0.5, 2**20, "random", 4)
    assert row(1.0, "IOPS", mixed).value_of(figures) == 1_500.0
    assert row(1.0, "MiB/s", mixed).value_of(figures) == 1_500.0
    assert row(1.0, "MB/s", mixed).value_of(figures) == pytest.approx(1_500.0 * 1.048576)
    assert row(1.0, "us", READS, "mean").value_of(figures) == 40.0
    assert row(1.0, "us", WRITES, "mean").value_of(figures) == 10.0


def test_a_document_has_the_rows_and_is_read_again() -> None:
    known = measurements()
    rows = (RowOutcome(row(100.0), 130.0, 50, 0.005), RowOutcome(row(40.0, "us", READS, "p50"), None))
    points = tuple(PointOutcome(point, "", point.figures, point.offered_iops, 2.0, 50) for point in known.points)
    validation = Validation("drive", "A drive", known, points, 1.5, 2.0, 1_000, rows=rows)
    document = to_dict([validation])
    assert document["met"] is False
    assert document["tolerances"]["data-sheet"] == "each figure of the data sheet within 15 %"
    first, second = document["drives"][0]["data_sheet"]
    assert (first["value"], first["simulated"], first["difference"], first["met"]) == (100.0, 130.0, 0.3, False)
    assert (second["simulated"], second["difference"], second["met"]) == (None, None, False)
    assert from_dict(document) == [validation]
