"""Measures of one run, as attributes and as data frames."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import asdict, field, fields, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from flashmesh._results import (
    Breakdown,
    CollisionPair,
    Fairness,
    Interval,
    Latency,
    LatencyByKind,
    Measured,
    RepetitionBin,
    Report,
)
from flashmesh.record import record
from flashmesh.results.build import build, column_types, columns_of
from flashmesh.results.shown import Plots, shown_of
from flashmesh.results.streams import stream_columns
from flashmesh.texts import json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from flashmesh.plots.runs import Run
    from flashmesh.plots.style import Chart
    from flashmesh.report.measures.measure import Measure


OF_THE_MACHINE = ("wall_s", "requests_per_wall_s", "peak_rss_bytes")
"""Keys of results that differ between two runs of the same simulation, since they measure the machine."""


@record
class Result(Plots, Report):
    """Measures of one run, named as in its JSON.

    Two results are equal if they have the same configuration and outcome; wall times may differ.
    """

    config: str = field(repr=False)
    """Complete configuration of the run, as TOML."""
    document: dict[str, Any] = field(repr=False, compare=False)
    """The JSON document."""
    setup: timedelta | None = field(default=None, repr=False, compare=False)
    """Wall time of reading traces and preconditioning before the run; None for a saved result."""

    @classmethod
    def from_json(cls, text: str, config: str, setup: timedelta | None = None) -> Result:
        """Creates a result from the JSON document of a run, and its configuration as TOML."""
        document = json.loads(text)
        return build(cls, document | {"config": config, "document": document, "setup": setup})

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Result:
        """Creates a result from a JSON document that contains its configuration.

        Raises:
            MalformedError: If the document does not have the form of a result.
        """
        from flashmesh.results.schema import check_result

        check_result(document)
        return cls.of_checked(document)

    @classmethod
    def of_checked(cls, document: dict[str, Any]) -> Result:
        """Creates a result from a document that was checked already."""
        import tomli_w

        config = tomli_w.dumps(document["configuration"])
        return build(cls, document | {"config": config, "document": document, "setup": None})

    def __eq__(self, other: object) -> bool:
        """Returns whether both results have the same configuration and the same outcome."""
        if not isinstance(other, Result):
            return NotImplemented
        return self.outcome() == other.outcome()

    def __hash__(self) -> int:
        """Returns a hash of the configuration and the simulated execution time."""
        return hash((self.config_hash, self.makespan_ps))

    def __repr__(self) -> str:
        """Returns a summary with requests, throughput and latency."""
        found = self.window
        latency = found.latency_ps.all
        mean = f", mean latency {latency.mean / 1e6:.1f} us" if latency else ""
        stopped = ", interrupted" if self.interrupted else ""
        return (
            f"<Result: {found.requests:,} requests, {found.iops:,.0f} IOPS{mean}{stopped}, run {self.config_hash[:12]}>"
        )

    @property
    def window(self) -> Result | Measured:
        """The measured window with its IOPS, latencies and write amplification; the whole run if there is no window."""
        return self if self.measured is None else self.measured

    def outcome(self) -> dict[str, Any]:
        """Returns the JSON document without the keys of `OF_THE_MACHINE`."""
        beside = {*OF_THE_MACHINE, "provenance"}
        return {key: value for key, value in self.document.items() if key not in beside}

    def with_fairness(self, fairness: Fairness) -> Result:
        """Returns the result with the slowdowns from running the streams alone."""
        document = self.document | {"fairness": json.loads(json.dumps(asdict(fairness)))}
        return replace(self, fairness=fairness, document=document)

    @property
    def parameters(self) -> dict[str, Any]:
        """The complete configuration of the run, as tables."""
        return deepcopy(self.document["configuration"])

    def to_dict(self) -> dict[str, Any]:
        """Returns a copy of the JSON document."""
        return deepcopy(self.document)

    def to_json(self) -> str:
        """Returns the JSON document as text that ends with a newline."""
        return json_text.indented(self.document)

    def _runs(self) -> list[Run]:
        from flashmesh.plots.runs import run_of

        return [run_of(self)]

    def plot_utilisation(self) -> Chart:
        """Returns a map of the utilisation of each die, controller and link."""
        from flashmesh import plots

        (plot,) = plots.utilisation(self._runs())
        return plot.altair()

    def _repr_html_(self) -> str:
        """Returns a table of the main measures, for notebooks."""
        return shown_of(self._runs())

    def value(self, measure: str) -> float | None:
        """Returns a measure as a number, in the unit of the JSON (durations in picoseconds); None without a value.

        Args:
            measure: A name from `flashmesh.measures()`, or a dotted key of the JSON.

        Raises:
            ConfigError: If there is no such measure, or no such stream.
        """
        return self._measure(measure).value(self)

    def text(self, measure: str) -> str:
        """Returns the value of a measure as text with a unit: `result.text("p99")` is "44.02 us".

        Args:
            measure: A measure, as in `value`.

        Raises:
            ConfigError: If there is no such measure, or no such stream.
        """
        found = self._measure(measure)
        return found.text(found.value(self))

    def _measure(self, name: str) -> Measure:
        from flashmesh.report.measures.measure import measure_named
        from flashmesh.report.measures.streams import refuse_unknown_streams

        found = measure_named(name)
        refuse_unknown_streams([found], [stream.name for stream in self.streams])
        return found

    def frame(self, empty: bool = False) -> pd.DataFrame:
        """Returns one row; the columns are the dotted keys of the JSON, without lists.

        A run with several streams has columns for each stream too, such as `streams.reader.iops`.

        Args:
            empty: Whether keys without a value also have columns, so that all results have the same columns.
        """
        return frame_of([columns(self)], [self], empty)

    def epochs_frame(self) -> pd.DataFrame:
        """Returns a row for each epoch; the columns are the dotted keys of its JSON."""
        import pandas as pd

        rows = [columns_of(Interval, epoch) for epoch in self.epochs]
        return pd.DataFrame(rows, columns=list(columns_of(Interval, None)))

    def latency_frame(self) -> pd.DataFrame:
        """Returns latencies in picoseconds: a row for all, read, write and flush, a column for each statistic."""
        import pandas as pd

        kinds = {kind.name: getattr(self.latency_ps, kind.name) for kind in fields(LatencyByKind)}
        names = [statistic.name for statistic in fields(Latency)]
        rows = {kind: asdict(latency) if latency else dict.fromkeys(names) for kind, latency in kinds.items()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=names).astype(float).rename_axis("kind")

    def breakdown_frame(self) -> pd.DataFrame:
        """Returns the parts of the latency in picoseconds: a row for each part.

        The columns are `mean` and `tail` of all requests, `read mean` and `read tail` of reads, and likewise of writes.
        """
        import pandas as pd

        names = [part.name for part in fields(Breakdown) if part.name != "count"]
        found = self.breakdown_ps
        columns = {"mean": found.mean, "tail": found.tail}
        for kind in ("read", "write"):
            columns |= {f"{kind} {which}": getattr(getattr(found, kind), which) for which in ("mean", "tail")}
        values = {name: asdict(part) if part else dict.fromkeys(names) for name, part in columns.items()}
        return pd.DataFrame(values, index=names).astype(float).rename_axis("part")

    def utilisation_frame(self) -> pd.DataFrame:
        """Returns the utilisation of each resource: a row with its kind, index and share."""
        import pandas as pd

        rows: list[tuple[str, int, float]] = [("link_to_drive", 0, self.utilisation.link_to_drive)]
        rows.append(("link_to_host", 0, self.utilisation.link_to_host))
        rows += [("link", index, share) for index, share in enumerate(self.utilisation.links)]
        rows += [("controller", index, share) for index, share in enumerate(self.utilisation.controllers)]
        rows += [("die", index, share) for index, share in enumerate(self.utilisation.dies)]
        return pd.DataFrame(rows, columns=["resource", "index", "share"])

    def collision_pairs_frame(self) -> pd.DataFrame:
        """Returns the most repeated collision pairs: two logical pages and occurrences; empty without the analysis."""
        return self._collisions_frame("top_pairs", CollisionPair)

    def collision_repetitions_frame(self) -> pd.DataFrame:
        """Returns collision pairs by number of occurrences, a row for each power of two; empty without the analysis."""
        return self._collisions_frame("repetitions", RepetitionBin)

    def collision_dies_frame(self) -> pd.DataFrame:
        """Returns the reads of each die; empty without the analysis."""
        import pandas as pd

        reads = [] if self.collisions is None else list(self.collisions.reads_per_die)
        return pd.DataFrame({"reads": pd.Series(reads, dtype="int64")}).rename_axis("die")

    def _collisions_frame(self, name: str, kind: type) -> pd.DataFrame:
        import pandas as pd

        rows = [] if self.collisions is None else [asdict(row) for row in getattr(self.collisions, name)]
        return pd.DataFrame(rows, columns=[field.name for field in fields(kind)])


def frame_of(rows: Sequence[dict[str, Any]], results: Sequence[Result], empty: bool) -> pd.DataFrame:
    """Returns a data frame of results.

    Args:
        rows: The columns of each result, apart from those of streams.
        results: The result of each row.
        empty: Whether to include columns without any value.
    """
    import pandas as pd

    types = column_types(Result)
    found = {name: (types.get(name), [row[name] for row in rows]) for name in (rows[0] if rows else types)}
    columns: dict[str, Any] = {}
    for name, (kind, values) in (found | stream_columns([result.document for result in results])).items():
        has_values = any(value is not None for value in values)
        if has_values or empty:
            # A column without values keeps its numeric type.
            is_number = not has_values and kind in (int, float)
            columns[name] = pd.Series(values, dtype=float if is_number else None)
    # All columns at once, since adding columns one by one fragments a frame.
    return pd.DataFrame(columns)


def columns(result: Result) -> dict[str, Any]:
    """Returns the single values of a result by their dotted keys, the same keys for every result."""
    return columns_of(Result, result)
