"""Sweeps: bad rows are refused, hosts are part of the loop, and pages of a drive need no offered loads."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from flashmesh import ConfigError
from flashmesh.html.page import page
from flashmesh.html.study import Study
from flashmesh.report import validation as report
from flashmesh.sweeps.executors.local import LocalThreads
from flashmesh.validation.drives import drives, read_drive
from flashmesh.validation.engine import FULL, QUICK, Subject, Validating
from flashmesh.validation.figures import Figures
from flashmesh.validation.judging.outcome import RowOutcome, Validation, from_dict, to_dict
from flashmesh.validation.judging.verdict import OF_ROWS
from flashmesh.validation.loads import skew
from flashmesh.validation.loads.rows import rows_of
from flashmesh.validation.loads.sweep_workload import with_sweep
from flashmesh.validation.loads.workload import Extent, drive_tables
from flashmesh.validation.pages import check_pages, rewrite_pages, write_pages
from flashmesh.validation.tables.sweeps import (
    COLUMNS,
    HOSTS,
    OWN_HOST,
    SweepLoad,
    SweepRow,
    bundled,
    measured,
    parse,
)
from made_up_drive import written
from test_validation_sheets import DIE, PAGES, PROGRAM_US, READ_US

HEADING = ",".join(COLUMNS)
GOOD = "made up,here,depth,SPDK,0,random,4KiB,1,8,0,random,read,1000,,40,30,50,60"
ALONE = SweepLoad(1.0, 4096, "random", 1, 0, "random", OWN_HOST, 0.0)
HOST_US = 10.0


def row(load: SweepLoad, value: float, unit: str = "IOPS", statistic: str = "rate", of: str = "read") -> SweepRow:
    return SweepRow("made up", f"{load.label} {of} {statistic}", "here", value, unit, load, statistic, "depth", of)


def simulated(tmp_path: Path, rows: tuple[SweepRow, ...], drive: str = DIE) -> Validation:
    (known,) = measured()
    subject = Subject("drive", written(tmp_path, drive), known, software_us=99.0, rows=rows)
    validating = Validating([subject], Extent(20_000), {}, None)
    validating.run(LocalThreads(2), lambda session: lambda outcome: None)
    (found,) = validating.validations()
    assert not found.failures
    return found


def test_rates_and_latencies_of_the_bundled_sweeps_belong_together() -> None:
    rates = {
        each.load: each.value for each in bundled() if each.kind in ("depth", "block-size") and each.unit == "IOPS"
    }
    means = {each.load: each.value for each in bundled() if each.statistic == "mean" and each.load in rates}
    assert rates.keys() == means.keys()
    for load, rate in rates.items():
        # Little's law: rate times mean latency is the number outstanding. The latency of io_uring excludes the time
        # between a completion and the next request.
        assert rate * means[load] * 1e-6 == pytest.approx(load.outstanding, rel=0.02), load.label


def test_each_bundled_row_has_a_tolerance_and_each_drive_has_rows_of_each_kind() -> None:
    assert {each.tolerance_name for each in (*bundled(), *skew.bundled())} == OF_ROWS.keys()
    for known in measured():
        assert {each.kind for each in bundled() if each.drive == known.drive} == {
            "depth",
            "block-size",
            "mix",
            "data-sheet",
        }
        assert any(drive.measured == known.drive for drive in drives().values())


def test_a_row_gives_its_rate_and_its_latencies() -> None:
    load = SweepLoad(1.0, 4096, "random", 8, 0, "random", "SPDK", 0.0)
    found = parse(f"{HEADING}\n{GOOD}\n", "sweeps.csv")
    assert [(each.what, each.value, each.unit, each.tolerance_name) for each in found] == [
        ("random read 4 KiB QD8 rate", 1000.0, "IOPS", "depth"),
        ("random read 4 KiB QD8 mean", 40.0, "us", "depth"),
        ("random read 4 KiB QD8 p50", 30.0, "us", "depth"),
        ("random read 4 KiB QD8 p99", 50.0, "us", "depth-p99"),
    ]
    assert {each.load for each in found} == {load}
    assert {each.reference for each in found} == {"here, SPDK"}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (",of,", ",about,", ":1: lacks the column of: the columns are drive, source"),
        ("made up,", ",", ":2: drive is empty"),
        (",here,", ",,", ":2: source is empty"),
        (",depth,", ",width,", ":2: kind is 'width': there are depth, block-size, mix, data-sheet"),
        (",SPDK,", ",libaio,", ":2: host is 'libaio': there are SPDK, io_uring"),
        (",SPDK,0,", ",SPDK,-1,", ":2: host_us is '-1': expected a time of 0 or more"),
        (",8,0,", ",8,-1,", ":2: writes_beside is '-1': expected an integer"),
        (",1,8,0,", ",0.5,8,4,", ":2: writes_beside is '4', which needs read_share 1 for the first job"),
        (",random,read,", ",half,read,", ":2: fill is 'half': there are random, sequential, none"),
        (",read,1000", ",erase,1000", ":2: of is 'erase': there are read, write"),
        (",read,1000", ",write,1000", ":2: of is 'write': the load has no writes"),
        (",1,8,0,", ",0,8,0,", ":2: of is 'read': the load has no reads"),
        (",1000,,", ",1000,4,", ":2: iops and mb_s are both given"),
        (",1000,,", ",-5,,", ":2: iops is '-5': expected a number above 0"),
        (",30,50,", ",50,30,", ":2: read_p99_us is 30 and read_p50_us is 50: percentiles must not decrease"),
        ("1000,,40,30,50,60", ",,,,,60", ":2: has no figure"),
        (f"{GOOD}\n", f"{GOOD}\n{GOOD}\n", ":3: made up has random read 4 KiB QD8 SPDK random twice"),
        (f"{GOOD}\n", "", ": has no row"),
    ],
)
def test_a_bad_row_is_refused_with_its_place(old: str, new: str, told: str) -> None:
    text = f"{HEADING}\n{GOOD}\n"
    assert old in text
    with pytest.raises(ConfigError) as caught:
        parse(text.replace(old, new, 1), "sweeps.csv")
    assert str(caught.value).startswith(f"sweeps.csv{told}")


def test_the_time_of_the_host_is_part_of_the_loop(tmp_path: Path) -> None:
    slow, deep = replace(ALONE, host_us=HOST_US), replace(ALONE, outstanding=8, host_us=HOST_US)
    rows = (
        row(ALONE, 1e6 / READ_US),
        row(ALONE, READ_US, "us", "mean"),
        row(slow, 1e6 / (READ_US + HOST_US)),
        row(slow, READ_US + HOST_US, "us", "mean"),
        # With many reads outstanding the die is the bottleneck, and the host time is hidden.
        row(deep, 1e6 / READ_US),
        row(deep, 8 * READ_US, "us", "mean"),
    )
    for each in simulated(tmp_path, rows).rows:
        assert each.simulated == pytest.approx(each.row.value, rel=0.01), each.row.what


def test_the_link_is_that_of_the_measured_host(tmp_path: Path) -> None:
    fast = DIE.replace(f'read-time = "{READ_US}us"', 'read-time = "1us"')
    assert fast != DIE
    wide = replace(ALONE, request_bytes=65_536, outstanding=16, host="SPDK")
    (outcome,) = simulated(tmp_path, (row(wide, 3938.0 * 128 / 152, "MB/s"),), fast).rows
    assert outcome.simulated == pytest.approx(outcome.row.value, rel=0.01)


def test_reads_beside_writes_are_two_loops(tmp_path: Path) -> None:
    beside = replace(ALONE, writes_beside=4)
    reads, writes = simulated(tmp_path, (row(beside, 1.0), row(beside, 1.0, of="write"))).rows
    assert reads.simulated is not None
    assert writes.simulated is not None
    assert 0.0 < reads.simulated < 1e6 / READ_US
    assert 0.0 < writes.simulated < 1e6 / PROGRAM_US


def test_a_burst_finds_an_empty_drive(tmp_path: Path) -> None:
    burst = replace(ALONE, read_share=0.0, pattern="sequential", fill="none", outstanding=4)
    large = DIE.replace("blocks-per-plane = 64", "blocks-per-plane = 1024")
    (outcome,) = simulated(tmp_path, (row(burst, 1e6 / PROGRAM_US, of="write"),), large).rows
    # Programs reach their full rate, because nothing is overwritten and no erase takes time from them.
    assert outcome.simulated == pytest.approx(outcome.row.value, rel=0.01)


def test_writes_find_a_full_slc_cache(tmp_path: Path) -> None:
    cached = DIE.replace("[fabric]", 'page-types = "tlc"\n\n[fabric]')
    cached = cached.replace(f"pages-per-block = {PAGES}", "pages-per-block = 96") + "\n[slc]\nblocks-per-plane = 4\n"
    tables = drive_tables(written(tmp_path, cached), {})

    def blocks(load: SweepLoad, region: str = "static") -> tuple[int, int]:
        loaded = with_sweep({**tables, "slc": {**tables["slc"], "region": region}}, load, QUICK)
        return loaded["geometry"]["blocks-per-plane"], loaded["slc"]["blocks-per-plane"]

    mixed = replace(ALONE, read_share=0.5)
    assert blocks(mixed) == blocks(replace(ALONE, writes_beside=1)) == (60, 0)
    assert blocks(ALONE) == blocks(mixed, "dynamic") == blocks(replace(mixed, fill="none")) == (64, 4)


def test_a_mix_has_as_many_requests_as_random_writes() -> None:
    mixed = replace(ALONE, read_share=0.5)
    assert FULL.row_requests(mixed) == FULL.row_requests(replace(ALONE, writes_beside=1)) == FULL.requests
    assert FULL.row_requests(ALONE) < FULL.requests


def test_figures_are_of_the_reads_or_of_the_writes() -> None:
    figures = Figures(read_iops=1_000.0, write_iops=500.0, read_mean_us=40.0, write_mean_us=10.0)
    mixed = replace(ALONE, read_share=0.5)
    assert row(mixed, 1.0).value_of(figures) == 1_000.0
    assert row(mixed, 1.0, of="write").value_of(figures) == 500.0
    assert row(mixed, 1.0, "MB/s", of="write").value_of(figures) == pytest.approx(2.048)
    assert row(mixed, 1.0, "us", "mean", "write").value_of(figures) == 10.0


@pytest.mark.parametrize(("name", "share"), [("depth", 0.10), ("depth-p99", 0.15), ("block-size", 0.10), ("mix", 0.25)])
def test_each_row_counts_with_the_tolerance_of_its_kind(name: str, share: float) -> None:
    kind = name.removesuffix("-p99")
    figure = ("us", "p99") if name.endswith("-p99") else ("IOPS", "rate")
    known = replace(row(ALONE, 100.0, *figure), kind=kind)
    assert known.tolerance_name == name
    for value, is_met in ((100.0 * (1 + share), True), (100.1 * (1 + share), False), (99.9 * (1 - share), False)):
        assert RowOutcome(known, value).check.is_met is is_met


DRIVE = """
title = "A drive"
measured = "Samsung 980 PRO"
source = "a data sheet"

