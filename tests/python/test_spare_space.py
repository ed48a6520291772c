"""Axes that change the amount of flash keep the over-provisioning of the drive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import flashmesh
from conftest import Cli
from flashmesh import configuration
from flashmesh.configuring.spare_space import COUNTS, space_of
from flashmesh.keys import flat

DRIVE: dict[str, Any] = {
    "preset": "venice-z-nand",
    "geometry": {"blocks-per-plane": 32, "capacity": "5GB"},
    "workload": {"requests": 200},
}


def values(**arguments: Any) -> dict[str, Any]:
    return flat(json.loads(configuration.load(DRIVE, **arguments).to_json()))


SHARE = space_of(values()).share


@pytest.mark.parametrize(
    ("varied", "capacity"),
    [
        ({"geometry.channels": "16"}, "10GB"),
        ({"geometry.chips-per-channel": "4"}, "2.5GB"),
        ({"geometry.planes-per-die": "4", "geometry.dies-per-chip": "2"}, "20GB"),
        ({"geometry.page-size": "8KiB"}, "10GB"),
        ({"geometry.blocks-per-plane": "32", "seed": "1"}, "5GB"),
        ({"seed": "1"}, "5GB"),
    ],
)
def test_capacity_follows_the_pages_of_a_point(varied: dict[str, str], capacity: str) -> None:
    found = values(varied=varied)
    assert found["geometry.capacity"] == capacity
    assert space_of(found).share == SHARE


def test_every_key_of_the_raw_capacity_is_followed() -> None:
    known = values()
    for key in COUNTS:
        size = int(str(known[key]).removesuffix("KiB"))
        point = values(varied={key: str(known[key]).replace(str(size), str(size * 2))})
        assert space_of(point).share == SHARE, key
        assert point["geometry.capacity"] == "10GB", key


def test_capacity_stays_where_somebody_says_it() -> None:
    chips = {"geometry.chips-per-channel": "16"}
    assert values(varied=chips, keep="capacity")["geometry.capacity"] == "5GB"
    assert values(varied=chips, overrides={"geometry.capacity": "4GB"})["geometry.capacity"] == "4GB"
    assert values(varied=chips | {"geometry.capacity": "6GB"})["geometry.capacity"] == "6GB"
    # In a single run, no key is varied, so its capacity stays as configured.
    assert values(overrides=chips)["geometry.capacity"] == "5GB"


def test_varied_over_provisioning_decides_the_capacity() -> None:
    found = space_of(values(varied={"geometry.over-provisioning": "25%"}))
    assert found.share == pytest.approx(0.25, abs=1e-9)
    without = configuration.load("preset:venice-z-nand", varied={"geometry.over-provisioning": "25%"})
    assert "geometry.capacity" not in flat(json.loads(without.to_json()))


def test_error_about_a_capacity_that_follows_says_so() -> None:
    with pytest.raises(flashmesh.ConfigError, match="the capacity that follows"):
        values(varied={"geometry.blocks-per-plane": "4"})


def test_changed_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "drive.toml"
    for capacity, doubled in (("5GB", "10GB"), ("4.5GB", "9GB")):
        file.write_text(f'preset = "venice-z-nand"\n[geometry]\nblocks-per-plane = 32\ncapacity = "{capacity}"\n')
        found = configuration.load(file, varied={"geometry.channels": "16"})
        assert flat(json.loads(found.to_json()))["geometry.capacity"] == doubled


def test_comparison_says_which_capacity_followed_and_keeps_it_in_each_run(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "drive.toml").write_text(
        'preset = "venice-z-nand"\n[geometry]\nblocks-per-plane = 32\ncapacity = "5GB"\n[workload]\nrequests = 200\n'
    )
    vary = ("--vary", "geometry.channels=8,16", "--measure", "IOPS")
    told = "geometry.capacity 5GB -> 10GB with geometry.channels=16 (over-provisioning kept)"
    done = cli("compare", "drive.toml", *vary, "--json", "two.json")
    assert told in done.stdout, done.stderr
    assert told in cli("show", "two.json", "--measure", "IOPS").stdout
    _, second = json.loads((tmp_path / "two.json").read_text())["runs"]
    again = flashmesh.run(second["result"]["configuration"])
    assert again.document["config_hash"] == second["result"]["config_hash"]
    assert again.document["iops"] == second["result"]["iops"]
    kept = cli("compare", "drive.toml", *vary, "--keep", "capacity")
    assert "geometry.capacity" not in kept.stdout, kept.stderr


@pytest.mark.parametrize(("keep", "capacity"), [("over-provisioning", "10GB"), ("capacity", "5GB")])
def test_sweep_file_says_what_is_kept(cli: Cli, tmp_path: Path, keep: str, capacity: str) -> None:
    (tmp_path / "drive.toml").write_text(
        'preset = "venice-z-nand"\n[geometry]\nblocks-per-plane = 32\ncapacity = "5GB"\n[workload]\nrequests = 200\n'
    )
    (tmp_path / "sweep.toml").write_text(
        f'config = "drive.toml"\nkeep = "{keep}"\n[axes]\n"geometry.channels" = [16]\n"host.queue-depth" = [32]\n'
    )
    done = cli("sweep", "sweep.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    (file,) = (tmp_path / "out" / "runs").rglob("*.json")
    assert json.loads(file.read_text())["configuration"]["geometry"]["capacity"] == capacity


def test_the_capacity_cannot_be_kept_while_the_over_provisioning_is_varied(cli: Cli, tmp_path: Path) -> None:
    vary = ("--vary", "geometry.over-provisioning=7%,12%", "--keep", "capacity")
    compared = cli("compare", "preset:venice-z-nand", *vary)
    assert compared.returncode == 2
    assert "geometry.over-provisioning is varied, which changes the capacity: leave out --keep" in compared.stderr
    (tmp_path / "sweep.toml").write_text(
        'config = "preset:venice-z-nand"\nkeep = "capacity"\n[axes]\n"geometry.over-provisioning" = ["7%", "12%"]\n'
    )
    swept = cli("sweep", "sweep.toml")
    assert swept.returncode == 2
    assert "geometry.over-provisioning is varied, which changes the capacity" in swept.stderr


def test_sweep_file_cannot_keep_anything_else(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text('config = "preset:venice-z-nand"\nkeep = "dies"\n[axes]\nseed = [0]\n')
    done = cli("sweep", "sweep.toml")
    assert done.returncode == 2
    assert "keep is 'over-provisioning' or 'capacity', not 'dies'" in done.stderr
    assert " --> sweep.toml:2:8\n" in done.stderr
