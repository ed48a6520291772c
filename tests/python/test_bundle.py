"""Bundles: results and everything needed to repeat them in one file."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import flashmesh
from conftest import TIMEOUT_S, environment
from flashmesh.bundling.archive import write_bundle

SMALL = {"workload.requests": 50}


@pytest.fixture
def saved(tmp_path: Path) -> list[Path]:
    """Saves a comparison, and the run of a trace. Returns their paths."""
    trace = tmp_path / "traces" / "t.trace"
    trace.parent.mkdir()
    trace.write_text("".join(f"{1000 * i} 0 {8 * i} 8 1\n" for i in range(20)))
    comparison = flashmesh.compare("preset:venice-z-nand", {"seed": [1, 2]}, overrides=SMALL)
    run = flashmesh.run("preset:venice-z-nand", trace=trace, overrides={"workload.time-unit": "ns"})
    paths = [tmp_path / "comparison.json", tmp_path / "run.json"]
    paths[0].write_text(comparison.to_json())
    paths[1].write_text(run.to_json())
    return paths


def unpacked(bundle: Path, folder: Path) -> Path:
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(folder)
    return folder


def test_a_bundle_holds_results_configurations_hashes_and_versions(saved: list[Path], tmp_path: Path) -> None:
    folder = unpacked(write_bundle(saved, tmp_path / "b.zip"), tmp_path / "b")
    described = json.loads((folder / "bundle.json").read_text())
    assert described["results"] == ["results/comparison.json", "results/run.json"]
    assert described["versions"]["flashmesh"] == flashmesh.__version__
    assert len(described["runs"]) == len(list((folder / "configurations").iterdir())) == 3
    trace = (tmp_path / "traces/t.trace").read_bytes()
    (file,) = described["runs"][2]["files"]
    assert (file["key"], file["sha256"]) == ("workload.trace", hashlib.sha256(trace).hexdigest())
    assert file["sha256"] in (folder / "README.md").read_text()
    for line in (folder / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert (folder / "results/run.json").read_bytes() == saved[1].read_bytes()


def test_the_same_results_give_the_same_bundle(saved: list[Path], tmp_path: Path) -> None:
    one, other = (write_bundle(saved, tmp_path / name).read_bytes() for name in ("1.zip", "2.zip"))
    assert one == other


def test_a_bundle_repeats_its_runs_elsewhere_and_finds_what_differs(saved: list[Path], tmp_path: Path) -> None:
    folder = unpacked(write_bundle(saved, tmp_path / "b.zip"), tmp_path / "b")
    (tmp_path / "traces").rename(tmp_path / "moved")

    def repeat(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, folder / "repeat.py", *arguments]
        return subprocess.run(
            command, env=environment(), capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )

    assert "is missing: name the folder that contains it" in repeat().stderr
    done = repeat(tmp_path / "moved")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 of 3 runs are the same" in done.stdout
    document = json.loads((folder / "results/run.json").read_text())
    document["makespan_ps"] += 1
    (folder / "results/run.json").write_text(json.dumps(document))
    done = repeat(tmp_path / "moved")
    assert done.returncode == 1
    assert "2 of 3 runs are the same" in done.stdout


def test_two_results_of_one_name_are_refused(saved: list[Path], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / "run.json"
    twin.write_bytes(saved[1].read_bytes())
    with pytest.raises(flashmesh.OutputError, match="is in the bundle already"):
        write_bundle([saved[1], twin], tmp_path / "b.zip")
    assert not (tmp_path / "b.zip").exists()


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text('{"a": 1}')
    with pytest.raises(flashmesh.OutputError, match="is not a result of flashmesh"):
        write_bundle([tmp_path / "notes.json"], tmp_path / "b.zip")
