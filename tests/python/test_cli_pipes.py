"""Outputs that are no regular files: named and unnamed pipes, and stdout by the name of its device."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from conftest import COMMAND, TIMEOUT_S, Cli, run_in

SHORT = ("--set", "workload.requests=200")


def in_shell(tmp_path: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Runs a Bash command line in which `flashmesh` is the command."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    return run_in(tmp_path, bash, "-c", f'flashmesh() {{ "{COMMAND}" "$@"; }}\n{command}')


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
def test_stdout_by_the_name_of_its_device_is_stdout(cli: Cli, config: Path, name: str) -> None:
    done = cli("run", config, *SHORT, "--json", name)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["requests"] == 200


def test_file_that_stdout_is_appended_to_keeps_what_it_holds(config: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("what was there\n")
    done = in_shell(tmp_path, f"flashmesh run drive.toml {' '.join(SHORT)} --json /dev/stdout >> log.txt")
    assert (done.returncode, done.stderr) == (0, "")
    first, *rest = log.read_text().splitlines()
    assert first == "what was there"
    assert json.loads("\n".join(rest))["requests"] == 200


def test_tables_do_not_go_to_stdout_by_whatever_name(cli: Cli, config: Path) -> None:
    done = cli("run", config, "--request-log", "/dev/stdout")
    assert done.returncode == 2
    assert "a Parquet file cannot go to stdout; give it a name" in done.stderr


def test_substituted_process_gets_the_results(config: Path, tmp_path: Path) -> None:
    # The shell does not wait for the process in >(...). The test does: that process holds stdout open until it has
    # written the file.
    done = in_shell(tmp_path, f"flashmesh run drive.toml {' '.join(SHORT)} --json >(cat > result.json; echo read)")
    assert (done.returncode, done.stderr) == (0, "")
    assert "completion latency" in done.stdout
    assert json.loads((tmp_path / "result.json").read_text())["requests"] == 200


def test_named_pipe_gets_the_results_and_stays_a_pipe(cli: Cli, config: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "results"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    done = cli("run", config, *SHORT, "--json", "results")
    reader.join(TIMEOUT_S)
    assert (done.returncode, done.stderr) == (0, "")
    assert "completion latency" in done.stdout
    assert json.loads(read[0])["requests"] == 200
    assert pipe.is_fifo()


def test_reader_that_goes_away_costs_the_file_and_not_the_summary(cli: Cli, config: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "results")
    threading.Thread(target=lambda: (tmp_path / "results").open().close(), daemon=True).start()
    done = cli("run", config, *SHORT, "--json", "results")
    assert (done.returncode, done.stderr) == (2, "error: results: cannot be written: Broken pipe\n")
    assert "completion latency" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "drive.toml", "--request-log", "log.parquet"),
        ("run", "drive.toml", "--set", "measure.epoch=1ms", "--epochs", "log.parquet"),
        ("compare", "drive.toml", "--vary", "fabric.kind=bus,ideal", "--parquet", "log.parquet"),
    ],
)
def test_table_into_a_pipe_is_refused_before_the_run(
    cli: Cli, config: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    os.mkfifo(tmp_path / "log.parquet")
    done = cli(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    text = "error: log.parquet: is a pipe, into which no Parquet file can be written: name a file\n"
    assert done.stderr == text
