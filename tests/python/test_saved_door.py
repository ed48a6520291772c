"""Damaged or forged results: they give a sentence and exit code 2, or a result; never a traceback."""

from __future__ import annotations

import copy
import csv
import io
import json
import random
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import flashmesh
from conftest import Cli
from flashmesh.cli.results.show import show_text
from flashmesh.html.figures import table
from flashmesh.html.page import page
from flashmesh.html.saved import read
from flashmesh.plots.style import Values
from flashmesh.results.schema import MalformedError, check_comparison, check_result
from flashmesh.saved import open_runs
from long_cases import in_part

WRONG: tuple[Any, ...] = (None, "x", 0.5, -1, True, [], {}, [1], {"x": 1}, 10**40, float("nan"), float("inf"), "", 0)
"""Values that replace those of a document, most of them of a wrong type."""


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return flashmesh.run(
        {
            "preset": "venice-z-nand",
            "fabric": {"kind": "venice"},
            "geometry": {"channels": 2, "chips-per-channel": 2},
            "measure": {"collisions": True, "network": True, "epoch": "100us"},
            "workload": {"requests": 500, "read-share": 0.5},
            "stream": {"one": {}, "two": {"replay": {"mode": "closed"}}},
        },
        fairness=True,
    ).to_dict()


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields the paths to all values in a document, including objects and lists."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, each in value.items():
            yield from places(each, (*path, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    copied = copy.deepcopy(document)
    reduce(getitem, path[:-1], copied)[path[-1]] = value
    return copied


@pytest.mark.parametrize(("cases", "taken_min"), [(25, 1), pytest.param(150, 11, marks=pytest.mark.long)])
def test_no_wrong_value_in_a_saved_result_gets_past_the_door(
    document: dict[str, Any], tmp_path: Path, cases: int, taken_min: int
) -> None:
    draw, all_places = random.Random(1), list(places(document))
    taken, told = 0, list[str]()
    for _ in range(cases):
        path, value = draw.choice(all_places), draw.choice(WRONG)
        inner = reduce(getitem, path[:-1], document)
        before, inner[path[-1]] = inner[path[-1]], value
        compared = {
            "axes": {"a": [1]},
            "complete": True,
            "failures": [],
            "until_steady": False,
            "runs": [{"settings": {"a": 1}, "result": document}],
        }
        (tmp_path / "wrong.json").write_text(json.dumps(document if draw.random() < 0.5 else compared))
        inner[path[-1]] = before
        for show in (
            lambda: show_text(open_runs(tmp_path / "wrong.json"), (), io.StringIO()),
            lambda: page(read([tmp_path / "wrong.json"])),
        ):
            try:
                show()
                taken += 1
            except flashmesh.InternalError:
                raise
            except flashmesh.FlashmeshError as error:
                told.append(str(error))
            except Exception as error:
                raise AssertionError(path, value) from error
    assert all(text.startswith(str(tmp_path / "wrong.json")) and "\n" not in text for text in told)
    # Most values of a document have a type, which a random value rarely has, so most documents are refused.
    assert taken_min <= taken < cases < taken + len(told)


@pytest.mark.parametrize(
    ("path", "value", "told"),
    in_part(
        3,
        [
            (("version",), 0.5, "version is 0.5, not a text"),
            (("bandwidth_bytes_per_s",), "fast", "bandwidth_bytes_per_s is 'fast', not a number"),
            (("links", "kinds", 1), "rope", "links.kinds[1] is 'rope', not one of channel, controller, mesh, chip"),
            (("links", "kinds"), [], "links.kinds has 0 entries, and utilisation.links "),
            (("latency_ps", "all", "p99"), None, "latency_ps.all.p99 is None, not a whole number"),
            (
                ("configuration", "geometry", "channels"),
                "2",
                "configuration.geometry.channels is '2', not a whole number",
            ),
            (("configuration", "fabric", "kind"), ["bus"], "configuration.fabric.kind is ['bus'], not one of bus, "),
            (("configuration", "stream", "one", "replay"), {}, "configuration.stream.one.replay.mode is missing"),
            (
                ("configuration", "stream", "one", "workload", "interarrival"),
                "fast",
                "configuration.stream.one.workload.interarrival is 'fast', not a time",
            ),
            (
                ("configuration", "geometry", "chips-per-channel"),
                3,
                "configuration.geometry is of another drive than one of 4",
            ),
        ],
    ),
)
def test_what_is_wrong_is_said_with_its_place(
    document: dict[str, Any], cli: Cli, tmp_path: Path, path: tuple[Any, ...], value: Any, told: str
) -> None:
    wrong = changed(document, path, value)
    with pytest.raises(MalformedError) as refused:
        check_result(wrong)
    assert str(refused.value).startswith(told)
    (tmp_path / "wrong.json").write_text(json.dumps(wrong))
    for command in (("show", "wrong.json"), ("report", "wrong.json", "-o", "page.html")):
        done = cli(*command)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
        assert f"error: wrong.json: is not a result of flashmesh: {told}" in done.stderr
    assert not (tmp_path / "page.html").exists()


def test_a_comparison_without_its_parts_is_refused(document: dict[str, Any]) -> None:
    whole = {
        "axes": {"a": [1, 2]},
        "complete": True,
        "failures": [],
        "runs": [{"settings": {"a": 1}, "result": document}],
        "until_steady": False,
    }
    check_comparison(whole)
    for path, value, told in (
        (("runs", 0), {"result": document}, "runs[0].settings is missing"),
        (("runs", 0, "settings"), {}, "runs[0].settings does not have the keys of axes"),
        (("runs", 0, "settings", "a"), 3, "runs[0].settings.a is not among the values of axes.a"),
        (("axes",), [], "axes is [], not an object"),
        (("failures",), [{"settings": {}}], "failures[0].error is missing"),
        (("runs", 0, "result", "requests"), "1", "runs[0].result.requests is '1', not a whole number"),
    ):
        with pytest.raises(MalformedError) as refused:
            check_comparison(changed(whole, path, value))
        assert str(refused.value) == told


def write_table(path: Path, documents: Sequence[str | None], axes: Any = ("seed",)) -> None:
    """Writes a Parquet file like the one of a sweep, with any documents."""
    columns = {"seed": list(range(len(documents))), "document": pa.array(documents, pa.string())}
    metadata = {"flashmesh": json.dumps({"version": flashmesh.__version__, "axes": axes, "runs": ""})}
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), path, compression="zstd")


