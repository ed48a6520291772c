"""`flashmesh sweep --slurm-array`: the scripts of a job array, and their submission."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from flashmesh._native import ConfigError, OutputError
from flashmesh.cli.command import words_of
from flashmesh.cli.output import stdout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.sweeps.executors.jobarray import Resources
    from flashmesh.sweeps.inputs.sweepfile import SweepFile
    from flashmesh.sweeps.tasks import Task

F = TypeVar("F", bound=Callable[..., Any])
HERE = ("out", "resume", "shard", "jobs", "dask", "dask_tls", "workers", "dry_run", "watched")
"""Options of `sweep` that the jobs do not inherit: the job scripts set them to other values, or leave them out."""


@dataclass(frozen=True)
class Wanted:
    """Argument of `--slurm-array`: number of tasks, and maximum number of tasks at once (None without a limit)."""

    tasks: int
    at_once: int | None = None


def wanted(text: str) -> Wanted:
    """Parses `N` or `N%M`, the argument of `--slurm-array`."""
    tasks, percent, at_once = text.partition("%")
    numbers = [tasks, at_once] if percent else [tasks]
    if not all(number.isdecimal() and int(number) >= 1 for number in numbers):
        raise click.BadParameter(
            f"{text!r}: expected the number of tasks, 1 or more, such as 20, or 20%5 to run at most 5 at once"
        )
    return Wanted(int(tasks), int(at_once) if percent else None)


def option(text: str) -> tuple[str, str | None]:
    """Parses an option of sbatch, `KEY=VALUE` or `KEY`, into the key without dashes and the value; None without one."""
    from flashmesh.sweeps.executors.jobarray import GIVEN

    key, equals, value = text.lstrip("-").partition("=")
    key = key.strip()
    if not key or not key.replace("-", "").isalnum() or "\n" in text:
        raise click.BadParameter(f"{text!r}: expected an option of sbatch, such as account=physics or exclusive")
    if key in GIVEN:
        raise click.BadParameter(f"{text!r}: use {GIVEN[key]} for this option of sbatch")
    return key, value.strip() if equals else None


def line(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Returns the value of an sbatch option; refuses blank and multi-line values, which no `#SBATCH` line can hold."""
    if value is not None and (not value.strip() or "\n" in value):
        raise click.BadParameter(f"{value!r}: expected a value of one line, as sbatch takes it")
    return value


def slurm_options(command: F) -> F:
    """Adds the options of job arrays."""
    options = [
        click.option(
            "--slurm-array",
            type=wanted,
            metavar="N[%M]",
            help="Write the script of a Slurm job array with N shards, at most M at once, and run nothing.",
        ),
        click.option("--submit", is_flag=True, help="Submit the job array with sbatch."),
        click.option("--slurm-partition", metavar="NAME", callback=line, help="Partition of the tasks."),
        click.option(
            "--slurm-time", metavar="TIME", callback=line, help="Time limit of a task, such as 4:00:00 or 2-00:00:00."
        ),
        click.option("--slurm-memory", metavar="SIZE", callback=line, help="Memory of a task, such as 4G."),
        click.option(
            "--slurm-cpus",
            type=click.IntRange(min=1),
            default=1,
            show_default=True,
            help="Cores of a task, and its number of parallel runs unless --jobs is given.",
        ),
        click.option(
            "--slurm-option",
            "slurm_more",
            type=option,
            multiple=True,
            metavar="KEY[=VALUE]",
            help="Another option of sbatch, such as account=physics.",
        ),
        click.option(
            "--slurm-log",
            type=click.Path(path_type=Path, file_okay=False),
            metavar="DIR",
            help="Folder of the logs; by default slurm in the folder of the results.",
        ),
    ]
    for each in reversed(options):
        command = each(command)
    return command


