"""Processor time and instructions of a process."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

CAN_COUNT = shutil.which("valgrind") is not None
"""Whether instructions can be counted on this machine."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Processor time and output of a process."""

    cpu_s: float
    """User and system processor time, in seconds."""
    stdout: str


def run(command: Sequence[str], environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Usage:
    """Runs a command in a folder and waits for its end.

    Raises:
        RuntimeError: If the command fails; with its error output.
    """
    with tempfile.TemporaryFile("w+") as stdout, tempfile.TemporaryFile("w+") as stderr:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=os.environ | (environment or {}),
            cwd=folder,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        stdout.seek(0)
        stderr.seek(0)
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{stderr.read()}")
        return Usage(usage.ru_utime + usage.ru_stime, stdout.read())


def instructions(command: Sequence[str]) -> int:
    """Returns the number of instructions that a command executes, as callgrind counts them."""
    watched = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
    done = subprocess.run(watched, check=True, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None:
        raise RuntimeError(f"callgrind tells no count:\n{done.stderr}")
    return int(found[1])
