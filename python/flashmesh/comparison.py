"""What a comparison gives: the results of the runs, each with the values that set it apart."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh.results import Result
from flashmesh.results.shown import Plots, shown_of

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    import pyarrow as pa

    from flashmesh.axes import Value
    from flashmesh.normalised import Means
    from flashmesh.plots.runs import Run
    from flashmesh.plots.style import Chart


@dataclass(frozen=True)
class ComparedRun:
    """One run of a comparison."""

    settings: dict[str, Value]
    """The varied keys, with their values in this run."""
    result: Result


@dataclass(frozen=True)
class FailedRun:
    """A run of a comparison that gave no result."""

    settings: dict[str, Value]
    """The varied keys, with their values in this run."""
    error: str
    """What it failed with."""


@dataclass(frozen=True)
class Comparison(Plots):
    """The runs of a comparison, in the order of the axes: the last one varies fastest."""

    axes: dict[str, tuple[Value, ...]]
    """The varied keys, with all their values."""
    runs: tuple[ComparedRun, ...]
    failures: tuple[FailedRun, ...] = ()
    """The runs that gave no result."""
    complete: bool = True
    """Whether every run came to its end."""

    def __repr__(self) -> str:
        """How many runs there are, and what they vary."""
        failed = f", {len(self.failures):,} failed" if self.failures else ""
        part = "" if self.complete else ", not complete"
        return f"<Comparison: {len(self.runs):,} runs over {', '.join(self.axes) or 'nothing'}{failed}{part}>"

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return {
            "axes": {key: list(values) for key, values in self.axes.items()},
            "complete": self.complete,
            "failures": [{"settings": dict(failed.settings), "error": failed.error} for failed in self.failures],
            "runs": [{"settings": dict(run.settings), "result": run.result.to_dict()} for run in self.runs],
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Comparison:
        """The comparison behind its JSON document.

        Raises:
            KeyError: When it lacks a key.
        """
        return cls(
            {key: tuple(values) for key, values in document["axes"].items()},
            tuple(ComparedRun(run["settings"], Result.from_document(run["result"])) for run in document["runs"]),
            tuple(FailedRun(failed["settings"], failed["error"]) for failed in document["failures"]),
            document["complete"],
        )

    def to_json(self) -> str:
        """The JSON document as text, ending with a new line."""
        return json.dumps(self.to_dict(), indent=2) + "\n"

    def means(self, measure: str, *baseline: str, inverse: bool = False) -> dict[str, Means]:
        """The means of the ratios of a measure to a baseline, over everything else that is varied.

        Args:
            measure: A name that `flashmesh measures` lists, or the dotted key of a value of a result.
            baseline: What the ratios are against, such as "fabric.kind=bus": each run is compared with the one that has
                these values and is otherwise the same.
            inverse: Whether a ratio is the baseline's value over the run's, as a speedup is of times.

        Returns:
            By the values that stand in place of the baseline's.

        Raises:
            ConfigError: When there is no such measure or baseline.
        """
        from flashmesh.normalised import baseline_of, means
        from flashmesh.report.measures import measure_named

        return means(self, baseline_of(baseline, self.axes), measure_named(measure).value, inverse)

    def _runs(self) -> list[Run]:
        from flashmesh.plots.runs import runs_of

        return runs_of(self)

    def plot_speedups(self) -> Chart:
        """How many times faster than the first value of the first axis each run is."""
        from flashmesh import plots

        return plots.speedups(self._runs()).altair()

    def plot_load_latency(self) -> Chart:
        """Latency over the throughput that was reached.

        Raises:
            ValueError: When no axis changes the load, such as `replay.outstanding`.
        """
        from flashmesh import plots

        plot = plots.load_latency(self._runs())
        if plot is None:
            raise ValueError("no axis changes the load: vary replay.outstanding, for example")
        return plot.altair()

    def _repr_html_(self) -> str:
        """A table of the main measures, for notebooks."""
        return shown_of(self._runs())

    def table(self) -> pa.Table:
        """A row for each run: the varied keys, every single value of its result, its configuration and its document."""
        from flashmesh.sweep.table import table_of

        documents = [json.dumps(run.result.document, separators=(",", ":")) for run in self.runs]
        return table_of([run.settings for run in self.runs], documents, [""] * len(documents))

    def frame(self) -> pd.DataFrame:
        """A row for each run: the varied keys, then the columns of `Result.frame`."""
        from flashmesh.results import columns
        from flashmesh.results.result import frame_of

        return frame_of([run.settings | columns(run.result) for run in self.runs])

    def to_csv(self, long: bool = False) -> str:
        """A row for each run, or with `long` one for each of its values; empty columns are left out."""
        from flashmesh.sweep.table import csv_text

        return csv_text(self.table(), long)

    def to_parquet(self, path: str | Path) -> None:
        """Writes the rows of `table` to a Parquet file; the columns and their types are those of any other comparison.

        An axis with values of several types becomes texts.

        Raises:
            OutputError: When the file cannot be written.
        """
        from pathlib import Path as AnyPath

        from flashmesh.sweep.table import write_parquet

        write_parquet(self.table(), AnyPath(path))
