"""Relations between runs on random drives; and a test that the comparison finds differences.

FLASHMESH_METAMORPHIC_RUNS is how many are tried in all, or FLASHMESH_METAMORPHIC_MINUTES for how long.
"""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from campaign import metamorphic
from campaign.draw import BASE
from flashmesh import _native
from flashmesh.importers.mqsim import import_mqsim
from mqsim_files import DEVICE, FEW, FLASH, HOST, device_text, workload_text

RUNS = int(os.environ.get("FLASHMESH_METAMORPHIC_RUNS", "200"))
MINUTES = os.environ.get("FLASHMESH_METAMORPHIC_MINUTES")
SEED = int(os.environ.get("FLASHMESH_SEED", "1"))


@pytest.mark.parametrize("runs", [30, pytest.param(RUNS, marks=pytest.mark.long)])
def test_relations_hold_on_random_drives(runs: int) -> None:
    minutes = float(MINUTES) if MINUTES and runs == RUNS else None
    counts = metamorphic.survey(runs, SEED, minutes)
    print({name: (count.tried, count.held) for name, count in counts.items()})
    assert [failure for count in counts.values() for failure in count.failures] == []
    # Most drives must be usable. Single relations are checked only in long runs, since one may apply to none of a few
    # drives.
    assert sum(count.held for count in counts.values()) > runs / 2, counts
    assert runs < RUNS or all(count.held > count.tried / 5 for count in counts.values()), counts


@pytest.mark.parametrize(
    ("relation", "changed"),
    [
        ("observers", "report"),
        ("doubled", "log"),
        ("round trip", "report"),
        ("prefix", "log"),
        ("held", "log"),
        ("formats", "report"),
        ("permuted", "log"),
    ],
)
def test_a_run_that_differs_is_found(monkeypatch: pytest.MonkeyPatch, relation: str, changed: str) -> None:
    sound = metamorphic.run_config
    runs = 0

    def other(config: _native.Config, *, observed: bool = False) -> metamorphic.Outcome:
        """Falsifies a figure of every run after the first."""
        nonlocal runs
        runs += 1
        outcome = sound(config, observed=observed)
        if runs > 1 and changed == "report":
            return dataclasses.replace(outcome, report=outcome.report | {"bandwidth_bytes_per_s": -1.0})
        if runs > 1:
            batch = outcome.log.batches[0]
            batch["completed_ps"] = bytes([batch["completed_ps"][0] ^ 1]) + batch["completed_ps"][1:]
        return outcome

    monkeypatch.setattr(metamorphic, "run_config", other)
    settings = BASE | {"seed": "5", "workload.read-share": "0.5", "workload.footprint": "64KiB"}
    found = list(metamorphic.RELATIONS[relation](settings, Random(3)))
    assert found, relation


NATIVE: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "Page_Program_Latency_LSB": ("flash.program-time", "{}ns", ("50000", "200000")),
    "Block_Erase_Latency": ("flash.erase-time", "{}ns", ("500000", "3000000")),
    "Channel_Transfer_Rate": ("fabric.channel-rate", "{}MB/s", ("500", "250")),
    "PCIe_Lane_Count": ("host.lanes", "{}", ("4", "16")),
}
"""Tags of MQSim, each with the equivalent key, its notation, and values."""


@pytest.mark.parametrize("tag", NATIVE)
def test_a_drive_of_mqsim_is_the_native_one(tmp_path: Path, tag: str) -> None:
    key, spelled, values = NATIVE[tag]
    for value in values:
        plain, other = (imported(tmp_path / f"{number}", tags) for number, tags in enumerate(({}, {tag: value})))
        native = _native.Config.from_file(plain, [f"{key}={spelled.format(value)}"])
        translated = _native.Config.from_file(other, [])
        assert outcome(native) == outcome(translated), (tag, value)


def imported(folder: Path, tags: dict[str, str]) -> Path:
    """Imports a drive of MQSim with some tags changed. Returns the configuration file."""
    folder.mkdir(exist_ok=True)
    parts: dict[str, dict[str, str]] = {"host": {}, "device": {}, "flash": {}}
    for tag, value in tags.items():
        part = next(part for part, known in (("host", HOST), ("device", DEVICE), ("flash", FLASH)) if tag in known)
        parts[part][tag] = value
    (folder / "ssd.xml").write_text(device_text(**parts))
    (folder / "work.xml").write_text(workload_text([FEW]))
    return import_mqsim(folder / "ssd.xml", folder / "work.xml", folder / "out").files[0]


def outcome(config: _native.Config) -> dict[str, Any]:
    """Returns the result of a run without parts that depend on the machine."""
    report: dict[str, Any] = json.loads(_native.Simulation(config).run(_native.Control()))
    beside = {*metamorphic.OF_THE_MOMENT, "workload", "streams"}
    return {key: value for key, value in report.items() if key not in beside}
