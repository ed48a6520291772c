"""Latencies of a stream by kind of request, in summaries and on pages."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import flashmesh
from conftest import Cli
from flashmesh.report import quantities as q
from flashmesh.report import summary
from flashmesh.report.streams.kinds import mixed_kinds
from flashmesh.report.terminal import Terminal
from flashmesh.results import Result

MIXED: dict[str, Any] = {
    "preset": "venice-z-nand",
    "stream": {
        "oltp": {"workload": {"requests": 900, "read-share": 0.7}},
        "scan": {"workload": {"requests": 500, "read-share": 1.0}},
    },
}


def rows_of(result: Result) -> dict[str, str]:
    """Returns the rows of the table of streams of a summary by name, without the lines on intervals."""
    stream = io.StringIO()
    summary.show(result, Terminal(stream, 200))
    lines = stream.getvalue().partition("\nstream ")[2].partition("\n\n")[0].splitlines()[2:]
    rows = (line.split(maxsplit=1) for line in lines if "95 %" not in line)
    return {name: " ".join(cells.split()) for name, cells in rows}


@pytest.mark.parametrize("warm_up", ["none", "requests"])
def test_a_stream_that_mixes_kinds_has_a_row_for_each(warm_up: str) -> None:
    result = flashmesh.run(MIXED, overrides={"measure.warm-up": warm_up})
    rows = rows_of(result)
    assert list(rows) == ["oltp", "read", "write", "scan"]
    streams = result.streams if result.measured is None else result.measured.streams
    read, write = mixed_kinds(streams[0])
    assert read.latency["count"] + write.latency["count"] == streams[0].requests
    assert read.iops + write.iops == pytest.approx(streams[0].iops)
    for of in (read, write):
        assert rows[of.kind].endswith(" ".join(of.latencies(("mean", "p99", "p99_9"))))
    assert rows["read"] != rows["write"]
    assert mixed_kinds(streams[1]) == []


def test_the_page_of_a_run_has_the_latencies_of_each_kind(cli: Cli, tmp_path: Path) -> None:
    result = flashmesh.run(MIXED)
    (tmp_path / "r.json").write_text(result.to_json())
    done = cli("report", "r.json", "-o", "page.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text().partition("Latency of each stream by kind of request")[2]
    for name, of in [("oltp", each) for each in mixed_kinds(result.streams[0])]:
        cells = [name, of.kind, q.count(of.latency["count"])]
        row = "".join(f'<td class="number">{cell}</td>' for cell in cells).replace(' class="number"', "", 1)
        assert row in page
        assert of.latencies(["mean"])[0] in page


def test_a_page_of_streams_of_one_kind_each_has_no_table_of_kinds(cli: Cli, tmp_path: Path) -> None:
    result = flashmesh.run(MIXED, overrides={"stream.oltp.workload.read-share": 0})
    (tmp_path / "r.json").write_text(result.to_json())
    assert cli("report", "r.json", "-o", "page.html").returncode == 0
    assert "Latency of each stream by kind of request" not in (tmp_path / "page.html").read_text()
