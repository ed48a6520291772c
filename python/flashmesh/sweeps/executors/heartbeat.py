"""Progress files that the processes of a sweep write into its folder, and the sum of their progress."""

from __future__ import annotations

import json
import os
import platform
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashmesh.files import replace_text
from flashmesh.sweeps.executors.shards import read_array, shares
from flashmesh.sweeps.results.store import MANIFEST, Store, read_manifest, read_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flashmesh.execution import Progress
    from flashmesh.sweeps.executors.session import Session
    from flashmesh.sweeps.executors.shards import Array

    Queue = dict[int, str]
    """State of each task of a job array in Slurm's queue, by number; `LAST` is the job that follows the array."""

FOLDER = "progress"
BEAT_S = 2.0
"""Seconds between two heartbeats."""
LOST_S = 30.0
"""Seconds without a heartbeat after which a process counts as lost."""
ZOMBIE = "Z"
"""State of a process that has ended but was not yet reaped by its parent."""
CLOCK_S = 5.0
"""Tolerance of the start time of a process, in seconds. A process that started later than its heartbeat says is another
one that reuses the id."""
SHARDS_MAX = 1_000_000
"""Maximum number of shards of a sweep, equal to its maximum number of points; a file with a larger number is damaged.
"""
RUNNING_MAX = 64
"""Maximum number of running tasks that a heartbeat lists."""


class Heartbeat:
    """Writer of the progress file of a session, every `BEAT_S`. The file is informational: no run depends on it."""

    def __init__(self, session: Session, folder: Path) -> None:
        """Determines the path of the progress file; the first beat writes the file."""
        self.session = session
        self.path = folder / FOLDER / f"{platform.node() or 'host'}-{os.getpid()}.json"
        self.begun = time.time()
        self.beaten = 0.0

    def __call__(self, progress: Progress) -> None:
        """Writes the progress if a heartbeat is due."""
        if time.monotonic() - self.beaten >= BEAT_S:
            self.beat(progress.running)

    def beat(self, running: tuple[int, ...] = ()) -> None:
        """Writes the progress file; `running` has the indices of the active runs.

        Errors are ignored, since the store reports a failure of the file system.
        """
        self.beaten = time.monotonic()
        session = self.session
        labels = {task.index: task.label for task in session.tasks} if running else {}
        document = {
            "host": platform.node(),
            "process": os.getpid(),
            "processes": process_namespace(),
            "begun": self.begun,
            "beat": time.time(),
            "runs": len(session.waiting),
            "done": len(session.outcomes) - session.kept,
            "failed": len(session.failures),
            "running": [labels[index] for index in running[:RUNNING_MAX]],
            "running_count": len(running),
            "shard": list(session.shard),
        }
        with suppress(OSError):
            self.path.parent.mkdir(exist_ok=True)
            replace_text(self.path, json.dumps(document) + "\n")

    def end(self) -> None:
        """Removes the progress file."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
            self.path.parent.rmdir()


@dataclass(frozen=True)
class Part:
    """Progress of one process that runs a part of a sweep, from its last heartbeat."""

    name: str
    done: int
    runs: int
    failed: int
    running: tuple[str, ...]
    running_count: int
    elapsed_s: float
    silent_s: float
    is_gone: bool = False
    """Whether the process ran on this machine and has ended without removing its file, so that it was killed."""
    shard: tuple[int, int] = (1, 1)
    """(Number of the shard that the process runs, number of all shards)."""

    @property
    def is_lost(self) -> bool:
        """Whether the process is gone, or its heartbeat is overdue."""
        return self.is_gone or self.silent_s > LOST_S

    @property
    def rate(self) -> float:
        """Completed runs per second of the process."""
        return self.done / self.elapsed_s if self.elapsed_s > 0 else 0.0


@dataclass(frozen=True)
class Shard:
    """Progress of one shard of a sweep, over all processes that ever ran it."""

    number: int
    done: int
    runs: int
    part: Part | None = None
    """Live process that runs the shard, else a lost process that ran it; `None` if no heartbeat names the shard."""
    queued: str | None = None
    """State of the task of the shard in Slurm's queue; `None` if it is not queued, or the queue is not known."""

    @property
    def is_done(self) -> bool:
        """Whether every run of the shard has a result."""
        return self.done >= self.runs


