"""A command that runs tests with active mutants."""

from __future__ import annotations

import contextlib
import math
import os
import resource
import signal
import subprocess
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mutants import VARIABLE

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

MEMORY_MAX = 8 << 30
"""Limit of the private writable memory of a test process, in bytes.

The address space has no limit: a browser reserves terabytes of it.
"""
IDLE = 10.0
"""Limit of the elapsed time of a command, as a multiple of its limit of processor time.

Ends commands that wait for ever.
"""


@dataclass(frozen=True)
class Command:
    """A command that runs tests, and prints a line for each test that failed."""

    name: str
    arguments: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]
    failed: re.Pattern[str]
    """Matches the line of a failed test, and nothing else."""

    def first_failure(self, numbers: Iterable[int], limit_s: float) -> str | None:
        """Runs the command until a test fails, with mutants active. Returns the line of this test; None if all pass."""
        return next(self.failures(numbers, limit_s), None)

    def failures(self, numbers: Iterable[int], limit_s: float) -> Iterator[str]:
        """Runs the command with mutants active, and yields the line of each test that fails.

        Yields a line about the command itself if no test failed, but a process of the command took `limit_s` seconds of
        the processor, or the command ended with an error. The command is killed when the iteration stops.
        """
        active = {VARIABLE: ",".join(map(str, numbers))}
        any_failed = False
        with subprocess.Popen(
            self.arguments,
            cwd=self.folder,
            env=os.environ | dict(self.environment) | active,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as run:
            # A mutant can allocate or compute without end. Processes that this one begins have the limits too.
            resource.prlimit(run.pid, resource.RLIMIT_DATA, (MEMORY_MAX, MEMORY_MAX))
            resource.prlimit(run.pid, resource.RLIMIT_CPU, (math.ceil(limit_s), math.ceil(limit_s)))
            ended = threading.Event()

            def end() -> None:
                ended.set()
                kill(run)

            timer = threading.Timer(limit_s * IDLE, end)
            timer.start()
            try:
                assert run.stdout is not None
                for line in run.stdout:
                    if self.failed.search(line):
                        any_failed = True
                        yield line.strip()[:200]
                run.wait()
            except GeneratorExit:
                kill(run)
                raise
            finally:
                timer.cancel()
        if any_failed:
            return
        if ended.is_set() or run.returncode == -signal.SIGKILL:
            yield f"did not end in {limit_s:.0f} s"
        elif run.returncode:
            yield f"ended with {run.returncode}"


def kill(run: subprocess.Popen[str]) -> None:
    """Kills a process and all processes that it began."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)
