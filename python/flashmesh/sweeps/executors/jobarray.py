"""Job arrays of Slurm: the scripts of a sweep's shards, their submission, and the tasks left in the queue."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.sweeps.executors.shards import LAST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.sweeps.executors.shards import Array

ASK_S = 10.0
"""Timeout of `squeue` and `scontrol`, in seconds."""
SUBMIT_S = 120.0
"""Timeout of `sbatch` in seconds, longer since a busy controller answers late."""
PLAIN = re.compile(r"[\w./%+,:@=-]+", re.ASCII)
"""Pattern of values that need no quotes in a `#SBATCH` line of a script."""
BAD_ARRAY = "Invalid job array specification"
"""Text in the error of sbatch for an array with more tasks than `MaxArraySize` allows."""
GIVEN = {
    "array": "--slurm-array",
    "a": "--slurm-array",
    "partition": "--slurm-partition",
    "p": "--slurm-partition",
    "time": "--slurm-time",
    "t": "--slurm-time",
    "mem": "--slurm-memory",
    "cpus-per-task": "--slurm-cpus",
    "c": "--slurm-cpus",
    "output": "--slurm-log",
    "o": "--slurm-log",
}
"""Options of sbatch that `--slurm-option` may not set, each with the option of flashmesh that sets it."""


@dataclass(frozen=True)
class Resources:
    """Options of sbatch for each task of an array, and for the job that follows the array."""

    partition: str | None = None
    time: str | None = None
    memory: str | None = None
    cpus: int = 1
    more: tuple[tuple[str, str | None], ...] = ()
    """Other options of sbatch, by name; `None` for an option without a value."""


def quoted(value: str) -> str:
    """Returns a value quoted for a `#SBATCH` line, since sbatch splits lines at blanks and takes `#` for a comment."""
    if PLAIN.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def directive(name: str, value: str | None) -> str:
    """Returns the `#SBATCH` line of an option."""
    if value is None:
        return f"#SBATCH --{name}" if len(name) > 1 else f"#SBATCH -{name}"
    return f"#SBATCH --{name}={quoted(value)}" if len(name) > 1 else f"#SBATCH -{name} {quoted(value)}"


def indexes(numbers: Sequence[int]) -> str:
    """Returns ascending numbers in the notation of `--array`, such as `1-4,7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def script(name: str, log: str, array: str | None, resources: Resources, remark: str, arguments: Sequence[str]) -> str:
    """Returns the script of a job.

    Args:
        name: Name of the job, unless `resources` has another one.
        log: Path of the log, with the replacement symbols of sbatch.
        array: Tasks of the array; `None` for a single job.
        resources: Options of sbatch.
        remark: Purpose of the job.
        arguments: Words after `flashmesh` in the command, quoted for the shell.
    """
    options: list[tuple[str, str | None]] = [("array", array)] if array is not None else []
    options += [("partition", resources.partition)] if resources.partition is not None else []
    options += [("time", resources.time)] if resources.time is not None else []
    options += [("mem", resources.memory)] if resources.memory is not None else []
    options += [("cpus-per-task", str(resources.cpus)), ("output", log), *resources.more]
    if not {"job-name", "J"} & {key for key, _ in resources.more}:
        options.insert(0, ("job-name", name))
    path = os.environ.get("PYTHONPATH")
    lines = ["#!/bin/sh", *(directive(key, value) for key, value in options), f"# {remark}"]
    lines += [f"cd {shlex.quote(str(Path.cwd()))} || exit 2"]
    lines += [f"export PYTHONPATH={shlex.quote(path)}"] if path else []
    lines += [f"exec {shlex.quote(sys.executable)} -P -m flashmesh {' '.join(arguments)}"]
    return "\n".join(lines) + "\n"


def log_in(folder: Path, name: str) -> str:
    """Returns the path of a log for `--output`.

    Args:
        folder: Folder of the logs.
        name: Name of the file, with replacement symbols of sbatch.

    Raises:
        ConfigError: If sbatch cannot write in the folder.
    """
    path = str(folder.absolute())
    if "\\" in path or "\n" in path:
        raise ConfigError(f"{folder}: Slurm writes no logs to a path with a backslash or a line break: see --slurm-log")
    return f"{path.replace('%', '%%')}/{name}"


def require_sbatch() -> None:
    """Refuses to submit a job if sbatch is missing.

    Raises:
        ConfigError: If sbatch is missing.
    """
    if shutil.which("sbatch") is None:
        raise ConfigError(
            "--submit: there is no sbatch on this machine: submit from a machine of the cluster, or leave out --submit "
            "and submit the script there"
        )


def submit(path: Path, after: str | None = None) -> str:
    """Submits a script, and returns the number of its job.

    Args:
        path: The script.
        after: Job after whose end, with success or failure, the new job starts.

    Raises:
        ConfigError: If sbatch refuses the script.
    """
    follows = [f"--dependency=afterany:{after}"] if after is not None else []
    command = ["sbatch", "--parsable", *follows, str(path.absolute())]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SUBMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigError(f"{path}: sbatch cannot submit it: {error}") from error
    job = done.stdout.strip().partition(";")[0]
    if done.returncode != 0 or not job.isdecimal():
        said = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()
        told = " / ".join(line.removeprefix("sbatch: ").removeprefix("error: ") for line in said)
        advice = "; name fewer tasks with --slurm-array" if BAD_ARRAY in told else ""
        raise ConfigError(f"{path}: sbatch cannot submit it: {told}{advice}")
    return job


def asked(*command: str) -> subprocess.CompletedProcess[str] | None:
    """Runs a command of Slurm, and returns its result; `None` if the command is missing or exceeds the timeout."""
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ASK_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def tasks_max() -> int | None:
    """Returns the highest number of an array task that Slurm accepts; `None` if unknown."""
    told = asked("scontrol", "show", "config")
    found = re.search(r"^MaxArraySize\s*=\s*(\d+)", told.stdout, re.M) if told is not None else None
    return int(found[1]) - 1 if found is not None else None


def require_room(tasks: int) -> None:
    """Refuses an array with more tasks than Slurm accepts.

    Raises:
        ConfigError: If the array has more tasks.
    """
    most = tasks_max()
    if most is not None and tasks > most:
        raise ConfigError(
            f"--slurm-array {tasks}: arrays have at most {most} tasks here (MaxArraySize = {most + 1}): "
            f"name at most {most}; each task then does more runs"
        )


def queue_of(array: Array) -> dict[int, str] | None:
    """Returns the state of each queued task of an array, by task number; `None` if the queue is not known.

    `LAST` is the number of the job that follows the array.
    """
    found: dict[int, str] = {}
    if array.job is None:
        return None
    for job in (array.job, array.last):
        told = asked("squeue", "--noheader", "--array", "--jobs", job, "--format", "%K %T") if job is not None else None
        if job is None:
            continue
        if told is None or (told.returncode != 0 and "Invalid job id" not in told.stderr):
            return None
        for number, state in re.findall(r"^\s*(\S+) (\S+)\s*$", told.stdout, re.M):
            found[int(number) if number.isdecimal() else LAST] = state
    return found
