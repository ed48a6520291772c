"""nbdkit as a child process: start, monitoring and end."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError, InternalError, OutputError
from flashmesh.files import unwritable
from flashmesh.installation import states
from flashmesh.provenance import with_provenance
from flashmesh.results import Result
from flashmesh.serving import nbdkit
from flashmesh.serving.awake import Awake
from flashmesh.serving.figures import Figures

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from flashmesh._native import Config

END_S = 20.0
"""Timeout in seconds for the end of the plugin: requests in flight, data flush and report."""
SPEAKER = "nbdkit: "
REPORT = '{"report":'
"""Prefix of the line in which the plugin prints the result."""
CRASHES = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL)


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a served drive."""

    socket: Path
    size: int | None = None
    """Bytes of the device that clients see; None for the capacity of the drive."""
    data: Path | None = None
    """File in which the data are kept; None to keep them in memory."""
    time_scale: float = 1.0
    """Wall seconds per simulated second; 0 for virtual time."""
    queue_depth: int = 16
    """Maximum number of outstanding requests on a connection."""
    log: Path | None = None
    ahead_ns: int = 0
    """Latency between client and server in nanoseconds. Replies are sent earlier by this time."""


class Server:
    """A drive that is served by nbdkit inside a `with` block."""

    def __init__(self, config: Config, settings: Settings, on_note: Callable[[str], None]) -> None:
        """Prepares the server without starting it.

        Args:
            config: The drive.
            settings: The settings.
            on_note: Called once for each distinct message of nbdkit.
        """
        self.config = config
        self.settings = settings
        self.on_note = on_note
        self.figures = Figures()
        self.late_max_us = 0
        """Maximum delay of a reply in microseconds; a caller that has shown it resets it to 0."""
        self._process: subprocess.Popen[bytes] | None = None
        self._control: int | None = None
        self._awake = Awake()
        self._report: str | None = None
        self._failures: list[str] = []
        self._said: list[str] = []
        self._selector = selectors.DefaultSelector()
        self._rests = {"live": b"", "stderr": b""}

    def __enter__(self) -> Self:
        """Starts the server; returns when clients can connect.

        Raises:
            ConfigError: If nbdkit or the plugin refuse their settings.
            OutputError: If a file or the socket cannot be created.
        """
        program, plugin = nbdkit.programs()
        nbdkit.check_config(self.config)
        nbdkit.check_socket(self.settings.socket)
        if self.settings.data is not None:
            nbdkit.check_data(self.settings.data)
        if self.settings.log is not None:
            try:
                self.settings.log.write_bytes(b"")
            except OSError as error:
                raise unwritable(self.settings.log, error) from error
        if self.settings.time_scale > 0:
            self._awake.begin()
        try:
            self._start([str(program), "--foreground", "--newstyle"], plugin)
            while not self.figures.size:
                self.watch(0.1)
                self._require_running()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the server if it still runs; the result is lost."""
        self._end()

    def _start(self, command: Sequence[str], plugin: Path) -> None:
        """Starts nbdkit with two pipes: its output, and a control pipe. Closing the control pipe closes the drive."""
        live, theirs = os.pipe()
        closing, self._control = os.pipe()
        text = os.memfd_create("config.toml")
        os.write(text, self.config.to_toml().encode())
        settings = self.settings
        given: dict[str, Any] = {
            "config": f"/proc/self/fd/{text}",
            "live": f"/proc/self/fd/{theirs}",
            "control": f"/proc/self/fd/{closing}",
            "time-scale": repr(settings.time_scale),
            "ahead-ns": settings.ahead_ns,
            "size": settings.size,
            "data": settings.data and settings.data.absolute(),
            "log": settings.log and settings.log.absolute(),
            "states": states.folder(),
            "states-limit": states.limit(),
        }
        socket = settings.socket.absolute()
        command = [*command, f"--threads={settings.queue_depth}", f"--unix={socket}", str(plugin.absolute())]
        command += [f"{key}={value}" for key, value in given.items() if value is not None]
        # A process group of its own: the interrupt of a terminal reaches this process only, which then ends nbdkit.
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(theirs, closing, text),
            process_group=0,
        )
        for descriptor in (theirs, closing, text):
            os.close(descriptor)
        assert self._process.stderr is not None
        for name, descriptor in (("live", live), ("stderr", self._process.stderr.fileno())):
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ, name)

    def watch(self, seconds: float) -> bool:
        """Reads the output of nbdkit and the plugin for at most `seconds`. Returns False if the output has ended."""
        end = time.monotonic() + seconds
        while self._selector.get_map():
            ready = self._selector.select(max(end - time.monotonic(), 0))
            for key, _ in ready:
                self._read(key.fd, key.data)
            if not ready or time.monotonic() >= end:
                return True
        return False

    def _read(self, descriptor: int, name: str) -> None:
        """Reads from the pipe `descriptor` and processes complete lines; `name` says whose output it is."""
        data = os.read(descriptor, 1 << 20)
        *lines, self._rests[name] = (self._rests[name] + data).split(b"\n")
        if not data:
            self._selector.unregister(descriptor)
            if name == "live":
                os.close(descriptor)
        for line in lines:
            if name == "live":
                self._take(line.decode())
            else:
                self._hear(line.decode(errors="replace"))

    def _take(self, line: str) -> None:
        """Processes a line of the plugin: counters, an error, or the result."""
        if line.startswith(REPORT):
            self._report = line.removeprefix(REPORT)[:-1]
            return
        told = json.loads(line)
        if "error" in told:
            self._failures.append(told["error"])
        else:
            self.figures = Figures.of(told)
            self.late_max_us = max(self.late_max_us, self.figures.late_max_us)

    def _hear(self, line: str) -> None:
        """Stores a line of nbdkit for a later error; reports the line at once while the drive is served."""
        text = line.strip().removeprefix(SPEAKER)
        if not text or text in self._said:
            return
        if len(self._said) < 100:
            self._said.append(text)
            if self.figures.size:
                self.on_note(f"{SPEAKER}{text}")

    def _require_running(self) -> None:
        """Raises an error if nbdkit has ended.

        Raises:
            ConfigError: If nbdkit refused its settings.
            InternalError: If nbdkit crashed.
        """
        assert self._process is not None
        code = self._process.poll()
        if code is None:
            return
        self.watch(1.0)
        if -code in CRASHES:
            raise InternalError(f"nbdkit crashed with signal {-code}: {' '.join(self._said[-3:])}")
        if not self.figures.size:
            errors = [text.removeprefix("error: ").partition(": ") for text in self._said]
            told = [
                rest if name.endswith(".so") or name == "flashmesh" else name + colon + rest
                for name, colon, rest in errors
            ]
            raise ConfigError("\n".join(told) or f"nbdkit ended with code {code}, without a message")
        how = f"was killed with signal {-code}" if code < 0 else f"ended with code {code}"
        raise OutputError(f"nbdkit {how}: there is no report; data that were written are {self._where()}")

    def _where(self) -> str:
        return f"in {self.settings.data}" if self.settings.data is not None else "lost"

    def require_serving(self) -> None:
        """Raises an error if nbdkit has ended, although it was not stopped.

        Raises:
            InternalError: If nbdkit crashed.
            OutputError: If nbdkit ended in another way.
        """
        self._require_running()

    def stop(self) -> Result:
        """Ends the server, and returns the result of the served requests.

        Raises:
            OutputError: If the data or the log could not be written.
            InternalError: If the plugin returns no report.
        """
        self._end()
        if self._failures:
            raise OutputError("\n".join(dict.fromkeys(self._failures)))
        if self._report is None:
            raise InternalError(f"nbdkit ended without a report: {' '.join(self._said[-3:])}")
        return Result.from_json(with_provenance(self._report, self.config), self.config.to_toml())

    def _end(self) -> None:
        """Makes the plugin close the drive, and waits for its end; kills nbdkit after `END_S`."""
        self._awake.end()
        if self._control is not None:
            os.close(self._control)
            self._control = None
        if self._process is None:
            return
        end = time.monotonic() + END_S
        while self._process.poll() is None and time.monotonic() < end:
            self.watch(0.05)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self.watch(0.2)
        for key in list(self._selector.get_map().values()):
            self._selector.unregister(key.fileobj)
        if self._process.stderr is not None:
            self._process.stderr.close()
        self._process = None
        with contextlib.suppress(OSError):
            self.settings.socket.unlink()
