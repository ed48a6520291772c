"""Pages of validated drives follow from their JSON, the preset and its file, and are stale if one of these changes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from flashmesh import ConfigError, OutputError
from flashmesh.html.page import measured_drives
from flashmesh.html.saved import read
from flashmesh.validation.drives import Drive, drives, read_drive
from flashmesh.validation.judging.outcome import PointOutcome, RowOutcome, Validation
from flashmesh.validation.loads.rows import rows_of as all_rows_of
from flashmesh.validation.loads.skew import SKEW_SENTENCE
from flashmesh.validation.loads.skew import rows_of as skew_rows_of
from flashmesh.validation.pages import check_pages, rewrite_pages, write_pages
from flashmesh.validation.tables.measurements import FIT, HELD_OUT
from flashmesh.validation.tables.sheets import ROW_SENTENCE, rows_of
from made_up_drive import measurements

PAGES = Path(__file__).parents[2] / "docs" / "validation"
DRIVE = """
title = "A drive"
measured = "Samsung PM9A3"
source = "a data sheet"

[facts]
"geometry.channels" = "the data sheet"

[fitted]
"flash.read-time" = "no data sheet gives it"
"""


def known() -> dict[str, Drive]:
    return {"venice-pm9a3": read_drive("venice-pm9a3", DRIVE)}


def validation(drive: Drive) -> Validation:
    measured = measurements()
    points = [
        PointOutcome(point, FIT if number else HELD_OUT, point.figures, point.offered_iops, 2.0, 50)
        for number, point in enumerate(measured.points)
    ]
    far = replace(measured.points[0].figures, read_mean_us=150.0)
    points[0] = replace(points[0], simulated=far)
    hashed = drive.values_hash()
    rows = tuple(
        RowOutcome(row, row.value if number else 1.5 * row.value, 50, 0.0 if number else 0.05)
        for number, row in enumerate(all_rows_of(drive.measured))
    )
    return Validation(
        "venice-pm9a3", drive.title, measured, tuple(points), 0.0, 2.5, 1_000, values_hash=hashed, rows=rows
    )


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    write_pages([validation(known()["venice-pm9a3"])], tmp_path, known())
    return tmp_path


def test_the_pages_of_the_repository_are_what_their_json_gives() -> None:
    check_pages(PAGES, drives())


def test_a_page_has_figures_verdicts_and_where_each_value_is_from(pages: Path) -> None:
    check_pages(pages, known())
    page = (pages / "venice-pm9a3.md").read_text()
    assert "| 8,000 | held out | 5,000 | 5,000 | 100.0 | 150.0 | **+50 %** |" in page
    assert "- mean of reads within 10 % below saturation: MISSED (2 of 3)" in page
    assert "| held out | 50 % |" in page
    assert "| fit | 0 % |" in page
    assert "| `geometry.channels` | `8` | fact | the data sheet |" in page
    assert "| `flash.read-time` | `45us` | fitted | no data sheet gives it |" in page
    assert "write amplification: 2.50 measured, 2.00 simulated" in page
    index = (pages / "index.md").read_text()
    assert "| [A drive](venice-pm9a3.md) | - | 21,000 |" in index
    assert (pages / "venice-pm9a3-reads.svg").read_text().startswith("<svg")


def test_a_page_has_the_rows_of_the_data_sheet(pages: Path) -> None:
    page = (pages / "venice-pm9a3.md").read_text()
    section = page.partition("## Data sheet\n")[2].partition("## ")[0]
    assert ROW_SENTENCE in section
    rows = rows_of("Samsung PM9A3")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "|" in line]
    assert cells[0] == ["what", "reference", "value", "simulated", "difference"]
    assert [(what, reference) for what, reference, *_ in cells[2:]] == [
        (f"{row.what}, {row.unit}", row.reference) for row in rows
    ]
    assert [told for *_, told in cells[2:]] == ["**+50 %**", *["0 %"] * (len(rows) - 1)]
    first = rows[0]
    assert f"- request rate not settled to 0.5 %: {first.what} {first.reference}\n" in page
    assert f"- each figure of the data sheet within 15 %: MISSED ({len(rows) - 1} of {len(rows)})" in page


def test_a_page_has_the_rates_of_writes_to_hot_pages(pages: Path) -> None:
    section = (pages / "venice-pm9a3.md").read_text().partition("## Hot pages\n")[2].partition("## ")[0]
    assert SKEW_SENTENCE in section
    (row,) = skew_rows_of("Samsung PM9A3")
    assert f"| {row.what}, IOPS | SSD-iq | 147,715 | 147,715 | 0 % |" in section


def test_each_table_of_a_report_is_explained_by_its_own_sentence(pages: Path) -> None:
    notes = {section.name: section.note for section in measured_drives(read([pages / "venice-pm9a3.json"]).validations)}
    assert (notes["measured-sheet"], notes["measured-hot-pages"]) == (ROW_SENTENCE, SKEW_SENTENCE)


def test_the_index_leads_with_the_error_of_each_kind(pages: Path) -> None:
    rows = len(rows_of("Samsung PM9A3"))
    lead = (pages / "index.md").read_text().split("\n\n")[1].splitlines()
    assert lead == [
        "| figures and tolerance | mean absolute error | met |",
        "|---|---:|---:|",
        "| saturation rate within 5 % | - | 0 of 0 |",
        "| mean of reads within 10 % below saturation | 17 % | 2 of 3 |",
        "| p99 of reads within 15 % below saturation | 0 % | 3 of 3 |",
        "| mean of writes within 10 % below 0.8 of saturation | 0 % | 3 of 3 |",
        "| means of reads and of writes within 25 % at saturation | - | 0 of 0 |",
        f"| each figure of the data sheet within 15 % | {50 / rows:.0f} % | {rows - 1} of {rows} |",
        "| rates of writes to hot pages within 20 % | 0 % | 1 of 1 |",
        f"| all | | {rows + 8} of {rows + 10} |",
    ]


def test_changed_or_lost_rows_of_the_data_sheet_make_a_page_stale(pages: Path) -> None:
    document = json.loads((pages / "venice-pm9a3.json").read_text())
    rows = document["drives"][0]["data_sheet"]
    for stale in ([rows[0] | {"value": 2 * rows[0]["value"]}, *rows[1:]], []):
        document["drives"][0]["data_sheet"] = stale
        (pages / "venice-pm9a3.json").write_text(json.dumps(document))
        with pytest.raises(ConfigError, match="the rows of the data sheet have changed since: run `make validation`"):
            check_pages(pages, known())


def test_a_changed_page_is_stale_and_is_written_anew(pages: Path) -> None:
    whole = {path.name: path.read_bytes() for path in pages.iterdir()}
    (pages / "venice-pm9a3.md").write_text("another page")
    with pytest.raises(ConfigError, match=r"venice-pm9a3.md: is stale: run `flashmesh validate --rewrite"):
        check_pages(pages, known())
    rewrite_pages(pages, known())
    assert {path.name: path.read_bytes() for path in pages.iterdir()} == whole


def test_a_changed_preset_makes_its_page_stale(pages: Path) -> None:
    document = json.loads((pages / "venice-pm9a3.json").read_text())
    document["drives"][0]["values_hash"] = "of another preset"
    (pages / "venice-pm9a3.json").write_text(json.dumps(document))
    with pytest.raises(ConfigError, match="the preset has changed since: run `make validation`"):
        check_pages(pages, known())


def test_a_preset_without_a_page_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no page of venice-pm9a3: run `make validation`"):
        check_pages(tmp_path, known())


def test_what_is_no_validation_is_refused(pages: Path) -> None:
    (pages / "venice-pm9a3.json").write_text("{}")
    with pytest.raises(OutputError, match=r"venice-pm9a3.json: is not a validation"):
        check_pages(pages, known())


def test_another_drive_has_no_page(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="venice-pm9a3: pages are only for presets with measurements"):
        write_pages([validation(known()["venice-pm9a3"])], tmp_path, drives())
