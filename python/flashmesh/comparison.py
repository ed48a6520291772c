"""What a comparison gives: the results of the runs, each with the values that set it apart."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashmesh._native import OutputError
from flashmesh.configuration import value_text
from flashmesh.results import Result, columns

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from flashmesh.axes import Value


@dataclass(frozen=True)
class ComparedRun:
    """One run of a comparison."""

    settings: dict[str, Value]
    """The varied keys, with their values in this run."""
    result: Result


@dataclass(frozen=True)
class Comparison:
    """The runs of a comparison, in the order of the axes: the last one varies fastest."""

    axes: dict[str, tuple[Value, ...]]
    """The varied keys, with all their values."""
    runs: tuple[ComparedRun, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON document."""
        runs = [{"settings": dict(run.settings), "result": run.result.to_dict()} for run in self.runs]
        return {"axes": {key: list(values) for key, values in self.axes.items()}, "runs": runs}

    def to_json(self) -> str:
        """The JSON document as text, ending with a new line."""
        return json.dumps(self.to_dict(), indent=2) + "\n"

    def frame(self) -> pd.DataFrame:
        """A row for each run: the varied keys, then the columns of `Result.frame`."""
        import pandas as pd

        return pd.DataFrame([run.settings | columns(run.result) for run in self.runs])

    def to_parquet(self, path: str | Path) -> None:
        """Writes the rows of `frame` to a Parquet file; an axis with values of several types becomes texts.

        Raises:
            OutputError: When the file cannot be written.
        """
        frame = self.frame()
        for key, values in self.axes.items():
            if len({type(value) for value in values}) > 1:
                frame[key] = frame[key].map(value_text)
        try:
            frame.to_parquet(path, engine="pyarrow", compression="zstd", index=False)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error}") from error
