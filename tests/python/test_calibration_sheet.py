"""`flashmesh calibrate --data-sheet` fits a drive to a data sheet alone, or beside measurements of the same drive."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from conftest import Cli
from flashmesh import ConfigError
from flashmesh.calibration.engine import read_problem
from flashmesh.calibration.space import listed
from flashmesh.sweeps.inputs.ranges import quantity
from flashmesh.validation.tables.sheets import read_rows

EXAMPLES = Path(__file__).parents[2] / "examples" / "calibrate"
SHEET, FACTS, TABLE = EXAMPLES / "sheet.csv", EXAMPLES / "facts.toml", EXAMPLES / "measured.csv"
TIMES_US = {"flash.read-time": 48.0, "flash.program-time": 130.0}
"""Times of the drive of the data sheet, which the facts do not state."""


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    """Writes facts that leave `TIMES_US` to search. Returns their path."""
    fixed = [key.key for key in listed() if key.key not in TIMES_US and not key.key.startswith("flash.suspen")]
    path = tmp_path / "facts.toml"
    path.write_text(f"{FACTS.read_text()}\nfixed = {json.dumps(fixed)}\n")
    return path


@pytest.mark.long
def test_the_times_of_a_drive_are_found_from_its_data_sheet_alone(facts: Path, cli: Cli, tmp_path: Path) -> None:
    call = ("calibrate", "--facts", facts, "--data-sheet", SHEET, "--requests", "4000", "--trials", "1", "--quiet")
    ended = cli(*call, "-o", "out.toml")
    assert ended.returncode == 0, ended.stderr
    text = (tmp_path / "out.toml").read_text()
    assert "calibrate to sheet.csv, with facts.toml" in text
    flash = tomllib.loads(text)["flash"]
    for key, known_us in TIMES_US.items():
        found = quantity(key, flash[key.removeprefix("flash.")]).value / 10**6
        assert float(found) == pytest.approx(known_us, rel=0.10), key


def test_the_loads_of_a_data_sheet_alone_are_its_rows() -> None:
    problem = read_problem([], FACTS, None, 4_000, data_sheet=SHEET)
    assert [target.name for target in problem.targets] == [row.what for row in read_rows(SHEET)]
    assert problem.measured == "sheet.csv"
    both = read_problem([TABLE], FACTS, None, 4_000, data_sheet=SHEET)
    assert [target.name for target in both.targets[-4:]] == [target.name for target in problem.targets]
    assert len(both.targets) > 4


def test_a_data_sheet_of_several_drives_needs_the_name_of_one(tmp_path: Path) -> None:
    two = tmp_path / "two.csv"
    heading, *rows = SHEET.read_text().splitlines()
    two.write_text("\n".join([heading, *rows, rows[0].replace("a small drive", "another")]))
    with pytest.raises(ConfigError, match="has several drives: choose one with --drive: a small drive, another"):
        read_problem([], FACTS, None, 4_000, data_sheet=two)
    assert len(read_problem([], FACTS, "another", 4_000, data_sheet=two).targets) == 1
    with pytest.raises(ConfigError, match="has no row of 'a third': its drives are a small drive, another"):
        read_problem([], FACTS, "a third", 4_000, data_sheet=two)


def test_neither_measurements_nor_a_data_sheet_is_refused_with_what_is_taken(cli: Cli, tmp_path: Path) -> None:
    ended = cli("calibrate", "--facts", FACTS, "-o", "out.toml")
    assert ended.returncode == 2
    assert "there is nothing to fit: give MEASURED, --data-sheet or both" in ended.stderr
    assert not (tmp_path / "out.toml").exists()
    with pytest.raises(ConfigError, match="there is nothing to fit"):
        read_problem([], FACTS, None, 4_000)


def test_a_data_sheet_as_measurements_is_told_its_option(cli: Cli) -> None:
    ended = cli("calibrate", SHEET, "--facts", FACTS, "-o", "out.toml")
    assert ended.returncode == 2
    assert "sheet.csv: has the columns statistic and outstanding: this is a data sheet" in ended.stderr
    assert "give it with --data-sheet" in ended.stderr
