"""The report of a calibration names rows of a data sheet as the sheet does, and the command for the next step."""

from __future__ import annotations

import io
from pathlib import Path

from flashmesh.calibration.inputs.facts import Facts
from flashmesh.calibration.inputs.points import Length, targets_of_rows
from flashmesh.calibration.outcome import Calibration, Fitted, row_dict
from flashmesh.calibration.searching.bench import Candidate
from flashmesh.calibration.space import SOFTWARE, Space
from flashmesh.report.calibration import cut_lines, rows_table
from flashmesh.report.terminal import Terminal
from flashmesh.validation.figures import Figures
from flashmesh.validation.loads.workload import Extent
from flashmesh.validation.tables.sheets import SheetLoad, SheetRow

WRITES, ONE = SheetLoad(0.0, 128 * 1024, "sequential", 32), SheetLoad(1.0, 4096, "random", 1)
ROWS = (
    SheetRow("X", "sequential write", "data sheet", 2700.0, "MB/s", WRITES, "rate"),
    SheetRow("X", "read latency", "data sheet", 80.0, "us", ONE, "mean"),
    SheetRow("X", "reads at QD1", "data sheet", 12_000.0, "IOPS", ONE, "rate"),
)


def test_rows_have_the_name_and_unit_of_the_sheet_and_a_signed_difference() -> None:
    writes, one = targets_of_rows(ROWS, {}, Length(Extent(2_000)))
    assert (writes.name, one.name) == ("sequential write", "read latency and reads at QD1")
    slow = Figures(0.0, 2700e6 / (128 * 1024) * 0.9)
    fast = Figures(12_600.0, 0.0, read_mean_us=84.0)
    stream = io.StringIO()
    terminal = Terminal(stream)
    terminal.print(rows_table([Fitted(writes, slow, None), Fitted(one, fast, fast)], terminal))
    heading, _, *lines = stream.getvalue().splitlines()
    assert heading.split("  ")[0] == "what"
    assert heading.split()[1:] == ["value", "fitted", "difference", "prediction", "error"]
    assert [line.split() for line in lines] == [
        ["sequential", "write,", "MB/s", "2,700", "2,430", "-10%", "-"],
        ["read", "latency,", "us", "80.0", "84.0", "+5%", "5.0", "%"],
        ["reads", "at", "QD1,", "IOPS", "12,000", "12,600", "+5%", "5.0", "%"],
    ]
    assert row_dict(ROWS[1], fast) == {
        "what": "read latency",
        "unit": "us",
        "value": 80.0,
        "fitted": 84.0,
        "difference": 0.05,
    }
    assert row_dict(ROWS[1], None)["difference"] is None


def test_the_next_step_has_the_host_software_time_and_what_was_fitted() -> None:
    found = Calibration.__new__(Calibration)
    object.__setattr__(found, "best", Candidate({SOFTWARE: "3us"}, (), ()))
    object.__setattr__(found, "facts", Facts(Path("f.toml"), {}, {}, Space(()), 0.0))
    assert found.next_step("my drive.toml", None, "sheet.csv", None) == (
        "flashmesh validate 'my drive.toml' --data-sheet sheet.csv --software-time 3us"
    )
    object.__setattr__(found, "best", Candidate({}, (), ()))
    assert found.next_step("out.toml", "t.csv", "sheet.csv", "X") == (
        "flashmesh validate out.toml --points t.csv --data-sheet sheet.csv --drive X"
    )


def test_what_the_time_limit_cut_short_is_listed_below_what_would_help() -> None:
    assert cut_lines([]) == []
    assert cut_lines(["the search ran out of time", "there was no time to try every choice"]) == [
        "the time limit cut the calibration short: allow more with --budget",
        "- the search ran out of time",
        "- there was no time to try every choice",
    ]
