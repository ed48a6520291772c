"""Runs of the command in forked processes, because imports take most of a short run.

A forked process behaves like a fresh one: the same entry point, arguments, folder, environment, streams and exit. Two
parent processes with different hash seeds fork alternately, so that a dependence on the hash seed is found.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

MESSAGE_MAX = 100_000
"""Maximum size of a message in bytes. A command with longer arguments runs in a fresh process."""
OTHERS = ("altair", "pandas", "polars", "pyarrow.csv", "pyarrow.parquet", "vl_convert")
"""Modules that commands import only when they need them."""


class Forker:
    """Handle of a parent process that forks runs of the command."""

    def __init__(self, seed: int, environment: dict[str, str]) -> None:
        """Starts the process with a hash seed."""
        self.environment = environment
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=environment | {"PYTHONHASHSEED": str(seed)},
                pass_fds=[theirs.fileno()],
            )

    def run(
        self, command: tuple[str, ...], folder: Path, beside: dict[str, str], timeout_s: float
    ) -> subprocess.CompletedProcess[str] | None:
        """Runs a command to its end, with extra environment variables. Returns None if its arguments are too long."""
        self.socket.settimeout(timeout_s)
        message = json.dumps([command, str(folder), beside]).encode()
        if len(message) > MESSAGE_MAX:
            return None
        pipes = [os.pipe() for _ in range(2)]
        try:
            socket.send_fds(self.socket, [message], [written for _, written in pipes])
        finally:
            for _, written in pipes:
                os.close(written)
        child = int(self.socket.recv(MESSAGE_MAX))
        try:
            stdout, stderr = read([reading for reading, _ in pipes], timeout_s)
        except TimeoutError:
            os.kill(child, signal.SIGKILL)
            self.socket.recv(MESSAGE_MAX)
            raise subprocess.TimeoutExpired(command, timeout_s) from None
        code = os.waitstatus_to_exitcode(int(self.socket.recv(MESSAGE_MAX)))
        return subprocess.CompletedProcess(command, code, stdout, stderr)

    def close(self) -> None:
        """Ends the process."""
        self.socket.close()
        self.process.wait(timeout=60)


def read(pipes: list[int], timeout_s: float) -> list[str]:
    """Returns the text from each pipe, read until it is closed.

    Raises:
        TimeoutError: If the pipes are still open after `timeout_s`.
    """
    end = time.monotonic() + timeout_s
    parts: dict[int, list[bytes]] = {pipe: [] for pipe in pipes}
    with selectors.DefaultSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        try:
            while selector.get_map():
                ready = selector.select(end - time.monotonic())
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    part = os.read(key.fd, 1 << 16)
                    parts[key.fd].append(part)
                    if not part:
                        selector.unregister(key.fd)
        finally:
            for pipe in pipes:
                os.close(pipe)
    # Decode like subprocess does.
    return [b"".join(parts[pipe]).decode().replace("\r\n", "\n").replace("\r", "\n") for pipe in pipes]


class Commands:
    """Runner of commands, forked alternately from two processes with different hash seeds."""

    def __init__(self) -> None:
        """Creates the runner. The parent processes start with the first command."""
        self.forkers: list[Forker] = []
        self.turn = 0
        self.lock = threading.Lock()

    def run(
        self,
        command: tuple[str, ...],
        folder: Path,
        environment: dict[str, str],
        beside: dict[str, str],
        timeout_s: float,
    ) -> subprocess.CompletedProcess[str] | None:
        """Runs a command, with `beside` added to its environment.

        Returns None if the command needs a fresh process: for another environment, or while another command runs.
        """
        if not self.lock.acquire(blocking=False):
            return None
        try:
            if not self.forkers:
                self.forkers = [Forker(seed, environment) for seed in (1, 2)]
            self.turn = 1 - self.turn
            forker = self.forkers[self.turn]
            is_same = environment == forker.environment
            return forker.run(command, folder, beside, timeout_s) if is_same else None
        finally:
            self.lock.release()

    def close(self) -> None:
        """Ends the two parent processes."""
        for forker in self.forkers:
            forker.close()
        self.forkers = []


def enter(command: list[str], folder: str, beside: dict[str, str], streams: list[int]) -> None:
    """Turns a forked process into one that runs a command."""
    os.chdir(folder)
    os.environ.update(beside)
    for number, stream in enumerate(streams, 1):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.pop("PYTHONHASHSEED", None)
    out, err = sys.stdout, sys.stderr
    sys.stdout = os.fdopen(1, "w", encoding=out.encoding, errors=out.errors, closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, encoding=err.encoding, errors=err.errors, closefd=False)
    sys.argv = command
    sys.path.insert(0, str(Path(command[0]).parent))


def end() -> NoReturn:
    """Runs the command and exits, without freeing the imported modules."""
    from flashmesh.cli import main

    code: object = None
    try:
        main()
    except SystemExit as error:
        code = error.code
        # Like the interpreter, print an exit code that is no number, and exit with 1.
        if code is not None and not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0)


def serve(channel: socket.socket) -> list[str] | None:
    """Forks a process for each message until the channel is closed.

    Returns the command in a forked process, and None in the parent.
    """
    while True:
        message, streams, _, _ = socket.recv_fds(channel, MESSAGE_MAX, 2)
        if not message:
            return None
        command, folder, beside = json.loads(message)
        child = os.fork()
        if child == 0:
            channel.close()
            enter(command, folder, beside, streams)
            return [str(word) for word in command]
        for stream in streams:
            os.close(stream)
        channel.send(str(child).encode())
        channel.send(str(os.waitpid(child, 0)[1]).encode())


def preload() -> None:
    """Imports all modules that commands import."""
    import flashmesh

    names = [module.name for module in pkgutil.walk_packages(flashmesh.__path__, "flashmesh.")]
    for name in [*names, *OTHERS]:
        if not name.endswith("__main__"):
            # Packages that are optional dependencies may be missing.
            with suppress(ImportError):
                importlib.import_module(name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    # Imports must not search the folder of this file, which has the tests.
    sys.path.pop(0)
    preload()
    if serve(socket.socket(fileno=int(sys.argv[1]))) is not None:
        end()
