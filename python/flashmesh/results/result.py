"""The measures of one run, as attributes and as data frames."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import asdict, field, fields, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from flashmesh import json_text
from flashmesh._results import (
    Breakdown,
    CollisionPair,
    Fairness,
    Interval,
    Latency,
    LatencyByKind,
    RepetitionBin,
    Report,
)
from flashmesh.record import record
from flashmesh.results.build import build, column_types, columns_of
from flashmesh.results.shown import Plots, shown_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from flashmesh.plots.runs import Run
    from flashmesh.plots.style import Chart


OF_THE_MACHINE = ("wall_s", "requests_per_wall_s", "peak_rss_bytes")
"""What differs between two runs of the same simulation."""


@record
class Result(Plots, Report):
    """The measures of one run, named as in its JSON.

    Results are equal when the simulations were the same, however long each took.
    """

    config: str = field(repr=False)
    """Every parameter of the run, as TOML."""
    document: dict[str, Any] = field(repr=False, compare=False)
    """The JSON document itself."""
    setup: timedelta | None = field(default=None, repr=False, compare=False)
    """Wall time of reading traces and preconditioning before the run; None of a result that was read back."""

    @classmethod
    def from_json(cls, text: str, config: str, setup: timedelta | None = None) -> Result:
        """The result behind the JSON document of a run under a configuration, given as TOML."""
        document = json.loads(text)
        return build(cls, document | {"config": config, "document": document, "setup": setup})

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Result:
        """The result behind a JSON document that says itself what its configuration was.

        Raises:
            MalformedError: When it does not have the form of a result.
        """
        from flashmesh.results.schema import check_result

        check_result(document)
        return cls.of_checked(document)

    @classmethod
    def of_checked(cls, document: dict[str, Any]) -> Result:
        """The same for a document that is known to have the form of a result."""
        import tomli_w

        config = tomli_w.dumps(document["configuration"])
        return build(cls, document | {"config": config, "document": document, "setup": None})

    def __eq__(self, other: object) -> bool:
        """Whether both are of the same simulation with the same outcome."""
        if not isinstance(other, Result):
            return NotImplemented
        return self.outcome() == other.outcome()

    def __hash__(self) -> int:
        """By what decides the run."""
        return hash((self.config_hash, self.makespan_ps))

    def __repr__(self) -> str:
        """The headline: what ran, and how fast."""
        latency = self.latency_ps.all
        mean = f", mean latency {latency.mean / 1e6:.1f} us" if latency else ""
        stopped = ", interrupted" if self.interrupted else ""
        return (
            f"<Result: {self.requests:,} requests, {self.iops:,.0f} IOPS{mean}{stopped}, run {self.config_hash[:12]}>"
        )

    def outcome(self) -> dict[str, Any]:
        """The JSON document without what is of the machine and of the moment."""
        beside = {*OF_THE_MACHINE, "provenance"}
        return {key: value for key, value in self.document.items() if key not in beside}

    def with_fairness(self, fairness: Fairness) -> Result:
        """The same result with what running the streams alone has shown."""
        document = self.document | {"fairness": json.loads(json.dumps(asdict(fairness)))}
        return replace(self, fairness=fairness, document=document)

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter of the run, as tables."""
        return deepcopy(self.document["configuration"])

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return deepcopy(self.document)

    def to_json(self) -> str:
        """The JSON document as text, ending with a new line."""
        return json_text.indented(self.document)

    def _runs(self) -> list[Run]:
        from flashmesh.plots.runs import run_of

        return [run_of(self)]

    def plot_utilisation(self) -> Chart:
        """How busy each die, controller and link was, laid out as they are in the drive."""
        from flashmesh import plots

        (plot,) = plots.utilisation(self._runs())
        return plot.altair()

    def _repr_html_(self) -> str:
        """A table of the main measures, for notebooks."""
        return shown_of(self._runs())

    def value(self, measure: str) -> float | None:
        """A measure as a number, in the unit of its name in the JSON: durations in picoseconds; None where it has none.

        Args:
            measure: A name that `flashmesh.measures()` lists, or a dotted key of the JSON.

        Raises:
            ConfigError: When there is no such measure.
        """
        from flashmesh.report.measures import measure_named

        return measure_named(measure).value(self)

    def text(self, measure: str) -> str:
        """A measure as tables show it, with its unit: `result.text("p99")` is "44.02 us".

        Args:
            measure: See `value`.

        Raises:
            ConfigError: When there is no such measure.
        """
        from flashmesh.report.measures import measure_named

        found = measure_named(measure)
        return found.text(found.value(self))

    def frame(self, empty: bool = False) -> pd.DataFrame:
        """One row; the columns are the keys of the JSON with dots, without the lists.

        Args:
            empty: Whether the keys of which the result has no value have columns as well, so that all results have
                the same.
        """
        return frame_of([columns(self)], empty)

    def epochs_frame(self) -> pd.DataFrame:
        """A row for each epoch; the columns are the keys of its JSON with dots."""
        import pandas as pd

        rows = [columns_of(Interval, epoch) for epoch in self.epochs]
        return pd.DataFrame(rows, columns=list(columns_of(Interval, None)))

    def latency_frame(self) -> pd.DataFrame:
        """Completion latency in picoseconds: a row for all, read, write and flush, a column for each statistic."""
        import pandas as pd

        kinds = {kind.name: getattr(self.latency_ps, kind.name) for kind in fields(LatencyByKind)}
        names = [statistic.name for statistic in fields(Latency)]
        rows = {kind: asdict(latency) if latency else dict.fromkeys(names) for kind, latency in kinds.items()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=names).astype(float).rename_axis("kind")

    def breakdown_frame(self) -> pd.DataFrame:
        """Returns where latency goes, in picoseconds: a row for each part.

        The columns are `mean` and `tail` of all requests, and `read mean` to `write tail` of those of one kind.
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
        """Busy shares: a row for each resource, with its kind, its index and its share."""
        import pandas as pd

        rows: list[tuple[str, int, float]] = [("link_to_drive", 0, self.utilisation.link_to_drive)]
        rows.append(("link_to_host", 0, self.utilisation.link_to_host))
        rows += [("link", index, share) for index, share in enumerate(self.utilisation.links)]
        rows += [("controller", index, share) for index, share in enumerate(self.utilisation.controllers)]
        rows += [("die", index, share) for index, share in enumerate(self.utilisation.dies)]
        return pd.DataFrame(rows, columns=["resource", "index", "share"])

    def collision_pairs_frame(self) -> pd.DataFrame:
        """The most repeated collision pairs: two logical pages and their occurrences. Empty without the analysis."""
        return self._collisions_frame("top_pairs", CollisionPair)

    def collision_repetitions_frame(self) -> pd.DataFrame:
        """Collision pairs by how often they occurred: a row for each power of two. Empty without the analysis."""
        return self._collisions_frame("repetitions", RepetitionBin)

    def collision_dies_frame(self) -> pd.DataFrame:
        """Reads of each die. Empty without the analysis."""
        import pandas as pd

        reads = [] if self.collisions is None else list(self.collisions.reads_per_die)
        return pd.DataFrame({"reads": pd.Series(reads, dtype="int64")}).rename_axis("die")

    def _collisions_frame(self, name: str, kind: type) -> pd.DataFrame:
        import pandas as pd

        rows = [] if self.collisions is None else [asdict(row) for row in getattr(self.collisions, name)]
        return pd.DataFrame(rows, columns=[field.name for field in fields(kind)])


def frame_of(rows: Sequence[dict[str, Any]], empty: bool) -> pd.DataFrame:
    """The single values of results as a data frame, with `empty` also the columns without any value."""
    import pandas as pd

    types = column_types(Result)
    columns: dict[str, Any] = {}
    for name in rows[0] if rows else types:
        values = [row[name] for row in rows]
        has_values = any(value is not None for value in values)
        if has_values or empty:
            # Numbers stay numbers where a column has none of them.
            is_number = not has_values and types.get(name) in (int, float)
            columns[name] = pd.Series(values, dtype=float if is_number else None)
    # At once: a frame that columns are put into one by one is in pieces.
    return pd.DataFrame(columns)


def columns(result: Result) -> dict[str, Any]:
    """The single values of a result by their dotted key, the same keys for every result."""
    return columns_of(Result, result)
