"""Messages of `compare`, `sweep` and `optimise` while runs are active."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from flashmesh._native import CheckError, ConfigError, FlashmeshError, InternalError
from flashmesh.report import quantities as q
from flashmesh.sweeps.tasks import idle_note

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from flashmesh.sweeps.executors.session import Outcome, Session
    from flashmesh.sweeps.results.store import Store
    from flashmesh.sweeps.tasks import Task

PLANNED_SHOWN = 40
"""Maximum number of runs that the summary before the start lists."""
VALUES_SHOWN = 8
"""Maximum number of values of an axis that the summary lists."""
TOLD_FROM = 24
"""Minimum number of runs for which a comparison prints their number before the start."""


def duration(seconds: float) -> str:
    """Returns a duration with its unit."""
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 9.5 else f"{seconds:.2g} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def tell_idle(tasks: Sequence[Task], quiet: bool) -> None:
    """Prints the points that share a run because they differ only in keys that their drive does not read."""
    note = None if quiet else idle_note(tasks)
    if note is not None:
        click.echo(note, err=True)


def planned(tasks: Sequence[Task], folder: Path, places: int) -> list[str]:
    """Returns the summary of a sweep before the start, as lines.

    The lines have the number of runs, the axes, the memory, the folder, and the first runs.
    """
    from flashmesh.installation import memory
    from flashmesh.sweeps.results.store import Store

    values: dict[str, dict[str, None]] = {}
    for task in tasks:
        for key, value in task.settings.items():
            values.setdefault(key, {})[value] = None
    width = max(map(len, values), default=0)
    told = [f"{len(tasks):,} runs, {min(places, len(tasks)):,} at a time"]
    told += [f"  {key:<{width}}  {listed(list(each))}" for key, each in values.items()]
    needed = memory.need([task.config for task in tasks], min(places, len(tasks)))
    told.append(f"memory: {memory.size(needed.used)} at most")
    kept = Store(folder).names & {task.name for task in tasks}
    there = f", which has {len(kept):,} of them: --resume keeps those" if kept else ""
    told += [f"results: {folder}{there}", ""]
    told += [f"{task.name[:12]}  {task.label}" for task in tasks[:PLANNED_SHOWN]]
    if len(tasks) > PLANNED_SHOWN:
        told.append(f"and {len(tasks) - PLANNED_SHOWN:,} more")
    return told


def listed(values: Sequence[str]) -> str:
    """Returns the values of an axis; for many values, the count, the first and the last."""
    if len(values) <= VALUES_SHOWN:
        return ", ".join(values)
    return f"{len(values):,} values, from {values[0]} to {values[-1]}"


def announce(session: Session, places: int, quiet: bool) -> None:
    """Prints the numbers of runs, of stored results and of parallel runs (`places`) before the start."""
    if not quiet:
        there = f", {session.kept:,} of them finished already" if session.kept else ""
        click.echo(f"{session.run_count:,} runs{there}; {places} at a time", err=True)


class Estimate:
    """Printer of the estimated remaining time of a comparison. It prints once, after its first runs."""

    def __init__(self, session: Session, places: int, quiet: bool) -> None:
        """Creates a printer for a session of up to `places` runs at once."""
        self.session = session
        self.after = 0 if quiet else places
        self.ended = 0

    def __call__(self, outcome: Outcome) -> None:
        """Counts a run that ended; prints the estimate once, after the first `places` runs."""
        self.ended += 1
        left = self.session.time_left_s()
        if self.ended == self.after and left:
            runs = "run" if self.ended == 1 else f"{self.ended} runs"
            click.echo(f"about {duration(left)} left, estimated from the first {runs}", err=True)


class Lines:
    """Printer of a line for each run that ends: to stderr, and to the log in the folder of results."""

    def __init__(self, session: Session, store: Store, quiet: bool) -> None:
        """Creates a printer for the runs of a session; prints only to the log in the folder of results if `quiet`."""
        self.session = session
        self.store = store
        self.quiet = quiet

    def __call__(self, outcome: Outcome) -> None:
        """Writes the line of a run."""
        done, total = len(self.session.outcomes), self.session.run_count
        place = f"[{done:>{len(str(total))}}/{total}]"
        told = summary(outcome)
        left = self.session.time_left_s()
        self.store.tell(f"{place} {outcome.task.label}: {told}{f', run {outcome.name[:12]}' if outcome.name else ''}")
        if not self.quiet:
            to_go = f"; {duration(left)} to go" if left else ""
            click.echo(f"{place} {outcome.task.label}: {told}{to_go}", err=True)


class Percents:
    """Printer of failed runs, and of the progress of many short runs at each percent."""

    def __init__(self, session: Session, quiet: bool) -> None:
        """Creates a printer for the runs of a session; prints nothing if `quiet`."""
        self.session = session
        self.quiet = quiet
        self.told = 0

    def __call__(self, outcome: Outcome) -> None:
        """Prints a failed run, and the progress at each new percent."""
        if self.quiet:
            return
        if outcome.error is not None:
            click.echo(f"{outcome.task.label}: failed: {first_line(outcome.error)}", err=True)
        done, total = len(self.session.outcomes), self.session.run_count
        percent, left = done * 100 // total, self.session.time_left_s()
        if percent > self.told and left is not None:
            self.told = percent
            click.echo(f"{percent:>3} %: {done:,} of {total:,} runs; {duration(left)} to go", err=True)


def summary(outcome: Outcome) -> str:
    """Returns IOPS, latency and duration of a run as text, or why the run has no complete result."""
    if outcome.error is not None:
        return f"failed: {first_line(outcome.error)}"
    if outcome.is_partial or outcome.document is None:
        return "interrupted"
    iops, latencies, window = members(outcome.document, "iops", "latency_ps", "measured")
    if window is not None:
        iops, latencies = window["iops"], window["latency_ps"]
    latency = latencies["all"]
    told = [f"{q.scaled(iops)} IOPS"]
    if latency is not None:
        told.append(f"mean {q.time(latency['mean'])}, p99 {q.time(latency['p99'])}")
    return f"{', '.join(told)} ({duration(outcome.wall_s or 0.0)})"


def members(document: str, *names: str) -> list[Any]:
    """Returns the named members of a compact JSON document; does not parse the text after the last named member."""
    decode = json.JSONDecoder().raw_decode
    found: dict[str, Any] = {}
    at = 0
    while not found.keys() >= {*names}:
        # Skip the brace or comma before each name, and the colon before its value.
        name, at = decode(document, at + 1)
        found[name], at = decode(document, at + 1)
    return [found[name] for name in names]


def first_line(error: BaseException) -> str:
    """Returns the first line of an error."""
    return (str(error).removeprefix("error: ").splitlines() or [type(error).__name__])[0]


def failure(failures: Sequence[Outcome], runs: int, advice: str) -> FlashmeshError:
    """Returns the error for a command with failed runs; its type depends on the first failure."""
    error = failures[0].error
    kind = next((kind for kind in (CheckError, InternalError) if isinstance(error, kind)), ConfigError)
    count = f"{len(failures):,} of {runs:,} runs failed"
    return kind(f"{count}: {failures[0].task.label}: {first_line(error) if error else ''}; {advice}")
