"""Sweeps and searches as single calls, for the command line and for programs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashmesh import configuration
from flashmesh._native import ConfigError, FlashmeshError
from flashmesh.configuration import value_text
from flashmesh.configuring.spelling import spelt_settings
from flashmesh.sweeps.executors.heartbeat import Heartbeat
from flashmesh.sweeps.executors.session import Session
from flashmesh.sweeps.inputs.sweepfile import read_sweep
from flashmesh.sweeps.results.finish import gather
from flashmesh.sweeps.results.store import Store
from flashmesh.sweeps.tasks import tasks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flashmesh._native import Config
    from flashmesh.comparison import Comparison
    from flashmesh.execution import Progress
    from flashmesh.running.steady import UntilSteady
    from flashmesh.sweeps.inputs.sweepfile import SweepFile
    from flashmesh.sweeps.tasks import Task


def tasks_in(
    read: SweepFile,
    overrides: Mapping[str, Any],
    *,
    check: bool,
    fairness: bool,
    until_steady: UntilSteady | None,
    on_misfit: Callable[[dict[str, str], ConfigError], None] | None,
) -> list[Task]:
    """Returns the runs of a sweep, with every configuration checked.

    Args:
        read: The sweep.
        overrides: Keys of all runs, which override the keys of the file.
        check: Whether the runs are checked against the oracles.
        fairness: Whether each stream is also run alone.
        until_steady: Condition for runs that continue until they are steady.
        on_misfit: Called for each point that cannot be configured; None makes such a point an error.

    Raises:
        ConfigError: If a point cannot be configured, or no run reads one of the keys; the message shows the place.
    """
    given = read.overrides | spelt_settings(overrides)
    for key in spelt_settings(overrides):
        if key in read.plan.keys:
            raise ConfigError(f"{key} is varied and given by --set: drop one of them")
    texts = {key: value_text(value) for key, value in given.items()}

    def load(values: dict[str, str]) -> Config:
        try:
            return configuration.load(
                read.config,
                overrides=given,
                varied=values,
                keep=read.keep,
                typed=overrides,
                trust_policies=read.file.trust_policies,
            )
        except ConfigError as error:
            raise read.file.placed(error, values | texts) from None

    tasks = tasks_of(
        read.plan.points(), load, check=check, fairness=fairness, until_steady=until_steady, on_misfit=on_misfit
    )
    read.file.refuse_unread([task.config for task in tasks], [*read.plan.keys, *given])
    return tasks


def store_of(read: SweepFile, folder: Path, tasks: list[Task], resume: bool) -> Store:
    """Opens the folder of results of a sweep, and writes its plan.

    Raises:
        OutputError: If the folder cannot be written, or holds other files.
        WorkloadError: If a file of a run cannot be read.
    """
    described: dict[str, Any] = {
        "file": str(read.file.path),
        "sweep": read.file.tables,
        "axes": list(read.plan.keys),
        "points": len(tasks),
    }
    # Names of runs depend on their workload files, so an unreadable file is an error before the folder is created.
    plan = [(task.name, task.settings) for task in tasks]
    store = Store.open(folder, resume=resume, kind="sweep", described=described)
    store.write_plan(plan)
    return store


def sweep(
    file: str | Path,
    out: str | Path | None = None,
    *,
    resume: bool = False,
    overrides: Mapping[str, Any] | None = None,
    check: bool = False,
    fairness: bool = False,
    until_steady: bool | int = False,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    trust_policies: bool = False,
) -> Comparison:
    """Runs every point of a sweep on the cores of this machine; each result is saved as soon as it exists.

    Args:
        file: The sweep file; docs/sweeps.md describes the format.
        out: The folder of the results; by default FILE.results beside FILE.toml.
        resume: Whether to continue in a folder that holds results.
        overrides: Keys that have these values in all runs.
        check: Whether to check the simulations against their oracles as they run.
        fairness: Whether to also run every stream alone.
        until_steady: Whether runs continue until they are steady, or their maximum number of requests; as in `run`.
        jobs: The number of runs at once; by default one for each core.
        progress: Called ten times a second, in the calling thread.
        trust_policies: Whether the sweep and its configuration may name policies, whose code then runs.

    Returns:
        The results, including those of earlier sessions; runs that failed are among its `failures`.

    Raises:
        ConfigError: If the sweep is invalid; the message shows the place.
        OutputError: If the folder cannot be written, or holds other files.
    """
    from flashmesh.simulate import cores, goal_of
    from flashmesh.sweeps.executors.local import LocalThreads

    path = Path(file)
    read = read_sweep(path, trust_policies)
    tasks = tasks_in(
        read,
        overrides or {},
        check=check,
        fairness=fairness,
        until_steady=goal_of(until_steady),
        on_misfit=None,
    )
    store = store_of(read, Path(out) if out is not None else path.with_suffix(".results"), tasks, resume)
    try:
        session = Session(tasks, store)
        beat = Heartbeat(session, store.folder)

        def on_progress(found: Progress) -> None:
            beat(found)
            if progress is not None:
                progress(found)

        try:
            session.run(LocalThreads(jobs if jobs is not None else cores()), on_progress=on_progress)
        finally:
            beat.end()
            with suppress(FlashmeshError):
                gather(tasks, store)
        return session.comparison()
    finally:
        store.close()


def optimise(
    file: str | Path,
    out: str | Path | None = None,
    *,
    resume: bool = False,
    jobs: int | None = None,
    trust_policies: bool = False,
) -> list[dict[str, Any]]:
    """Searches a design space for the best drives under constraints, on the cores of this machine.

    Args:
        file: The search file; docs/sweeps.md describes the format.
        out: The folder of the results; by default FILE.results beside FILE.toml.
        resume: Whether to continue in a folder that holds results.
        jobs: The number of runs at once; by default one for each core.
        trust_policies: Whether the search and its configuration may name policies, whose code then runs.

    Returns:
        The Pareto front, the best in the first objective first: `settings` and `measures` of each drive. It is empty if
        no drive meets the constraints; `flashmesh.load(out)` has all drives that were tried.

    Raises:
        ConfigError: If the search is invalid, or Optuna is not installed.
        OutputError: If the folder cannot be written, or holds other files.
    """
    from flashmesh.simulate import cores
    from flashmesh.sweeps.executors.local import LocalThreads
    from flashmesh.sweeps.search import searching

    path = Path(file)
    folder = Path(out) if out is not None else path.with_suffix(".results")
    with searching(path, folder, resume, trust_policies) as search:
        search.run(LocalThreads(jobs if jobs is not None else cores()), lambda session: lambda outcome: None)
        search.finish()
        return search.front()
