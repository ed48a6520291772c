"""The Python interface: all forms of a configuration, results as objects, and errors."""

from __future__ import annotations

from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import flashmesh
from flashmesh import _parameters
from flashmesh.comparing.axes import typed

SMALL: dict[str, Any] = {"preset": "venice-z-nand", "workload": {"requests": 5_000}}
ENDLESS = {"workload.requests": 10**12}


def agrees(value: Any, document: Any) -> bool:
    if is_dataclass(value):
        return all(agrees(getattr(value, key), document[key]) for key in document)
    if isinstance(value, tuple):
        return len(value) == len(document) and all(map(agrees, value, document))
    return bool(value == document)


def test_file_tables_typed_parameters_and_preset_give_the_same_run(tmp_path: Path) -> None:
    file = tmp_path / "drive.toml"
    file.write_text('preset = "venice-z-nand"\n[workload]\nrequests = 5_000\n')
    typed = flashmesh.Config(preset="venice-z-nand", workload=flashmesh.Workload(requests=5_000))
    sources: list[flashmesh.ConfigSource] = [file, str(file), SMALL, typed]
    results = [flashmesh.run(source) for source in sources]
    results.append(flashmesh.run("preset:venice-z-nand", overrides={"workload.requests": 5_000}))
    assert len({result.config_hash for result in results}) == 1
    assert len({result.makespan_ps for result in results}) == 1


def test_attributes_are_the_json() -> None:
    result = flashmesh.run(SMALL)
    assert agrees(result, result.to_dict())
    assert result.latency_ps.read is not None
    assert result.latency_ps.read.p99 == result.to_dict()["latency_ps"]["read"]["p99"]
    assert flashmesh.Result.from_json(result.to_json(), result.config) == result


def test_energy_adds_up_and_is_not_the_nominal_energy() -> None:
    result = flashmesh.run(SMALL, check=True)
    energy, power = result.power.energy_j, result.power
    parts = [energy.read, energy.program, energy.erase, energy.channels, energy.links, energy.routers]
    assert energy.total == pytest.approx(sum(parts) + energy.controllers, rel=1e-9)
    assert power.average_w == pytest.approx(energy.total / (result.makespan_ps / 1e12), rel=1e-9)
    # 64 dies at 82.5 mW and 8 channels at 10.8 mW.
    assert power.nominal_w == pytest.approx(64 * 0.0825 + 8 * 0.0108, rel=1e-9)
    assert power.nominal_energy_j == pytest.approx(power.nominal_w * result.makespan_ps / 1e12, rel=1e-9)
    assert {constant.source for constant in power.constants} > {"Venice, ISCA 2023, Table 4"}
    assert all(constant.unit == "W" for constant in power.constants)


def test_lower_bound_is_the_largest_of_its_parts() -> None:
    bound = flashmesh.run(SMALL).lower_bound
    parts = [bound.dies_ps, bound.rows_ps, bound.controllers_ps, bound.link_to_drive_ps, bound.link_to_host_ps]
    assert bound.makespan_ps == max(part for part in parts if part is not None)
    assert bound.distance is not None
    assert bound.distance >= 0.0
    assert (bound.chips_ps, bound.arrivals_ps) == (None, None)


def test_breakdown_adds_up_to_the_mean_latency() -> None:
    result = flashmesh.run(SMALL)
    assert result.latency_ps.all is not None
    assert result.breakdown_frame()["mean"].sum() == pytest.approx(result.latency_ps.all.mean, rel=1e-6)


def test_frames_hold_the_numbers_of_the_attributes() -> None:
    result = flashmesh.run(SMALL)
    row = result.frame()
    assert len(row) == 1
    assert row["iops"][0] == result.iops
    assert row["latency_ps.read.p99_9"][0] == result.latency_frame().loc["read", "p99_9"]
    assert list(result.latency_frame().index) == ["all", "read", "write", "flush"]
    kinds = ["read mean", "read tail", "write mean", "write tail"]
    assert list(result.breakdown_frame().columns) == ["mean", "tail", *kinds]
    use = result.utilisation_frame()
    assert list(use[use["resource"] == "die"]["share"]) == list(result.utilisation.dies)


