"""Kept states that were damaged or replaced: a run says so, computes its own state, and touches no other file."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import flashmesh
from long_cases import in_part

# A drive whose preconditioning takes over four million writes, about the least for which a state is saved.
LARGE: dict[str, Any] = {
    "geometry": {"channels": 1, "chips-per-channel": 1, "blocks-per-plane": 1024, "pages-per-block": 1024},
    "precondition": {"kind": "random"},
    "workload": {"requests": 200},
}
OTHER: dict[str, Any] = LARGE | {"seed": 7}
LONG_AGO_S = 1_000_000_000
NOBODY = 65534


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[str, Any]]:
    """Returns the states of two drives, and the result of the first one."""
    folder = tmp_path_factory.mktemp("sound")
    found: list[Path] = []
    outcome: dict[str, Any] = {}
    for number, drive in enumerate((LARGE, OTHER)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FLASHMESH_CACHE", str(folder / str(number)))
            result = flashmesh.run(drive)
        outcome = outcome or result.outcome()
        found += (folder / str(number)).rglob("*.state")
    own, other = found
    return own, other, outcome


def cut(path: Path, at: int) -> None:
    path.write_bytes(path.read_bytes()[:at])


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0x10
    path.write_bytes(data)


def replaced(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


def foreign(path: Path, beside: Path) -> None:
    shutil.copy(beside / "other.state", path)


POISONS: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "empty": (lambda path, _: cut(path, 0), "damaged: it is no state of this version"),
    "first line only": (lambda path, _: cut(path, 18), "damaged: "),
    "half": (lambda path, _: cut(path, path.stat().st_size // 2), "damaged: it has "),
    "last byte missing": (lambda path, _: cut(path, path.stat().st_size - 1), "damaged: it has "),
    "bit of the format": (lambda path, _: flip(path, 3), "damaged: it is no state of this version"),
    "bit of the metadata": (lambda path, _: flip(path, 40), "damaged: "),
    "bit of the data": (lambda path, _: flip(path, path.stat().st_size // 2), "damaged: "),
    "bit at the end": (lambda path, _: flip(path, path.stat().st_size - 1), "damaged: "),
    "of another drive": (foreign, "damaged: it is of another drive or build"),
    "link to a file": (
        lambda path, beside: replaced(path, lambda link: link.symlink_to(beside / "precious")),
        "damaged: it is no state of this version",
    ),
    "link to a device": (
        lambda path, _: replaced(path, lambda link: link.symlink_to("/dev/zero")),
        "damaged: it is no regular file",
    ),
    "pipe": (lambda path, _: replaced(path, os.mkfifo), "damaged: it is no regular file"),
    "folder": (lambda path, _: replaced(path, Path.mkdir), "damaged: it is no regular file: it cannot be removed: "),
}
"""Changes of a file of a state, each with the warning of the run."""
SHORT = ("half", "bit of the data", "of another drive", "pipe", "folder")
"""Changes that `make test` makes; the others resemble them."""


@pytest.mark.parametrize("poison", in_part(len(SHORT), sorted(POISONS, key=lambda each: each not in SHORT)))
def test_a_poisoned_state_is_told_made_anew_and_costs_no_other_file(
    poison: str, sound: tuple[Path, Path, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other, outcome = sound
    folder = tmp_path / "kept" / "states"
    folder.mkdir(parents=True)
    shutil.copy(own, folder)
    shutil.copy(other, tmp_path / "other.state")
    precious = tmp_path / "precious"
    precious.write_text("of the user")
    os.utime(precious, (LONG_AGO_S, LONG_AGO_S))
    monkeypatch.setenv("FLASHMESH_CACHE", str(tmp_path / "kept"))
    change, told = POISONS[poison]
    change(folder / own.name, tmp_path)
    with pytest.warns(RuntimeWarning) as warned:
        assert flashmesh.run(LARGE).outcome() == outcome
    assert any(f"{own.name}: {told}" in str(each.message) for each in warned), [str(each.message) for each in warned]
    assert (precious.read_text(), precious.stat().st_mtime) == ("of the user", LONG_AGO_S)
    assert (tmp_path / "other.state").read_bytes() == other.read_bytes()
    if poison != "folder":
        # The run has replaced the damaged state by a sound one, so a second run prints no warning.
        assert not (folder / own.name).is_symlink()
        assert flashmesh.run(LARGE).outcome() == outcome


def test_a_link_to_a_sound_state_and_a_folder_that_is_a_link_are_followed(
    sound: tuple[Path, Path, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, _, outcome = sound
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / own.name).symlink_to(own)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "states").symlink_to(tmp_path / "elsewhere")
    monkeypatch.setenv("FLASHMESH_CACHE", str(tmp_path / "kept"))
    assert flashmesh.run(LARGE).outcome() == outcome
    assert (tmp_path / "elsewhere" / own.name).is_symlink()


@contextmanager
def another_user() -> Iterator[None]:
    """Drops the rights of root; the mode of a file already restricts any other user."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


def test_a_state_of_another_owner_that_cannot_be_read_is_told_and_left(
    sound: tuple[Path, Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    own, _, outcome = sound
    # Use a folder that every user may enter; the folders of pytest belong to one user.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "states"
        folder.mkdir()
        for each in (Path(name), folder):
            each.chmod(0o755)
        state = Path(shutil.copy(own, folder))
        monkeypatch.setenv("FLASHMESH_CACHE", name)
        assert flashmesh.run(LARGE).outcome() == outcome
        state.chmod(0o600 if os.geteuid() == 0 else 0)
        with another_user(), pytest.warns(RuntimeWarning) as told:
            assert flashmesh.run(LARGE).outcome() == outcome
        assert any(f"{own.name}: cannot be read: Permission denied" in str(each.message) for each in told)
        state.chmod(0o600)
        assert os.geteuid() != 0 or state.read_bytes() == own.read_bytes()
