"""Execution of simulations in threads without the interpreter lock, monitored by the calling thread.

The calling thread stays free to show progress and to handle Ctrl-C.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from flashmesh import _native
from flashmesh._native import OutputError
from flashmesh.installation import states
from flashmesh.policies.attach import attach
from flashmesh.provenance import with_provenance
from flashmesh.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from flashmesh.comparison import Comparison

TICK_S = 0.1
"""Seconds between two updates of the progress."""
STOP_S = 10.0
"""Seconds that a cancelled run may take to return its partial result."""


class Interrupted(KeyboardInterrupt):
    """Error for a run that Ctrl-C ended, or another signal of the command line.

    `partial` has the results up to then; None if no request was simulated.
    """

    def __init__(self, partial: Result | Comparison | None) -> None:
        """Creates the error with the simulated part."""
        super().__init__()
        self.partial = partial


class Unwritten(OutputError):  # noqa: N818 - named like Interrupted, without Error
    """Error for a completed run whose files could not all be written. `result` is the result of the run."""

    def __init__(self, message: str, result: Result) -> None:
        """Creates the error with the result, so that it is not lost."""
        super().__init__(message)
        self.result = result


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of all runs of a command, together."""

    requests_done: int
    """Requests completed so far, over all runs."""
    request_total: int | None
    """Estimated number of requests of all runs; None if the length of an active run is unknown.

    The length is unknown if the run ends by itself: after a warm-up up to the steady state, or at a precision.
    """
    simulated_ps: int
    """Simulated time of the run that is furthest ahead, in picoseconds."""
    runs_done: int
    """Number of runs that ended."""
    runs: int
    """Number of runs."""
    opening: bool
    """Whether no run has begun to simulate requests: traces are being scanned and drives preconditioned."""
    running: tuple[int, ...] = ()
    """Indices of the active runs in the plan of a sweep. A cluster does not report which runs are active; there, the
    unfinished runs that were submitted first count as active."""
    preconditioned: float | None = None
    """Progress of the preconditioning from 0 to 1 in the most advanced run; None if no run reports it."""
    requests_max: int | None = None
    """Limit on the number of requests of runs whose length is unknown; None without such runs."""


@dataclass
class Job:
    """One simulation, its options, and its result once it has ended."""

    config: _native.Config
    check: bool = False
    alone: int | None = None
    """Index of the only stream that issues requests; None if all streams do."""
    on_requests: Callable[[int, dict[str, bytes]], None] | None = None
    on_open: Callable[[str | None], None] = lambda summary: None
    """Function called before the first request with the summary of the trace; None without a trace."""
    timeline: Path | None = None
    """File for a Perfetto timeline of the run; None without one."""
    timeline_full_ps: int | None = None
    """Simulated time in picoseconds at which the full timeline stopped recording; None if it never filled up."""
    timeline_failure: str | None = None
    """Error of writing the timeline; None if it was written, or not requested."""
    control: _native.Control = field(default_factory=_native.Control)
    begun: bool = False
    simulated: bool = False
    """Whether the simulation has ended. Its result may still be under construction."""
    ended: bool = False
    result: Result | None = None
    error: BaseException | None = None

    @cached_property
    def ends_by_itself(self) -> bool:
        """Whether the run may end before its number of requests (`ends_by_itself`)."""
        return ends_by_itself(self.config)

    def work(self) -> None:
        """Opens the drive and runs the simulation; stores the result in `result`, or the exception in `error`."""
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
        except BaseException as error:  # the waiting thread raises it again
            self.error = error
        finally:
            self.ended = True


def ends_by_itself(config: _native.Config) -> bool:
    """Returns whether a run may end before its number of requests, which is then only a limit.

    It does if its warm-up lasts until the drive is steady, or if it ends at a precision.
    """
    tables = json.loads(config.to_json())
    if tables["measure"]["precision"] > 0:
        return True
    if config.warm_up() != "steady":
        return False
    # Only workloads without end go on until the drive is steady: those of traces, and streams with a stop time, do not.
    streams = tables.get("stream", {}).values() or [tables]
    return "cut" not in tables.get("power", {}) and all(
        stream["workload"]["kind"] == "synthetic" and "stop-time" not in stream["replay"] for stream in streams
    )


def execute(jobs: Sequence[Job], threads: int = 1, on_progress: Callable[[Progress], None] | None = None) -> bool:
    """Runs all jobs on `threads` threads. Returns whether all were completed.

    After Ctrl-C the active jobs stop at their next request and keep the partial result; False is returned.

    Raises:
        FlashmeshError: The error of the first failed job, in their order; the others are stopped.
    """
    waiting = iter(jobs)
    lock = threading.Lock()
    # No Event or Condition: the exception of a signal handler can leave their lock released, and they release it again.
    ended: queue.SimpleQueue[None] = queue.SimpleQueue()

    def worker() -> None:
        while True:
            with lock:
                job = next(waiting, None)
            if job is None or job.control.cancelled:
                return
            job.work()
            ended.put(None)

    try:
        # Daemon threads do not keep the process alive. Opening a drive cannot be interrupted.
        for _ in range(min(threads, len(jobs))):
            threading.Thread(target=worker, name="flashmesh-run", daemon=True).start()
        while not all(job.ended for job in jobs):
            wait(ended)
            if any(job.error is not None for job in jobs):
                break
            if on_progress is not None:
                on_progress(progress(jobs))
    except KeyboardInterrupt:
        stop(jobs, ended, wait_for_results=True)
        return False
    except BaseException:
        stop(jobs, ended)
        raise
    failed = next((job.error for job in jobs if job.error is not None), None)
    if failed is not None:
        stop(jobs, ended)
        raise failed
    return True


def wait(ended: queue.SimpleQueue[None]) -> None:
    """Waits up to `TICK_S` for the end of a job."""
    with suppress(queue.Empty):
        ended.get(timeout=TICK_S)


def stop(jobs: Sequence[Job], ended: queue.SimpleQueue[None], *, wait_for_results: bool = False) -> None:
    """Cancels all jobs, and waits up to `STOP_S` for those that simulate. Abandons jobs that still open their drive.

    Building the result of a run with many epochs takes seconds, so this function waits for results only on request.
    """
    for job in jobs:
        job.control.cancel()

    def is_awaited(job: Job) -> bool:
        return job.begun and not job.ended and (wait_for_results or not job.simulated)

    ticks = round(STOP_S / TICK_S)
    while ticks > 0 and any(map(is_awaited, jobs)):
        ticks -= 1
        wait(ended)


def progress(jobs: Sequence[Job]) -> Progress:
    """Returns the progress of all jobs together."""
    known = [(job, total) for job in jobs if (total := job.control.request_total) is not None]
    # Runs that have not begun are assumed to be as long as the others.
    estimate = sum(total for _, total in known) * len(jobs) // len(known) if known else None
    is_limit = any(job.ends_by_itself for job, _ in known)
    is_known = not is_limit and all(job.control.request_total for job in jobs if job.begun)
    return Progress(
        requests_done=sum(job.control.requests_done for job in jobs),
        request_total=estimate if is_known else None,
        requests_max=estimate if is_limit else None,
        simulated_ps=max(job.control.simulated_ps for job in jobs),
        runs_done=sum(job.ended for job in jobs),
        runs=len(jobs),
        opening=not any(job.begun for job in jobs),
        preconditioned=max((share for job in jobs if (share := job.control.preconditioned) is not None), default=None),
    )