def test_frames_of_reads_only_and_of_both_have_the_same_columns() -> None:
    reads = flashmesh.run(SMALL, overrides={"workload.read-share": 1.0})
    both = flashmesh.run(SMALL, overrides={"workload.read-share": 0.5})
    assert list(reads.frame(empty=True).columns) == list(both.frame(empty=True).columns)


def test_frames_have_numbers_where_a_run_has_no_value() -> None:
    comparison = flashmesh.compare(SMALL, {"fabric.kind": ["bus", "ideal"]}, overrides={"workload.read-share": 1.0})
    for frame in (comparison.frame(empty=True), comparison.runs[0].result.frame(empty=True)):
        assert frame["latency_ps.write.mean"].isna().all()
        assert frame["latency_ps.write.mean"].dtype == float
        assert frame["requests"].dtype == int


def test_comparison_says_briefly_what_it_is() -> None:
    comparison = flashmesh.compare(SMALL, {"fabric.kind": ["bus", "ideal"], "seed": [1, 2]})
    assert repr(comparison) == "<Comparison: 4 runs over fabric.kind, seed>"


def test_report_names_what_it_cannot_show(tmp_path: Path) -> None:
    result = flashmesh.run(SMALL)
    with pytest.raises(TypeError, match="each as an argument, not list"):
        flashmesh.write_report(tmp_path / "r.html", [result])  # type: ignore[arg-type]


def test_override_changes_what_it_names() -> None:
    result = flashmesh.run(SMALL, overrides={"fabric.kind": "ideal"}, seed=3)
    assert result.parameters["fabric"]["kind"] == "ideal"
    assert result.seed == 3


def test_comparison_has_a_row_for_each_combination() -> None:
    comparison = flashmesh.compare(SMALL, {"fabric.kind": ["bus", "ideal"], "seed": [1, 2]}, jobs=2)
    frame = comparison.frame()
    assert list(zip(frame["fabric.kind"], frame["seed"], strict=True)) == [
        ("bus", 1),
        ("bus", 2),
        ("ideal", 1),
        ("ideal", 2),
    ]
    alone = flashmesh.run(SMALL, overrides={"fabric.kind": "ideal", "seed": 2})
    assert comparison.runs[3].result.makespan_ps == alone.makespan_ps


@pytest.mark.parametrize(
    ("vary", "arguments", "words"),
    [
        ({"seed": [1, 2]}, {"seed": 7}, "seed is varied and given by seed=: drop one of them"),
        ({"fabric.kind": "bus"}, {}, "expected a sequence of values"),
        ({"seed": 3}, {}, "expected a sequence of values"),
        ({"seed": []}, {}, "at least one value"),
        ({"seed": [1, "1"]}, {}, "twice"),
        (["seed"], {}, "mapping"),
    ],
)
def test_axes_that_say_nothing_or_are_overridden_are_refused(vary: Any, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(flashmesh.ConfigError, match=words):
        flashmesh.compare(SMALL, vary, **arguments)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("0.5", 0.5),
        ("true", True),
        ("4KiB", "4KiB"),
        ('"8"', "8"),
        ("nan", "nan"),
        ("[1, 2]", "[1, 2]"),
        ("1\nb = 2", "1\nb = 2"),
    ],
)
def test_values_of_axes_are_numbers_where_they_can_be(text: str, value: object) -> None:
    found = typed(text)
    assert (type(found), found) == (type(value), value)


def test_varied_numbers_are_numbers_in_the_frame_and_the_document() -> None:
    comparison = flashmesh.compare(SMALL, {"replay.outstanding": ["16", "4"]}, jobs=2)
    assert list(comparison.frame()["replay.outstanding"].sort_values()) == [4, 16]
    document = comparison.to_dict()
    assert document["axes"] == {"replay.outstanding": [16, 4]}
    assert document["runs"][0]["settings"] == {"replay.outstanding": 16}