@pytest.mark.long
@pytest.mark.parametrize("command", ["show", "report"])
@pytest.mark.parametrize("broken", ["{", "[]", "1", None, '{"version": 0.5}', "[" * 100_000], ids=range(6))
def test_a_table_with_a_broken_document_is_refused(cli: Cli, tmp_path: Path, command: str, broken: str | None) -> None:
    write_table(tmp_path / "t.parquet", [broken])
    done = cli(command, "t.parquet")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith("error: t.parquet: ")


@pytest.mark.parametrize("axes", in_part(2, [["none"], 3, "seed", {"seed": 1}, [["seed"]]]))
def test_a_table_with_other_axes_than_columns_is_refused(cli: Cli, tmp_path: Path, axes: Any) -> None:
    write_table(tmp_path / "t.parquet", ["{}"], axes)
    done = cli("show", "t.parquet")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr


@pytest.mark.long
def test_a_small_table_that_unpacks_to_much_is_refused(document: dict[str, Any], cli: Cli, tmp_path: Path) -> None:
    # Parquet stores equal texts once, and compresses a long text of one letter to almost nothing.
    text = json.dumps(document)
    for documents in ([text] * (200_000_000 // len(text)), ["x" * 200_000_000]):
        write_table(tmp_path / "t.parquet", documents)
        assert (tmp_path / "t.parquet").stat().st_size < 1_500_000
        done = cli("show", "t.parquet")
        assert done.returncode == 2
        assert "MiB when they are unpacked, far more than such a file has" in done.stderr
    write_table(tmp_path / "t.parquet", [text] * 3)
    assert cli("show", "t.parquet").returncode == 0


@pytest.mark.long
def test_texts_in_csv_files_are_no_formulas(document: dict[str, Any], cli: Cli, tmp_path: Path) -> None:
    evil = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1"]
    runs = [{"settings": {"=a": text}, "result": document | {"config_hash": text}} for text in evil]
    compared = {"axes": {"=a": evil}, "complete": True, "failures": [], "runs": runs, "until_steady": False}
    (tmp_path / "c.json").write_text(json.dumps(compared))
    for form in ((), ("--long",)):
        assert cli("show", "c.json", "--csv", "c.csv", *form).returncode == 0
        with (tmp_path / "c.csv").open(newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert "'=a" in cells
        assert {f"'{text}" for text in evil} <= set(cells)
        texts = [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t"))]
        assert all(is_number(text) for text in texts), texts
    rows: Values = [{"=a": text, "b": -1} for text in evil]
    assert [row[0] for row in csv.reader(io.StringIO(table(rows)))] == [f"'{text}" for text in ["=a", *evil]]


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("lines", "points"),
    [
        ("seeds = 60_000_000", "60,000,000"),
        (f"seeds = {2**64 - 1}", "18,446,744,073,709,551,615"),
        ("seeds = 2000\n[axes]\nreplay.outstanding = '1..1024'", "2,048,000"),
    ],
)
def test_a_sweep_of_too_many_points_is_refused_before_any_is_made(
    cli: Cli, tmp_path: Path, lines: str, points: str
) -> None:
    (tmp_path / "s.toml").write_text(f'config = "preset:venice-z-nand"\n{lines}\n')
    for command in (("sweep", "s.toml", "--dry-run"), ("sweep", "s.toml")):
        done = cli(*command)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"a sweep of {points} points: at most 1,000,000 can be planned" in done.stderr
    many = ",".join(str(number) for number in range(1001))
    done = cli("compare", "preset:venice-z-nand", "--vary", f"seed={many}", "--vary", f"replay.outstanding={many[2:]}")
    assert (done.returncode, "a sweep of 1,001,000 points" in done.stderr) == (2, True)


def test_a_result_keeps_the_rights_of_the_file_that_it_replaces(cli: Cli, tmp_path: Path) -> None:
    for mode in (0o600, 0o640, 0o604):
        path = tmp_path / "r.json"
        path.touch()
        path.chmod(mode)
        assert cli("run", "preset:venice-z-nand", "--set", "workload.requests=10", "--json", "r.json").returncode == 0
        assert path.stat().st_mode & 0o777 == mode
        assert path.stat().st_size > 0
