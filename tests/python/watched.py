"""The command as it is seen from a terminal."""

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
    """Undoes what `nohup`, or a shell that runs jobs in the background, has the command ignore."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


class Watched:
    """The command with a terminal for stderr, and a pipe for stdout."""

    def __init__(self, *arguments: str | Path, cwd: Path) -> None:
        """Starts it."""
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
        """Reads what is there; false when the terminal is closed."""
        if not select.select([self.terminal], [], [], 0.1)[0]:
            return True
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.seen += data
        return bool(data)

    def wait_for(self, words: bytes) -> None:
        """Reads the terminal until the words are there."""
        end = time.monotonic() + TIMEOUT_S
        while words not in self.seen:
            assert self.read(), f"ended before {words!r}: {self.seen!r}"
            self.assert_before(end, f"no {words!r} in {self.seen!r}")

    def assert_before(self, end: float, message: str) -> None:
        """Fails after `end`, without leaving the command behind."""
        if time.monotonic() >= end:
            self.process.kill()
            pytest.fail(message)

    def finish(self) -> tuple[int, str]:
        """Waits for the end; gives the exit code and stdout."""
        end = time.monotonic() + TIMEOUT_S
        while self.read():
            self.assert_before(end, f"it does not end: {self.seen[-200:]!r}")
        output, _ = self.process.communicate(timeout=TIMEOUT_S)
        os.close(self.terminal)
        return self.process.returncode, output.decode()
