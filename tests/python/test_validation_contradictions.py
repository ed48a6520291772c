"""Data-sheet rows that no drive can meet together are named in a warning, before anything is simulated."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Cli
from flashmesh.validation.judging.contradictions import contradictions
from flashmesh.validation.tables.sheets import COLUMNS, parse

EXAMPLES = Path(__file__).parents[2] / "examples" / "calibrate"
DEEP = "1,4KiB,random,256"
ONE = "1,4KiB,random,1"


def warnings(*rows: str) -> list[str]:
    """Returns the warnings about rows without drive and reference; the first row is line 2."""
    lines = [f"X,{what},data sheet,{rest}" for what, rest in (row.split(",", 1) for row in rows)]
    return contradictions(parse("\n".join([",".join(COLUMNS), *lines]), "sheet.csv"))


def test_two_values_of_one_figure_are_named_with_their_lines() -> None:
    (told,) = warnings(f"first,800000,IOPS,{DEEP},rate", f"other,400000,IOPS,{DEEP},rate")
    assert told == (
        "sheet.csv:2: 'first' of 800000 IOPS and sheet.csv:3: 'other' of 400000 IOPS are the same figure: "
        "no drive can meet both"
    )


def test_a_mean_latency_that_does_not_fit_the_rate_is_named() -> None:
    (told,) = warnings(f"latency,80,us,{ONE},mean", f"rate,22000,IOPS,{ONE},rate")
    assert told == (
        "sheet.csv:2: 'latency' of 80 us and sheet.csv:3: 'rate' of 22000 IOPS: with 1 outstanding, a mean of 80 us is "
        "12,500 IOPS: no drive can meet both"
    )
    assert len(warnings(f"latency,80,us,{DEEP},mean", f"rate,800000,IOPS,{DEEP},rate")) == 1


@pytest.mark.parametrize(
    "rows",
    [
        (f"a,800000,IOPS,{DEEP},rate", f"b,850000,IOPS,{DEEP},rate"),
        (f"a,800000,IOPS,{DEEP},rate", "b,400000,IOPS,1,4KiB,random,128,rate"),
        (f"a,80,us,{ONE},mean", f"b,160,us,{ONE},p99"),
        (f"a,80,us,{ONE},mean", f"b,11000,IOPS,{ONE},rate"),
        (f"a,80,us,{ONE},p50", f"b,22000,IOPS,{ONE},rate"),
        (f"a,3277,MB/s,{DEEP},rate", f"b,800000,IOPS,{DEEP},rate"),
    ],
)
def test_rows_that_agree_or_differ_in_load_or_statistic_are_no_contradiction(rows: tuple[str, ...]) -> None:
    assert warnings(*rows) == []


@pytest.mark.parametrize("command", ["validate", "calibrate"])
def test_both_commands_warn_on_stderr(command: str, cli: Cli, tmp_path: Path) -> None:
    text = (EXAMPLES / "sheet.csv").read_text().rstrip()
    (tmp_path / "sheet.csv").write_text(f"{text}\na small drive,again,page 2,90,us,{ONE},mean\n")
    calls = {
        "validate": ("validate", EXAMPLES / "drive.toml", "--requests", "2000"),
        "calibrate": ("calibrate", "--facts", EXAMPLES / "facts.toml", "-o", "out.toml", "--budget", "0.00001"),
    }
    ended = cli(*calls[command], "--data-sheet", "sheet.csv")
    assert (
        "warning: sheet.csv:5: 'random read 4 KiB QD1 mean' of 52 us and sheet.csv:6: 'again' of 90 us" in ended.stderr
    )
    assert "sheet.csv:6" not in cli(*calls[command], "--data-sheet", "sheet.csv", "--quiet").stderr