[facts]
"geometry.channels" = "the data sheet"
"""


def validation() -> Validation:
    drive = read_drive("venice-pm9a3", DRIVE)
    (known,) = measured()
    rows = tuple(
        RowOutcome(each, each.value * (1.5 if number == 0 else 1.0), 50, 0.0)
        for number, each in enumerate(rows_of(drive.measured))
    )
    return Validation(
        "venice-pm9a3", drive.title, known, (), 0.0, None, 1_000, values_hash=drive.values_hash(), rows=rows
    )


def test_a_drive_without_offered_loads_is_read_again_from_its_document() -> None:
    document = json.loads(json.dumps(to_dict([validation()])))
    assert document["drives"][0]["measured"] == {"drive": "Samsung 980 PRO", "file_gib": 931.5}
    assert {"depth", "block-size-p99", "mix"} <= document["tolerances"].keys()
    assert from_dict(document) == [validation()]


def test_pages_of_a_drive_without_offered_loads_have_a_table_of_each_kind(tmp_path: Path) -> None:
    known = {"venice-pm9a3": read_drive("venice-pm9a3", DRIVE)}
    write_pages([validation()], tmp_path, known)
    check_pages(tmp_path, known)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.md", "venice-pm9a3.json", "venice-pm9a3.md"]
    text = (tmp_path / "venice-pm9a3.md").read_text()
    assert re.findall("^## (.*)$", text, re.MULTILINE) == [
        "Data sheet",
        "Depths",
        "Block sizes",
        "Mixes",
        "Tolerances",
        "Values",
    ]
    assert "| read 4 KiB QD1 | SPDK | 16,583 | 24,875 | **+50 %** | 60.0 | 60.0 | 0 % |" in text
    assert "no load in this range" not in text
    # Bold cells of the tables are the misses of a sweep.
    assert "- rates, means and medians of the sweep of depths within 10 %: MISSED (47 of 48)\n- p99 of the" in text
    assert "| rates, means and medians of the sweep of depths within 10 % |" in (tmp_path / "index.md").read_text()
    (tmp_path / "venice-pm9a3.md").write_text("another page")
    rewrite_pages(tmp_path, known)
    assert (tmp_path / "venice-pm9a3.md").read_text() == text


def test_tables_and_html_have_a_section_of_each_kind(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    from flashmesh.report.terminal import Terminal

    report.show([validation()], Terminal(sys.stdout, report.WIDTH))
    shown = capsys.readouterr().out
    assert [title for title in ("Data sheet", "Depths", "Block sizes", "Mixes") if f"\n{title}\n" in shown] == [
        "Data sheet",
        "Depths",
        "Block sizes",
        "Mixes",
    ]
    assert "saturation rate" not in shown
    assert "! random read 4 KiB QD1 rate, IOPS: 16,583 ICPE 2024, SPDK, 24,875 simulated, +50%" in shown
    text = page(Study("A drive", (), (), validations=(validation(),)))
    for name in ("measured-sheet", "measured-depths", "measured-block-sizes", "measured-mixes"):
        assert f'id="{name}"' in text


def test_hosts_change_keys_of_the_host_only() -> None:
    from flashmesh.keys import declared

    assert {f"host.{key}" for host in HOSTS.values() for key in host} <= declared().keys()
