"""A drive served over NBD, and a client that can send any request. Needs nbdkit."""

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
    """Skips a test if a needed program is missing; fails in CI, where the programs must be installed."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        assert os.environ.get("FLASHMESH_CI") != "1", f"missing: {', '.join(missing)}; .ci/run installs them"
        pytest.skip(f"{', '.join(missing)} not installed")


def before_others() -> None:
    """Raises the priority of a process over other work of the machine, if the system allows that."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        return


def interruptible() -> None:
    """Restores the default handling of signals that shells change for background jobs."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Client:
    """A client with one connection and one request at a time."""

    def __init__(self, path: Path) -> None:
        """Connects to the server."""
        self.connection = connected(path)

    def ask(self, command: int, offset: int = 0, size: int = 0, data: bytes = b"") -> tuple[int, bytes]:
        """Sends a request. Returns the error number, 0 for none, and the data read."""
        self.connection.sendall(struct.pack(">IHHQQI", REQUEST, 0, command, 7, offset, size) + data)
        magic, error, handle = struct.unpack(">IIQ", received(self.connection, 16))
        assert (magic, handle) == (REPLY, 7)
        return error, received(self.connection, size) if command == READ and error == 0 else b""

    def read(self, offset: int, size: int) -> bytes:
        """Returns `size` bytes from `offset`. Fails on an error."""
        error, data = self.ask(READ, offset, size)
        assert error == 0
        return data

    def write(self, offset: int, data: bytes) -> None:
        """Writes bytes from `offset` on. Fails on an error."""
        assert self.ask(WRITE, offset, len(data), data)[0] == 0

    def do(self, command: int, offset: int = 0, size: int = 0) -> None:
        """Executes a command that transfers no data. Fails on an error."""
        assert self.ask(command, offset, size)[0] == 0

    def leave(self, politely: bool = True) -> None:
        """Disconnects, or just drops the connection."""
        if politely:
            self.connection.sendall(struct.pack(">IHHQQI", REQUEST, 0, DISCONNECT, 0, 0, 0))
        self.connection.close()


class Serving:
    """`flashmesh serve` in a folder until the block ends."""

    def __init__(self, folder: Path, *arguments: str | Path, prepare: Callable[[], None] = interruptible) -> None:
        """Starts the command. Returns when clients can connect."""
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
        """Returns the server."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the server and its clients."""
        for client in self.clients:
            client.connection.close()
        if self.process.poll() is None:
            self.end()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def client(self) -> Client:
        """Returns a new client, which is closed when the block ends."""
        self.clients.append(Client(self.socket))
        return self.clients[-1]

    @property
    def uri(self) -> str:
        """Returns the URI of the drive for clients."""
        return f"nbd+unix:///?socket={self.socket}"

    @property
    def said(self) -> str:
        """Returns the output on stderr so far."""
        return self.errors.read_text()

    def wait_for(self, words: str) -> None:
        """Waits until some words appear on stderr."""
        end = time.monotonic() + TIMEOUT_S
        while words not in self.said:
            assert self.process.poll() is None, self.said
            assert time.monotonic() < end, self.said
            time.sleep(0.01)

    def nbdkit(self) -> int:
        """Returns the process id of nbdkit."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        (child,) = children
        return int(child)

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Ends the command by a signal. Returns the exit code and stdout."""
        self.process.send_signal(number)
        output, _ = self.process.communicate(timeout=TIMEOUT_S)
        return self.process.returncode, output


def nonsense(path: Path, data: bytes) -> None:
    """Connects and sends arbitrary bytes."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(TIMEOUT_S)
        connection.connect(str(path))
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass
        except OSError:
            # The server refused the data before all of it was sent.
            return
