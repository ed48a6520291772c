"""Results agree with docs/results.schema.json, which names all of their keys."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import flashmesh

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs/results.schema.json").read_text())
WORKLOAD: dict[str, Any] = {"requests": 2_000, "read-share": 0.5}
WARM: dict[str, Any] = {"warm-up": "auto", "epoch": "100us"}
CACHE: dict[str, Any] = {"capacity": "16MiB"}
STREAMS: dict[str, Any] = {"a": {"replay": {"outstanding": 4}}, "b": {"workload": {"pattern": "sequential"}}}

# Tables that override the preset venice-z-nand, with the keys that only these runs have.
RUNS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "bus": ({}, ["write_amplification", "latency_ps.write"]),
    "venice": ({"fabric": {"kind": "venice"}}, ["scouts"]),
    "nossd": ({"fabric": {"kind": "nossd"}}, ["area.links_saved_share"]),
    "sata": ({"host": {"interface": "sata"}}, ["utilisation.adapter", "lower_bound.adapter_ps"]),
    "nvme": ({"host": {"interface": "nvme"}}, []),
    "map": ({"mapping": {"cache-capacity": "1856KiB"}}, ["mapping_cache.hit_share"]),
    "cache": ({"cache": CACHE}, ["cache", "lower_bound.dram_ps"]),
    "cut": ({"cache": CACHE, "power": {"cut": "100us"}}, ["power_cut", "cache"]),
    "recovery": (
        {"power": {"cut": "100us"}, "persistence": {"policy": "journal"}},
        ["power_cut.recovery.duration_ps", "persistence.write_amplification"],
    ),
    "warm": ({"measure": WARM}, ["warm_up.ended_ps", "measured.rounds", "epochs.0.latency_ps.read"]),
    "warm by time": ({"measure": {"warm-up": "time", "warm-up-time": "1s"}}, ["warm_up"]),
    "profile": ({"workload": {"profile": "ssd-10", "requests": 500}}, ["workload.description"]),
    "network": ({"fabric": {"kind": "venice"}, "measure": {"network": True}}, ["network.scouts.0.at_ps"]),
    "streams": ({"stream": STREAMS, "measure": WARM}, ["streams.1.latency_ps.all", "measured.streams.1.name"]),
}


def strict(schema: Any) -> Any:
    """Returns the schema, made to refuse every key that it does not name."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if "properties" in schema else {}
    return {key: strict(value) for key, value in schema.items()} | closed


VALIDATOR = jsonschema.Draft7Validator(strict(SCHEMA))


def at(document: Any, path: str) -> Any:
    for key in path.split("."):
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


def assert_valid(document: dict[str, Any]) -> None:
    errors = [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(document)]
    assert errors == []


def test_schema_is_one() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", RUNS)
def test_results_agree_with_the_schema(name: str) -> None:
    tables, present = RUNS[name]
    result = flashmesh.run({"preset": "venice-z-nand", "workload": WORKLOAD} | tables)
    assert_valid(json.loads(result.to_json()))
    missing = [path for path in present if at(result.document, path) is None]
    assert missing == []


def test_result_of_a_trace_agrees_with_the_schema(tmp_path: Path) -> None:
    trace = tmp_path / "small.ascii"
    trace.write_text("0 0 0 8 1\n1000 0 64 8 0\nnonsense\n500 0 8 8 1\n")
    result = flashmesh.run("preset:venice-z-nand", trace=trace, tolerate=True, overrides={"workload.time-unit": "ns"})
    assert_valid(result.document)
    assert result.workload is not None
    assert result.workload["rejected"]


def test_result_of_a_fitted_profile_agrees_with_the_schema(tmp_path: Path) -> None:
    trace, profile = tmp_path / "small.ascii", tmp_path / "small.toml"
    trace.write_text("".join(f"{1000 * request} 0 {8 * (request % 64)} 8 {request % 2}\n" for request in range(2_000)))
    flashmesh.fit_trace(trace, profile)
    result = flashmesh.run({"preset": "venice-z-nand", "workload": {"fitted": str(profile), "requests": 500}})
    assert_valid(result.document)
    assert result.workload is not None
    assert result.workload["kind"] == "fitted"


def test_result_with_a_timeline_agrees_with_the_schema(tmp_path: Path) -> None:
    measure = {"window-start": "2us", "window-length": "10us"}
    result = flashmesh.run(
        {"preset": "venice-z-nand", "workload": WORKLOAD, "measure": measure}, timeline_file=tmp_path / "run.pftrace"
    )
    assert_valid(result.document)
    assert result.document["timeline"] == {"start_ps": 2_000_000, "end_ps": 12_000_000, "is_cut": False}


def test_fairness_agrees_with_the_schema() -> None:
    result = flashmesh.run({"preset": "venice-z-nand", "workload": WORKLOAD, "stream": STREAMS}, fairness=True)
    assert_valid(result.document)
    assert result.fairness is not None


def test_interrupted_result_agrees_with_the_schema() -> None:
    def stop(progress: flashmesh.Progress) -> None:
        if progress.requests_done:
            raise KeyboardInterrupt

    with pytest.raises(flashmesh.Interrupted) as caught:
        flashmesh.run({"preset": "venice-z-nand", "workload": {"requests": 10**12}, "measure": WARM}, progress=stop)
    partial = caught.value.partial
    assert isinstance(partial, flashmesh.Result)
    assert partial.interrupted
    assert_valid(partial.document)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("makespan_ps", None),
        ("requests", -1),
        ("iops", "many"),
        ("bound.resource", "weather"),
        ("latency_ps.read.p99", 1.5),
        ("gc.unheard_of", 0),
        ("links.kinds", ["bridge"]),
        ("workload.kind", "dream"),
    ],
)
def test_wrong_values_do_not(path: str, value: object) -> None:
    result = flashmesh.run({"preset": "venice-z-nand", "workload": {"requests": 100}})
    document = deepcopy(result.document)
    group, _, key = path.rpartition(".")
    (at(document, group) if group else document)[key] = value
    assert not VALIDATOR.is_valid(document)


def test_missing_keys_do_not() -> None:
    document = flashmesh.run({"preset": "venice-z-nand", "workload": {"requests": 100}}).to_dict()
    for group in (document, document["latency_ps"], document["latency_ps"]["all"], document["gc"]):
        for key in list(group):
            value = group.pop(key)
            assert not VALIDATOR.is_valid(document), key
            group[key] = value
    assert VALIDATOR.is_valid(document)
