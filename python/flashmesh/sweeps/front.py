"""Sweeps and searches as one call, for the command line and for programs alike."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashmesh import configuration
from flashmesh._native import ConfigError, FlashmeshError
from flashmesh.configuration import value_text
from flashmesh.spelling import spelt_settings
from flashmesh.sweeps.finish import gather
from flashmesh.sweeps.heartbeat import Heartbeat
from flashmesh.sweeps.session import Session
from flashmesh.sweeps.store import Store
from flashmesh.sweeps.sweepfile import read_sweep
from flashmesh.sweeps.tasks import tasks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flashmesh._native import Config
    from flashmesh.comparison import Comparison
    from flashmesh.execution import Progress
    from flashmesh.steady import UntilSteady
    from flashmesh.sweeps.sweepfile import SweepFile
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
    """The runs of a sweep, all of them checked.

    Args:
        read: The sweep.
        overrides: Keys that have another value than in its file.
        check: Whether the runs are checked against the oracles.
        fairness: Whether each stream is run alone as well.
        until_steady: Whether runs go on until they are steady.
        on_misfit: Is told of a point that cannot be configured; without it none may be.

    Raises:
        ConfigError: When one cannot be configured, or no run reads one of the keys; the text shows the place.
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
    """The folder of results of a sweep, with its plan.

    Raises:
        OutputError: When it cannot be written, or holds something else.
    """
    described: dict[str, Any] = {
        "file": str(read.file.path),
        "sweep": read.file.tables,
        "axes": list(read.plan.keys),
        "points": len(tasks),
    }
    store = Store.open(folder, resume=resume, kind="sweep", described=described)
    store.write_plan([(task.name, task.settings) for task in tasks])
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
        file: The sweep, as docs/sweeps.md describes it.
        out: The folder of the results; by default FILE.results beside FILE.toml.
        resume: Whether to go on with a folder that holds results.
        overrides: Keys that have another value in all runs.
        check: Whether to check the simulations against their oracles as they run.
        fairness: Whether to run every stream alone as well.
        until_steady: Whether runs go on until they are steady, or up to how many requests; as in `run`.
        jobs: How many runs go on at once; by default one for each core.
        progress: Called ten times a second, in the calling thread.
        trust_policies: Whether the sweep and its configuration may name policies, whose code then runs.

    Returns:
        The results, those of earlier sessions too; runs that failed are among its `failures`.

    Raises:
        ConfigError: When the sweep cannot be used; the text shows the place.
        OutputError: When the folder cannot be written, or holds something else.
    """
    from flashmesh.simulate import cores, goal_of
    from flashmesh.sweeps.local import LocalThreads

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
        file: The search, as docs/sweeps.md describes it.
        out: The folder of the results; by default FILE.results beside FILE.toml.
        resume: Whether to go on with a folder that holds results.
        jobs: How many runs go on at once; by default one for each core.
        trust_policies: Whether the search and its configuration may name policies, whose code then runs.

    Returns:
        The Pareto front, the best in the first objective first: of each drive its `settings` and its `measures`. It is
        empty when no drive keeps to the constraints; `flashmesh.load(out)` has all that were tried.

    Raises:
        ConfigError: When the search cannot be used, or Optuna is not installed.
        OutputError: When the folder cannot be written, or holds something else.
    """
    from flashmesh.simulate import cores
    from flashmesh.sweeps.local import LocalThreads
    from flashmesh.sweeps.search import searching

    path = Path(file)
    folder = Path(out) if out is not None else path.with_suffix(".results")
    with searching(path, folder, resume, trust_policies) as search:
        search.run(LocalThreads(jobs if jobs is not None else cores()), lambda session: lambda outcome: None)
        search.finish()
        return search.front()
