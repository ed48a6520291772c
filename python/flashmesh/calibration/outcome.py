"""Result of a calibration, as a configuration and as a JSON document."""

from __future__ import annotations

import json
import shlex
from copy import deepcopy
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from flashmesh._native import __version__
from flashmesh.calibration.residuals import error
from flashmesh.calibration.space import configured, software_time_us
from flashmesh.comparing.axes import typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.calibration.advice import Advice
    from flashmesh.calibration.engine import Problem
    from flashmesh.calibration.inputs.facts import Facts
    from flashmesh.calibration.inputs.points import Target
    from flashmesh.calibration.searching.bench import Candidate, Settings
    from flashmesh.calibration.searching.determined import KeyEstimate
    from flashmesh.validation.figures import Figures
    from flashmesh.validation.tables.sheets import SheetRow

KIND = "calibration"
DIGITS = 4


@dataclass(frozen=True)
class Fitted:
    """A load with the figures of the drive fitted to all loads, and of a drive fitted to the other loads.

    `fitted` is None if the run failed or measured no request.
    """

    target: Target
    fitted: Figures | None
    predicted: Figures | None
    """Figures of this load on a drive fitted without it; None without such a fit, or if the run failed."""
    is_refitted: bool = False
    """Whether the fit to the other loads found a different drive than the fit to all loads."""

    @property
    def fitted_error(self) -> float | None:
        """Mean relative error of the figures in `fitted` against the measured ones; None if `fitted` is None."""
        return None if self.fitted is None else error(self.target.held, self.fitted)

    @property
    def predicted_error(self) -> float | None:
        """Mean relative error of the figures in `predicted` against the measured ones; None if `predicted` is None."""
        return None if self.predicted is None else error(self.target.held, self.predicted)


@dataclass(frozen=True)
class Calibration:
    """Result of a calibration: the fitted drive, and how well the measurements determine it."""

    facts: Facts
    problem: Problem
    start: Settings
    """Initial values of the keys."""
    best: Candidate
    keys: tuple[KeyEstimate, ...]
    points: tuple[Fitted, ...]
    advice: tuple[Advice, ...]
    """Further measurements for the keys that are not determined."""
    tried: int
    seed: int
    cut: tuple[str, ...]
    """Notes on stages that ran out of time."""

    @property
    def software_us(self) -> float:
        """Host software time, stated or fitted, in microseconds."""
        return software_time_us(self.best.settings, self.facts.software_us)

    @property
    def undetermined(self) -> list[KeyEstimate]:
        """Keys that the measurements do not determine."""
        return [found for found in self.keys if not found.is_determined]

    @property
    def origin(self) -> str:
        """Name of the initial values, for the report."""
        preset = self.facts.stated.get("preset")
        return "the values of the start" if preset is None else f"the values of the preset {preset}"

    def to_toml(self) -> str:
        """Returns the fitted drive as a configuration: the stated values and the fitted ones."""
        import tomli_w

        tables = deepcopy(self.facts.stated)
        for key, value in configured(self.best.settings).items():
            *path, name = key.split(".")
            table = tables
            for part in path:
                table = table.setdefault(part, {})
            table[name] = typed(value)
        return "".join(f"# {line}\n" for line in self.comments()) + "\n" + tomli_w.dumps(tables)

    def comments(self) -> list[str]:
        """Returns the comment lines at the head of the configuration."""
        lines = [
            f"Fitted by flashmesh {__version__} calibrate to {self.problem.measured}, with {self.facts.path.name}:",
            f"{self.tried} drives tried, seed {self.seed}, {self.problem.length.extent.requests:,} requests per load.",
        ]
        lines += [f"{found.key} = {found.value}: {span(found)}" for found in self.keys]
        predicted = mean([point.predicted_error for point in self.points])
        if predicted is not None:
            lines.append(f"Mean error of loads predicted by a fit to the other loads: {100 * predicted:.1f} %.")
        if self.software_us:
            lines.append(f"Validate it with --software-time {self.software_us:g}us.")
        return lines

    def next_step(self, output: str, points: str | None, data_sheet: str | None, drive: str | None) -> str:
        """Returns the command that compares the written drive with what it was fitted to.

        Args:
            output: The file of the written drive.
            points: The table of measurements; None without one.
            data_sheet: The table of data-sheet rows; None without one.
            drive: The name of the drive in the tables; None for the only one.
        """
        command = ["flashmesh", "validate", output]
        command += [] if points is None else ["--points", points]
        command += [] if data_sheet is None else ["--data-sheet", data_sheet]
        command += [] if drive is None else ["--drive", drive]
        command += ["--software-time", f"{self.software_us:g}us"] if self.software_us else []
        return shlex.join(command)

    def to_dict(self) -> dict[str, Any]:
        """Returns the result as a JSON object."""
        return {
            "kind": KIND,
            "version": __version__,
            "measured": self.problem.measured,
            "seed": self.seed,
            "requests": self.problem.length.extent.requests,
            "precision": self.problem.length.precision,
            "software_us": self.software_us,
            "tried": self.tried,
            "loss": round(self.best.loss, DIGITS),
            "keys": [asdict(found) for found in self.keys],
            "points": [
                {
                    "name": point.target.name,
                    "measured": {held.figure: held.measured for held in point.target.held},
                    "rows": [row_dict(row, point.fitted) for row in point.target.rows],
                    "simulated": None if point.fitted is None else point.fitted.to_dict(),
                    "predicted": None if point.predicted is None else point.predicted.to_dict(),
                    "error": rounded(point.fitted_error),
                    "predicted_error": rounded(point.predicted_error),
                    "refitted": point.is_refitted,
                }
                for point in self.points
            ],
            "critical": list(self.problem.critical),
            "unsettled": list(self.best.unsettled),
            "advice": [asdict(each) | {"change": rounded(each.change)} for each in self.advice],
            "cut": list(self.cut),
        }

    def to_json(self) -> str:
        """Returns the result as JSON text that ends with a newline."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"


def row_dict(row: SheetRow, fitted: Figures | None) -> dict[str, Any]:
    """Returns a row of the data sheet with its figure on the fitted drive as a JSON object."""
    value = None if fitted is None else row.value_of(fitted)
    told = {"what": row.what, "unit": row.unit, "value": row.value, "fitted": rounded(value)}
    return told | {"difference": None if value is None else rounded(value / row.value - 1.0)}


def span(found: KeyEstimate) -> str:
    """Returns the interval of a key as text, `determined` for a choice, or the reason why the key is not determined."""
    if not found.is_determined:
        return f"not determined: {found.reason}"
    return "determined" if found.low is None else f"{found.low} to {found.high}"


def mean(values: Sequence[float | None]) -> float | None:
    """Returns the mean of the values that are not None; None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def rounded(value: float | None) -> float | None:
    """Returns a number rounded to `DIGITS` decimal places; None for None."""
    return None if value is None else round(value, DIGITS)
