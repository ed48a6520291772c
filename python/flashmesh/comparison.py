"""Result of a comparison: the results of its runs, each with its varied keys."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

from flashmesh.results import Result
from flashmesh.results.shown import Plots, shown_of
from flashmesh.texts import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from flashmesh.aggregate.estimate import Estimate
    from flashmesh.comparing.axes import Value
    from flashmesh.comparing.normalised import Means
    from flashmesh.plots.runs import Run
    from flashmesh.plots.style import Chart
    from flashmesh.report.measures.measure import Measure


@dataclass(frozen=True)
class ComparedRun:
    """A run of a comparison that has a result."""

    settings: dict[str, Value]
    """The varied keys, with their values in this run."""
    result: Result
    is_partial: bool = False
    """Whether the run was interrupted, so that its result is not final."""


@dataclass(frozen=True)
class FailedRun:
    """A run of a comparison without a result."""

    settings: dict[str, Value]
    """The varied keys, with their values in this run."""
    error: str
    """Text of the error that ended the run."""


@dataclass(frozen=True)
class Comparison(Plots):
    """Runs of a comparison, in the order of the axes: the last axis varies fastest."""

    axes: dict[str, tuple[Value, ...]]
    """All values of each varied key."""
    runs: tuple[ComparedRun, ...]
    failures: tuple[FailedRun, ...] = ()
    """Runs that ended with an error and have no result."""
    complete: bool = True
    """Whether every planned run has a complete result."""
    until_steady: bool = False
    """Whether the runs were extended until they are steady, or up to a limit."""

    def __repr__(self) -> str:
        """Returns the number of runs and the varied keys."""
        failed = f", {len(self.failures):,} failed" if self.failures else ""
        part = "" if self.complete else ", not complete"
        return f"<Comparison: {len(self.runs):,} runs over {', '.join(self.axes) or 'nothing'}{failed}{part}>"

    def __len__(self) -> int:
        """Returns the number of runs."""
        return len(self.runs)

    def __iter__(self) -> Iterator[ComparedRun]:
        """Yields the runs in their order."""
        return iter(self.runs)

    @overload
    def __getitem__(self, number: int) -> ComparedRun: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[ComparedRun, ...]: ...
    def __getitem__(self, number: int | slice) -> ComparedRun | tuple[ComparedRun, ...]:
        """Returns the run with an index, or the runs of a slice."""
        return self.runs[number]

    def where(self, **settings: Any) -> Comparison:
        """Returns the runs with these values of keys: `where(fabric__kind="bus")` or `where(**{"fabric.kind": "bus"})`.

        Raises:
            ConfigError: If a key is not varied, or never has the value.
        """
        from flashmesh.aggregate.table import ComparedRuns
        from flashmesh.configuration import value_text
        from flashmesh.configuring.spelling import spelt
        from flashmesh.report.tables.view import refuse_unvaried

        wanted = dict(spelt(key.replace("__", "."), value) for key, value in settings.items())
        texts = {key: value_text(value) for key, value in wanted.items()}
        refuse_unvaried(ComparedRuns(self), texts, origin="where")
        chosen = [run for run in self.runs if all(value_text(run.settings[key]) == text for key, text in texts.items())]
        axes = {key: values for key, values in self.axes.items() if key not in texts}
        runs = tuple(
            replace(run, settings={key: value for key, value in run.settings.items() if key in axes}) for run in chosen
        )
        return replace(self, axes=axes, runs=runs, failures=())

    def estimates(self, measure: str) -> list[tuple[dict[str, Value], Estimate]]:
        """Returns a measure of each point: the varied keys, and the mean over seeds with its 95 % interval.

        Args:
            measure: A name from `flashmesh.measures()`, or the dotted key of a value of a result.

        Raises:
            ConfigError: If there is no such measure, or no run has its stream.
        """
        from flashmesh.aggregate.estimate import estimate
        from flashmesh.aggregate.points import points_of
        from flashmesh.report.tables.view import numbers

        value = self._measure(measure).value
        points = points_of([run.settings for run in self.runs], self.runs)
        found = [(point.settings, estimate(numbers([value(run.result) for run in point.runs]))) for point in points]
        return [(settings, each) for settings, each in found if each is not None]

    def findings(self) -> list[str]:
        """Returns the findings of the comparison, in sentences computed from its numbers; empty for a single run."""
        from flashmesh.aggregate.table import ComparedRuns
        from flashmesh.report.findings.sentences import findings

        return findings(ComparedRuns(self))

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON document."""
        return deepcopy(self._document())

    def _document(self) -> dict[str, Any]:
        """Returns the JSON document without copying the documents of the results."""
        return {
            "axes": {key: list(values) for key, values in self.axes.items()},
            "complete": self.complete,
            "failures": [{"settings": dict(failed.settings), "error": failed.error} for failed in self.failures],
            "runs": [{"settings": dict(run.settings), "result": run.result.document} for run in self.runs],
            "until_steady": self.until_steady,
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Comparison:
        """Creates a comparison from its JSON document.

        Raises:
            MalformedError: If the document does not have the form of a comparison of results.
        """
        from flashmesh.results.schema import check_comparison

        check_comparison(document)
        return cls(
            {key: tuple(values) for key, values in document["axes"].items()},
            tuple(ComparedRun(run["settings"], Result.of_checked(run["result"])) for run in document["runs"]),
            tuple(FailedRun(failed["settings"], failed["error"]) for failed in document["failures"]),
            document["complete"],
            document["until_steady"],
        )

    def to_json(self) -> str:
        """Returns the JSON document as text that ends with a newline."""
        return json_text.indented(self._document())

    def means(self, measure: str, *baseline: str, inverse: bool = False) -> dict[str, Means]:
        """Returns the ratio of a measure to a baseline, as means over all other varied keys.

        Args:
            measure: A name from `flashmesh measures`, or the dotted key of a value of a result.
            baseline: The reference of the ratios, such as "fabric.kind=bus": each run is compared with the run that has
                these values and otherwise equal settings.
            inverse: Whether to divide the baseline's value by the run's, as for a speedup from times.

        Returns:
            The means of the runs with the same values of the keys of the baseline, by these values, as text.

        Raises:
            ConfigError: If there is no such measure or baseline, or no run has its stream.
        """
        from flashmesh.comparing.normalised import baseline_of, means

        value = self._measure(measure).value
        values = [value(run.result) for run in self.runs]
        return means([run.settings for run in self.runs], values, baseline_of(baseline, self.axes), inverse)

    def _measure(self, name: str) -> Measure:
        from flashmesh.aggregate.table import ComparedRuns
        from flashmesh.report.measures.measure import measure_named

        found = measure_named(name)
        ComparedRuns(self).refuse_unknown_streams([found])
        return found

    def _runs(self) -> list[Run]:
        from flashmesh.plots.runs import runs_of

        return runs_of(self)

    def plot_speedups(self) -> Chart:
        """Returns a chart of the speedup of each run over the first value of the first axis."""
        from flashmesh import plots

        return plots.speedups(self._runs()).altair()

    def plot_load_latency(self, measure: str = "mean") -> Chart:
        """Returns a chart of latency over throughput.

        Args:
            measure: The statistic that is selected first: "mean", "median", "p99" or "p99.9".

        Raises:
            ValueError: If no axis, such as `replay.outstanding`, changes the load, or there is no such measure.
        """
        from flashmesh import plots

        plot = plots.load_latency(self._runs(), measure)
        if plot is None:
            raise ValueError("no axis changes the load: vary replay.outstanding, for example")
        return plot.altair()

    def _repr_html_(self) -> str:
        """Returns a table of the main measures, for notebooks."""
        return shown_of(self._runs())

    def table(self) -> pa.Table:
        """Returns a row for each run: varied keys, every single value of its result, its configuration and document."""
        from flashmesh.sweeps.results.table import table_of

        documents = [json_text.compact(run.result.document) for run in self.runs]
        return table_of([run.settings for run in self.runs], documents, [""] * len(documents))

    def frame(self, empty: bool = False) -> pd.DataFrame:
        """Returns a row for each run: the varied keys, then the columns of `Result.frame`.

        Args:
            empty: Whether to include columns without any value.
        """
        from flashmesh.results import columns
        from flashmesh.results.result import frame_of

        rows = [run.settings | columns(run.result) for run in self.runs]
        return frame_of(rows, [run.result for run in self.runs], empty)

    def to_arrow(self) -> pa.Table:
        """Returns the rows of `table` as an Arrow table."""
        return self.table()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns an Arrow stream of `table`, for `polars.DataFrame(comparison)` or `pyarrow.table(comparison)`."""
        return self.table().__arrow_c_stream__(requested_schema)

    def to_polars(self) -> pl.DataFrame:
        """Returns the rows of `table` as a data frame of polars.

        Raises:
            ImportError: If polars is not installed.
        """
        import polars

        return polars.DataFrame(self)

    def to_csv(self, long: bool = False) -> str:
        """Returns CSV with a row for each run, or with `long` a row for each value. Empty columns are left out."""
        from flashmesh.sweeps.results.table import csv_text

        return csv_text(self.table(), long)

    def to_parquet(self, path: str | Path) -> None:
        """Writes the rows of `table` to a Parquet file, with the same columns and types for every comparison.

        Only the columns of streams differ, since they have the names of the streams. The values of an axis become
        texts if their types differ.

        Raises:
            OutputError: If the file cannot be written.
        """
        from pathlib import Path as AnyPath

        from flashmesh.sweeps.results.table import write_parquet

        write_parquet(self.table(), AnyPath(path))
