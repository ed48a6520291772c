"""Runs as charts need them: with a name, from results in memory or saved ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh.configuration import value_text
from flashmesh.keys import short_key
from flashmesh.results.window import windowed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flashmesh.comparison import Comparison
    from flashmesh.results import Result


@dataclass(frozen=True)
class Run:
    """A run in a chart, or the mean of the runs of a point."""

    name: str
    """Unique name among the runs of a chart."""
    settings: Mapping[str, Any]
    """Varied keys, with their values."""
    document: Mapping[str, Any]
    """JSON document of the result with the figures of the measured window, as returned by `of_window`."""
    configuration: Mapping[str, Any]
    """Complete configuration, as tables."""
    repeats: tuple[Mapping[str, Any], ...] = ()
    """Results of the single seeds if `document` has their means; empty for a single run."""

    def setting(self, key: str) -> Any:
        """Returns the value of a dotted key in the configuration."""
        section, _, name = key.rpartition(".")
        table: Any = self.configuration
        for part in section.split(".") if section else ():
            table = table[part]
        return table[name]


def run_of(result: Result, name: str = "", settings: Mapping[str, Any] | None = None) -> Run:
    """Returns a result in memory as a run. The default name is that of its interconnect."""
    return Run(
        name or str(result.parameters["fabric"]["kind"]),
        settings or {},
        of_window(result.document),
        result.document["configuration"],
    )


OF_RUN = ("requests", "streams")
"""Members of a result that have the values of the whole run even if there is a measured window.

Energy is known only for the whole run, so energy per request divides it by all `requests` of the run. The chart of
streams reads the window itself.
"""
SPAN = "span_ps"
"""Name of the member with the length of the measured window in picoseconds, or of the whole run if there is no window.

The value is None if the run has a requested precision, which can end the run early.
"""


def of_window(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a document with the figures of its measured window instead of the run, and with `SPAN`.

    Figures that the window does not have keep the value of the run: single dies and links, path conflicts, energy.
    """
    window, is_of_length = document["measured"], document["precision"] is None
    length = document["makespan_ps"] if window is None else window["end_ps"] - window["start_ps"]
    found = {**windowed(document), SPAN: length if is_of_length else None}
    if window is not None and window["breakdown_ps"]["mean"] is None:
        found["breakdown_ps"] = document["breakdown_ps"]
    return found | {key: document[key] for key in OF_RUN}


def runs_of(comparison: Comparison) -> list[Run]:
    """Returns one run for each point of a comparison: the mean over its seeds, named by its settings."""
    from flashmesh.aggregate.points import points_of
    from flashmesh.plots.pooled import pooled

    points = points_of([run.settings for run in comparison.runs], [run.result.document for run in comparison.runs])
    return [pooled(label(point.settings), point.settings, point.runs) for point in points]


def label(settings: Mapping[str, Any]) -> str:
    """Returns the settings of a run as `key=value`. Keys are shortened to their last part if that is unambiguous."""
    return named(tuple(settings), [short(value_text(value)) for value in settings.values()])


def named(keys: Sequence[str], values: Sequence[str]) -> str:
    """Returns values with the last part of their keys in front, such as `chips-per-channel=2`."""
    return ", ".join(f"{short_key(key)}={value}" for key, value in zip(keys, values, strict=True))


def values_of(settings: Mapping[str, Any]) -> str:
    """Returns the values of the settings of a run, without their keys, for a file name."""
    return ", ".join(short(value_text(value)) for value in settings.values())


def labelled(settings: Mapping[str, Any]) -> str:
    """Returns the settings of a run as `key=value` with full keys."""
    return ", ".join(f"{key}={value_text(value)}" for key, value in settings.items())


def short(text: str) -> str:
    """Returns the last part of a path; any other value unchanged, even with a slash, such as 2GB/s."""
    return text if text.endswith("B/s") else text.rsplit("/", 1)[-1]


def baselines(runs: Sequence[Run]) -> list[Run]:
    """Returns the baseline run of each run, for ratios.

    The baseline has the value of the first run for the first key, and otherwise equal settings. If there is no such
    run, the first run with equal other settings is the baseline.
    """
    if not runs:
        return []
    first = next(iter(runs[0].settings), None)

    def rest(run: Run) -> tuple[tuple[str, str], ...]:
        return tuple((key, value_text(value)) for key, value in run.settings.items() if key != first)

    found: dict[tuple[tuple[str, str], ...], Run] = {}
    # Runs that share the first run's value of the key `first` become the baselines, so they come first. The runs of a
    # Pareto front are not grouped by value.
    for run in sorted(runs, key=lambda run: run.settings.get(first or "") != runs[0].settings.get(first or "")):
        found.setdefault(rest(run), run)
    return [found[rest(run)] for run in runs]