def refuse_mixed(ctx: click.Context) -> None:
    """Refuses options of job arrays without an array, and an array with options of other ways to run."""

    def given(name: str) -> bool:
        return ctx.get_parameter_source(name) not in (ParameterSource.DEFAULT, None)

    spelt = {parameter.name: parameter.opts[-1] for parameter in ctx.command.params}
    if given("slurm_array"):
        for name in ("shard", "dask", "dask_tls", "workers", "watched"):
            if given(name):
                raise click.UsageError(f"--slurm-array cannot be combined with {spelt[name]}", ctx)
        return
    for name, words in spelt.items():
        if name is not None and (name == "submit" or name.startswith("slurm_")) and given(name):
            raise click.UsageError(f"{words} is for a job array: add --slurm-array N", ctx)


@dataclass(frozen=True)
class Scripts:
    """Scripts of a job array and of the job that follows it."""

    array: str
    last: str
    by_hand: str
    """Command that does the work of the job after the array, without Slurm."""


def scripts(
    ctx: click.Context,
    file: Path,
    folder: Path,
    resources: Resources,
    tasks: Sequence[int],
    asked: Wanted,
    shards: int,
    log: Path,
) -> Scripts:
    """Returns the scripts of the job array and of the job that follows it.

    Args:
        ctx: Context of the command; the jobs inherit its options, except for those in `HERE`.
        file: The sweep.
        folder: Folder of the results.
        resources: Options of sbatch.
        tasks: Numbers of the shards (parts of the sweep, one for each task) with unfinished runs.
        asked: Argument of `--slurm-array`.
        shards: Number of shards.
        log: Folder of the logs.

    Raises:
        ConfigError: If sbatch cannot write logs in the folder.
    """
    from flashmesh.sweeps.executors.jobarray import indexes, log_in, script

    other = [name for name in ctx.params if name == "submit" or name.startswith("slurm_")]
    words = words_of(ctx, {*HERE, *other})
    common = shlex.join(["sweep", named(file), *words, "--out", named(folder), "--resume"])
    is_given = ctx.get_parameter_source("jobs") != ParameterSource.DEFAULT
    jobs = str(ctx.params["jobs"]) if is_given else f'"${{SLURM_CPUS_PER_TASK:-{resources.cpus}}}"'
    name = f"flashmesh-{file.stem}"
    numbers = indexes(tasks) + (f"%{asked.at_once}" if asked.at_once is not None else "")
    return Scripts(
        script(
            name,
            log_in(log, "%A_%a.out"),
            numbers,
            resources,
            "Runs one shard of the sweep in each task.",
            [common, "--shard", f'"$SLURM_ARRAY_TASK_ID/{shards}"', "--jobs", jobs],
        ),
        script(
            f"{name}-last",
            log_in(log, "%j.out"),
            None,
            resources,
            "Runs what the tasks of the array left, and writes the table of all results.",
            [common, "--jobs", jobs],
        ),
        f"flashmesh {common}",
    )


def named(path: Path) -> str:
    """Returns a path in a spelling that no command mistakes for an option."""
    return os.path.join(".", path) if str(path).startswith("-") else str(path)  # noqa: PTH118 - Path drops the dot


