"""The measures of one run, as attributes and as data frames."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from flashmesh._results import Breakdown, BreakdownByPart, Fairness, Latency, LatencyByKind, Report, Stretch
from flashmesh.results.build import build, columns_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Result(Report):
    """The measures of one run, named as in its JSON."""

    config: str = field(repr=False)
    """Every parameter of the run, as TOML."""
    document: dict[str, Any] = field(repr=False, compare=False)
    """The JSON document itself."""

    @classmethod
    def from_json(cls, text: str, config: str) -> Result:
        """The result behind the JSON of a run under a configuration, given as TOML."""
        document = {"fairness": None} | json.loads(text)
        return build(cls, document | {"config": config, "document": document})

    def with_fairness(self, fairness: Fairness) -> Result:
        """The same result with what running the streams alone has shown."""
        document = self.document | {"fairness": json.loads(json.dumps(asdict(fairness)))}
        return replace(self, fairness=fairness, document=document)

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter of the run, as tables."""
        import tomllib

        return tomllib.loads(self.config)

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        return deepcopy(self.document)

    def to_json(self) -> str:
        """The JSON document as text, ending with a new line."""
        return json.dumps(self.document, indent=2) + "\n"

    def frame(self) -> pd.DataFrame:
        """One row; the columns are the keys of the JSON with dots, without the lists."""
        import pandas as pd

        return pd.DataFrame([columns(self)])

    def epochs_frame(self) -> pd.DataFrame:
        """A row for each epoch; the columns are the keys of its JSON with dots."""
        import pandas as pd

        rows = [columns_of(Stretch, epoch) for epoch in self.epochs]
        return pd.DataFrame(rows, columns=list(columns_of(Stretch, None)))

    def latency_frame(self) -> pd.DataFrame:
        """Completion latency in picoseconds: a row for all, read, write and flush, a column for each statistic."""
        import pandas as pd

        kinds = {kind.name: getattr(self.latency_ps, kind.name) for kind in fields(LatencyByKind)}
        names = [statistic.name for statistic in fields(Latency)]
        rows = {kind: asdict(latency) if latency else dict.fromkeys(names) for kind, latency in kinds.items()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=names).astype(float).rename_axis("kind")

    def breakdown_frame(self) -> pd.DataFrame:
        """Where latency goes, in picoseconds: a row for each part, the columns mean and tail."""
        import pandas as pd

        names = [part.name for part in fields(Breakdown) if part.name != "count"]
        columns = {part.name: getattr(self.breakdown_ps, part.name) for part in fields(BreakdownByPart)}
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


def columns(result: Result) -> dict[str, Any]:
    """The single values of a result by their dotted key, the same keys for every result."""
    return columns_of(Result, result)
