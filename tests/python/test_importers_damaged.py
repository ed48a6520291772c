"""Any bytes in a file for an importer give a translation or an error that a terminal can show."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import flashmesh
from flashmesh.importers.fio import read_jobs
from flashmesh.importers.problems import Source
from fuzz_importers import damage, main, refuses, targets


@pytest.mark.parametrize("target", ["mqsim_device", "mqsim_workload", "fio_jobs", "sweep", "search", "saved_result"])
@pytest.mark.parametrize("tries", [60, pytest.param(300, marks=pytest.mark.long)])
def test_damaged_files_are_what_they_describe_or_errors(
    tmp_path: Path, target: str, tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole, read = targets(tmp_path)[target]
    rng = random.Random(1)
    chance = [rng.randbytes(rng.randrange(200)) for _ in range(tries // 3)]
    assert sum(refuses(read, tmp_path / "fuzzed", content) for content in chance) > tries // 4
    assert not refuses(read, tmp_path / "fuzzed", whole)
    refused = sum(refuses(read, tmp_path / "fuzzed", damage(rng, whole)) for _ in range(tries))
    assert tries // 4 < refused < tries


def test_long_form_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fuzz_importers.TURN_S", 0.01)
    assert main(tmp_path / "out", 0.001, 1) == 0
    assert main(tmp_path / "out", 0.001, 1) == 0
    first, second = (int(line.split()[0]) for line in capsys.readouterr().out.splitlines() if " now in " in line)
    assert second > first > 0


def test_an_error_shows_control_characters_as_escapes_and_long_lines_in_part(tmp_path: Path) -> None:
    line = f"{'a' * 200}\x1b[31m{'b' * 200}"
    text = str(Source("x", line).problem(1, f"bad \x07 {'9' * 900} is no number", mark="\x1b[31m"))
    message, place, _, shown, carets = text.split("\n")
    assert message == f"bad \\u0007 {'9' * 200}... is no number"
    assert place.endswith("x:1:201")
    assert shown == f"1 | ...{'a' * 50}\\u001b[31m{'b' * 45}..."
    assert shown[carets.index("^") : carets.rindex("^") + 1] == "\\u001b[31m"
    (tmp_path / "job.fio").write_bytes(b"[a]\n\x1b]0:title\x07=1\n")
    with pytest.raises(flashmesh.ConfigError, match=r"`\\u001b\]0:title\\u0007` is no option"):
        read_jobs(tmp_path / "job.fio")
