"""Figures of a drive at one load, measured or simulated: rates and latencies of reads and writes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from flashmesh._native import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS = ("read", "write")
STATISTICS = {"mean": "mean", "p50": "p50", "p99": "p99", "p999": "p99_9"}
"""Statistics of a latency: name in columns, and name in the results of runs."""
PS_PER_US = 1e6
PS_PER_S = 1e12
DIGITS = 4
"""Decimal places to which simulated figures are rounded before any check, so that stored and new figures have the same
verdicts."""


@dataclass(frozen=True)
class Figures:
    """Rates and latencies at one load. A latency is None if it was not measured or there were no such requests."""

    read_iops: float
    write_iops: float
    read_mean_us: float | None = None
    read_p50_us: float | None = None
    read_p99_us: float | None = None
    read_p999_us: float | None = None
    write_mean_us: float | None = None
    write_p50_us: float | None = None
    write_p99_us: float | None = None
    write_p999_us: float | None = None

    @property
    def iops(self) -> float:
        """Total rate: reads and writes per second."""
        return self.read_iops + self.write_iops

    def value(self, column: str) -> float | None:
        """Returns the figure with the name `column`; None for a missing latency."""
        found: float | None = getattr(self, column)
        return found

    def to_dict(self) -> dict[str, float | None]:
        """Returns the figures by their names."""
        return asdict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Figures:
        """Creates figures from a mapping that has all names. Ignores other keys."""
        return cls(**{column: document[column] for column in COLUMNS})


COLUMNS = tuple(each.name for each in fields(Figures))
"""Names of the figures."""
LATENCIES = tuple(column for column in COLUMNS if column.endswith("_us"))
"""Names of the latencies among the figures."""


def has_window(document: Mapping[str, Any]) -> bool:
    """Returns whether a run has a measured window, with a request that completed after the warm-up."""
    window = document["measured"]
    return window is not None and window["end_ps"] > window["start_ps"]


def simulated(document: Mapping[str, Any], software_us: float) -> Figures:
    """Returns the figures of the measured window of a run.

    Args:
        document: The result of the run, as a JSON object.
        software_us: The host software time to add to each latency, in microseconds.

    Raises:
        ConfigError: If no request completed in the window.
    """
    if not has_window(document):
        raise ConfigError("no request completed after the warm-up: allow more requests")
    window = document["measured"]
    seconds = (window["end_ps"] - window["start_ps"]) / PS_PER_S
    found: dict[str, float | None] = {}
    for kind in KINDS:
        latency = window["latency_ps"][kind]
        found[f"{kind}_iops"] = 0.0 if latency is None else round(latency["count"] / seconds, DIGITS)
        for column, name in STATISTICS.items():
            value = None if latency is None else latency[name] / PS_PER_US + software_us
            found[f"{kind}_{column}_us"] = None if value is None else round(value, DIGITS)
    return Figures.from_dict({column: found[column] for column in COLUMNS})
