"""`flashmesh compare`, end to end."""

from __future__ import annotations

import io
import json
import os
import re
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from conftest import Cli
from long_cases import in_part
from test_cli_run import simulated

FABRICS = ("bus", "pssd", "pnssd", "nossd", "venice", "ideal")


def runs(document: str) -> list[dict[str, Any]]:
    return [run | {"result": simulated(run["result"])} for run in json.loads(document)["runs"]]


def test_parallel_runs_equal_those_one_by_one(cli: Cli, config: Path) -> None:
    axes = ("--vary", "fabric.kind=bus,ideal", "--vary", "seed=1,2")
    parallel = cli("compare", config, *axes, "--jobs", "8", "--json", "-")
    serial = cli("compare", config, *axes, "--jobs", "1", "--json", "-")
    assert parallel.returncode == serial.returncode == 0
    assert runs(parallel.stdout) == runs(serial.stdout)
    for run in runs(parallel.stdout):
        settings = [argument for key, value in run["settings"].items() for argument in ("--set", f"{key}={value}")]
        alone = json.loads(cli("run", config, *settings, "--json", "-").stdout)
        assert simulated(alone) == run["result"]


def test_all_interconnects_compare_in_one_command_as_they_do_one_by_one(cli: Cli, config: Path) -> None:
    axis = ("--vary", f"fabric.kind={','.join(FABRICS)}", "--set", "workload.requests=2_000")
    table = cli("compare", config, *axis, "--jobs", "6")
    assert (table.returncode, table.stderr) == (0, "")
    assert max(map(len, table.stdout.splitlines())) <= 100
    for fabric in FABRICS:
        assert re.search(rf"^{fabric} +(bound|the drive) ", table.stdout, re.MULTILINE)
    parallel = runs(cli("compare", config, *axis, "--jobs", "6", "--json", "-").stdout)
    assert parallel == runs(cli("compare", config, *axis, "--jobs", "1", "--json", "-").stdout)
    results = {run["settings"]["fabric.kind"]: run["result"] for run in parallel}
    assert tuple(results) == FABRICS
    assert [fabric for fabric in FABRICS if results[fabric]["scouts"]] == ["venice"]
    assert {result["requests"] for result in results.values()} == {2_000}
    assert [fabric for fabric in FABRICS if results[fabric]["path_conflict"]["wait_ps"] == 0] == ["ideal"]
    assert len({result["makespan_ps"] for result in results.values()}) == len(FABRICS)


def test_interconnect_that_the_array_does_not_fit_is_named_before_any_runs(cli: Cli, config: Path) -> None:
    axes = ("--vary", f"fabric.kind={','.join(FABRICS)}", "--set", "geometry.channels=4")
    done = cli("compare", config, *axes, "--set", "geometry.chips-per-channel=16")
    assert (done.returncode, done.stdout) == (2, "")
    assert "needs as many chips a channel as channels, found 16 and 4" in done.stderr
    assert "to the same number" in done.stderr
    assert "1 of 6 runs cannot be configured, so none was run" in done.stderr
    assert "\n  fabric.kind=pnssd\n" in done.stderr


def test_ranges_of_an_axis_are_the_values_that_they_list(cli: Cli, config: Path) -> None:
    def values(axis: str) -> list[int]:
        done = cli("compare", config, "--vary", f"replay.outstanding={axis}", "--json", "-")
        assert done.returncode == 0, done.stderr
        return [run["settings"]["replay.outstanding"] for run in json.loads(done.stdout)["runs"]]

    assert values("1..3") == [1, 2, 3]
    assert values("1..16 x4,64") == [1, 4, 16, 64]
    refused = cli("compare", config, "--vary", "replay.outstanding=4..1")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "'4..1' ends before it begins" in refused.stderr


def test_combinations_come_in_order_with_the_last_axis_fastest(cli: Cli, config: Path) -> None:
    done = cli("compare", config, "--vary", "fabric.kind=bus,ideal", "--vary", "seed=1,2", "--json", "-")
    found = [tuple(run["settings"].values()) for run in json.loads(done.stdout)["runs"]]
    assert found == [("bus", 1), ("bus", 2), ("ideal", 1), ("ideal", 2)]


