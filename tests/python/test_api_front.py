"""The library from programs: keys and values spelled as in Python, data frames, and a function for each command."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import polars
import pyarrow as pa
import pytest

import flashmesh
from sweep_files import search_file, sweep_file

__all__ = ["search_file", "sweep_file"]
SMALL = {"workload.requests": 300}


@pytest.fixture(scope="module")
def comparison() -> flashmesh.Comparison:
    vary: dict[str, list[Any]] = {"fabric.kind": ["bus", "ideal"], "replay.outstanding": [1, 16], "seed": [0, 1, 2]}
    return flashmesh.compare("preset:venice-z-nand", vary, overrides=SMALL)


def test_comparison_is_a_sequence_of_its_runs(comparison: flashmesh.Comparison) -> None:
    assert len(comparison) == 12
    assert list(comparison) == list(comparison.runs)
    assert comparison[0].settings == {"fabric.kind": "bus", "replay.outstanding": 1, "seed": 0}
    assert comparison[-1] == comparison.runs[-1]
    assert comparison[:2] == comparison.runs[:2]
    bus = comparison.where(fabric__kind="bus")
    assert [run.settings for run in bus[:2]] == [{"replay.outstanding": 1, "seed": seed} for seed in (0, 1)]
    assert len(comparison.where(**{"fabric.kind": "ideal", "replay.outstanding": 16})) == 3
    with pytest.raises(flashmesh.ConfigError, match=r"where: fabric\.kind is never mesh; its values are bus, ideal"):
        comparison.where(fabric__kind="mesh")


def test_estimates_take_seeds_together(comparison: flashmesh.Comparison) -> None:
    found = comparison.estimates("IOPS")
    assert [settings for settings, _ in found] == [
        {"fabric.kind": kind, "replay.outstanding": depth} for kind in ("bus", "ideal") for depth in (1, 16)
    ]
    assert found[0][1].count == 3
    assert found[0][1].mean == pytest.approx(sum(run.result.iops for run in comparison[:3]) / 3)


def test_comparison_goes_to_arrow_and_whoever_takes_arrow(comparison: flashmesh.Comparison) -> None:
    table = comparison.to_arrow()
    assert pa.table(comparison).equals(table)
    assert table["latency_ps.all.p99"].to_pylist() == [
        run.result.latency_ps.all.p99 for run in comparison if run.result.latency_ps.all
    ]
    polars = pytest.importorskip("polars")
    assert comparison.to_polars()["iops"].to_list() == table["iops"].to_pylist()
    assert isinstance(comparison.to_polars(), polars.DataFrame)


def test_frames_are_in_one_piece_and_have_no_empty_column(
    comparison: flashmesh.Comparison, recwarn: pytest.WarningsRecorder
) -> None:
    frame = comparison.frame()
    assert not frame.isna().all().any()
    assert len(frame) == 12
    whole = comparison.frame(empty=True)
    assert set(frame.columns) < set(whole.columns)
    assert whole["latency_ps.write.p99"].dtype == float
    frame["one more"] = 1
    assert not [warning for warning in recwarn if "fragmented" in str(warning.message)]


def test_load_latency_draws_the_measure_that_is_asked_for(comparison: flashmesh.Comparison) -> None:
    assert comparison.plot_load_latency(measure="p99").to_dict()["params"][0]["value"] == "p99"
    with pytest.raises(ValueError, match=r"there are mean, median, p99, p99\.9"):
        comparison.plot_load_latency(measure="p98")


def test_measures_are_numbers_and_texts() -> None:
    result = flashmesh.run("preset:venice-z-nand", overrides=SMALL)
    assert result.latency_ps.all is not None
    assert result.value("p99") == result.value("latency_ps.all.p99") == result.latency_ps.all.p99
    assert result.text("p99").endswith(" us")
    assert flashmesh.measures()["p99"] == "ps"
    assert flashmesh.measures()["gc.erases"] == "blocks" or "gc.erases" in flashmesh.measures()


def test_keys_take_underscores_and_durations_numbers_and_timedeltas() -> None:
    text = flashmesh.run("preset:venice-z-nand", overrides={"flash.read-time": "5us", **SMALL})
    typed: Any
    for value in (5e-6, timedelta(microseconds=5), "5us"):
        assert flashmesh.run("preset:venice-z-nand", overrides={"flash.read_time": value, **SMALL}) == text
        flash = flashmesh.Flash(read_time=value)
        typed = flashmesh.Config(preset="venice-z-nand", flash=flash, workload=flashmesh.Workload(requests=300))
        assert flashmesh.run(typed) == text
        tables = {"preset": "venice-z-nand", "flash": {"read_time": value}, "workload": {"requests": 300}}
        assert flashmesh.run(tables) == text
    named = {"preset": "venice-z-nand", "stream": {"my_own": {"workload": {"requests": 100, "read_share": 0.5}}}}
    assert [stream.name for stream in flashmesh.run(named).streams] == ["my_own"]
    vary = {"flash.read_time": [3e-6, "5us"]}
    assert list(flashmesh.compare("preset:venice-z-nand", vary, overrides=SMALL).axes) == ["flash.read-time"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"kind": "mesh"}, "Fabric(kind='mesh'): 'mesh' is none of the choices: there are 'bus', 'pssd'"),
        ({"kind": "buss"}, "did you mean 'bus'?"),
        ({"hold_path": 3}, "3 is none of the choices: there are 'false', 'true', 'reads', 'programs'"),
    ],
)
def test_values_that_no_configuration_takes_are_refused_at_construction(arguments: Any, words: str) -> None:
    with pytest.raises(flashmesh.ConfigError) as refused:
        flashmesh.Fabric(**arguments)
    assert words in str(refused.value)
    with pytest.raises(flashmesh.ConfigError, match="out of bounds: it must be 1 to 1024"):
        flashmesh.Geometry(channels=0)


@pytest.mark.parametrize(
    ("config", "arguments", "place"),
    [
        (
            "preset:venice-z-nand",
            {"overrides": {"workload.requests": -1}},
            " --> overrides['workload.requests'] = '-1'",
        ),
        ("preset:venice-z-nand", {"overrides": {"workload.request": 1}}, " --> overrides['workload.request'] = '1'"),
        ({"workload": {"requests": -1}}, {}, " --> config['workload']['requests']"),
        ({"workload": {"request": 1}}, {}, " --> config['workload']['request']"),
        (flashmesh.Config(flash=flashmesh.Flash(read_time="1h")), {}, " --> config.flash.read_time"),
    ],
)
def test_errors_are_in_the_terms_of_a_program(config: Any, arguments: dict[str, Any], place: str) -> None:
    with pytest.raises(flashmesh.ConfigError) as refused:
        flashmesh.run(config, **arguments)
    assert place in str(refused.value)
    assert "--set" not in str(refused.value)


def test_errors_of_axes_name_the_axis() -> None:
    with pytest.raises(flashmesh.ConfigError) as refused:
        flashmesh.compare("preset:venice-z-nand", {"fabric.kind": ["bus", "buss"]})
    assert " --> vary['fabric.kind'] = 'buss'" in str(refused.value)


FRAME = pd.DataFrame(
    {
        "arrival_us": [3.0, 0.0, 1.5, 2.0],
        "offset_bytes": [0, 4096, 8192, 12288],
        "size_bytes": [4096, 4096, 512, 8192],
        "kind": ["read", "write", "Read", "W"],
    }
)


def test_data_frames_are_traces() -> None:
    frames: list[Any] = [FRAME, pa.Table.from_pandas(FRAME), polars.from_pandas(FRAME)]
    found = [flashmesh.run("preset:venice-z-nand", trace=frame) for frame in frames]
    assert all(result == found[0] for result in found)
    counts = found[0].latency_ps
    assert (counts.read and counts.read.count, counts.write and counts.write.count) == (2, 2)
    summary = flashmesh.trace_summary(FRAME)
    assert summary.requests == 4
    both = flashmesh.compare("preset:venice-z-nand", {"fabric.kind": ["bus", "ideal"]}, trace=FRAME)
    assert [run.result.requests for run in both] == [4, 4]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"size_bytes": [4096, 4096, 511, 8192]},
            "row 2 of the trace: size_bytes is 511, not a multiple of 512 B",
        ),
        ({"size_bytes": [4096, 4096, 0, 8192]}, "row 2 of the trace has a size of 0"),
        ({"kind": ["read", "trim", "read", "read"]}, "row 1 of the trace: kind is 'trim', neither read nor write"),
        ({"arrival_us": [1.0, None, 2.0, 3.0]}, "row 1 of the trace has no arrival_us"),
        ({"arrival_us": ["a", "b", "c", "d"]}, "contains values that are not numbers"),
        ({"arrival_ns": [1, 2, 3, 4]}, "it has arrival_ns and arrival_us"),
    ],
)
def test_data_frames_that_are_no_traces_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(flashmesh.WorkloadError) as refused:
        flashmesh.run("preset:venice-z-nand", trace=FRAME.assign(**change))
    assert words in str(refused.value)
    with pytest.raises(flashmesh.WorkloadError, match="a trace needs a column for arrivals"):
        flashmesh.run("preset:venice-z-nand", trace=FRAME.drop(columns="arrival_us"))


def test_sweeps_and_searches_are_calls(sweep_file: Path, tmp_path: Path) -> None:
    found = flashmesh.sweep(sweep_file, tmp_path / "out", overrides={"workload.requests": 200})
    assert len(found) == 6
    assert found[0].result.requests == 200
    loaded = flashmesh.load(tmp_path / "out")
    assert isinstance(loaded, flashmesh.Comparison)
    assert [run.result for run in loaded] == [run.result for run in found]
    with pytest.raises(flashmesh.OutputError, match="--resume"):
        flashmesh.sweep(sweep_file, tmp_path / "out")
    assert len(flashmesh.sweep(sweep_file, tmp_path / "out", resume=True, overrides={"workload.requests": 200})) == 6


def test_search_is_a_call(search_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    search_file.write_text(search_file.read_text().replace("trials = 24", "trials = 8"))
    front = flashmesh.optimise(search_file, tmp_path / "found")
    assert front
    assert all(each["measures"]["latency_ps.all.p99"] <= 400e6 for each in front)


def test_keys_and_sections_are_explained() -> None:
    assert flashmesh.explain("fabric.channel_rate").startswith("fabric.channel-rate\n")
    assert "channel-rate" in flashmesh.explain("fabric")
    with pytest.raises(flashmesh.ConfigError, match="did you mean fabric"):
        flashmesh.explain("fabrik.kind")
