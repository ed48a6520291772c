"""What processes that run a sweep say of themselves in its folder, and what that comes to for all of them."""

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
from flashmesh.sweeps.store import MANIFEST, Store, read_manifest

if TYPE_CHECKING:
    from flashmesh.execution import Progress
    from flashmesh.sweeps.session import Session

FOLDER = "progress"
BEAT_S = 2.0
"""Time between two signs of life."""
LOST_S = 30.0
"""Without one for so long, a process counts as lost."""
ZOMBIE = "Z"
"""The state of a process that has ended, and whose end nobody has asked for."""
CLOCK_S = 5.0
"""By how much the time at which a process began may be off: a later one has the number of one that ended."""
RUNNING_MAX = 64
"""Runs under way that are named."""


class Heartbeat:
    """Writes how far a session is, every other second; nothing of it is needed to go on."""

    def __init__(self, session: Session, folder: Path) -> None:
        """In the folder of the results."""
        self.session = session
        self.path = folder / FOLDER / f"{platform.node() or 'host'}-{os.getpid()}.json"
        self.begun = time.time()
        self.beaten = 0.0

    def __call__(self, progress: Progress) -> None:
        """Takes notice of how far the runs are."""
        if time.monotonic() - self.beaten >= BEAT_S:
            self.beat(progress.running)

    def beat(self, running: tuple[int, ...] = ()) -> None:
        """Writes it now. A file system that refuses has worse troubles, of which the store tells."""
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
        }
        with suppress(OSError):
            self.path.parent.mkdir(exist_ok=True)
            replace_text(self.path, json.dumps(document) + "\n")

    def end(self) -> None:
        """Takes it away."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
            self.path.parent.rmdir()


@dataclass(frozen=True)
class Part:
    """A process that runs a part of a sweep."""

    name: str
    done: int
    runs: int
    failed: int
    running: tuple[str, ...]
    running_count: int
    elapsed_s: float
    silent_s: float
    is_gone: bool = False
    """Whether the process ran on this machine, and has ended without taking its file away: it was killed."""

    @property
    def is_lost(self) -> bool:
        """Whether the process is gone, or nothing was heard of it for long."""
        return self.is_gone or self.silent_s > LOST_S

    @property
    def rate(self) -> float:
        """Runs a second."""
        return self.done / self.elapsed_s if self.elapsed_s > 0 else 0.0


@dataclass(frozen=True)
class Watched:
    """How far a sweep is, over all processes that run it."""

    done: int
    total: int | None
    """None where nothing says how many runs there will be."""
    parts: tuple[Part, ...]

    @property
    def live(self) -> list[Part]:
        """The processes that are heard of."""
        return [part for part in self.parts if not part.is_lost]

    @property
    def is_over(self) -> bool:
        """Whether nothing is left, or nobody goes on."""
        return not self.live or (self.total is not None and self.done >= self.total)

    @property
    def left_s(self) -> float | None:
        """How long the rest may take at the rate of now; None where that cannot be told."""
        rate = sum(part.rate for part in self.live)
        if self.total is None or not rate:
            return None
        return max(self.total - self.done, 0) / rate


def process_namespace() -> str:
    """Returns what tells the process numbers of containers on one machine apart; empty where they are the same."""
    try:
        return os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - it leads to no file
    except OSError:
        return ""


def is_gone(beat: dict[str, Any]) -> bool:
    """Returns whether the process of a heartbeat has ended; of another machine or container nobody can tell."""
    process, begun = int(beat["process"]), float(beat["begun"])
    if beat["host"] != platform.node() or beat.get("processes") != process_namespace():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # it is there, and of another user
    state = state_of(process)
    return state is not None and (state[0] == ZOMBIE or state[1] > begun + CLOCK_S)


def state_of(process: int) -> tuple[str, float] | None:
    """Returns the state of a process and the time at which it began; None where the system does not tell."""
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


def watch(folder: Path) -> Watched:
    """Looks how far a sweep or a search is.

    Raises:
        OutputError: When the folder is none of a sweep.
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
                )
            )
    assert (folder / MANIFEST).is_file()
    return Watched(len(Store(folder).names), total if isinstance(total, int) else None, tuple(parts))