def test_table_shows_runs_side_by_side_with_ratios(cli: Cli, config: Path) -> None:
    done = cli("compare", config, "--vary", "fabric.kind=bus,ideal")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    assert done.stdout.split("\n")[0].split() == ["fabric.kind", "bus", "95", "%", "ideal", "95", "%"]
    iops = next(line for line in done.stdout.splitlines() if line.startswith("IOPS"))
    assert iops.rstrip(" ~").split()[-1].startswith("x")


def test_many_runs_fit_the_width(cli: Cli, config: Path) -> None:
    done = cli("compare", config, "--vary", "fabric.kind=bus,ideal", "--vary", "seed=1,2,3")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_csv_has_a_row_for_each_run(cli: Cli, config: Path, tmp_path: Path) -> None:
    assert cli("compare", config, "--vary", "fabric.kind=bus,ideal", "--csv", "runs.csv").returncode == 0
    table = pd.read_csv(tmp_path / "runs.csv")
    assert list(table["fabric.kind"]) == ["bus", "ideal"]
    assert (table["requests"] == 20_000).all()
    assert (table["latency_ps.all.p99"] > 0).all()


def test_one_bad_value_stops_all_before_the_first_run(cli: Cli, config: Path, tmp_path: Path) -> None:
    done = cli("compare", config, "--vary", "geometry.chanels=8,9", "--json", "runs.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "chanels" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["drive.toml"]


def test_runs_that_cannot_be_configured_are_named_before_any_runs(cli: Cli, config: Path, tmp_path: Path) -> None:
    axes = ("--vary", "gc.hard-threshold=0.01,0.02,0.03", "--vary", "gc.threshold=0.05,0.025")
    done = cli("compare", config, *axes, "--json", "runs.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--vary gc.hard-threshold" in done.stderr
    assert "1 of 6 runs cannot be configured, so none was run" in done.stderr
    assert "\n  gc.hard-threshold=0.03, gc.threshold=0.025\n" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["drive.toml"]


def test_table_shows_energy_both_ways_and_what_the_interconnect_takes(cli: Cli, config: Path) -> None:
    table = cli("compare", config, "--vary", "fabric.kind=bus,pssd").stdout
    for words in ("execution time", "distance to the bound", "energy of events", "nominal energy", "average power"):
        assert f"\n{words} " in f"\n{table}"
    row = next(line.split() for line in table.splitlines() if line.startswith("wires"))
    assert row == ["wires", "64", "128", "x2.00"]
    saved = next(line.split() for line in table.splitlines() if line.startswith("link area saved"))
    assert saved[3:] == ["0.0", "%", "-100.0", "%"]
    # Compare two interconnects only: with three, the table and its intervals would be wider than a terminal and change
    # form.
    table = cli("compare", config, "--vary", "fabric.kind=bus,ideal").stdout
    row = next(line.split() for line in table.splitlines() if line.startswith("wires"))
    assert row == ["wires", "64", "512", "x8.00"]
    saved = next(line.split() for line in table.splitlines() if line.startswith("link area saved"))
    assert saved[3:] == ["0.0", "%", "-"]


@pytest.mark.long
def test_parquet_has_the_rows_and_columns_of_the_csv(cli: Cli, config: Path, tmp_path: Path) -> None:
    files = ("--csv", "runs.csv", "--parquet", "runs.parquet")
    done = cli("compare", config, "--vary", "replay.outstanding=8,16", "--vary", "fabric.kind=bus,ideal", *files)
    assert done.returncode == 0, done.stderr
    csv, parquet = pd.read_csv(tmp_path / "runs.csv"), pd.read_parquet(tmp_path / "runs.parquet")
    # The CSV omits empty columns. The Parquet file has all columns, and the documents.
    assert [name for name in parquet.columns if name in csv.columns] == list(csv.columns)
    assert set(parquet.columns) - set(csv.columns) >= {"run", "configuration", "document", "latency_ps.flush.count"}
    assert not csv.isna().all().any()
    assert list(parquet["makespan_ps"]) == list(csv["makespan_ps"])
    assert list(parquet["replay.outstanding"]) == [8, 8, 16, 16]
    refused = cli("compare", config, "--vary", "seed=1,2", "--parquet", "-")
    assert (refused.returncode, refused.stdout) == (2, "")


def test_parquet_takes_values_of_several_types_as_texts(cli: Cli, config: Path, tmp_path: Path) -> None:
    done = cli("compare", config, "--vary", 'workload.read-share=0.5,"70%"', "--parquet", "runs.parquet")
    assert done.returncode == 0, done.stderr
    assert list(pd.read_parquet(tmp_path / "runs.parquet")["workload.read-share"]) == ["0.5", "70%"]


def test_key_varied_twice_is_bad_usage(cli: Cli, config: Path) -> None:
    done = cli("compare", config, "--vary", "seed=1", "--vary", "seed=2")
    assert done.returncode == 2
    assert "twice" in done.stderr


def test_trace_is_summed_up_once_for_all_runs(cli: Cli, config: Path, tmp_path: Path) -> None:
    lines = [f"{128166372003061629 + 1000 * at},hm,0,Read,{8192 * at},4096,413\n" for at in range(1000)]
    (tmp_path / "some.csv").write_text("".join(lines))
    done = cli("compare", config, "--trace", "some.csv", "--vary", "fabric.kind=bus,ideal", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("some.csv") == 1
    assert "some.csv" not in done.stdout


@pytest.mark.parametrize(
    ("axis", "option", "words"),
    in_part(
        2,
        [
            ("seed=1,2", ("--seed", "7"), "seed is varied and given by --seed: drop one of them"),
            (
                "workload.profile=hm_0,mds_0",
                ("--profile", "usr_0"),
                "workload.profile is varied and given by --profile",
            ),
            ("workload.trace=a.csv,b.csv", ("--trace", "c.csv"), "workload.trace is varied and given by --trace"),
            ("workload.trace=a.csv,b.csv", ("--profile", "usr_0"), "workload.trace is varied and decided by --profile"),
            ("workload.profile=hm_0,mds_0", ("--fio", "a.fio"), "workload.profile is varied and decided by --fio"),
            ("workload.kind=synthetic,trace", ("--trace", "c.csv"), "workload.kind is varied and decided by --trace"),
        ],
    ),
)
def test_option_that_would_override_a_varied_key_is_refused(
    cli: Cli, config: Path, axis: str, option: tuple[str, str], words: str
) -> None:
    done = cli("compare", config, "--vary", axis, *option)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_value_that_is_there_twice_is_refused(cli: Cli, config: Path) -> None:
    done = cli("compare", config, "--vary", "seed=1,2,01,1")
    assert done.returncode == 2
    assert "seed: the value 1 is given twice" in done.stderr


def test_bad_value_of_an_option_is_shown_as_that_option(cli: Cli, config: Path) -> None:
    done = cli("compare", config, "--set", "seed=3", "--vary", "fabric.kind=bus,x")
    assert done.returncode == 2
    assert "--vary fabric.kind" in done.stderr
    assert "--set" not in done.stderr
    beyond = cli("run", config, "--seed", str(2**63))
    assert beyond.returncode == 2
    assert "--seed" in beyond.stderr
    assert str(2**63 - 1) in beyond.stderr


def test_csv_goes_to_stdout_alone(cli: Cli, config: Path) -> None:
    done = cli("compare", config, "--vary", "fabric.kind=bus,ideal", "--csv", "-")
    assert done.returncode == 0
    assert list(pd.read_csv(io.StringIO(done.stdout))["fabric.kind"]) == ["bus", "ideal"]
    both = cli("compare", config, "--vary", "fabric.kind=bus,ideal", "--csv", "-", "--json", "-")
    assert (both.returncode, both.stdout) == (2, "")
    assert "--json and --csv name the same file" in both.stderr


def test_configuration_from_a_pipe_holds_for_every_run(cli: Cli, config: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_bytes, args=(config.read_bytes(),), daemon=True).start()
    done = cli("compare", pipe, "--vary", "seed=1,2", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert [run["result"]["requests"] for run in runs(done.stdout)] == [20_000, 20_000]


def test_one_measure_is_a_grid_of_the_axes(cli: Cli, config: Path) -> None:
    axes = ("--vary", "replay.outstanding=1,8,64", "--vary", "fabric.kind=bus,ideal")
    done = cli("compare", config, *axes, "--measure", "bandwidth", "--set", "workload.read-share=1")
    assert (done.returncode, done.stderr) == (0, "")
    title, heading, rule, *rows = done.stdout.splitlines()
    assert title == "bandwidth; columns: fabric.kind"
    assert heading.replace("95 %", "").split() == ["replay.outstanding", "bus", "ideal"]
    assert set(rule) == {"-"}
    assert [row.split()[0] for row in rows] == ["1", "8", "64"]
    assert all(row.count("GB/s") + row.count("MB/s") == 2 for row in rows)
    written = cli("compare", config, *axes, "--measure", "bandwidth").stdout
    assert [line.split()[0] for line in written.splitlines()[3:6]] == ["1", "8", "64"]
    assert "6 of 6 points are not steady" in written


def test_several_measures_are_grids_below_their_names(cli: Cli, config: Path) -> None:
    axes = ("--vary", "fabric.kind=bus,ideal", "--vary", "replay.outstanding=1,16", "--set", "workload.read-share=1")
    alone = {name: cli("compare", config, *axes, "--measure", name).stdout for name in ("iops", "mean")}
    both = cli("compare", config, *axes, "--measure", "iops", "--measure", "mean")
    assert alone["iops"].startswith("iops; columns: replay.outstanding\n")
    assert both.stdout == f"{alone['iops']}\n{alone['mean']}"
    # With one varied key there are no columns to name.
    single = cli("compare", config, *axes[:2], "--measure", "iops")
    assert single.stdout.startswith("fabric.kind ")


def test_an_unknown_measure_is_refused_with_those_there_are(cli: Cli, config: Path) -> None:
    done = cli("compare", config, "--vary", "seed=1,2", "--measure", "bandwith")
    assert done.returncode == 2
    assert "bandwidth" in done.stderr


JOBS = """[global]
direct=1
group_reporting
ioengine=libaio
norandommap
size=64m
number_ios=500
[oltp]
rw=randrw
iodepth=4
[log]
rw=write
bs=64k
"""


def test_jobs_of_fio_are_compared_as_they_run(cli: Cli, config: Path, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(JOBS)
    axis = ("--vary", "stream.log.replay.outstanding=1,8")
    done = cli("compare", config, "--fio", "job.fio", *axis, "--json", "-")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("job.fio: group_reporting: no effect") == 1
    alone = cli("run", config, "--fio", "job.fio", "--set", "stream.log.replay.outstanding=8", "--json", "-")
    assert runs(done.stdout)[1]["result"] == simulated(json.loads(alone.stdout))
    assert cli("compare", "--fio", "job.fio", *axis, "--quiet").stderr == ""


def test_fairness_is_compared(cli: Cli, config: Path, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(JOBS)
    axis = ("--vary", "stream.log.replay.outstanding=1,8")
    fair = cli("compare", config, "--fio", "job.fio", *axis, "--fairness", "--json", "fair.json")
    assert fair.returncode == 0, fair.stderr
    found = runs((tmp_path / "fair.json").read_text())
    slowdowns = [run["result"]["fairness"]["slowdown_max"] for run in found]
    row = next(line for line in fair.stdout.splitlines() if line.startswith("max slowdown"))
    assert row.split()[2:] == [f"{slowdown:.2f}" for slowdown in slowdowns]
    run = cli(
        "run", config, "--fio", "job.fio", "--set", "stream.log.replay.outstanding=8", "--fairness", "--json", "-"
    )
    assert found[1]["result"] == simulated(json.loads(run.stdout))
    plain = cli("compare", config, "--fio", "job.fio", *axis)
    assert "slowdown" not in plain.stdout


@pytest.mark.long
def test_fairness_of_a_single_stream_is_remarked_upon(cli: Cli, config: Path) -> None:
    small = ("--set", "workload.requests=500", "--fairness")
    for arguments in (("run", config, *small), ("compare", config, *small, "--vary", "seed=1,2")):
        done = cli(*arguments)
        assert (done.returncode, done.stderr.count("--fairness has no effect")) == (0, 1)
        assert cli(*arguments, "--quiet").stderr == ""


@pytest.mark.long
def test_parts_that_only_some_drives_have_are_compared_where_one_has_them(cli: Cli, config: Path) -> None:
    small = ("--set", "workload.requests=2_000", "--set", "workload.flush-share=0.1")
    plain = cli("compare", config, "--set", "workload.requests=2_000", "--vary", "seed=1,2").stdout
    for measure in ("map hit share", "read cache hit share", "flush mean", "device cache", "waiting for the map"):
        assert measure not in plain
    axis = ("--vary", "cache.capacity=1MiB,2MiB", "--set", "mapping.cache-capacity=1MiB", *small)
    for axes in (axis, (*axis, "--vary", "seed=1,2,3")):
        table = cli("compare", config, *axes).stdout
        for measure in ("map hit share", "read cache hit share", "write cache hit share", "flush mean"):
            assert measure in table
    document = json.loads(cli("compare", config, *axis, "--json", "-").stdout)
    alone = cli("compare", config, *axis, "--measure", "read cache hit share").stdout.splitlines()
    for line, run in zip(alone[2:4], document["runs"], strict=True):
        reads = run["result"]["cache"]["reads"]
        assert line.split()[1:3] == f"{reads['hits'] / sum(reads.values()):.1%}".replace("%", " %").split()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--vary", "venice.routing=xy,venice"), "venice.routing has no effect: fabric.kind is"),
        (("--vary", "nossd.topology=mesh,torus"), "nossd.topology has no effect"),
        (
            ("--vary", "fabric.kind=bus,ideal", "--vary", "venice.routing=xy,venice"),
            'venice.routing has no effect in any of the 4 runs: fabric.kind is "bus"; fabric.kind is "ideal"',
        ),
        (
            ("--vary", "fabric.kind=bus,ideal", "--set", "fabric.kind=venice"),
            "fabric.kind is varied and given by --set: drop one of them",
        ),
    ],
)
def test_axis_or_setting_without_effect_is_refused(
    cli: Cli, config: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = cli("compare", config, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_setting_that_one_run_reads_is_taken(cli: Cli, config: Path) -> None:
    axes = ("--vary", "fabric.kind=bus,venice", "--set", "venice.routing=xy", "--set", "workload.requests=500")
    assert cli("compare", config, *axes).returncode == 0


def test_failing_run_leaves_the_others(cli: Cli, config: Path, tmp_path: Path) -> None:
    (tmp_path / "good.ascii").write_text("0 0 0 8 1\n1000 0 64 8 0\n")
    (tmp_path / "bad.ascii").write_text("nonsense\n")
    done = cli("compare", config, "--vary", "workload.trace=bad.ascii,good.ascii", "--json", "runs.json")
    assert done.returncode == 2
    assert "1 of 2 runs failed: workload.trace=bad.ascii" in done.stderr
    document = json.loads((tmp_path / "runs.json").read_text())
    assert document["complete"] is False
    assert [run["settings"] for run in document["runs"]] == [{"workload.trace": "good.ascii"}]
    assert [failed["settings"] for failed in document["failures"]] == [{"workload.trace": "bad.ascii"}]
    assert "bad.ascii failed: " in done.stdout
    every = cli("compare", config, "--vary", "workload.trace=bad.ascii,none.ascii", "--json", "none.json")
    assert (every.returncode, every.stdout) == (2, "")
    assert not (tmp_path / "none.json").exists()


def test_many_runs_are_counted_and_timed_first(cli: Cli, config: Path) -> None:
    small = ("--set", "workload.requests=100", "--jobs", "2")
    done = cli("compare", config, "--vary", f"seed={','.join(map(str, range(24)))}", *small)
    assert done.stderr.splitlines()[0] == "24 runs; 2 at a time"
    assert "left, estimated from the first 2 runs" in done.stderr.splitlines()[1]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_table_is_printed_though_a_file_cannot_be_written(cli: Cli, config: Path, tmp_path: Path) -> None:
    axis = ("--vary", "fabric.kind=bus,ideal", "--set", "workload.requests=100")
    done = cli("compare", config, *axis, "--json", "/dev/full", "--csv", "runs.csv", "--quiet")
    assert (done.returncode, done.stderr) == (2, "error: /dev/full: cannot be written: No space left on device\n")
    assert [line.split()[0] for line in done.stdout.splitlines() if line.startswith(("bus", "ideal"))][:2] == [
        "bus",
        "ideal",
    ]
    assert len((tmp_path / "runs.csv").read_text().splitlines()) == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["drive.toml", "runs.csv"]
