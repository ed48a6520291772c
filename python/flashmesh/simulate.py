"""The front door of the Python interface: `run` and `compare`."""

from __future__ import annotations

import itertools
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from flashmesh import configuration
from flashmesh._native import ConfigError
from flashmesh.axes import axes_of, refuse_clashes, typed
from flashmesh.epochs import epoch_table
from flashmesh.execution import Interrupted, Job, Progress, execute
from flashmesh.fairness import fairness as compare_streams
from flashmesh.request_log import request_log

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from flashmesh.comparison import Comparison
    from flashmesh.configuration import ConfigSource
    from flashmesh.importers.fio import FioJobs
    from flashmesh.results import Result

MISFITS_SHOWN = 8
"""How many runs that cannot be configured are named."""


def run(
    config: ConfigSource,
    *,
    trace: str | Path | None = None,
    profile: str | None = None,
    fio: str | Path | FioJobs | None = None,
    overrides: Mapping[str, Any] | None = None,
    seed: int | None = None,
    tolerate: bool = False,
    check: bool = False,
    fairness: bool = False,
    requests_file: str | Path | None = None,
    epochs_file: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
    on_open: Callable[[str | None], None] | None = None,
) -> Result:
    """Simulates one drive. The interpreter lock is released: other threads go on.

    Args:
        config: The path of a configuration file, "preset:NAME", tables as nested mappings, or typed parameters.
        trace: A trace file to replay instead of the workload of the configuration.
        profile: A named profile to replay instead.
        fio: A job file of fio to run instead, each job as a stream; or what `flashmesh.importers.fio` read of one.
        overrides: Values by their dotted key, such as `{"fabric.kind": "ideal"}`.
        seed: The number every random choice grows from.
        tolerate: Whether to skip unusable lines of a trace, however many.
        check: Whether to check the simulation against its oracles as it runs.
        fairness: Whether to run every stream alone as well, in parallel, and compare (`Result.fairness`).
        requests_file: A Parquet file to write with a row for every request.
        epochs_file: A file to write with a row for every epoch, CSV or Parquet by its ending.
        progress: Called ten times a second, in the calling thread.
        on_open: Called once before the first request, with the summary of the trace, if there is one.

    Raises:
        ConfigError: When the configuration cannot be used.
        WorkloadError: When the workload cannot be read or replayed.
        CheckError: When a check found the simulation to contradict itself.
        OutputError: When a file cannot be written.
        Interrupted: On Ctrl-C; holds the result up to there. No file is written.
    """
    jobs = jobs_of(fio)
    loaded = configuration.load(
        config, overrides=overrides, trace=trace, profile=profile, fio=jobs, seed=seed, tolerate=tolerate
    )
    job = Job(loaded, check=check)
    alone = each_alone(job) if fairness else []
    if on_open is not None:
        job.on_open = on_open
    with ExitStack() as files:
        if requests_file is not None:
            job.on_requests = files.enter_context(request_log(requests_file, loaded.stream_names()))
        write_epochs = files.enter_context(epoch_table(epochs_file, loaded)) if epochs_file is not None else None
        if not execute([job, *alone], cores() if alone else 1, progress):
            raise Interrupted(job.result)
        assert job.result is not None
        if write_epochs is not None:
            write_epochs(job.result)
    return with_fairness(job.result, alone) if fairness else job.result


def jobs_of(fio: str | Path | FioJobs | None) -> FioJobs | None:
    """The jobs of fio, read where a file is named."""
    if fio is None:
        return None
    from flashmesh.importers.fio import FioJobs, read_jobs

    return fio if isinstance(fio, FioJobs) else read_jobs(fio)


def each_alone(job: Job) -> list[Job]:
    """The runs of each stream of a run while the others are silent; none where there is one, which is alone already."""
    streams = len(job.config.stream_names())
    return [Job(job.config, check=job.check, alone=index) for index in range(streams)] if streams > 1 else []


