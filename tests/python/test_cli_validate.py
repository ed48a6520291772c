"""`flashmesh validate` end to end, on a small drive that is compared with its own simulation."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import Cli
from flashmesh.validation.drives import drives, read_drive
from flashmesh.validation.tables.measurements import bundled
from flashmesh.validation.tables.sheets import rows_of
from flashmesh.validation.tables.sweeps import measured
from long_cases import in_part
from made_up_drive import EXTENT, csv_of, simulated, written

REQUESTS = ("--requests", str(EXTENT.requests))


@pytest.fixture
def held(tmp_path: Path) -> Path:
    """Writes the drive and its measurements. Returns the path of the drive."""
    path = written(tmp_path)
    (tmp_path / "measured.csv").write_text(csv_of(simulated(path)))
    return path


def test_a_drive_held_to_its_own_simulation_meets_every_tolerance(held: Path, cli: Cli, tmp_path: Path) -> None:
    call = ("validate", "drive.toml", "--points", "measured.csv", *REQUESTS)
    first = cli(*call, "--json", "out.json", "-o", "page.html")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "mean of reads within 10 % below saturation: met (3 of 3)" in first.stdout
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["met"]
    for point in document["points"]:
        assert point["simulated"] == {
            name: value for name, value in point["measured"].items() if name not in ("drive", "file_gib")
        }
    page = (tmp_path / "page.html").read_text()
    assert "drive.toml, measured and simulated" in page
    assert re.search(r'<p class="finding">drive.toml: (\d+) of \1 figures are within their tolerances.</p>', page)
    again = cli(*call)
    assert "3 runs, 3 of them finished already" in again.stderr
    assert again.stdout == first.stdout
    # The saved document gives the same page.
    shown = cli("report", "out.json", "-o", "again.html", "--title", "drive.toml")
    assert shown.returncode == 0, shown.stderr
    assert (tmp_path / "again.html").read_text() == page


def test_a_slower_drive_misses_and_says_where(held: Path, cli: Cli) -> None:
    ended = cli(
        "validate", "drive.toml", "--points", "measured.csv", *REQUESTS, "--set", "flash.read-time=60us", "--quiet"
    )
    assert ended.returncode == 3, ended.stderr
    assert "mean of reads within 10 % below saturation: MISSED" in ended.stdout
    assert "! read mean at 8,000: " in ended.stdout


def test_the_software_of_the_host_adds_to_every_latency(held: Path, cli: Cli) -> None:
    call = ("validate", "drive.toml", "--points", "measured.csv", *REQUESTS, "--json", "-", "--quiet")
    plain, added = (json.loads(cli(*call, *more).stdout) for more in ((), ("--software-time", "5us")))
    for one, other in zip(plain["points"], added["points"], strict=True):
        for column, value in one["simulated"].items():
            expected = value + 5.0 if column.endswith("_us") else value
            assert other["simulated"][column] == pytest.approx(expected)


@pytest.mark.long
def test_bundled_measurements_bring_the_rows_of_their_data_sheet_and_tables_of_users_none(
    held: Path, cli: Cli, tmp_path: Path
) -> None:
    # A drive of 80 MB replaces the measured one, so the rows run but miss their tolerances.
    drive = ("validate", "drive.toml", "--drive", "Samsung PM9A3", "--requests", "1000")
    ended = cli(*drive, "--json", "out.json", "-o", "page.html", "--quiet")
    assert ended.returncode == 3, ended.stderr
    rows = rows_of("Samsung PM9A3")
    (found,) = json.loads((tmp_path / "out.json").read_text())["drives"]
    sheet = found["data_sheet"]
    assert [(row["what"], row["reference"], row["value"]) for row in sheet] == [
        (row.what, row.reference, row.value) for row in rows
    ]
    assert all(row["simulated"] > 0 and row["requests"] > 0 for row in sheet)
    checks = [check for check in found["checks"] if check["tolerance"] == "data-sheet"]
    assert [check["met"] for check in checks] == [row["met"] for row in sheet]
    table = ended.stdout.partition("\nData sheet\n")[2].splitlines()
    assert table[0].split() == ["what", "reference", "value", "simulated", "difference"]
    for line, row in zip(table[2:], sheet, strict=False):
        assert line.startswith(f"{row['what']}, {row['unit']} ")
        assert line.rstrip().endswith("%" if row["met"] else "!")
    assert "Data sheet" not in cli("validate", "drive.toml", "--points", "measured.csv", *REQUESTS).stdout
    page = (tmp_path / "page.html").read_text()
    assert "drive.toml, data sheet" in page
    assert rows[0].what in page


@pytest.mark.parametrize(
    ("arguments", "told"),
    in_part(
        2,
        [
            (("preset:venice-z-nand",), "has several drives: choose one with --drive: SK Hynix PE8110"),
            (("preset:venice-z-nand", "--drive", "Floppy"), "has no drive 'Floppy'"),
            (("preset:venice-z-nand", "--points", "missing.csv"), "missing.csv: cannot be read"),
            (("drive.toml", "--quick", "--requests", "2000"), "--quick and --requests exclude each other"),
            (("preset:venice-z-nand", "--drive", "Kioxia CM7-R", "--software-time", "5"), "software-time is '5'"),
            (("preset:venice-z-nand", "--drive", "Kioxia CM7-R", "--set", "gc.nothing=1"), "gc.nothing"),
        ],
    ),
)
def test_bad_usage_is_a_sentence(arguments: tuple[str, ...], told: str, cli: Cli) -> None:
    ended = cli("validate", *arguments)
    assert ended.returncode == 2
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr


def test_every_drive_that_is_declared_was_measured() -> None:
    known = {each.drive for each in (*bundled(), *measured())}
    assert {each.measured for each in drives().values()} == known
    for drive in drives().values():
        if drive.is_there:
            assert drive.values(), drive.name


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('title = "x"', "measured is missing"),
        ("colour = 1", "colour is unknown"),
        (
            'title = "x"\nmeasured = "x"\nsource = "x"\n[facts]\n"flash.colour" = "x"',
            "flash.colour is not a configuration key",
        ),
        ('title = "x"\nmeasured = "x"\nsource = "x"\n[facts]\n"flash.read-time" = ""', "is empty: state the origin"),
        (
            'title = "x"\nmeasured = "x"\nsource = "x"\n[facts]\n"flash.read-time" = "x"\n[fitted]\n'
            '"flash.read-time" = "y"',
            "in [facts] and in [fitted]: keep one",
        ),
    ],
)
def test_a_bad_file_of_a_drive_is_refused(text: str, told: str) -> None:
    from flashmesh import ConfigError

    with pytest.raises(ConfigError) as caught:
        read_drive("made-up", text)
    assert told in str(caught.value)


def test_fit_points_are_those_that_40000_divides_unless_others_are_named() -> None:
    head = 'title = "x"\nmeasured = "x"\nsource = "x"\n'
    fitted = '[fitted]\n"flash.read-time" = "fitted"\n'
    drive = read_drive("made-up", head + fitted)
    assert [drive.is_fit_point(rate) for rate in (20_000.0, 40_000.0, 120_000.0)] == [False, True, True]
    named = read_drive("made-up", f"{head}{fitted}[fit]\nrates = [20_000]\n")
    assert [named.is_fit_point(rate) for rate in (20_000.0, 40_000.0)] == [True, False]
    assert not read_drive("made-up", head).is_fit_point(40_000.0)
