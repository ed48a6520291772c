"""With a data sheet alone, host software starts small, and firmware explains what it can of the latency of writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashmesh.calibration.engine import Problem, read_problem
from flashmesh.calibration.searching.estimates import initial_values
from flashmesh.sweeps.inputs.ranges import quantity
from flashmesh.validation.tables.sheets import COLUMNS
from made_up_drive import csv_of, measurements

TLC = (Path(__file__).parents[2] / "examples" / "calibrate" / "enterprise-tlc.toml").read_text()
READS = "X,reads,data sheet,80,us,1,4KiB,random,1,mean"
WRITES = "X,writes,data sheet,15,us,0,4KiB,random,1,mean"
DEEP = "X,deep writes,data sheet,120000,IOPS,0,4KiB,random,128,rate"


def problem(folder: Path, *rows: str, facts: str = TLC, with_table: bool = False) -> Problem:
    (folder / "facts.toml").write_text(facts)
    (folder / "sheet.csv").write_text("\n".join([",".join(COLUMNS), *rows]))
    (folder / "table.csv").write_text(csv_of(measurements((8_000.0,))).replace("made up", "X"))
    tables = [folder / "table.csv"] if with_table else []
    return read_problem(tables, folder / "facts.toml", None, 2_000, data_sheet=folder / "sheet.csv")


def start_us(found: Problem, key: str) -> float:
    return float(quantity(key, initial_values(found.facts, found.targets)[key]).value) / 1e6


def test_a_data_sheet_alone_begins_with_a_fifth_of_its_least_latency(tmp_path: Path) -> None:
    assert start_us(problem(tmp_path, READS, WRITES), "software-time") == pytest.approx(3.0)
    assert start_us(problem(tmp_path, READS), "software-time") == pytest.approx(10.0), "the middle"
    rate = WRITES.replace("15,us", "80000,IOPS").replace("mean", "rate")
    assert start_us(problem(tmp_path, READS, rate), "software-time") == pytest.approx(2.5)
    assert start_us(problem(tmp_path, DEEP), "software-time") == 0.0, "no latency"


def test_measurements_begin_in_the_middle_of_the_range(tmp_path: Path) -> None:
    assert start_us(problem(tmp_path, WRITES, with_table=True), "software-time") == pytest.approx(10.0)


def test_a_measured_preset_begins_with_its_own_time(tmp_path: Path) -> None:
    facts = 'preset = "sk-hynix-pe8110"\n'
    assert start_us(problem(tmp_path, WRITES, facts=facts), "software-time") == pytest.approx(9.0)


def test_firmware_has_the_rest_of_a_write_but_leaves_its_cores_time(tmp_path: Path) -> None:
    transfer_us = 4096 / 8e9 * 1e6
    assert start_us(problem(tmp_path, WRITES), "firmware.write-time") == pytest.approx(15 - 3 - transfer_us, rel=1e-3)
    assert start_us(problem(tmp_path, WRITES, DEEP), "firmware.write-time") == pytest.approx(0.8e6 / 120_000, rel=1e-3)
    faster = TLC + "\n[firmware]\ncores = 4\n"
    found = problem(tmp_path, WRITES, DEEP, facts=faster)
    assert start_us(found, "firmware.write-time") == pytest.approx(15 - 3 - transfer_us, rel=1e-3)
