"""`flashmesh cache`, and runs that use saved states: the results are the same, whatever happens to the folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import flashmesh
from conftest import COMMAND, Cli, run_in
from flashmesh.installation import states

# A drive whose preconditioning takes over four million writes, about the least for which a state is saved.
LARGE = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 1,
    "geometry.blocks-per-plane": 1024,
    "geometry.pages-per-block": 1024,
    "precondition.kind": "random",
    "workload.requests": 500,
}
SETTINGS = [part for key, value in LARGE.items() for part in ("--set", f"{key}={value}")]


def run_kept(folder: Path, *command: str, cache: str | None = None) -> Any:
    return run_in(folder, COMMAND, *command, beside={"FLASHMESH_CACHE": cache or str(folder / "kept")})


def simulated(text: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    for key in [key for key in document if "wall" in key or key.startswith("peak") or key == "provenance"]:
        del document[key]
    return document


def test_a_full_drive_is_kept_read_shown_damaged_and_cleared(tmp_path: Path) -> None:
    run = ("run", "preset:venice-z-nand", *SETTINGS, "--quiet", "--json", "-")
    without = run_kept(tmp_path, *run, cache="off")
    assert without.returncode == 0, without.stderr
    assert not (tmp_path / "kept").exists()
    first, second = run_kept(tmp_path, *run), run_kept(tmp_path, *run)
    assert first.stderr == second.stderr == ""
    assert simulated(without.stdout) == simulated(first.stdout) == simulated(second.stdout)

    shown = run_kept(tmp_path, "cache")
    folder = tmp_path / "kept" / "states"
    assert f"{folder}: 1 state, " in shown.stdout
    assert "of at most 10.0 GiB" in shown.stdout
    assert "configuration " in shown.stdout
    document = json.loads(run_kept(tmp_path, "cache", "--json", "-").stdout)
    [state] = document["states"]
    assert (document["folder"], document["limit_bytes"]) == (str(folder), 10 << 30)
    assert (state["is_current"], state["capacity_bytes"] > 4 << 30) == (True, True)

    [file] = folder.glob("*.state")
    file.write_bytes(file.read_bytes()[:-100])
    damaged = run_kept(tmp_path, *run)
    assert damaged.returncode == 0
    assert "damaged" in damaged.stderr
    assert "made anew" in damaged.stderr
    assert simulated(damaged.stdout) == simulated(first.stdout)

    assert run_kept(tmp_path, "cache", "clear", "--older-than", "1h").stdout == "0 states removed, 0.0 MiB\n"
    assert run_kept(tmp_path, "cache", "clear").stdout.startswith("1 state removed, ")
    assert not list(folder.iterdir())


def test_a_folder_that_cannot_be_written_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    done = run_kept(tmp_path, "run", "preset:venice-z-nand", *SETTINGS, "--quiet", cache=str(tmp_path / "file"))
    assert done.returncode == 0
    assert "note: " in done.stderr
    assert "Not a directory" in done.stderr


def test_a_program_that_steps_a_drive_is_warned_of_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("FLASHMESH_CACHE", str(tmp_path / "file"))
    with pytest.warns(RuntimeWarning, match="Not a directory"):
        flashmesh.Drive("preset:venice-z-nand", overrides=LARGE)


def test_without_a_folder_nothing_is_shown_or_cleared(cli: Cli) -> None:
    assert cli("cache").stdout == "FLASHMESH_CACHE is off: no states are kept\n"
    assert cli("cache", "clear").stdout == "0 states removed, 0.0 MiB\n"


@pytest.mark.parametrize(
    ("words", "variables", "told"),
    [
        (("cache", "clear", "--older-than", "soon"), {}, "'soon': expected a number with a unit (s, min, h, d, w)"),
        (("cache", "--json", "-", "clear"), {}, "--json has no effect with clear"),
        (("cache", "--json", "clear"), {}, "--json would write to a file named clear, which is a command"),
        (("cache",), {"FLASHMESH_CACHE_LIMIT": "much", "FLASHMESH_CACHE": "x"}, "FLASHMESH_CACHE_LIMIT is 'much'"),
    ],
)
def test_what_cannot_be_followed_is_said(
    tmp_path: Path, words: tuple[str, ...], variables: dict[str, str], told: str
) -> None:
    done = run_in(tmp_path, COMMAND, *words, beside=variables)
    assert done.returncode == 2
    assert told in done.stderr


def test_the_folder_is_that_of_the_user_unless_another_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLASHMESH_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert states.folder() == tmp_path / "flashmesh" / "states"
    monkeypatch.setenv("FLASHMESH_CACHE", str(tmp_path / "mine"))
    assert states.folder() == tmp_path / "mine" / "states"
    monkeypatch.setenv("FLASHMESH_CACHE_LIMIT", "3 GiB")
    assert states.limit() == 3 << 30