def run_array(
    ctx: click.Context,
    read: SweepFile,
    tasks: list[Task],
    folder: Path,
    resume: bool,
    asked: Wanted,
    resources: Resources,
    log: Path | None,
    submitted: bool,
    dry_run: bool,
) -> None:
    """Writes the scripts of a job array, submits them if `submitted` is set, and prints the next steps.

    Raises:
        ConfigError: If Slurm refuses the array, or an earlier array has not ended.
        OutputError: If the folder cannot be written, or holds results and `resume` is not set.
    """
    from flashmesh.sweeps.executors.jobarray import require_room, require_sbatch, submit
    from flashmesh.sweeps.executors.shards import FOLDER, Array, shares, write_array
    from flashmesh.sweeps.front import store_of
    from flashmesh.sweeps.results.store import Store

    is_new = begins_anew(folder, resume)
    kept = Store(folder)
    runs = list(dict.fromkeys(task.name for task in tasks))
    shards = min(asked.tasks, len(runs))
    left = [sum(name not in kept for name in share) for share in shares(runs, shards)]
    numbers = [number for number, count in enumerate(left, 1) if count]
    place = folder / FOLDER
    made = scripts(ctx, read.file.path, folder, resources, numbers, asked, shards, log if log is not None else place)
    if not numbers:
        with stdout() as stream:
            stream.write(f"all {len(runs):,} runs are finished; their table:  {made.by_hand}\n")
        return
    require_room(numbers[-1])
    if dry_run:
        with stdout() as stream:
            stream.write(made.array)
        return
    if submitted:
        require_sbatch()
    store_of(read, folder, tasks, resume or is_new).close()
    array, last = place / "array.sh", place / "last.sh"
    try:
        place.mkdir(exist_ok=True)
        (log if log is not None else place).mkdir(parents=True, exist_ok=True)
        array.write_text(made.array, encoding="utf-8")
        last.write_text(made.last, encoding="utf-8")
        write_array(folder, Array(shards))
        told = [f"{tasks_told(numbers, shards, max(left), asked)}: {array}"]
        if submitted:
            job = submit(array)
            write_array(folder, Array(shards, job))
            told[0] = f"job {job}: {told[0]}"
            following = submit_last(last, job)
            write_array(folder, Array(shards, job, following))
            told.append(
                f"job {following} follows: it runs what the tasks leave unfinished, and writes the table of all "
                f"results: {last}"
            )
        else:
            told += [
                f"submit:   job=$(sbatch --parsable {shlex.quote(str(array))})",
                f"          sbatch --dependency=afterany:$job {shlex.quote(str(last))}",
                "The second job runs what the tasks leave unfinished, and writes the table of all results.",
            ]
    except OSError as error:
        raise OutputError(f"{place}: cannot be written: {error.strerror or error}") from error
    told += [f"watch:    flashmesh sweep --watch {shlex.quote(named(folder))}", f"by hand:  {made.by_hand}"]
    with stdout() as stream:
        stream.writelines(f"{line}\n" for line in told)


def submit_last(path: Path, job: str) -> str:
    """Submits the job that follows the array, and returns its number.

    Raises:
        ConfigError: If sbatch refuses the job; the message says that the array was submitted.
    """
    from flashmesh.sweeps.executors.jobarray import submit

    try:
        return submit(path, after=job)
    except ConfigError as error:
        raise ConfigError(f"{error}; the array is submitted as job {job}: run --resume when it has ended") from error


def tasks_told(numbers: Sequence[int], shards: int, runs: int, asked: Wanted) -> str:
    """Returns the number of tasks of an array, and the maximum number of runs of a task, as text."""
    count = len(numbers)
    tasks = f"{count:,} task{'s' if count > 1 else ''} of at most {runs:,} run{'s' if runs > 1 else ''}"
    if shards < asked.tasks:
        return f"{tasks}, as many as there are runs"
    return tasks if count == shards else f"{tasks}; the other {shards - count:,} shards are finished"


def begins_anew(folder: Path, resume: bool) -> bool:
    """Returns whether a folder holds the scripts of an array that was planned, but has no results yet.

    Raises:
        ConfigError: If an earlier array was submitted and `resume` is not set, or if it has not ended.
    """
    from flashmesh.sweeps.executors.jobarray import queue_of
    from flashmesh.sweeps.executors.shards import read_array
    from flashmesh.sweeps.results.store import Store

    array = read_array(folder)
    if array is None:
        return False
    if array.job is not None and not resume:
        raise ConfigError(
            f"{folder}: job {array.job} was submitted for it: name another folder, or continue with --resume when "
            "that job has ended"
        )
    queue = queue_of(array)
    if queue:
        raise ConfigError(
            f"{folder}: Slurm's queue still has {len(queue):,} of the tasks of job {array.job}: wait for them, "
            f"or end them with scancel {' '.join(filter(None, (array.job, array.last)))}"
        )
    return not Store(folder).names
