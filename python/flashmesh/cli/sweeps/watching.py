"""Output of `flashmesh sweep --watch`: the progress of all processes of a sweep."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from flashmesh.cli.output import stdout
from flashmesh.cli.sweeps.sweeping import duration
from flashmesh.report.terminal import Terminal
from flashmesh.sweeps.executors.heartbeat import BEAT_S, watch
from flashmesh.sweeps.executors.jobarray import queue_of
from flashmesh.sweeps.executors.shards import LAST

if TYPE_CHECKING:
    from pathlib import Path

    from flashmesh.sweeps.executors.heartbeat import Part, Queue, Shard, Watched
    from flashmesh.sweeps.executors.shards import Array

RUNNING_SHOWN = 8
SHARDS_SHOWN = 32
"""Maximum number of unfinished shards (parts of the sweep that run separately) that are listed."""
QUEUE_S = 10.0
"""Minimum seconds between two queries of Slurm's queue."""


def show_progress(folder: Path) -> None:
    """Prints the progress of a sweep: on a terminal until the sweep ends, otherwise once.

    Raises:
        OutputError: If the folder does not belong to a sweep.
    """
    if not sys.stdout.isatty():
        with stdout() as stream:
            stream.writelines(f"{line}\n" for line in lines(watch(folder, queue_of)))
        return
    from rich.live import Live
    from rich.text import Text

    seldom = Seldom()
    with Live(console=Terminal(sys.stdout).console, refresh_per_second=4) as live:
        while True:
            found = watch(folder, seldom)
            live.update(Text("\n".join(lines(found))))
            if found.is_over:
                return
            time.sleep(BEAT_S)


class Seldom:
    """Reader of Slurm's queue with a limited query rate, since Slurm's controller serves many users."""

    def __init__(self) -> None:
        """Creates a reader without a query; the first call queries the queue."""
        self.queue: Queue | None = None
        self.next = 0.0

    def __call__(self, array: Array) -> Queue | None:
        """Returns the state in Slurm's queue of each queued task, by number, at most `QUEUE_S` old; None if unknown."""
        if time.monotonic() >= self.next:
            self.queue = queue_of(array)
            self.next = time.monotonic() + QUEUE_S
        return self.queue


def lines(found: Watched) -> list[str]:
    """Returns the progress of a sweep as lines: done and failed runs, time left, and the state of each process."""
    failed = sum(part.failed for part in found.parts)
    running = sum(part.running_count for part in found.live)
    of = f" of {found.total:,}" if found.total is not None else ""
    share = f" ({found.done / found.total:.0%})".replace("%", " %") if found.total else ""
    told = [f"{found.done:,}{of} runs done{share}, {running:,} running, {failed:,} failed"]
    if found.total is not None and found.done >= found.total:
        return told
    if not found.live and found.queue:
        told.append(f"no process reports progress: {queued(found)} in Slurm's queue")
    elif not found.live:
        told.append("no process is running: --resume runs the rest")
    elif found.left_s is not None:
        rate = sum(part.rate for part in found.live)
        told.append(f"about {duration(found.left_s)} left, at {rate * 60:.3g} runs a minute")
    told += shard_lines(found)
    for part in found.parts:
        if part.shard[1] == len(found.shards):
            continue  # listed by `shard_lines`
        told.append(
            f"  {part.name}: {part.done:,} of its {part.runs:,} runs done, {part.failed:,} failed, {state_of(part)}"
        )
        told += [f"    {label}" for label in part.running[:RUNNING_SHOWN] if not part.is_lost]
    return told


def state_of(part: Part) -> str:
    """Returns the state of a process of the sweep in words: killed, silent, or its number of active runs."""
    if part.is_gone:
        return "killed: the process is gone"
    return f"no report for {duration(part.silent_s)}" if part.is_lost else f"{part.running_count} running"


def queued(found: Watched) -> str:
    """Returns text such as `3 tasks of job 17 are`, on the tasks of the job array in Slurm's queue."""
    tasks = len((found.queue or {}).keys() - {LAST})
    if not tasks:
        return "the job that follows the array is"
    job = f"job {found.array.job}" if found.array is not None else "the array"
    return f"{tasks:,} task{'s' if tasks != 1 else ''} of {job}{' are' if tasks != 1 else ' is'}"


def shard_lines(found: Watched) -> list[str]:
    """Returns a line with the number of finished shards (parts of the sweep), and lines on the unfinished ones.

    Shards with a process come first; at most `SHARDS_SHOWN` shards are listed. Empty if all shards are finished.
    """
    left = [shard for shard in found.shards if not shard.is_done]
    if not left:
        return []
    told = [f"{len(found.shards) - len(left):,} of {len(found.shards):,} shards done"]
    left.sort(key=lambda shard: (shard.part is None, shard.number))
    for shard in left[:SHARDS_SHOWN]:
        part = shard.part
        failed = f", {part.failed:,} failed" if part is not None and part.failed else ""
        state = shard_state(shard, found.queue is not None)
        told.append(f"  shard {shard.number}: {shard.done:,} of {shard.runs:,} runs done{failed}, {state}")
        if part is not None and not part.is_lost:
            told += [f"    {label}" for label in part.running[:RUNNING_SHOWN]]
    if len(left) > SHARDS_SHOWN:
        told.append(f"  and {len(left) - SHARDS_SHOWN:,} more")
    return told


def shard_state(shard: Shard, knows_queue: bool) -> str:
    """Returns the state of an unfinished shard (part of the sweep) in words.

    `knows_queue` says whether the state of Slurm's queue is known.
    """
    if shard.part is not None and not shard.part.is_lost:
        return f"{state_of(shard.part)} ({shard.part.name})"
    if shard.queued is not None:
        return f"{shard.queued.lower()} in Slurm's queue"
    if shard.part is not None:
        return f"{state_of(shard.part)} ({shard.part.name})"
    return "its task has ended: --resume runs the rest" if knows_queue else "no process reports progress"
