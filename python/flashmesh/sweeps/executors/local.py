"""Executor that runs tasks in threads of this process; the simulation releases the interpreter lock."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING

from flashmesh import _native
from flashmesh.execution import STOP_S, TICK_S, Progress, ends_by_itself
from flashmesh.installation import states
from flashmesh.sweeps.executors.session import Outcome, as_error
from flashmesh.sweeps.executors.work import Cancelled, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flashmesh.sweeps.tasks import Task


NEAR = 64
"""Number of pending tasks among which the next one to run is chosen."""
KEPT = 2
"""Number of prepared drives that stay in memory: the most recently used ones."""


class LocalThreads:
    """Executor that runs tasks on the cores of this machine."""

    def __init__(self, places: int) -> None:
        """Creates an executor of up to `places` runs at once."""
        self.places = places
        self.drives = states.drives()

    def close(self) -> None:
        """Does nothing: threads end with their tasks."""

    def run(
        self,
        tasks: Sequence[Task],
        take: Callable[[Outcome], None],
        on_progress: Callable[[Progress], None] | None,
        on_open: Callable[[str | None], None] | None,
    ) -> None:
        """Runs all tasks as described in `Executor`."""
        crew = Crew(tasks, self.drives, on_open)
        for _ in range(min(self.places, len(tasks))):
            # Daemon threads do not keep the process alive while they prepare a drive, which cannot be interrupted.
            threading.Thread(target=crew.work, name="flashmesh-run", daemon=True).start()
        try:
            while crew.left:
                outcome = crew.next(TICK_S)
                if outcome is not None:
                    take(outcome)
                if on_progress is not None:
                    on_progress(crew.progress())
        except BaseException:
            for outcome in crew.stop():
                take(outcome)
            raise


class Crew:
    """Tasks of a session, and the state of the threads that run them."""

    def __init__(
        self, tasks: Sequence[Task], drives: _native.PreparedDrives, on_open: Callable[[str | None], None] | None
    ) -> None:
        """Creates a crew with all tasks pending; threads call `work`."""
        self.total = len(tasks)
        self.left = len(tasks)
        self.waiting = list(reversed(tasks))
        self.on_open = on_open
        self.drives = drives
        self.keys: dict[int, str | None] = {}
        self.preparing: dict[int, str] = {}
        self.prepared: list[str] = []
        self.ended: queue.SimpleQueue[tuple[Outcome, _native.Control]] = queue.SimpleQueue()
        self.running: dict[int, _native.Control] = {}
        self.begun: set[int] = set()
        self.lock = threading.Lock()
        self.is_stopped = False
        self.requests_done = 0
        self.requests_known = 0
        self.limited: set[int] = set()
        """Indices of tasks that have begun and end by themselves, so that their number of requests is a limit."""

    def work(self) -> None:
        """Runs tasks until none is pending; the body of each thread."""
        while True:
            with self.lock:
                task = None if self.is_stopped else self.take()
                if task is None:
                    return
                control = self.running[task.index] = _native.Control()
                on_open, self.on_open = self.on_open, None
            started = time.monotonic()
            outcome = Outcome(task)
            try:
                outcome.document = simulate(task, control, self.drives, self.opened(task, on_open))
                outcome.is_partial = control.cancelled
            except Cancelled:
                outcome.is_partial = True
            except BaseException as error:  # the outcome carries the error
                outcome.error = as_error(error)
            self.opened_or_failed(task)
            outcome.wall_s = time.monotonic() - started
            self.ended.put((outcome, control))
            # Remove the run here, not in `next`: an interrupt there could lose the outcome and leave `stop` waiting.
            self.begun.discard(task.index)

    def take(self) -> Task | None:
        """Dequeues the task of the lowest `rank` among the next `NEAR` ones; None if no task is left.

        A run that needs a drive which another run is preparing would wait, and leave its core idle.
        """
        if not self.waiting:
            return None
        near = range(len(self.waiting) - 1, max(len(self.waiting) - 1 - NEAR, -1), -1)
        preparing = set(self.preparing.values())
        ranks = {at: self.rank(self.key(self.waiting[at]), preparing) for at in near}
        task = self.waiting.pop(min(near, key=ranks.__getitem__))
        key = self.key(task)
        if key is not None and key not in self.prepared:
            self.preparing[task.index] = key
        return task

    def rank(self, key: str | None, preparing: set[str]) -> int:
        """Returns the rank of a task by the cache key of its preconditioned drive; lower ranks run first.

        0 if the drive is ready or not needed, 1 if the run has to prepare it, 2 while another run prepares it.
        """
        if key in preparing:
            return 2
        return 0 if key is None or key in self.prepared else 1

    def key(self, task: Task) -> str | None:
        """Returns the cache key of the preconditioned drive that a task needs; None if it needs no preconditioning."""
        if task.index not in self.keys:
            self.keys[task.index] = self.drives.key(task.config)
        return self.keys[task.index]

    def opened_or_failed(self, task: Task) -> None:
        """Records that the drive of a task is prepared, or that its preparation failed."""
        with self.lock:
            self.preparing.pop(task.index, None)
            key = self.keys.pop(task.index, None)
            if key is not None:
                self.prepared = [*(each for each in self.prepared if each != key), key][-KEPT:]

    def opened(self, task: Task, on_open: Callable[[str | None], None] | None) -> Callable[[str | None], None]:
        """Returns the function that the run of a task calls when its drive is prepared."""

        def begin(summary: str | None) -> None:
            self.opened_or_failed(task)
            self.begun.add(task.index)
            if task.until_steady is not None or ends_by_itself(task.config):
                self.limited.add(task.index)
            if on_open is not None:
                on_open(summary)

        return begin

    def next(self, seconds: float) -> Outcome | None:
        """Returns the outcome of the next run that ends; None if none ends within `seconds`."""
        try:
            outcome, control = self.ended.get(timeout=seconds)
        except queue.Empty:
            return None
        del self.running[outcome.task.index]
        self.left -= 1
        self.requests_done += control.requests_done
        is_limit = outcome.task.index in self.limited
        self.limited.discard(outcome.task.index)
        self.requests_known += (None if is_limit else control.request_total) or control.requests_done
        return outcome

    def stop(self) -> list[Outcome]:
        """Cancels all runs, and returns the outcomes of those that had begun; abandons drives in preparation."""
        with self.lock:
            self.is_stopped = True
            for control in self.running.values():
                control.cancel()
        found: list[Outcome] = []
        end = time.monotonic() + STOP_S
        while time.monotonic() < end:
            runs = bool(self.begun)
            outcome = self.next(TICK_S if runs else 0.0)
            if outcome is None and not runs:
                break
            if outcome is not None and (outcome.document is not None or outcome.error is not None):
                found.append(outcome)
        return found

    def progress(self) -> Progress:
        """Returns the progress of all runs of the crew together."""
        # A copy: threads add runs while this thread iterates.
        running = dict(self.running)
        controls = list(running.values())
        totals = {index: total for index, each in running.items() if (total := each.request_total) is not None}
        # The length of a run that ends by itself is unknown: until a run has ended, only its limit is known.
        begun = [total for index, total in totals.items() if index not in self.limited]
        ended = self.total - self.left
        known = ended + len(begun)
        is_known = known > 0 and all(begun)
        done = self.requests_done + sum(control.requests_done for control in controls)
        estimate = max((self.requests_known + sum(begun)) * self.total // known, done) if is_known else None
        limit = sum(totals.values()) * self.total // len(totals) if totals and self.limited else None
        return Progress(
            requests_done=done,
            request_total=estimate,
            requests_max=limit if estimate is None else None,
            simulated_ps=max((control.simulated_ps for control in controls), default=0),
            runs_done=ended,
            runs=self.total,
            running=tuple(running),
            opening=ended == 0 and not any(control.simulated_ps for control in controls),
            preconditioned=max(
                (share for each in controls if (share := each.preconditioned) is not None), default=None
            ),
        )