def with_fairness(together: Result, alone: Sequence[Job]) -> Result:
    """A result with what the runs of its streams alone have shown."""
    results = [job.result for job in alone if job.result is not None] or [together]
    return together.with_fairness(compare_streams(together, results))


def compare(
    config: ConfigSource,
    vary: Mapping[str, Sequence[Any]],
    *,
    trace: str | Path | None = None,
    profile: str | None = None,
    fio: str | Path | FioJobs | None = None,
    overrides: Mapping[str, Any] | None = None,
    seed: int | None = None,
    tolerate: bool = False,
    check: bool = False,
    fairness: bool = False,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    on_open: Callable[[str | None], None] | None = None,
) -> Comparison:
    """Simulates every combination of the varied values, in parallel; each result is that of the run on its own.

    Args:
        config: As in `run`, and so are the other arguments that are not named here.
        vary: The values of each varied key, such as `{"fabric.kind": ["bus", "ideal"]}`.
        trace: See `run`.
        profile: See `run`.
        fio: See `run`; `vary` comes after the jobs, as `overrides` do.
        overrides: See `run`.
        seed: See `run`.
        tolerate: See `run`.
        check: See `run`.
        fairness: See `run`.
        jobs: How many runs go on at once; by default one for each core.
        progress: See `run`.
        on_open: Called once, with the summary of the trace as the first configuration reads it.

    Raises:
        ConfigError: When an axis or one of the configurations cannot be used; nothing is run then.
        WorkloadError: When the workload cannot be read or replayed.
        CheckError: When a check found a simulation to contradict itself.
        Interrupted: On Ctrl-C; holds the runs that had begun.
    """
    from flashmesh.comparison import ComparedRun, Comparison

    axes = axes_of(vary)
    given = {"seed": seed, "trace": trace, "profile": profile, "fio": fio, "tolerate": tolerate}
    refuse_clashes(list(axes), given)
    listed = jobs_of(fio)
    source = configuration.read_once(config)
    settings = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    work: list[Job] = []
    misfits: list[tuple[dict[str, str], ConfigError]] = []
    for setting in settings:
        try:
            loaded = configuration.load(
                source,
                overrides=overrides,
                varied=setting,
                trace=trace,
                profile=profile,
                fio=listed,
                seed=seed,
                tolerate=tolerate,
            )
        except ConfigError as error:
            misfits.append((setting, error))
        else:
            work.append(Job(loaded, check=check))
    if misfits:
        raise misfit(misfits, len(settings))
    if on_open is not None and work:
        work[0].on_open = on_open
    threads = jobs if jobs is not None else cores()
    if threads < 1:
        raise ValueError(f"jobs must be at least 1, not {threads}")
    alone = [each_alone(job) if fairness else [] for job in work]
    queue = [one for job, others in zip(work, alone, strict=True) for one in (job, *others)]
    complete = execute(queue, threads, progress)
    runs = tuple(
        ComparedRun(
            {key: typed(value) for key, value in setting.items()},
            with_fairness(job.result, others) if fairness and complete else job.result,
        )
        for setting, job, others in zip(settings, work, alone, strict=True)
        if job.result is not None
    )
    comparison = Comparison({key: tuple(map(typed, values)) for key, values in axes.items()}, runs)
    if not complete:
        raise Interrupted(comparison if runs else None)
    return comparison


def misfit(misfits: Sequence[tuple[Mapping[str, str], ConfigError]], runs: int) -> ConfigError:
    """What is wrong with a comparison: the first error, and which of the runs do not fit when others would."""
    first = misfits[0][1]
    if len(misfits) == runs:
        return first
    named = ["  " + ", ".join(f"{key}={value}" for key, value in setting.items()) for setting, _ in misfits]
    more = len(named) - MISFITS_SHOWN
    shown = [*named[:MISFITS_SHOWN], *([f"  and {more} more"] if more > 0 else [])]
    count = f"{len(misfits)} of {runs} runs cannot be configured, so none was run"
    return ConfigError("\n".join([str(first), f"{count}; leave their values out, or compare them apart:", *shown]))


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
