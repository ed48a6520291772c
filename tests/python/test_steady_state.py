"""Measured windows after a warm-up, and epochs, from the command line and from Python."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest

import flashmesh
from conftest import Cli
from flashmesh.report import summary
from flashmesh.report.terminal import Terminal

SMALL = {"workload.requests": 5_000, "workload.read-share": 0.5}


def shown(result: flashmesh.Result) -> str:
    stream = io.StringIO()
    summary.show(result, Terminal(stream))
    return stream.getvalue()


def test_attributes_hold_the_window_and_the_epochs() -> None:
    measure = {"measure.warm-up": "requests", "measure.warm-up-requests": 1_000, "measure.epoch": "100us"}
    result = flashmesh.run("preset:venice-z-nand", overrides=SMALL | measure)
    assert result.warm_up is not None
    assert result.measured is not None
    assert (result.warm_up.requests, result.measured.requests) == (1_000, 4_000)
    assert result.measured.end_ps == result.epochs[-1].end_ps == result.makespan_ps
    assert sum(epoch.requests for epoch in result.epochs) == result.requests
    assert [stream.requests for stream in result.measured.streams] == [4_000]
    frame = result.epochs_frame()
    assert list(frame["latency_ps.all.p99"]) == [
        epoch.latency_ps.all.p99 for epoch in result.epochs if epoch.latency_ps.all
    ]
    assert frame["gc.pages_moved"].sum() == result.gc.pages_moved


def test_run_without_a_warm_up_has_neither_window_nor_epochs() -> None:
    result = flashmesh.run("preset:venice-z-nand", overrides=SMALL)
    assert (result.warm_up, result.measured, result.epochs) == (None, None, ())
    assert result.epochs_frame().empty
    assert "Measured" not in shown(result)
    assert "measured.iops" in result.frame(empty=True).columns
    assert "measured.iops" not in result.frame().columns


@pytest.mark.parametrize("name", ["epochs.csv", "epochs.parquet"])
def test_epochs_go_to_a_file(cli: Cli, config: Path, tmp_path: Path, name: str) -> None:
    done = cli("run", config, "--set", "measure.epoch=1ms", "--epochs", name, "--json", "result.json")
    assert (done.returncode, done.stderr) == (0, "")
    found = pd.read_csv(tmp_path / name) if name.endswith("csv") else pd.read_parquet(tmp_path / name)
    result = json.loads((tmp_path / "result.json").read_text())
    assert found["requests"].sum() == result["requests"]
    assert list(found["start_ps"]) == [epoch["start_ps"] for epoch in result["epochs"]]
    counts = [(epoch["latency_ps"]["read"] or {"count": 0})["count"] for epoch in result["epochs"]]
    assert list(found["latency_ps.read.count"].fillna(0)) == counts


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--epochs", "epochs.csv"], ["measure.epoch=10ms"]),
        (["--epochs", "epochs.txt", "--set", "measure.epoch=1ms"], ["epochs.txt", ".parquet"]),
        (["--epochs", "-", "--set", "measure.epoch=1ms"], ["--epochs"]),
        (["--set", "measure.warm-up=sometimes"], ["auto"]),
        (["--set", "measure.warm-up-requests=5"], ["measure.warm-up-requests has no effect"]),
    ],
)
def test_what_is_wrong_is_said(cli: Cli, config: Path, tmp_path: Path, arguments: list[str], words: list[str]) -> None:
    done = cli("run", config, *arguments)
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["drive.toml"]


def test_summary_begins_with_the_window_and_draws_epochs() -> None:
    measure = {"measure.warm-up": "time", "measure.warm-up-time": "1ms", "measure.epoch": "500us"}
    result = flashmesh.run("preset:venice-z-nand", overrides=SMALL | measure)
    assert result.measured is not None
    text = shown(result)
    window, _ = text.split("The whole run")
    assert f"Measured: {result.measured.requests:,} requests" in window
    assert "after a warm-up of 1.000 ms" in window
    assert f"{len(result.epochs)} epochs of 500.0 us" in window
    assert max(map(len, text.splitlines())) <= 100


def test_warm_up_that_does_not_end_is_said_loudly() -> None:
    short = flashmesh.run(
        "preset:venice-z-nand", overrides=SMALL | {"workload.requests": 50, "measure.warm-up": "auto"}
    )
    assert "NOT STEADY: there are too few requests to tell" in shown(short).replace("\n", " ")
    measure = {"measure.warm-up": "requests", "measure.warm-up-requests": 5_000}
    unreached = flashmesh.run("preset:venice-z-nand", overrides=SMALL | measure)
    assert unreached.measured is None
    assert "NOT WARM: the run ended within its warm-up, after 5,000 requests" in shown(unreached).replace("\n", " ")


def test_epochs_are_typed_parameters() -> None:
    config = flashmesh.Config(
        workload=flashmesh.Workload(requests=1_000), measure=flashmesh.Measure(warm_up="auto", epoch="100us")
    )
    result = flashmesh.run(config)
    assert result.epochs
    assert result.warm_up is not None
