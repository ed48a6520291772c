"""Saved results: their content, and `flashmesh show`."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import flashmesh
from conftest import Cli
from long_cases import in_part
from sweep_files import DRIVE, sweep_file

__all__ = ["sweep_file"]
AXES = ("--vary", "fabric.kind=bus,ideal", "--vary", "replay.outstanding=4,16")


@pytest.fixture
def drive(tmp_path: Path) -> Path:
    path = tmp_path / "drive.toml"
    path.write_text(DRIVE)
    return path


def test_result_says_what_it_is_the_result_of(cli: Cli, drive: Path, tmp_path: Path) -> None:
    trace = tmp_path / "small.ascii"
    trace.write_text("0 0 0 8 1\n1000 0 64 8 0\n")
    arguments = ("--trace", str(trace), "--set", "workload.time-unit=us", "--json", "r.json")
    done = cli("run", drive, *arguments)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "r.json").read_text())
    provenance = document["provenance"]
    assert provenance["command"] == ["flashmesh", "run", str(drive), *arguments]
    content = trace.read_bytes()
    assert provenance["files"] == [
        {
            "stream": "host",
            "path": str(trace),
            "size_bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
    ]
    # The configuration in the document is valid, and gives the same result.
    again = flashmesh.run(document["configuration"])
    assert again.config_hash == document["config_hash"]
    assert again.makespan_ps == document["makespan_ps"]
    assert again.document["provenance"]["command"] is None


def test_shown_again_a_run_is_as_it_was(cli: Cli, drive: Path) -> None:
    first = cli("run", drive, "--json", "r.json")
    assert cli("show", "r.json").stdout == first.stdout
    one = cli("show", "r.json", "--measure", "bandwidth", "--measure", "latency_ps.all.p99")
    assert [line.split("  ")[0] for line in one.stdout.splitlines()] == ["bandwidth", "latency_ps.all.p99"]


def test_shown_again_a_comparison_is_as_it_was(cli: Cli, drive: Path) -> None:
    first = cli("compare", drive, *AXES, "--json", "c.json", "--parquet", "c.parquet")
    assert first.returncode == 0, first.stderr
    assert {path.name for path in drive.parent.iterdir()} == {"drive.toml", "c.json", "c.parquet"}
    assert cli("show", "c.json").stdout == first.stdout
    assert cli("show", "c.parquet").stdout == first.stdout
    direct = cli("compare", drive, *AXES, "--measure", "p99").stdout
    assert cli("show", "c.parquet", "--measure", "p99").stdout == direct


def test_shown_sweep_has_its_runs(cli: Cli, sweep_file: Path) -> None:
    long = ("--set", "workload.requests=5_000")  # so many that all runs are steady, and their table is a grid
    assert cli("sweep", sweep_file, "--out", "out", *long).returncode == 0
    shown = cli("show", "out", "--measure", "IOPS").stdout.splitlines()
    assert [line.split()[0] for line in shown[3:5]] == ["bus", "ideal"]
    assert shown[0] == "IOPS; columns: replay.outstanding"
    assert shown[1].replace("95 %", "").split() == ["fabric.kind", "1", "4", "16"]


@pytest.mark.long
def test_results_of_another_version_are_shown_with_one_warning(cli: Cli, drive: Path, tmp_path: Path) -> None:
    assert cli("compare", drive, *AXES, "--json", "c.json").returncode == 0
    same = cli("show", "c.json")
    assert same.stderr == ""
    comparison = json.loads((tmp_path / "c.json").read_text())
    for run in comparison["runs"]:
        run["result"]["version"] = "0.0.9"
    (tmp_path / "c.json").write_text(json.dumps(comparison))
    other = cli("show", "c.json")
    assert (other.returncode, other.stdout) == (0, same.stdout)
    assert other.stderr == (
        f"warning: c.json: results of flashmesh 0.0.9: this is {flashmesh.__version__}, "
        "which may simulate the same drive differently\n"
    )
    page = cli("report", "c.json", "-o", "c.html")
    assert (page.returncode, page.stderr.count("\n")) == (0, 1)
    assert "results of flashmesh 0.0.9" in page.stderr
    assert "results of flashmesh 0.0.9" in (tmp_path / "c.html").read_text()


@pytest.mark.parametrize("command", ["show", "report"])
def test_folder_of_another_layout_is_refused_in_one_sentence(cli: Cli, tmp_path: Path, command: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/sweep.json").write_text('{"format": 99, "version": "9.1", "kind": "sweep"}')
    done = cli(command, "out")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "flashmesh 9.1 has written this folder in a layout that" in done.stderr


@pytest.mark.long
def test_show_says_that_a_sweep_is_not_complete(cli: Cli, sweep_file: Path) -> None:
    assert cli("sweep", sweep_file, "--out", "out", "--shard", "1/2").returncode == 0
    part = cli("show", "out", "--measure", "p99")
    told = "warning: out: not all runs had finished: only the 3 finished ones are shown\n"
    assert (part.returncode, part.stderr) == (0, told)
    loaded = flashmesh.load(sweep_file.parent / "out")
    assert isinstance(loaded, flashmesh.Comparison)
    assert not loaded.complete
    assert cli("sweep", sweep_file, "--out", "out", "--resume").returncode == 0
    assert cli("show", "out", "--measure", "p99").stderr == ""


@pytest.mark.long
def test_long_csv_has_a_row_for_each_value_and_none_that_is_empty(cli: Cli, drive: Path) -> None:
    cli("compare", drive, *AXES, "--json", "c.json")
    long = pd.read_csv(io.StringIO(cli("show", "c.json", "--csv", "-", "--long").stdout))
    assert list(long.columns) == ["fabric.kind", "replay.outstanding", "quantity", "value"]
    assert not long.isna().any().any()
    wide = pd.read_csv(io.StringIO(cli("show", "c.json", "--csv", "-").stdout))
    assert not wide.isna().all().any()
    p99 = long[long["quantity"] == "latency_ps.all.p99"]["value"].astype(float)
    assert list(p99) == list(wide["latency_ps.all.p99"])


@pytest.mark.long
def test_tables_of_different_runs_have_one_schema(cli: Cli, drive: Path, tmp_path: Path) -> None:
    plain = cli("compare", drive, "--vary", "seed=1,2", "--parquet", "plain.parquet")
    mixed = cli(
        *("compare", drive, "--vary", "seed=1,2", "--set", "workload.read-share=0.5", "--set", "fabric.kind=venice"),
        *("--set", "cache.capacity=1MiB", "--parquet", "mixed.parquet"),
    )
    assert (plain.returncode, mixed.returncode) == (0, 0), mixed.stderr
    one, other = (pq.read_schema(tmp_path / f"{name}.parquet") for name in ("plain", "mixed"))
    assert one.equals(other)
    joined = pd.concat([pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("plain", "mixed")])
    assert len(joined) == 4


@pytest.mark.parametrize(
    ("name", "content", "words"),
    in_part(
        3,
        [
            ("none.json", None, "there is no such file or folder"),
            ("text.json", "hello", "is neither JSON nor Parquet"),
            ("list.json", "[1]", "is not a result of flashmesh"),
            (
                "cut.json",
                '{"axes": {},\n "runs": [',
                "cut.json:2:11: is not valid JSON: Expecting value; the file ends there",
            ),
            ("cut.json", '{"axes": {}, "ru', "cut.json:1:14: is not valid JSON"),
            ("odd.json", '{"axes": {} "runs": []}', 'at \'{"axes": {} "runs": []}\''),
            ("other.json", '{"version": "99"}', "is a result of flashmesh 99"),
            ("part.json", '{"axes": {}, "runs": [{"settings": {}}]}', "complete is missing"),
            ("bad.parquet", "PAR1 no more", "is not a Parquet file of runs"),
        ],
    ),
)
def test_what_is_no_result_is_refused(cli: Cli, tmp_path: Path, name: str, content: str | None, words: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    done = cli("show", name)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert words in done.stderr


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("show", "/dev/zero"), "/dev/zero: is neither JSON nor Parquet: it begins with neither { nor ["),
        (("report", "/dev/zero", "-o", "page.html"), "/dev/zero: is not JSON"),
    ],
)
def test_a_file_without_end_that_is_no_result_is_refused_at_once(
    cli: Cli, command: tuple[str, ...], words: str
) -> None:
    done = cli(*command)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_measures_are_listed_and_can_be_printed(cli: Cli, drive: Path) -> None:
    listed = cli("measures").stdout
    assert listed.startswith("execution time ")
    assert "\nlatency_ps.read.p99_9  [ps]\n" in listed
    assert max(map(len, listed.splitlines())) <= 80
    cli("run", drive, "--json", "r.json")
    names = [line.split("  ")[0] for line in listed.splitlines() if line and not line.startswith(" ")]
    # A run without --fairness has no slowdowns.
    names = [name for name in names if "slowdown" not in name and "fairness" not in name]
    done = cli("show", "r.json", *(option for name in names for option in ("--measure", name)))
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(names) > 250
    near = cli("show", "r.json", "--measure", "bandwith")
    assert (near.returncode, "did you mean 'bandwidth'?" in near.stderr) == (2, True)
