"""A drive that is served, and a client that asks anything of it; the tests of both need nbdkit."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import pytest

from conftest import COMMAND, TIMEOUT_S, environment
from flashmesh.serving.client import REPLY, REQUEST, connected, received

READ, WRITE, DISCONNECT, FLUSH, TRIM, ZEROES = 0, 1, 2, 3, 4, 6
READY = "nbd+unix"


def require(*programs: str) -> None:
    """Skips a test without the programs that it needs; fails where they have to be there."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        assert os.environ.get("FLASHMESH_CI") != "1", f"missing: {', '.join(missing)}; .ci/run installs them"
        pytest.skip(f"{', '.join(missing)} not installed")


def before_others() -> None:
    """Has a process go before other work of the machine, where the system allows that."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        return


def interruptible() -> None:
    """Undoes what shells do to jobs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Client:
    """One connection, one request at a time."""

    def __init__(self, path: Path) -> None:
        """Connects."""
        self.connection = connected(path)

    def ask(self, command: int, offset: int = 0, size: int = 0, data: bytes = b"") -> tuple[int, bytes]:
        """Sends a request; gives the error, 0 for none, and what was read."""
        self.connection.sendall(struct.pack(">IHHQQI", REQUEST, 0, command, 7, offset, size) + data)
        magic, error, handle = struct.unpack(">IIQ", received(self.connection, 16))
        assert (magic, handle) == (REPLY, 7)
        return error, received(self.connection, size) if command == READ and error == 0 else b""

    def read(self, offset: int, size: int) -> bytes:
        """Reads."""
        error, data = self.ask(READ, offset, size)
        assert error == 0
        return data

    def write(self, offset: int, data: bytes) -> None:
        """Writes."""
        assert self.ask(WRITE, offset, len(data), data)[0] == 0

    def do(self, command: int, offset: int = 0, size: int = 0) -> None:
        """Does what moves no data."""
        assert self.ask(command, offset, size)[0] == 0

    def leave(self, politely: bool = True) -> None:
        """Disconnects, or drops the connection."""
        if politely:
            self.connection.sendall(struct.pack(">IHHQQI", REQUEST, 0, DISCONNECT, 0, 0, 0))
        self.connection.close()


class Serving:
    """`flashmesh serve` in a folder, until the block ends."""

    def __init__(self, folder: Path, *arguments: str | Path, prepare: Callable[[], None] = interruptible) -> None:
        """Starts it; returns when clients can connect."""
        require("nbdkit")
        self.folder, self.socket = folder, folder / "nbd.sock"
        self.errors = folder / "stderr.txt"
        self.clients: list[Client] = []
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [COMMAND, "serve", *arguments, "--socket", self.socket],
                cwd=folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                preexec_fn=prepare,
            )
        self.wait_for(READY)

    def __enter__(self) -> Serving:
        """Gives itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leaves nothing behind."""
        for client in self.clients:
            client.connection.close()
        if self.process.poll() is None:
            self.end()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def client(self) -> Client:
        """Connects a client, which is closed at the end."""
        self.clients.append(Client(self.socket))
        return self.clients[-1]

    @property
    def uri(self) -> str:
        """How clients name it."""
        return f"nbd+unix:///?socket={self.socket}"

    @property
    def said(self) -> str:
        """What it has told on stderr."""
        return self.errors.read_text()

    def wait_for(self, words: str) -> None:
        """Waits until it has told something."""
        end = time.monotonic() + TIMEOUT_S
        while words not in self.said:
            assert self.process.poll() is None, self.said
            assert time.monotonic() < end, self.said
            time.sleep(0.01)

    def nbdkit(self) -> int:
        """The process that serves."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        (child,) = children
        return int(child)

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Ends it by a signal; gives the exit code and stdout."""
        self.process.send_signal(number)
        output, _ = self.process.communicate(timeout=TIMEOUT_S)
        return self.process.returncode, output


def nonsense(path: Path, data: bytes) -> None:
    """Connects and sends something."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(TIMEOUT_S)
        connection.connect(str(path))
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass
        except OSError:
            # It was refused before all of it was sent.
            return
