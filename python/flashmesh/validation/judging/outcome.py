"""Outcome of a validation, and its JSON document."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from flashmesh._native import __version__
from flashmesh.validation.figures import DIGITS, Figures
from flashmesh.validation.judging.baseline import Curves, curves
from flashmesh.validation.judging.verdict import (
    ALL_TOLERANCES,
    SWEEPS,
    Check,
    Tolerance,
    checks,
    most_served,
    row_check,
)
from flashmesh.validation.loads.rows import row_from_document
from flashmesh.validation.tables.measurements import DRIVE, OFFERED, SPACE, Measured, Measurements
from flashmesh.validation.tables.sheets import RATE, ROW_PRECISION, SheetRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

KIND = "validation"


@dataclass(frozen=True)
class PointOutcome:
    """A measured load with its simulated figures."""

    measured: Measured
    role: str
    """Use of the load: `fit` if the drive was fitted to it, `held out` if not; empty for a drive without a fit."""
    simulated: Figures | None
    """Simulated figures; None if the run failed."""
    simulated_at: float | None = None
    """Offered load of the run with the simulated figures; None if the run failed.

    Loads that saturate the simulated drive can share a run.
    """
    write_amplification: float | None = None
    requests: int = 0
    """Number of requests in the measured window."""


@dataclass(frozen=True)
class RowOutcome:
    """A row (a figure of the real drive, measured at a single load) with its simulated figure."""

    row: SheetRow
    simulated: float | None
    """Simulated figure in the unit of the row; None if the run failed or has no such latency."""
    requests: int = 0
    """Number of requests in the measured window."""
    precision: float | None = None
    """Half-width of the 95 % confidence interval of the request rate, as a share of the rate; None if unknown."""

    @property
    def is_settled(self) -> bool:
        """Whether the request rate reached `ROW_PRECISION`; True for percentiles, whose precision is not known.

        Also True without a simulated figure.
        """
        if self.simulated is None or self.row.statistic not in (RATE, "mean"):
            return True
        return self.precision is not None and self.precision <= ROW_PRECISION

    @property
    def check(self) -> Check:
        """Check of the row against its tolerance."""
        return row_check(self.row, self.simulated)


@dataclass(frozen=True)
class Validation:
    """Outcome of the validation of a drive: measured and simulated figures."""

    name: str
    """Name of the preset, or of the file of the drive."""
    title: str
    measurements: Measurements
    points: tuple[PointOutcome, ...]
    software_us: float
    write_amplification: float | None
    """Measured write amplification; None if it was not measured."""
    requests: int
    """Approximate number of requests of each run of a measured load."""
    failures: tuple[str, ...] = ()
    """Label and error of each failed run."""
    notes: tuple[str, ...] = ()
    """Notes on the size of the simulated drive, and on rows that are left out."""
    values_hash: str = ""
    """Hash of the values of the preset; empty for other drives."""
    rows: tuple[RowOutcome, ...] = ()
    """Rows of data sheets and of sweeps."""

    @property
    def is_data_sheet(self) -> bool:
        """Whether the drive is compared with a data sheet alone, without measurements."""
        return self.measurements.space_gib is None

    @property
    def simulated(self) -> list[Figures | None]:
        """Simulated figures of each measured load; None for failed runs."""
        return [point.simulated for point in self.points]

    @property
    def curves(self) -> Curves:
        """Latencies of the baseline curve, at the loads that were not fitted."""
        return curves(self.measurements, [point.role for point in self.points])

    @property
    def checks(self) -> tuple[Check, ...]:
        """Checks of all measured loads and all rows against their tolerances."""
        return (*checks(self.measurements, self.simulated), *(each.check for each in self.rows))

    @property
    def is_met(self) -> bool:
        """Whether every tolerance is met and no run failed."""
        return not self.failures and all(check.is_met for check in self.checks)

    @property
    def saturation_iops(self) -> float | None:
        """Maximum rate that the simulated drive served; None if no load was simulated."""
        return most_served(self.simulated)

    @property
    def amplification(self) -> float | None:
        """Simulated write amplification at the highest load with a known one; None if no load has one."""
        known = [point.write_amplification for point in self.points if point.write_amplification is not None]
        return known[-1] if known else None

    def point_dicts(self) -> list[dict[str, Any]]:
        """Returns the measured loads as JSON objects."""
        known, found = self.measurements, self.curves
        return [
            {
                "drive": self.name,
                "offered_iops": point.measured.offered_iops,
                "role": point.role,
                "measured": {
                    DRIVE: known.drive,
                    SPACE: known.space_gib,
                    OFFERED: point.measured.offered_iops,
                    **point.measured.figures.to_dict(),
                },
                "simulated": None
                if point.simulated is None
                else {OFFERED: point.simulated_at, **point.simulated.to_dict()},
                "curve": {
                    column: rounded_number(value)
                    for (offered, column), value in found.items()
                    if offered == point.measured.offered_iops
                },
                "write_amplification": rounded_number(point.write_amplification),
                "requests": point.requests,
            }
            for point in self.points
        ]

    def drive_dict(self) -> dict[str, Any]:
        """Returns the drive as a JSON object, without its measured loads."""
        return {
            "drive": self.name,
            "title": self.title,
            "source": self.measurements.source,
            "software_us": self.software_us,
            "requests": self.requests,
            "saturation_iops": {
                "measured": self.measurements.saturation_iops,
                "simulated": rounded_number(self.saturation_iops),
            },
            "write_amplification": {
                "measured": self.write_amplification,
                "simulated": rounded_number(self.amplification),
            },
            "checks": [
                asdict(check) | {"difference": rounded_number(check.difference), "met": check.is_met}
                for check in self.checks
            ],
            "data_sheet": [row_dict(each) for each in self.rows],
            "failures": list(self.failures),
            "notes": list(self.notes),
            "values_hash": self.values_hash,
            "met": self.is_met,
        } | ({} if self.points else {"measured": {DRIVE: self.measurements.drive, SPACE: self.measurements.space_gib}})


def row_dict(outcome: RowOutcome) -> dict[str, Any]:
    """Returns a row (figure of a single load), its simulated figure and its difference as a JSON object."""
    check = outcome.check
    row = {name: value for name, value in asdict(outcome.row).items() if name != "place"}
    return row | {
        "simulated": outcome.simulated,
        "difference": rounded_number(check.difference),
        "met": check.is_met,
        "requests": outcome.requests,
        "precision": outcome.precision,
    }


def rounded_number(value: float | None) -> float | None:
    """Returns a number rounded to `DIGITS` decimal places; None for None."""
    return None if value is None else round(value, DIGITS)


def to_dict(validations: Sequence[Validation]) -> dict[str, Any]:
    """Returns the document of a validation of several drives."""
    return {
        "kind": KIND,
        "version": __version__,
        "met": all(each.is_met for each in validations),
        "points": [point for each in validations for point in each.point_dicts()],
        "drives": [each.drive_dict() for each in validations],
        "tolerances": {each.name: each.says for each in tolerances_of(validations)},
    }


def tolerances_of(validations: Sequence[Validation]) -> list[Tolerance]:
    """Returns all tolerances, without those of sweeps, mixes and hot pages that no row of these drives uses."""
    held = {check.tolerance for each in validations for check in each.checks}
    return [each for each in ALL_TOLERANCES if each not in SWEEPS or each.name in held]


def to_json(validations: Sequence[Validation]) -> str:
    """Returns the document as JSON text that ends with a newline."""
    return json.dumps(to_dict(validations), indent=1, ensure_ascii=False) + "\n"


def is_validation(document: Any) -> bool:
    """Returns whether a JSON document has the kind `validation`."""
    return isinstance(document, dict) and document.get("kind") == KIND


def from_dict(document: dict[str, Any]) -> list[Validation]:
    """Returns the validations in a document.

    Raises:
        KeyError: If a key is missing.
        TypeError: If a value has another type.
    """
    found: list[Validation] = []
    for drive in document["drives"]:
        points = [point for point in document["points"] if point["drive"] == drive["drive"]]
        outcomes = tuple(map(point_of, points))
        first = points[0]["measured"] if points else drive["measured"]
        measured = tuple(outcome.measured for outcome in outcomes)
        found.append(
            Validation(
                name=drive["drive"],
                title=drive["title"],
                measurements=Measurements(first[DRIVE], first[SPACE], measured, drive["source"]),
                points=outcomes,
                software_us=drive["software_us"],
                write_amplification=drive["write_amplification"]["measured"],
                requests=drive["requests"],
                failures=tuple(drive["failures"]),
                notes=tuple(drive["notes"]),
                values_hash=drive["values_hash"],
                rows=tuple(map(row_outcome_of, drive.get("data_sheet", ()))),
            )
        )
    return found


def point_of(document: dict[str, Any]) -> PointOutcome:
    """Returns a measured load from its JSON object."""
    simulated = document["simulated"]
    return PointOutcome(
        measured=Measured(document["offered_iops"], Figures.from_dict(document["measured"])),
        role=document["role"],
        simulated=None if simulated is None else Figures.from_dict(simulated),
        simulated_at=None if simulated is None else simulated[OFFERED],
        write_amplification=document["write_amplification"],
        requests=document["requests"],
    )


def row_outcome_of(document: dict[str, Any]) -> RowOutcome:
    """Returns a row of a single load from its JSON object."""
    return RowOutcome(row_from_document(document), document["simulated"], document["requests"], document["precision"])


def missed(validations: Iterable[Validation]) -> list[str]:
    """Returns the names of the drives that miss a tolerance or have a failed run."""
    return [each.name for each in validations if not each.is_met]
