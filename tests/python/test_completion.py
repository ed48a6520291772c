"""Shell completion, through click as in the scripts of the shells, and through Bash itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from click.shell_completion import ShellComplete

import flashmesh
from campaign.draw import parameters
from conftest import COMMAND, REFERENCE, Cli, cpu_s, environment
from flashmesh.cli.commands import COMMANDS
from flashmesh.cli.commands import flashmesh as command
from flashmesh.cli.options.parameters import COMPLETING

Complete: TypeAlias = Callable[[str], list[str]]
REFERENCES_MAX = 6.0
"""Time limit for a completion in start times of Python; people notice 2.5 of them, 0.25 s on an idle machine."""


@pytest.fixture
def complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Complete:
    """Returns a function that completes the last word of a line, in a folder with some files."""
    for name in ("drive.toml", "other.toml", "trace.csv", "result.json", ".hidden.toml"):
        (tmp_path / name).touch()
    (tmp_path / "drives").mkdir()
    monkeypatch.chdir(tmp_path)

    def call(line: str) -> list[str]:
        *words, incomplete = line.split(" ")
        found = ShellComplete(command, {}, "flashmesh", COMPLETING).get_completions(words, incomplete)
        return [item.value for item in found]

    return call


def test_commands_are_completed(complete: Complete) -> None:
    assert complete("") == list(COMMANDS)
    assert complete("co") == ["collisions", "compare", "completion", "config"]
    assert complete("trace c") == ["compare", "convert"]


def test_configurations_are_completed(complete: Complete) -> None:
    presets = [f"preset:{name}" for name in flashmesh.presets()]
    assert complete("run preset:") == presets
    assert complete("run preset:venice-z") == ["preset:venice-z-nand"]
    assert complete("run dr") == ["drive.toml", "drives/"]
    assert complete("compare ") == [*presets, "drive.toml", "drives/", "other.toml"]
    assert complete("config d") == ["diff", "drive.toml", "drives/"]
    assert complete("config diff preset:venice-z-nand res") == ["result.json"]


def test_keys_and_their_values_are_completed(complete: Complete) -> None:
    assert {"seed=", "fabric.", "workload."} <= set(complete("run x --set "))
    assert complete("run x --set fabr") == [f"{one.key}=" for one in parameters() if one.key.startswith("fabric.")]
    assert complete("run x --set fabric.k") == ["fabric.kind="]
    assert complete("run x --set fabric.kind=p") == ["fabric.kind=pssd", "fabric.kind=pnssd"]
    assert complete("run x --set fabric.hold-path=") == [
        f"fabric.hold-path={value}" for value in ("false", "true", "reads", "programs")
    ]
    assert complete("run x --set workload.trace=tr") == ["workload.trace=trace.csv"]
    assert "workload.profile=hm_0" in complete("run x --set workload.profile=hm")
    assert complete("run x --set workload.requests=") == []
    assert complete("compare x --vary fabric.kind=bus,ve") == ["fabric.kind=bus,venice"]
    assert "fabric.kind=bus,bus" not in complete("compare x --vary fabric.kind=bus,")
    assert "fabric.kind" in complete("explain fabric.")


def test_workloads_and_measures_are_completed(complete: Complete) -> None:
    assert "hm_0" in complete("run x --profile hm")
    assert "ssd-10" in complete("profiles ssd")
    assert "bandwidth" in complete("compare x --measure band")
    assert "latency_ps.all.p99" in complete("show result.json --measure latency_ps.all.p9")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_printed(cli: Cli, shell: str) -> None:
    done = cli("completion", shell)
    assert done.returncode == 0, done.stderr
    assert f"{COMPLETING}={shell}_complete" in done.stdout
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n", "/dev/stdin"], input=done.stdout, text=True, capture_output=True)
        assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("line", "word", "completed"),
    [
        ("flashmesh run preset:venice-z", "venice-z", ["venice-z-nand"]),
        ("flashmesh run x --set fabric.kind=ve", "ve", ["venice"]),
        ("flashmesh run x --set fabric.kind=", "=", ["bus", "pssd", "pnssd", "nossd", "venice", "ideal"]),
        ("flashmesh run x --set fabric.ki", "fabric.ki", ["fabric.kind="]),
        ("flashmesh expl", "expl", ["explain"]),
    ],
)
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_behind_colons_and_equals_signs(line: str, word: str, completed: list[str]) -> None:
    script = f"""
eval "$(flashmesh completion bash)"
compopt() {{ :; }}
COMP_LINE={line!r} COMP_POINT={len(line)} COMP_WORDS=({word!r}) COMP_CWORD=0
_flashmesh_completion
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    variables = environment() | {"PATH": f"{COMMAND.parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "--norc", "-c", script], env=variables, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == completed
    assert done.stderr == ""


@pytest.mark.parametrize("line", ["flashmesh ", "flashmesh run x --set fabric.", "flashmesh run preset:"])
def test_completing_is_quick(line: str, tmp_path: Path) -> None:
    variables = {COMPLETING: "bash_complete", "FLASHMESH_LINE": line}
    done = subprocess.run([COMMAND], env=environment() | variables, capture_output=True, text=True, check=True)
    assert done.stdout.strip()
    limit_s = REFERENCES_MAX * cpu_s(REFERENCE, tmp_path, 3)
    assert cpu_s([COMMAND], tmp_path, 3, limit_s, variables) < limit_s
