"""The command, watched from a terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import COMMAND, TIMEOUT_S, environment


def expect_signals() -> None:
    """Restores the handling of signals that `nohup`, or a shell for background jobs, makes the command ignore."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Watched:
    """The command with a terminal as stderr and a pipe as stdout."""

    def __init__(self, *arguments: str | Path, cwd: Path) -> None:
        """Starts the command."""
        self.terminal, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [COMMAND, *arguments],
            cwd=cwd,
            env=environment() | {"TERM": "xterm", "COLUMNS": "120"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs,
            preexec_fn=expect_signals,
        )
        os.close(theirs)
        self.seen = b""

    def read(self) -> bool:
        """Adds the available output of the terminal to `seen`. Returns false if the terminal is closed."""
        if not select.select([self.terminal], [], [], 0.1)[0]:
            return True
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.seen += data
        return bool(data)

    def wait_for(self, words: bytes) -> None:
        """Reads the terminal until `words` appear. Fails the test if they do not within `TIMEOUT_S`."""
        end = time.monotonic() + TIMEOUT_S
        while words not in self.seen:
            assert self.read(), f"ended before {words!r}: {self.seen!r}"
            self.assert_before(end, f"no {words!r} in {self.seen!r}")

    def assert_before(self, end: float, message: str) -> None:
        """Kills the command and fails the test with `message` if the monotonic clock has reached `end`, in seconds."""
        if time.monotonic() >= end:
            self.process.kill()
            pytest.fail(message)

    def finish(self) -> tuple[int, str]:
        """Waits for the end of the command. Returns the exit code and stdout."""
        end = time.monotonic() + TIMEOUT_S
        while self.read():
            self.assert_before(end, f"it does not end: {self.seen[-200:]!r}")
        output, _ = self.process.communicate(timeout=TIMEOUT_S)
        os.close(self.terminal)
        return self.process.returncode, output.decode()
