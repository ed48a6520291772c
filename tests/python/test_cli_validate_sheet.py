"""`flashmesh validate --data-sheet`: compares a configuration with a data sheet of the user, without measurements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Cli
from flashmesh.cli.measured.validating import Held, subjects_of
from flashmesh.html.page import measured_drives
from flashmesh.html.saved import read
from flashmesh.validation.tables.measurements import bundled
from flashmesh.validation.tables.sheets import COLUMNS, LOAD_SENTENCE, read_rows
from flashmesh.validation.tables.sheets import rows_of as bundled_rows_of
from long_cases import in_part
from made_up_drive import csv_of, measurements

EXAMPLES = Path(__file__).parents[2] / "examples" / "calibrate"
SHEET, DRIVE = EXAMPLES / "sheet.csv", EXAMPLES / "drive.toml"
CALL = ("validate", DRIVE, "--data-sheet", SHEET, "--requests", "20000", "--quiet")
PM9A3, PE8110 = "Samsung PM9A3", "SK Hynix PE8110"


def held(points: Path | None, data_sheet: Path | None, drive: str | None = None) -> Held:
    return Held(points, data_sheet, drive, None, with_hot_pages=False)


@pytest.fixture
def two_drives(tmp_path: Path) -> Path:
    """Writes a data sheet of two drives. Returns its path."""
    path = tmp_path / "two.csv"
    lines = [f"{drive},reads,data sheet,500,MB/s,1,4KiB,random,8,rate" for drive in (PM9A3, PE8110)]
    path.write_text("\n".join([",".join(COLUMNS), *lines]))
    return path


def test_a_drive_is_compared_with_its_data_sheet_alone(cli: Cli, tmp_path: Path) -> None:
    ended = cli(*CALL, "--json", "out.json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "drive.toml: data sheet and simulation\ndata sheet: a small drive, sheet.csv\n" in ended.stdout
    assert "latency of" not in ended.stdout, "there are no loads of measurements"
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["points"] == []
    (found,) = document["drives"]
    assert [(row["what"], row["value"]) for row in found["data_sheet"]] == [
        (row.what, row.value) for row in read_rows(SHEET)
    ]
    for row in found["data_sheet"]:
        assert row["simulated"] == pytest.approx(row["value"], rel=0.15)
        assert row["difference"] == pytest.approx(row["simulated"] / row["value"] - 1.0, abs=1e-3)
    (validation,) = read([tmp_path / "out.json"]).validations
    assert validation.is_data_sheet
    notes = {section.name: section.note for section in measured_drives([validation])}
    assert notes["measured-sheet"] == LOAD_SENTENCE, "no value is of the source of bundled rows"


def test_a_slower_drive_misses_rows_and_the_exit_code_says_so(cli: Cli) -> None:
    ended = cli(*CALL, "--set", "flash.read-time=90us")
    assert ended.returncode == 3, ended.stderr
    assert "each figure of the data sheet within 15 %: MISSED (2 of 4)" in ended.stdout
    assert "! random read 4 KiB QD1 mean, us: 52.0 data sheet" in ended.stdout


def test_the_software_of_the_host_adds_to_latencies_of_the_sheet(cli: Cli) -> None:
    call = (*CALL, "--json", "-")
    plain, added = (json.loads(cli(*call, *more).stdout) for more in ((), ("--software-time", "5us")))
    without, with_time = (each["drives"][0]["data_sheet"][-1]["simulated"] for each in (plain, added))
    assert with_time == pytest.approx(without + 5.0, rel=1e-3)


def test_the_drive_of_a_sheet_is_that_of_the_preset_or_the_named_or_the_only_one(two_drives: Path) -> None:
    (of_preset,) = subjects_of(("preset:samsung-pm9a3",), held(None, two_drives))
    (named,) = subjects_of((str(DRIVE),), held(None, two_drives, PE8110))
    (only,) = subjects_of(("samsung-pm9a3",), held(None, SHEET))
    assert [[row.drive for row in each.rows] for each in (of_preset, named)] == [[PM9A3], [PE8110]]
    assert {row.drive for row in only.rows} == {"a small drive"}
    for each in (of_preset, named, only):
        assert each.measurements.points == (), "the sheet replaces the bundled measurements"


def test_measurements_and_a_sheet_of_the_same_drive_are_both_compared(tmp_path: Path) -> None:
    known = measurements()
    (tmp_path / "measured.csv").write_text(csv_of(known))
    (tmp_path / "sheet.csv").write_text(SHEET.read_text().replace("a small drive", known.drive))
    (both,) = subjects_of((str(DRIVE),), held(tmp_path / "measured.csv", tmp_path / "sheet.csv"))
    assert (len(both.measurements.points), len(both.rows)) == (len(known.points), 4)
    (points,) = subjects_of((str(DRIVE),), held(tmp_path / "measured.csv", None))
    assert points.rows == ()


def test_without_tables_of_the_user_the_bundled_ones_are_compared() -> None:
    (subject,) = subjects_of(("samsung-pm9a3",), held(None, None))
    (known,) = (each for each in bundled() if each.drive == PM9A3)
    assert subject.measurements == known
    assert subject.rows == bundled_rows_of(PM9A3)


@pytest.mark.parametrize(
    ("arguments", "told"),
    in_part(
        3,
        [
            (("--data-sheet", SHEET), "--data-sheet needs DRIVE"),
            ((DRIVE, "--data-sheet", SHEET, "--pages", "pages"), "--pages writes pages of the bundled measurements"),
            (
                (DRIVE, "--data-sheet", "two.csv"),
                f"two.csv: has several drives: choose one with --drive: {PM9A3}, {PE8110}",
            ),
            ((DRIVE, "--data-sheet", "two.csv", "--drive", "Floppy"), "two.csv: has no drive 'Floppy'"),
            ((DRIVE, "--data-sheet", "two.csv", "--json", "two.csv"), "two.csv"),
            ((DRIVE, "--data-sheet", "missing.csv"), "missing.csv: cannot be read"),
            ((DRIVE, "--data-sheet", EXAMPLES / "measured.csv"), "measured.csv:1: has the column offered_iops"),
            (
                (DRIVE, "--data-sheet", "two.csv", "--points", EXAMPLES / "measured.csv"),
                f"two.csv: has no row of 'a small drive': its drives are {PM9A3}, {PE8110}",
            ),
        ],
    ),
)
def test_bad_usage_is_a_sentence(arguments: tuple[str | Path, ...], told: str, two_drives: Path, cli: Cli) -> None:
    before = two_drives.read_text()
    ended = cli("validate", *arguments)
    assert ended.returncode == 2, ended.stdout
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr
    assert two_drives.read_text() == before
