"""Tasks of a sweep: a checked configuration for each run, and the name of its result."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError, __version__
from flashmesh.provenance import workload_files
from flashmesh.running.steady import GROWTH, LIMIT, UntilSteady, measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flashmesh._native import Config

DECIDED = ("workload.requests", "replay.stop-time")
"""Ends of the keys whose values `--until-steady` decides."""
MISFITS_SHOWN = 8
"""Maximum number of invalid runs that an error lists."""


@dataclass(frozen=True)
class Task:
    """A configured run of a sweep, for one of its points (combinations of the varied keys)."""

    index: int
    """Index of the point in the plan."""
    settings: dict[str, str]
    """The varied keys with their values."""
    config: Config = field(repr=False)
    check: bool = False
    fairness: bool = False
    until_steady: UntilSteady | None = None
    idle: tuple[str, ...] = ()
    """Varied keys that the run does not read; in its configuration, they have the values of the first point."""

    @property
    def label(self) -> str:
        """The varied keys with their values, as displayed text."""
        return ", ".join(f"{key}={value}" for key, value in self.settings.items()) or "the run"

    @cached_property
    def name(self) -> str:
        """Identifier of the run: a hash of its configuration with the seed, its input files, and the version.

        Raises:
            WorkloadError: If a workload file cannot be read.
        """
        files = [(file["stream"], file["sha256"]) for file in workload_files(self.config)]
        parts = [__version__, self.config.hash(), files, self.check, self.fairness]
        if self.until_steady is not None:
            parts.append([GROWTH, self.until_steady.limit or LIMIT])
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def tasks_of(
    points: Iterable[Mapping[str, str]],
    load: Callable[[dict[str, str]], Config],
    *,
    check: bool,
    fairness: bool,
    until_steady: UntilSteady | None = None,
    on_misfit: Callable[[dict[str, str], ConfigError], None] | None = None,
) -> list[Task]:
    """Returns a task for each point.

    Args:
        points: The varied keys of each run, with their values.
        load: Creates the configuration of a point.
        check: Whether the runs are checked against the oracles.
        fairness: Whether each stream is also run alone.
        until_steady: Condition for runs that continue until they are steady.
        on_misfit: Called for each point that cannot be configured; None makes such a point an error.

    Raises:
        ConfigError: If a point cannot be configured and `on_misfit` is None, or if no point can be.
    """
    tasks: list[Task] = []
    misfits: list[tuple[dict[str, str], ConfigError]] = []
    count = 0
    firsts: dict[str, str] = {}
    for index, point in enumerate(points):
        count += 1
        settings = dict(point)
        firsts = firsts or settings
        decided = [key for key in settings if until_steady is not None and key.endswith(DECIDED)]
        if decided:
            raise ConfigError(f"{decided[0]} is varied and decided by --until-steady: drop one of them")
        try:
            config, idle = without_idle(settings, load(settings), firsts, load)
            config = config if until_steady is None else measured(config)
            tasks.append(Task(index, settings, config, check, fairness, until_steady, idle))
        except ConfigError as error:
            misfits.append((settings, error))
    if misfits and (on_misfit is None or not tasks):
        raise misfit(misfits, count)
    if on_misfit is not None:
        for settings, reason in misfits:
            on_misfit(settings, reason)
    return tasks


def without_idle(
    settings: dict[str, str], config: Config, firsts: Mapping[str, str], load: Callable[[dict[str, str]], Config]
) -> tuple[Config, tuple[str, ...]]:
    """Returns (configuration of a point, keys that it does not read).

    Unread keys get the values of the first point, `firsts`, so that points that differ only in unread keys have one
    configuration and share a run.
    """
    idle = tuple(key for key in settings if config.unread(key) is not None)
    common = {key: firsts[key] for key in idle}
    if any(settings[key] != value for key, value in common.items()):
        with suppress(ConfigError):
            return load(settings | common), idle
    return config, idle


def idle_note(tasks: Sequence[Task]) -> str | None:
    """Returns a note on points that share a run, since they differ only in unread keys; None without such points."""
    first: dict[str, Task] = {}
    twins = [task for task in tasks if task.idle and first.setdefault(task.name, task) is not task]
    if not twins:
        return None
    keys = ", ".join(dict.fromkeys(key for task in twins for key in task.idle))
    with_them = sorted({reader for task in twins for reader in deciding(task)})
    where = f" with {', '.join(with_them)}" if with_them else ""
    return f"{keys}: no effect{where}; {len(twins):,} of {len(tasks):,} points share the run of another point"


def deciding(task: Task) -> Iterable[str]:
    """Yields, as `key=value`, the varied settings that decide whether a run reads its idle (unread) keys."""
    from flashmesh.keys import declared, declared_name

    for key in task.idle:
        known = declared().get(declared_name(key))
        for condition in (each for any_of in known.used_with for each in any_of) if known is not None else ():
            if condition.key in task.settings:
                yield f"{condition.key}={task.settings[condition.key]}"


def misfit(misfits: Sequence[tuple[Mapping[str, str], ConfigError]], runs: int) -> ConfigError:
    """Returns the error for points that cannot be configured: the first error, and a list of the points."""
    first = misfits[0][1]
    if len(misfits) == runs:
        return first
    named = ["  " + ", ".join(f"{key}={value}" for key, value in setting.items()) for setting, _ in misfits]
    more = len(named) - MISFITS_SHOWN
    shown = [*named[:MISFITS_SHOWN], *([f"  and {more} more"] if more > 0 else [])]
    count = f"{len(misfits)} of {runs} runs cannot be configured, so none was run"
    return ConfigError("\n".join([str(first), f"{count}; leave out their values, or compare them separately:", *shown]))


def typed_settings(settings: Mapping[str, str]) -> dict[str, Any]:
    """Returns settings with numbers and truth values converted from text."""
    from flashmesh.comparing.axes import typed

    return {key: typed(value) for key, value in settings.items()}
