"""The runs of a sweep: a checked configuration for each, and the name that its result is kept by."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError, __version__
from flashmesh.provenance import workload_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from flashmesh._native import Config

MISFITS_SHOWN = 8
"""How many runs that cannot be configured are named."""


@dataclass(frozen=True)
class Task:
    """One run."""

    index: int
    """Its place in the plan."""
    settings: dict[str, str]
    """The varied keys with their values."""
    config: Config = field(repr=False)
    check: bool = False
    fairness: bool = False

    @property
    def label(self) -> str:
        """The varied keys with their values, for people."""
        return ", ".join(f"{key}={value}" for key, value in self.settings.items()) or "the run"

    @cached_property
    def name(self) -> str:
        """What identifies the run: the hash of its configuration, seed included, of what it reads, and of the version.

        Raises:
            WorkloadError: When a file that requests come from cannot be read.
        """
        files = [(file["stream"], file["sha256"]) for file in workload_files(self.config)]
        parts = [__version__, self.config.hash(), files, self.check, self.fairness]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def tasks_of(
    points: Iterable[Mapping[str, str]],
    load: Callable[[dict[str, str]], Config],
    *,
    check: bool,
    fairness: bool,
    on_misfit: Callable[[dict[str, str], ConfigError], None] | None = None,
) -> list[Task]:
    """A task for each point.

    Args:
        points: The varied keys with their values, by run.
        load: Makes the configuration of a point.
        check: Whether the runs are checked against the oracles.
        fairness: Whether each stream is run alone as well.
        on_misfit: Is told of a point that cannot be configured; without it none may be.

    Raises:
        ConfigError: When a point cannot be configured, and nobody is to be told instead.
    """
    tasks: list[Task] = []
    misfits: list[tuple[dict[str, str], ConfigError]] = []
    count = 0
    for index, point in enumerate(points):
        count += 1
        settings = dict(point)
        try:
            tasks.append(Task(index, settings, load(settings), check, fairness))
        except ConfigError as error:
            misfits.append((settings, error))
    if misfits and (on_misfit is None or not tasks):
        raise misfit(misfits, count)
    if on_misfit is not None:
        for settings, reason in misfits:
            on_misfit(settings, reason)
    return tasks


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


def typed_settings(settings: Mapping[str, str]) -> dict[str, Any]:
    """Settings with numbers and truth values as such."""
    from flashmesh.axes import typed

    return {key: typed(value) for key, value in settings.items()}
