"""Main functions of the Python interface: `run` and `compare`."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from flashmesh import configuration
from flashmesh._native import ConfigError, OutputError
from flashmesh.comparing.axes import refuse_clashes
from flashmesh.configuring.spelling import spelt_settings
from flashmesh.execution import Interrupted, Job, Progress, Unwritten, execute
from flashmesh.files import OutputFiles, whole_file
from flashmesh.frames import as_trace
from flashmesh.installation import memory
from flashmesh.policies.given import used_themselves, with_policies
from flashmesh.running.epochs import epoch_table
from flashmesh.running.fairness import fairness as compare_streams
from flashmesh.running.request_log import request_log
from flashmesh.running.steady import UntilSteady, measured, settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from flashmesh._native import Config
    from flashmesh.comparison import Comparison
    from flashmesh.configuration import ConfigSource
    from flashmesh.frames import DataFrame
    from flashmesh.importers.fio import FioJobs
    from flashmesh.policies.protocols import (
        Allocator,
        Arbiter,
        HomeSelector,
        PacketRouting,
        RoutingAlgorithm,
        Scheduler,
        VictimSelector,
        WritePlacer,
    )
    from flashmesh.results import Result
    from flashmesh.sweeps.executors.session import Session


def run(
    config: ConfigSource,
    *,
    trace: str | Path | DataFrame | None = None,
    profile: str | None = None,
    fio: str | Path | FioJobs | None = None,
    overrides: Mapping[str, Any] | None = None,
    seed: int | None = None,
    tolerate: bool = False,
    sort: bool = False,
    check: bool = False,
    fairness: bool = False,
    until_steady: bool | int = False,
    requests_file: str | Path | None = None,
    epochs_file: str | Path | None = None,
    timeline_file: str | Path | None = None,
    on_full_timeline: Callable[[int], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
    on_open: Callable[[str | None], None] | None = None,
    on_trouble: Callable[[str], None] | None = None,
    victim: VictimSelector | type[VictimSelector] | str | None = None,
    allocator: Allocator | type[Allocator] | str | None = None,
    home: HomeSelector | type[HomeSelector] | str | None = None,
    placement: WritePlacer | type[WritePlacer] | str | None = None,
    scheduler: Scheduler | type[Scheduler] | str | None = None,
    routing: RoutingAlgorithm | type[RoutingAlgorithm] | str | None = None,
    hops: PacketRouting | type[PacketRouting] | str | None = None,
    arbiter: Arbiter | type[Arbiter] | str | None = None,
    trust_policies: bool = False,
) -> Result:
    """Simulates one drive. The interpreter lock is released, so that other threads continue.

    Args:
        config: The path of a configuration file, "preset:NAME", tables as nested mappings, or typed parameters.
        trace: A trace to replay instead of the workload of the configuration: a file, or a data frame of pandas, polars
            or Arrow with a column for arrivals (`arrival_us`, say), `offset_bytes`, `size_bytes` and `kind`.
        profile: A named profile to replay instead.
        fio: A fio job file to run instead, each job as a stream; or the jobs from `flashmesh.importers.fio.read_jobs`.
        overrides: Values by their dotted key, such as `{"fabric.kind": "ideal"}`.
        seed: The seed of all random numbers.
        tolerate: Whether to skip all unusable lines of a trace.
        sort: Whether to accept a trace that is out of order within the sorting window.
        check: Whether to check the simulation against its oracles as it runs.
        fairness: Whether to also run every stream alone, and compare (`Result.fairness`). With `until_steady` each run
            alone is lengthened too, one after the other; otherwise they run in parallel.
        until_steady: Whether to repeat with more requests until the measured window is steady, or the maximum number of
            requests of a run, warm-up included; by default 64 times those of the first run.
        requests_file: A Parquet file to write with a row for every request.
        epochs_file: A file to write with a row for every epoch, CSV or Parquet by its suffix.
        timeline_file: A file for a Perfetto timeline, of the window set by `measure.window-start` and related keys.
        on_full_timeline: Called if the timeline was full, with the simulated time in picoseconds at which it ends.
        progress: Called ten times a second, in the calling thread.
        on_open: Called once before the first request, with the summary of the trace, or None.
        on_trouble: Called in another thread with errors of the request log during the run.
        victim: A policy in Python instead of `gc.victim`: an object, its class, or "FILE.py:CLASS". The run uses the
            object itself; with several runs (`fairness`, `until_steady`), each uses a copy.
        allocator: A policy instead of `ftl.allocation`.
        home: A policy that chooses the copy of a replicated page that serves a read.
        placement: A policy that chooses the plane of a page that the allocator has placed, like a firmware policy.
        scheduler: A policy instead of `schedule.policy`.
        routing: A policy instead of `venice.routing`.
        hops: A policy that chooses the next link of a packet of NoSSD, instead of XY routing.
        arbiter: A policy instead of `fabric.arbitration`.
        trust_policies: Whether `config` may name policies by texts, as a file from somebody else or `configuration` of
            a saved result may; their code then runs.

    Raises:
        ConfigError: If the configuration is invalid.
        WorkloadError: If the workload cannot be read or replayed.
        CheckError: If a check found the simulation to contradict itself.
        PolicyError: If a policy raised an exception (its cause), or returned an impossible decision.
        OutputError: If a file cannot be written; after the run it is `Unwritten`, which has the result.
        Interrupted: On Ctrl-C; it has the partial result. No file is written.
    """
    jobs = jobs_of(fio)
    trace, overrides = as_trace(trace, overrides)
    policies = {
        "victim": victim,
        "allocator": allocator,
        "home": home,
        "placement": placement,
        "scheduler": scheduler,
        "routing": routing,
        "hops": hops,
        "arbiter": arbiter,
    }
    overrides, objects = with_policies(overrides, policies)
    loaded = configuration.load(
        config,
        overrides=overrides,
        trace=trace,
        profile=profile,
        fio=jobs,
        seed=seed,
        tolerate=tolerate,
        sort=sort,
        trust_policies=trust_policies,
    )
    goal = goal_of(until_steady)
    if goal is not None:
        for name, file in (("requests_file", requests_file), ("timeline_file", timeline_file)):
            if file is not None:
                raise ConfigError(f"until_steady and {name} exclude each other: set workload.requests to its result")
        loaded = measured(loaded)
    job = Job(loaded, check=check)
    alone = each_alone(job) if fairness else []
    threads = cores() if alone else 1
    memory.require([loaded] if goal is not None else [loaded] * (1 + len(alone)), threads, check)
    if on_open is not None:
        job.on_open = on_open
    with OutputFiles() as files, used_themselves({} if alone or goal is not None else objects):
        if requests_file is not None:
            job.on_requests = files.open(request_log(requests_file, loaded.stream_names(), on_trouble))
        if timeline_file is not None:
            files.open(timeline(timeline_file, job))
        write_epochs = files.open(epoch_table(epochs_file, loaded)) if epochs_file is not None else None
        if goal is not None:
            first, job = job, long_enough(job, goal, progress)
            alone = alone_long_enough(first, job.result, goal, progress) if fairness else []
        left = [] if goal is not None else [job, *alone]
        if left and not execute(left, threads, progress):
            raise Interrupted(job.result)
        assert job.result is not None
        try:
            result = with_fairness(job.result, alone) if fairness else job.result
            if write_epochs is not None:
                write_epochs(result)
        except KeyboardInterrupt as interrupt:
            raise Interrupted(job.result) from interrupt
        failures = files.close()
    if failures:
        raise Unwritten("\n".join(failures), result)
    if on_full_timeline is not None and job.timeline_full_ps is not None:
        on_full_timeline(job.timeline_full_ps)
    return result


def long_enough(first: Job, goal: UntilSteady, progress: Callable[[Progress], None] | None) -> Job:
    """Runs a job, then longer ones until the measured window is steady or the limit is reached; returns the last job.

    Raises:
        Interrupted: On Ctrl-C; it has the result of the try with the most requests, of the last finished one and the
            interrupted one.
    """
    results: list[Result] = []

    def attempt(config: Config) -> Job:
        job = Job(config, check=first.check, alone=first.alone, on_open=first.on_open)
        is_finished = execute([job], 1, progress)
        if job.result is not None:
            results.append(job.result)
        if not is_finished:
            raise KeyboardInterrupt
        first.on_open = lambda summary: None
        return job

    def document(job: Job) -> Mapping[str, Any]:
        assert job.result is not None
        return job.result.document

    try:
        job, _ = settled(first.config, goal, attempt, document)
    except KeyboardInterrupt as interrupt:
        raise Interrupted(max(results, key=lambda result: result.requests, default=None)) from interrupt
    return job


def alone_long_enough(
    first: Job, together: Result | None, goal: UntilSteady, progress: Callable[[Progress], None] | None
) -> list[Job]:
    """Runs each stream of a job alone until it is steady, or the limit is reached.

    Raises:
        Interrupted: On Ctrl-C; it has the result `together` of all streams.
    """
    try:
        return [long_enough(job, goal, progress) for job in each_alone(first)]
    except Interrupted as interrupt:
        raise Interrupted(together) from interrupt


def goal_of(until_steady: bool | int) -> UntilSteady | None:
    """Returns the condition for the argument `until_steady` of `run`; None if runs are not repeated.

    Raises:
        ConfigError: If the limit is below 1.
    """
    if until_steady is False:
        return None
    if until_steady is True:
        return UntilSteady()
    if until_steady < 1:
        raise ConfigError(f"until_steady is a number of requests, 1 or more, not {until_steady}")
    return UntilSteady(until_steady)


@contextmanager
def timeline(path: str | Path, job: Job) -> Iterator[None]:
    """Makes a job write a timeline to a temporary file; moves it to `path` if the block ends without an exception.

    Raises:
        OutputError: If the file cannot be written.
    """
    with whole_file(path) as target:
        job.timeline = target
        yield
        if job.timeline_failure is not None:
            raise OutputError(f"{path}: the timeline cannot be written: {job.timeline_failure}")


def jobs_of(fio: str | Path | FioJobs | None) -> FioJobs | None:
    """Returns the jobs of a fio job file, read if a path is given; None for None."""
    if fio is None:
        return None
    from flashmesh.importers.fio import FioJobs, read_jobs

    return fio if isinstance(fio, FioJobs) else read_jobs(fio)


def each_alone(job: Job) -> list[Job]:
    """Returns a job for each stream in which only this stream issues requests; empty for a run with one stream."""
    streams = len(job.config.stream_names())
    return [Job(job.config, check=job.check, alone=index) for index in range(streams)] if streams > 1 else []


def with_fairness(together: Result, alone: Sequence[Job]) -> Result:
    """Returns a result with the slowdown of each stream, from the jobs `alone` that ran each stream alone."""
    results = [job.result for job in alone if job.result is not None] or [together]
    return together.with_fairness(compare_streams(together, results))


def compare(
    config: ConfigSource,
    vary: Mapping[str, Sequence[Any]],
    *,
    trace: str | Path | DataFrame | None = None,
    profile: str | None = None,
    fio: str | Path | FioJobs | None = None,
    overrides: Mapping[str, Any] | None = None,
    seed: int | None = None,
    tolerate: bool = False,
    sort: bool = False,
    check: bool = False,
    fairness: bool = False,
    until_steady: bool | int = False,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    on_open: Callable[[str | None], None] | None = None,
    trust_policies: bool = False,
) -> Comparison:
    """Simulates every combination of the varied values in parallel. Each result equals that of a single run.

    Args:
        config: As in `run`, like all arguments not described here.
        vary: The values of each varied key, such as `{"fabric.kind": ["bus", "ideal"]}`.
        trace: As in `run`.
        profile: As in `run`.
        fio: As in `run`; `vary` overrides the jobs, as `overrides` do.
        overrides: As in `run`.
        seed: As in `run`.
        tolerate: As in `run`.
        sort: As in `run`.
        check: As in `run`.
        fairness: As in `run`.
        until_steady: As in `run`.
        jobs: The number of runs at once; by default one for each core.
        progress: As in `run`.
        on_open: Called once, with the summary of the trace as read by the first configuration.
        trust_policies: As in `run`.

    Raises:
        ConfigError: If an axis or a configuration is invalid, or no run reads one of the keys; then nothing is run.
        WorkloadError: If the workload cannot be read or replayed.
        CheckError: If a check found a simulation to contradict itself.
        Interrupted: On Ctrl-C; it has the runs that had begun.

    A failed run stops no other. The error of the first one is raised at the end; its attribute `partial` is the
    comparison of the others.
    """
    from flashmesh.sweeps.executors.local import LocalThreads

    session, threads = prepared(
        config,
        vary,
        trace=trace,
        profile=profile,
        fio=fio,
        overrides=overrides,
        seed=seed,
        tolerate=tolerate,
        sort=sort,
        check=check,
        fairness=fairness,
        until_steady=until_steady,
        jobs=jobs,
        trust_policies=trust_policies,
    )
    try:
        session.run(LocalThreads(threads), on_progress=progress, on_open=on_open)
    except KeyboardInterrupt as interrupt:
        partial = session.comparison(partial=True)
        raise Interrupted(partial if partial.runs else None) from interrupt
    if session.failures:
        raise failed(session)
    return session.comparison()


def prepared(
    config: ConfigSource,
    vary: Mapping[str, Sequence[Any]],
    *,
    fio: str | Path | FioJobs | None = None,
    overrides: Mapping[str, Any] | None = None,
    check: bool = False,
    fairness: bool = False,
    until_steady: bool | int = False,
    jobs: int | None = None,
    **given: Any,
) -> tuple[Session, int]:
    """Returns (session of a comparison with all runs checked, number of runs at once).

    Raises:
        ConfigError: If an axis or a configuration is invalid, or no run reads one of the keys.
    """
    from flashmesh.sweeps.executors.session import Session
    from flashmesh.sweeps.inputs.plan import Plan, cartesian
    from flashmesh.sweeps.tasks import tasks_of

    groups = cartesian(vary)
    keys = [key for group in groups for key in group.keys]
    given["trace"], reading = as_trace(given.get("trace"), overrides)
    overrides = spelt_settings(reading or {})
    refuse_clashes(keys, {**given, "fio": fio})
    for key in overrides:
        if key in keys:
            raise ConfigError(f"{key} is varied and given by --set: drop one of them")
    threads = jobs if jobs is not None else cores()
    if threads < 1:
        raise ValueError(f"jobs must be at least 1, not {threads}")
    listed = jobs_of(fio)
    source = configuration.read_once(config)

    def load(setting: dict[str, str]) -> Config:
        return configuration.load(source, overrides=overrides, varied=setting, fio=listed, **given)

    tasks = tasks_of(
        Plan(tuple(groups)).points(), load, check=check, fairness=fairness, until_steady=goal_of(until_steady)
    )
    configuration.refuse_unread([task.config for task in tasks], [*keys, *overrides])
    memory.require([task.config for task in tasks], threads, check)
    return Session(tasks), threads


def failed(session: Session) -> BaseException:
    """Returns the error of the first failed run. Its `partial` is the comparison of the other runs."""
    error = session.failures[0].error
    assert error is not None
    error.partial = session.comparison()  # type: ignore[attr-defined]
    return error


def cores() -> int:
    """Returns the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
