"""Runs tasks in threads of this process, with the interpreter lock released."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING

from flashmesh import _native, states
from flashmesh.execution import STOP_S, TICK_S, Progress
from flashmesh.sweeps.session import Outcome, as_error
from flashmesh.sweeps.work import Cancelled, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flashmesh.sweeps.tasks import Task


NEAR = 64
"""How many of the tasks that wait are looked at for the next."""
KEPT = 2
"""How many prepared drives are kept in memory, those that were used last."""


class LocalThreads:
    """The cores of this machine."""

    def __init__(self, places: int) -> None:
        """With so many runs at once."""
        self.places = places
        self.drives = states.drives()

    def close(self) -> None:
        """Nothing to let go of."""

    def run(
        self,
        tasks: Sequence[Task],
        take: Callable[[Outcome], None],
        on_progress: Callable[[Progress], None] | None,
        on_open: Callable[[str | None], None] | None,
    ) -> None:
        """See `Executor`."""
        crew = Crew(tasks, self.drives, on_open)
        for _ in range(min(self.places, len(tasks))):
            # Daemons: a drive that is still being opened cannot be stopped, and must not keep the process alive.
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
    """Threads that take one task after the other."""

    def __init__(
        self, tasks: Sequence[Task], drives: _native.PreparedDrives, on_open: Callable[[str | None], None] | None
    ) -> None:
        """With all tasks waiting."""
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

    def work(self) -> None:
        """What each thread does."""
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
            except BaseException as error:  # whoever waits is told
                outcome.error = as_error(error)
            self.opened_or_failed(task)
            outcome.wall_s = time.monotonic() - started
            self.ended.put((outcome, control))
            # Here and not where it is taken: an interrupt may come when it has left the queue and nobody has it yet.
            self.begun.discard(task.index)

    def take(self) -> Task | None:
        """The next task to run: the first whose drive is there, or else the first whose drive nobody prepares.

        A run waits for the one that prepares the drive of both, and a core would be idle meanwhile.
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
        """How soon a task comes by the state in which it begins: 0 is first."""
        if key in preparing:
            return 2
        return 0 if key is None or key in self.prepared else 1

    def key(self, task: Task) -> str | None:
        """What decides the state in which a task begins."""
        if task.index not in self.keys:
            self.keys[task.index] = self.drives.key(task.config)
        return self.keys[task.index]

    def opened_or_failed(self, task: Task) -> None:
        """The drive of a task is there, or will not be."""
        with self.lock:
            self.preparing.pop(task.index, None)
            key = self.keys.pop(task.index, None)
            if key is not None:
                self.prepared = [*(each for each in self.prepared if each != key), key][-KEPT:]

    def opened(self, task: Task, on_open: Callable[[str | None], None] | None) -> Callable[[str | None], None]:
        """What is called when the drive of a task is there, and its run begins."""

        def begin(summary: str | None) -> None:
            self.opened_or_failed(task)
            self.begun.add(task.index)
            if on_open is not None:
                on_open(summary)

        return begin

    def next(self, seconds: float) -> Outcome | None:
        """The next run that ends within so many seconds."""
        try:
            outcome, control = self.ended.get(timeout=seconds)
        except queue.Empty:
            return None
        del self.running[outcome.task.index]
        self.left -= 1
        self.requests_done += control.requests_done
        self.requests_known += control.request_total or control.requests_done
        return outcome

    def stop(self) -> list[Outcome]:
        """Cancels all, and waits for those that run: they report at once; those that still open are left behind."""
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
        """How far the runs are."""
        controls = list(self.running.values())
        totals = [control.request_total for control in controls]
        begun = [total for total in totals if total is not None]
        ended = self.total - self.left
        known = ended + len(begun)
        is_known = known > 0 and all(begun)
        estimate = (self.requests_known + sum(begun)) * self.total // known if is_known else None
        return Progress(
            requests_done=self.requests_done + sum(control.requests_done for control in controls),
            request_total=estimate,
            simulated_ps=max((control.simulated_ps for control in controls), default=0),
            runs_done=ended,
            runs=self.total,
            running=tuple(self.running),
            opening=ended == 0 and not any(control.simulated_ps for control in controls),
            preconditioned=max(
                (share for each in controls if (share := each.preconditioned) is not None), default=None
            ),
        )
