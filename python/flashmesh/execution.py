"""Runs simulations in threads, with the interpreter lock released, and watches them from the caller's thread.

The caller's thread stays free to show progress and to take Ctrl-C.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from flashmesh import _native, states
from flashmesh._native import OutputError
from flashmesh.policies.attach import attach
from flashmesh.provenance import with_provenance
from flashmesh.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from flashmesh.comparison import Comparison

TICK_S = 0.1
"""Time between two looks at the progress."""
STOP_S = 10.0
"""How long a cancelled run may take to report."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run; `partial` is what was simulated until then, None when nothing was."""

    def __init__(self, partial: Result | Comparison | None) -> None:
        """With what was simulated."""
        super().__init__()
        self.partial = partial


class Unwritten(OutputError):  # noqa: N818 - named for what it says, as Interrupted is
    """The run ended, but not all of its files could be written; `result` is what it gave."""

    def __init__(self, message: str, result: Result) -> None:
        """With the result, so that it is not lost."""
        super().__init__(message)
        self.result = result


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the runs are, all together."""

    requests_done: int
    """Requests completed."""
    request_total: int | None
    """Requests there will be in all, when known."""
    simulated_ps: int
    """Simulated time, of the run that is furthest."""
    runs_done: int
    """Runs that ended."""
    runs: int
    """Runs there are."""
    opening: bool
    """Whether no run has begun: traces are scanned and drives preconditioned."""
    running: tuple[int, ...] = ()
    """The places of the runs under way in the plan of a sweep; of a cluster those that were sent first."""
    preconditioned: float | None = None
    """How much of the preconditioning under way is done, from 0 to 1, of the run that is furthest; None without one."""


@dataclass
class Job:
    """One simulation to run."""

    config: _native.Config
    check: bool = False
    alone: int | None = None
    """The stream that runs while the others are silent; None for all of them."""
    on_requests: Callable[[int, dict[str, bytes]], None] | None = None
    on_open: Callable[[str | None], None] = lambda summary: None
    """Gets the summary of a trace before the run."""
    timeline: Path | None = None
    """The file that a timeline of the run goes to."""
    timeline_full_ps: int | None = None
    """From when on the timeline says nothing because it was full."""
    timeline_failure: str | None = None
    """Why the timeline could not be written."""
    control: _native.Control = field(default_factory=_native.Control)
    begun: bool = False
    simulated: bool = False
    """Whether the simulation is over; its result may still be made."""
    ended: bool = False
    result: Result | None = None
    error: BaseException | None = None

    def work(self) -> None:
        """Opens and runs the simulation; what goes wrong is kept in `error`."""
        try:
            begun = time.perf_counter()
            drives = states.drives(one_run=True)
            simulation = _native.Simulation(self.config, self.alone, drives, self.control)
            states.tell_notes(drives)
            attach(simulation, self.config)
            setup = timedelta(seconds=time.perf_counter() - begun)
            if self.check:
                simulation.enable_checks()
            if self.timeline is not None:
                simulation.record_timeline(self.timeline)
            if self.control.cancelled:
                return
            self.on_open(simulation.trace_summary())
            self.begun = True
            report = simulation.run(self.control, self.on_requests)
            self.simulated = True
            self.timeline_full_ps = simulation.timeline_full_ps
            self.timeline_failure = simulation.timeline_failure
            document = with_provenance(report, self.config)
            self.result = Result.from_json(document, self.config.to_toml(), setup)
        except BaseException as error:  # the thread that waits raises it
            self.error = error
        finally:
            self.ended = True


def execute(jobs: Sequence[Job], threads: int = 1, on_progress: Callable[[Progress], None] | None = None) -> bool:
    """Runs all jobs, on so many threads, and tells whether all of them ran to the end.

    After Ctrl-C the jobs under way stop at their next request and keep the result up to there; False is returned.

    Raises:
        FlashmeshError: The error of the first job, in their order, that failed; the others are stopped.
    """
    waiting = iter(jobs)
    lock = threading.Lock()
    wake = threading.Event()

    def worker() -> None:
        while True:
            with lock:
                job = next(waiting, None)
            if job is None or job.control.cancelled:
                return
            job.work()
            wake.set()

    # Daemons: a drive that is still being opened cannot be stopped, and must not keep the process alive.
    for _ in range(min(threads, len(jobs))):
        threading.Thread(target=worker, name="flashmesh-run", daemon=True).start()
    try:
        while not all(job.ended for job in jobs):
            wake.wait(TICK_S)
            wake.clear()
            if any(job.error is not None for job in jobs):
                break
            if on_progress is not None:
                on_progress(progress(jobs))
    except KeyboardInterrupt:
        stop(jobs, wake, wait_for_results=True)
        return False
    except BaseException:
        stop(jobs, wake)
        raise
    failed = next((job.error for job in jobs if job.error is not None), None)
    if failed is not None:
        stop(jobs, wake)
        raise failed
    return True


def stop(jobs: Sequence[Job], wake: threading.Event, *, wait_for_results: bool = False) -> None:
    """Cancels all jobs and waits for those that run: they report at once; those that still open are left behind.

    The results of runs with many epochs take seconds to make: nobody waits for those that nobody will see.
    """
    for job in jobs:
        job.control.cancel()

    def is_awaited(job: Job) -> bool:
        return job.begun and not job.ended and (wait_for_results or not job.simulated)

    ticks = round(STOP_S / TICK_S)
    while ticks > 0 and any(map(is_awaited, jobs)):
        ticks -= 1
        wake.wait(TICK_S)
        wake.clear()


def progress(jobs: Sequence[Job]) -> Progress:
    """How far the jobs are."""
    known = [total for job in jobs if (total := job.control.request_total) is not None]
    # Runs that have not begun will be about as long as those that have.
    estimate = sum(known) * len(jobs) // len(known) if known else None
    return Progress(
        requests_done=sum(job.control.requests_done for job in jobs),
        request_total=estimate if all(job.control.request_total for job in jobs if job.begun) else None,
        simulated_ps=max(job.control.simulated_ps for job in jobs),
        runs_done=sum(job.ended for job in jobs),
        runs=len(jobs),
        opening=not any(job.begun for job in jobs),
        preconditioned=max((share for job in jobs if (share := job.control.preconditioned) is not None), default=None),
    )
