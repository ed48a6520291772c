"""Terminals, pipes and signals."""

from __future__ import annotations

import errno
import json
import os
import queue
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from conftest import COMMAND, ENDLESS, TIMEOUT_S, environment, run_in
from flashmesh import execution
from flashmesh.cli.signals import WORDS
from flashmesh.configuration import load
from long_cases import in_part
from watched import Watched, expect_signals


def test_interrupted_run_writes_what_it_has_and_says_that_it_is_not_complete(config: Path, tmp_path: Path) -> None:
    watched = Watched("run", config, "--set", ENDLESS, "--json", "result.json", cwd=tmp_path)
    watched.wait_for(b"simulating")
    watched.wait_for(b"requests")
    watched.process.send_signal(signal.SIGINT)
    code, output = watched.finish()
    assert code == 130
    document = json.loads((tmp_path / "result.json").read_text())
    assert (document["complete"], document["interrupted"]) == (False, True)
    shown = run_in(tmp_path, COMMAND, "show", "result.json")
    assert (shown.returncode, shown.stdout) == (0, output)


def test_interrupt_shows_what_was_simulated_and_writes_no_log(config: Path, tmp_path: Path) -> None:
    watched = Watched("run", config, "--set", ENDLESS, "--request-log", "result", cwd=tmp_path)
    watched.wait_for(b"simulating")
    watched.wait_for(b"requests")
    watched.process.send_signal(signal.SIGINT)
    code, output = watched.finish()
    assert code == 130
    assert "Interrupted" in output
    assert "completion latency" in output
    assert b"Traceback" not in watched.seen
    assert [path.name for path in tmp_path.iterdir()] == ["drive.toml"]


def test_interrupted_comparison_shows_the_runs_that_had_begun(config: Path, tmp_path: Path) -> None:
    axes = ("--vary", "fabric.kind=bus,ideal", "--jobs", "1")
    watched = Watched("compare", config, "--set", ENDLESS, *axes, cwd=tmp_path)
    watched.wait_for(b"0/2 runs")
    watched.process.send_signal(signal.SIGINT)
    code, output = watched.finish()
    assert code == 130
    first, _, heading = output.split("\n")[:3]
    assert first == "Interrupted: 1 of 2 runs is missing, and these are unfinished runs, not results: fabric.kind=bus."
    assert heading.split()[:2] == ["fabric.kind", "bus"]
    assert "(interrupted)" in output


def test_interrupted_run_writes_its_json_to_stdout(config: Path, tmp_path: Path) -> None:
    watched = Watched("run", config, "--set", ENDLESS, "--json", "-", cwd=tmp_path)
    watched.wait_for(b"requests")
    watched.process.send_signal(signal.SIGINT)
    code, output = watched.finish()
    assert code == 130
    assert json.loads(output)["interrupted"] is True


@pytest.mark.parametrize(("number", "code"), in_part(1, [(signal.SIGTERM, 143), (signal.SIGHUP, 129)]))
def test_termination_removes_temporary_files(config: Path, tmp_path: Path, number: signal.Signals, code: int) -> None:
    watched = Watched("run", config, "--set", ENDLESS, "--request-log", "log.parquet", cwd=tmp_path)
    watched.wait_for(b"simulating")
    watched.wait_for(b"requests")
    watched.process.send_signal(number)
    ended, output = watched.finish()
    assert ended == code
    assert "Interrupted: these figures cover what was simulated until then." in output
    assert "completion latency" in output
    assert WORDS[number.name].encode() in watched.seen
    assert [path.name for path in tmp_path.iterdir()] == ["drive.toml"]


def has_written_rows(pid: int) -> bool:
    """Returns whether a process has written to a file that has no name yet."""
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found = path.stat()
            if stat.S_ISREG(found.st_mode) and found.st_nlink == 0 and found.st_size > 4096:
                return True
    return False