def test_log_of_requests_is_written(tmp_path: Path) -> None:
    flashmesh.run(SMALL, requests_file=tmp_path / "log.parquet")
    log = pd.read_parquet(tmp_path / "log.parquet")
    assert len(log) == 5_000
    assert list(log["kind"].cat.categories) == ["read", "write", "deallocate", "flush", "write_zeroes"]
    assert set(log["status"]) == {"success"}


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (flashmesh.ConfigError, {"overrides": {"fabric.knd": "bus"}}),
        (flashmesh.ConfigError, {"trace": "some.csv", "profile": "hm_0"}),
        (flashmesh.WorkloadError, {"trace": "nowhere.csv"}),
        (flashmesh.OutputError, {"requests_file": "nowhere/log.parquet"}),
        (flashmesh.ConfigError, {"overrides": [1]}),
        (flashmesh.ConfigError, {"overrides": {1: 2}}),
        (flashmesh.ConfigError, {"overrides": {"fabric.kind": "a\0b"}}),
        (flashmesh.ConfigError, {"overrides": {"fabric.kind": "\ud800"}}),
        (flashmesh.ConfigError, {"profile": "\ud800"}),
        (flashmesh.ConfigError, {"seed": "\ud800"}),
        (flashmesh.WorkloadError, {"trace": "a\0b"}),
        (flashmesh.WorkloadError, {"trace": "\ud800"}),
        (flashmesh.OutputError, {"requests_file": "a\0b"}),
        (flashmesh.OutputError, {"requests_file": "\ud800"}),
    ],
)
def test_each_error_has_its_exception(error: type[flashmesh.FlashmeshError], arguments: dict[str, Any]) -> None:
    with pytest.raises(error):
        flashmesh.run(SMALL, **arguments)


@pytest.mark.parametrize(
    "source", ["a\0b", "\ud800", "preset:a\0b", "preset:\ud800", {"preset": "\ud800"}, {"preset": "a\0b"}]
)
def test_text_that_no_file_can_hold_is_a_configuration_error(source: flashmesh.ConfigSource) -> None:
    with pytest.raises(flashmesh.ConfigError):
        flashmesh.run(source)


def test_tables_that_are_no_toml_are_a_configuration_error() -> None:
    with pytest.raises(flashmesh.ConfigError, match="TOML"):
        flashmesh.run({"workload": {"requests": None}})


def test_other_threads_go_on_and_see_the_progress() -> None:
    seen: list[flashmesh.Progress] = []

    def watch(progress: flashmesh.Progress) -> None:
        seen.append(progress)
        if len({step.requests_done for step in seen}) > 2:
            raise KeyboardInterrupt

    with pytest.raises(flashmesh.Interrupted) as caught:
        flashmesh.run(SMALL, overrides=ENDLESS, progress=watch)
    assert seen[-1].request_total == 10**12
    partial = caught.value.partial
    assert isinstance(partial, flashmesh.Result)
    assert partial.interrupted
    assert seen[-1].requests_done <= partial.requests < 10**12
    assert agrees(partial, partial.to_dict())


def test_interrupted_run_leaves_no_log(tmp_path: Path) -> None:
    def stop(progress: flashmesh.Progress) -> None:
        if progress.requests_done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        flashmesh.run(SMALL, overrides=ENDLESS, progress=stop, requests_file=tmp_path / "log.parquet")
    assert list(tmp_path.iterdir()) == []


def test_error_of_the_progress_function_ends_the_run() -> None:
    def fail(progress: flashmesh.Progress) -> None:
        raise LookupError("shown nowhere")

    with pytest.raises(LookupError):
        flashmesh.run(SMALL, overrides=ENDLESS, progress=fail)


def test_presets_and_profiles_have_descriptions() -> None:
    assert "venice-z-nand" in flashmesh.presets()
    assert all(flashmesh.describe_profile(name) for name in flashmesh.profiles())
    assert len(flashmesh.profiles()) == 102
    assert flashmesh.profiles_by_paper()["MBM FTL, Table II"]["mbm/MSNFS"].startswith("79.57 % reads; ")
    assert "src2_1 + proj_3" in flashmesh.describe_profile("mix1")
    with pytest.raises(flashmesh.WorkloadError):
        flashmesh.describe_profile("hm_9999")


def test_every_section_of_a_configuration_can_be_typed() -> None:
    sections = {
        name
        for name, value in vars(_parameters).items()
        if is_dataclass(value) and value.__module__ == _parameters.__name__
    }
    assert {"Cache", "Mapping", "Nvme", "Sata", "Venice"} <= sections
    assert sections <= set(flashmesh.__all__)