@dataclass(frozen=True)
class Watched:
    """Progress of a sweep, over all processes that run it."""

    done: int
    total: int | None
    """Number of planned runs of the sweep; None if it is not known."""
    parts: tuple[Part, ...]
    shards: tuple[Shard, ...] = ()
    """Shards by number; empty for a sweep that is not run in shards."""
    array: Array | None = None
    """Record of the job array of the sweep; `None` without one."""
    queue: Queue | None = None
    """States of the tasks in Slurm's queue; `None` if the queue is not known."""

    @property
    def live(self) -> list[Part]:
        """Processes that are not lost."""
        return [part for part in self.parts if not part.is_lost]

    @property
    def is_over(self) -> bool:
        """Whether all runs are done, or no process works on the sweep and no task is queued."""
        return not (self.live or self.queue) or (self.total is not None and self.done >= self.total)

    @property
    def left_s(self) -> float | None:
        """Estimated seconds for the remaining runs at the current rate.

        None if the number of runs is not known, or no live process has completed a run.
        """
        rate = sum(part.rate for part in self.live)
        if self.total is None or not rate:
            return None
        return max(self.total - self.done, 0) / rate


def process_namespace() -> str:
    """Returns the PID namespace of this process, which differs between containers; empty if the system has none."""
    try:
        return os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - it leads to no file
    except OSError:
        return ""


def is_gone(beat: dict[str, Any]) -> bool:
    """Returns whether the process of a heartbeat has ended; False for processes of other machines or containers."""
    process, begun = int(beat["process"]), float(beat["begun"])
    if beat["host"] != platform.node() or beat.get("processes") != process_namespace():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # a process of another user has this number
    state = state_of(process)
    return state is not None and (state[0] == ZOMBIE or state[1] > begun + CLOCK_S)


def state_of(process: int) -> tuple[str, float] | None:
    """Returns (state letter, start time in seconds since 1970) of a process.

    None if the system does not provide them.
    """
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        booted = next(
            float(line.split()[1])
            for line in Path("/proc/stat").read_text(encoding="utf-8").splitlines()
            if line.startswith("btime ")
        )
        return fields[0], booted + float(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def watch(folder: Path, queue_of: Callable[[Array], Queue | None] = lambda array: None) -> Watched:
    """Returns the progress of a sweep or a search.

    Args:
        folder: The folder of results.
        queue_of: Returns the tasks of an array in Slurm's queue; `None` if the queue is not known.

    Raises:
        OutputError: If the folder does not belong to a sweep.
    """
    manifest = read_manifest(folder)
    total = manifest.get("points") or manifest.get("search", {}).get("trials")
    now = time.time()
    parts: list[Part] = []
    for path in sorted((folder / FOLDER).glob("*.json")):
        with suppress(OSError, ValueError, KeyError, TypeError):
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            parts.append(
                Part(
                    f"{found['host']}, process {found['process']}",
                    int(found["done"]),
                    int(found["runs"]),
                    int(found["failed"]),
                    tuple(map(str, found["running"])),
                    int(found["running_count"]),
                    float(found["beat"]) - float(found["begun"]),
                    max(now - float(found["beat"]), 0.0),
                    is_gone(found),
                    shard_in(found),
                )
            )
    assert (folder / MANIFEST).is_file()
    array = read_array(folder)
    queue = queue_of(array) if array is not None else None
    names = Store(folder).names
    found_shards = shards_in(folder, names, parts, array, queue)
    return Watched(len(names), total if isinstance(total, int) else None, tuple(parts), found_shards, array, queue)


def shard_in(beat: dict[str, Any]) -> tuple[int, int]:
    """Returns (shard, number of shards) of a heartbeat; (1, 1) if it names none."""
    number, shards = beat.get("shard", (1, 1))
    return int(number), int(shards)


def shards_in(
    folder: Path, names: set[str], parts: Sequence[Part], array: Array | None, queue: Queue | None
) -> tuple[Shard, ...]:
    """Returns the progress of each shard, in the order of their numbers; empty for a sweep that is not run in shards.

    The number of shards is that of the job array or, without one, the largest that a heartbeat names.

    Raises:
        OutputError: If the plan cannot be read.
    """
    count = array.shards if array is not None else max((part.shard[1] for part in parts), default=1)
    if (array is None and count == 1) or count > SHARDS_MAX:
        return ()
    # Put live processes last, so that they replace lost processes of the same shard in `by_number`.
    runners = sorted((part for part in parts if part.shard[1] == count), key=lambda part: not part.is_lost)
    by_number = {part.shard[0]: part for part in runners}
    shared = shares((name for name, _ in read_plan(folder)), count)
    return tuple(
        Shard(number, len(names.intersection(share)), len(share), by_number.get(number), (queue or {}).get(number))
        for number, share in enumerate(shared, 1)
    )