@pytest.mark.parametrize(("number", "code"), in_part(1, [(signal.SIGTERM, 143), (signal.SIGHUP, 129)]))
def test_termination_while_a_log_is_written_keeps_the_files_of_an_earlier_run(
    config: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    outputs = ("--request-log", "log.parquet", "--json", "result.json", "--epochs", "epochs.csv")
    epochs = ("--set", "measure.epoch=1ms")
    assert run_in(tmp_path, COMMAND, "run", config, "--quiet", *epochs, *outputs).returncode == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(before) == 4
    watched = Watched("run", config, "--set", ENDLESS, *epochs, *outputs, cwd=tmp_path)
    watched.wait_for(b"requests")
    end = time.monotonic() + TIMEOUT_S
    while not has_written_rows(watched.process.pid):
        assert watched.read(), "the run has ended"
        watched.assert_before(end, "no rows of the log are on disk")
    watched.process.send_signal(number)
    assert watched.finish()[0] == code
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    # As after Ctrl-C, the JSON file has what was simulated.
    assert json.loads(after.pop("result.json"))["interrupted"] is True
    del before["result.json"]
    assert after == before


def test_progress_shows_requests_rate_and_simulated_time_on_a_terminal_only(config: Path, tmp_path: Path) -> None:
    watched = Watched("run", config, "--set", ENDLESS, cwd=tmp_path)
    watched.wait_for(b"requests")
    watched.wait_for(b"/s")
    watched.wait_for(b"simulated")
    watched.process.send_signal(signal.SIGINT)
    watched.finish()
    quiet = Watched("run", config, "--quiet", cwd=tmp_path)
    assert quiet.finish()[0] == 0
    assert quiet.seen == b""


def test_closed_stdout_ends_quietly(config: Path, tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [COMMAND, "run", config],
        cwd=tmp_path,
        env=environment(),
        stdout=theirs,
        stderr=subprocess.PIPE,
        timeout=TIMEOUT_S,
        check=False,
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (141, b"")


def test_full_stdout_is_an_error(config: Path, tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [COMMAND, "run", config],
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    assert done.returncode == 2
    assert "cannot be written to stdout" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(("closed", "code"), [(">&-", 2), ("2>&-", 0), ("<&-", 0)])
def test_a_run_with_closed_streams_ends_with_its_exit_code(
    config: Path, tmp_path: Path, closed: str, code: int
) -> None:
    done = run_in(tmp_path, "sh", "-c", f'exec "$@" {closed}', "sh", COMMAND, "run", config, "--json", "result.json")
    assert done.returncode == code
    if code == 0:
        assert "completion latency" in done.stdout
        assert done.stderr == ""
        json.loads((tmp_path / "result.json").read_text())
    else:
        assert done.stderr == "error: the results cannot be written to stdout: it is closed\n"
        assert not (tmp_path / "result.json").exists()


def test_configuration_from_a_closed_stdin_is_bad_input(tmp_path: Path) -> None:
    done = run_in(tmp_path, "sh", "-c", 'exec "$@" <&-', "sh", COMMAND, "run", "-")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: <stdin>: cannot be read: it is closed\n"


def open_for_reader(pipe: Path) -> int:
    """Opens a pipe for writing as soon as another process opens it for reading."""
    end = time.monotonic() + TIMEOUT_S
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            assert time.monotonic() < end, "nobody reads the pipe"
        time.sleep(0.05)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_configuration_that_never_comes_can_be_given_up(tmp_path: Path, number: signal.Signals, code: int) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    with subprocess.Popen(
        [COMMAND, "run", "pipe.toml"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=expect_signals,
    ) as process:
        writer = open_for_reader(tmp_path / "pipe.toml")
        assert process.poll() is None
        process.send_signal(number)
        try:
            assert process.wait(timeout=TIMEOUT_S) == code
        finally:
            process.kill()
            os.close(writer)


def test_second_interrupt_at_once_spoils_nothing(config: Path, tmp_path: Path) -> None:
    watched = Watched("run", config, "--set", ENDLESS, "--request-log", "log.parquet", cwd=tmp_path)
    watched.wait_for(b"simulated")
    for _ in range(3):
        watched.process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    code, output = watched.finish()
    assert code == 130
    assert "Interrupted" in output
    assert b"error" not in watched.seen
    assert [path.name for path in tmp_path.iterdir()] == ["drive.toml"]


@pytest.mark.parametrize("pause_s", [0.0, 0.05])
def test_two_signals_at_once_spoil_nothing(config: Path, tmp_path: Path, pause_s: float) -> None:
    # As `timeout` sends them: to the process, then to its group.
    watched = Watched("run", config, "--set", ENDLESS, "--until-steady", cwd=tmp_path)
    watched.wait_for(b"simulated")
    for _ in range(3):
        watched.process.send_signal(signal.SIGTERM)
        time.sleep(pause_s)
    code, output = watched.finish()
    assert code == 143
    assert "Interrupted: these figures cover" in output
    assert b"error" not in watched.seen


HANDLED = """
import os, signal, sys, threading
from flashmesh import execution
from flashmesh.cli import signals
from flashmesh.configuration import load

signals.begin()
def release(condition):
    # A signal between the release of a lock and the `try` that acquires the lock again.
    state = inside(condition)
    if threading.current_thread() is threading.main_thread():
        os.kill(os.getpid(), signal.SIGTERM)
    return state
def watch(progress):
    if threading.Condition._release_save is inside:
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGTERM)).start()
        threading.Condition._release_save = release

inside = threading.Condition._release_save
job = execution.Job(load("preset:venice-z-nand", overrides={"workload.requests": 1_000_000_000}))
print(execution.execute([job], on_progress=watch), job.result is not None and job.result.interrupted)
"""


def test_the_thread_that_handles_signals_waits_without_a_lock_that_a_signal_leaves_released() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANDLED],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        preexec_fn=expect_signals,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "False True\n", "")


EARLY = """
import os, signal, sys
import flashmesh.cli
from flashmesh import execution
# Sent before the drive is open.
execution.Job.work = lambda job: os.kill(os.getpid(), signal.SIGTERM)
sys.argv = ["flashmesh", "run", "preset:venice-z-nand"]
flashmesh.cli.main()
"""


def test_a_run_ended_before_its_first_request_says_that_it_has_no_results() -> None:
    done = subprocess.run(
        [sys.executable, "-c", EARLY],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        preexec_fn=expect_signals,
    )
    assert (done.returncode, done.stdout) == (143, "")
    assert done.stderr.split("\n")[0] == "no results"
    assert done.stderr.rstrip().endswith("terminated")


@pytest.mark.parametrize("form", ["table", "csv"])
def test_interrupted_comparison_says_what_is_missing_and_what_is_no_result(
    config: Path, tmp_path: Path, form: str
) -> None:
    axes = ("--vary", "fabric.kind=bus,pssd,ideal", "--jobs", "1", "--until-steady")
    to_stdout = ("--csv", "-") if form == "csv" else ()
    watched = Watched("compare", config, "--set", ENDLESS, *axes, *to_stdout, cwd=tmp_path)
    watched.wait_for(b"0/3 runs")
    watched.process.send_signal(signal.SIGTERM)
    code, output = watched.finish()
    assert code == 143
    told = " ".join((watched.seen.decode() if form == "csv" else output).split())
    of_tries = "and these are unfinished tries of --until-steady, not results: fabric.kind=bus."
    assert f"Interrupted: 2 of 3 runs are missing, {of_tries}" in told
    assert "--until-steady extends" not in told
    if form == "csv":
        assert output.startswith("fabric.kind,")


LOADING = """
import os, sys
# Sent while the program is loaded: as soon as a module is looked for.
class Sender:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[2]:
            os.kill(os.getpid(), int(sys.argv[1]))
sys.meta_path.insert(0, Sender())
import flashmesh.cli
flashmesh.cli.main()
"""


@pytest.mark.parametrize("module", ["flashmesh._native", "flashmesh.cli.entry", "click"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signal_while_the_program_is_loaded_ends_it_quietly(number: signal.Signals, code: int, module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADING, str(int(number)), module],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        preexec_fn=expect_signals,
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr == ("interrupted\n" if number == signal.SIGINT else "")


@pytest.mark.parametrize("command", ["--help", "--version", "presets", "run --help"])
def test_help_to_a_full_disk_is_an_error(command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [COMMAND, *command.split()],
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    assert (done.returncode, done.stderr) == (
        2,
        "error: the results cannot be written to stdout: No space left on device\n",
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_comparison_that_is_ended_keeps_the_runs_that_had_finished(
    config: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    axes = ("--vary", "workload.requests=1_000,1_000_000_000", "--jobs", "1", "--json", "runs.json")
    watched = Watched("compare", config, *axes, cwd=tmp_path)
    watched.wait_for(b"1/2 runs")
    watched.process.send_signal(number)
    assert watched.finish()[0] == code
    document = json.loads((tmp_path / "runs.json").read_text())
    assert document["complete"] is False
    assert [run["result"]["requests"] for run in document["runs"]] == [1_000]


@pytest.mark.parametrize("wait_for_results", [False, True])
def test_nobody_waits_for_a_result_that_nobody_will_see(
    monkeypatch: pytest.MonkeyPatch, wait_for_results: bool
) -> None:
    waits: list[object] = []
    monkeypatch.setattr(execution, "STOP_S", 2 * execution.TICK_S)
    monkeypatch.setattr(execution, "wait", waits.append)
    job = execution.Job(load("preset:venice-z-nand"), begun=True, simulated=True)
    execution.stop([job], queue.SimpleQueue(), wait_for_results=wait_for_results)
    assert len(waits) == (2 if wait_for_results else 0)
    assert job.control.cancelled
