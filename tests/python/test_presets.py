"""Names of presets: former names still work, with a note about the present name."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import flashmesh
from conftest import Cli
from flashmesh._native import former_presets
from flashmesh.configuration import load

FORMER = {"z-nand": "venice-z-nand", "pm9a3": "venice-pm9a3"}
FEW = {"workload.requests": 200}


def note(old: str) -> str:
    return f"the preset {old} is called {FORMER[old]} now"


def simulated(text: str) -> dict[str, Any]:
    """Returns a result without parts that differ between two runs of the same configuration."""
    document: dict[str, Any] = json.loads(text)
    for key in [key for key in document if "wall" in key or key.startswith("peak") or key == "provenance"]:
        del document[key]
    return document


def test_the_former_names_are_those_that_are_told() -> None:
    assert former_presets() == FORMER
    assert not FORMER.keys() & flashmesh.presets().keys()


@pytest.mark.parametrize("old", FORMER)
def test_a_program_is_warned_at_its_own_line_and_gets_the_same_drive(old: str, tmp_path: Path) -> None:
    file = tmp_path / "drive.toml"
    file.write_text(f'preset = "{old}"\n')
    hashed = load(f"preset:{FORMER[old]}").hash()
    sources: list[Any] = [f"preset:{old}", file, {"preset": old}, flashmesh.Config(preset=old)]  # type: ignore[arg-type]
    for source in sources:
        with pytest.warns(FutureWarning, match=note(old)) as told:
            assert load(source).hash() == hashed
        assert [warning.filename for warning in told] == [__file__], source
    with pytest.warns(FutureWarning, match=note(old)):
        assert load({}, overrides={"preset": old}).hash() == hashed
    with pytest.warns(FutureWarning, match=note(old)):
        was = flashmesh.run(f"preset:{old}", overrides=FEW)
    now = flashmesh.run(f"preset:{FORMER[old]}", overrides=FEW)
    assert simulated(json.dumps(was.document)) == simulated(json.dumps(now.document))


def test_a_name_of_today_is_not_remarked_upon() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in flashmesh.presets():
            load(f"preset:{name}")


def test_the_command_line_says_the_new_name_once_and_prints_the_same(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "drive.toml").write_text('preset = "pm9a3"\n')
    few = ("--set", "workload.requests=200", "--quiet", "--json", "-")
    was, now = (cli("run", config, *few) for config in ("drive.toml", "preset:venice-pm9a3"))
    assert was.stderr == f"note: drive.toml: {note('pm9a3')}; the old name is accepted, and means the same drive\n"
    assert now.stderr == ""
    assert simulated(was.stdout) == simulated(now.stdout)
    compared = cli("compare", "preset:z-nand", "--vary", "preset=z-nand,pm9a3", "--set", "workload.requests=50")
    assert compared.returncode == 0
    assert [compared.stderr.count(note(old)) for old in FORMER] == [1, 1]


def test_a_sweep_takes_the_former_names(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'config = "preset:z-nand"\n[set]\nworkload.requests = 50\n[axes]\npreset = ["z-nand", "pm9a3"]\n'
    )
    done = cli("sweep", "s.toml")
    assert done.returncode == 0, done.stderr
    assert all(note(old) in done.stderr for old in FORMER)


def test_init_writes_the_new_name(cli: Cli, tmp_path: Path) -> None:
    done = cli("init", "--preset", "pm9a3", "mine.toml")
    assert done.returncode == 0, done.stderr
    assert note("pm9a3") in done.stderr
    assert 'preset = "venice-pm9a3"' in (tmp_path / "mine.toml").read_text()


def test_the_list_of_presets_says_the_former_names(cli: Cli) -> None:
    shown = cli("presets").stdout
    assert "Older names are accepted: z-nand for venice-z-nand, pm9a3 for venice-pm9a3." in shown


def test_a_missing_file_with_a_former_name_is_taken_for_the_preset(cli: Cli) -> None:
    assert "did you mean preset:venice-pm9a3?" in cli("run", "pm9a3").stderr
