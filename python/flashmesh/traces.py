"""Traces without a drive: their contents, and conversion to other formats."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flashmesh import _native, configuration
from flashmesh._results import TraceContents
from flashmesh.files import whole_file
from flashmesh.frames import as_trace
from flashmesh.record import record
from flashmesh.results.build import build

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from flashmesh.frames import DataFrame


@record
class TraceSummary(TraceContents):
    """Exact statistics of a trace, named as in its JSON.

    They cover the requests that a run would get.
    """

    remarks: tuple[str, ...]
    """Sentences on unusable lines, one for each kind."""
    document: dict[str, Any] = field(repr=False, compare=False)
    """JSON of the statistics."""

    @classmethod
    def from_document(cls, document: dict[str, Any], remarks: list[str]) -> TraceSummary:
        """Creates a summary from a JSON document; other keys remain in `document`."""
        return build(cls, document | {"remarks": remarks, "document": document})

    @property
    def arrivals_per_s(self) -> float | None:
        """Mean rate of arrivals per second; None if all requests arrive at the same time."""
        return 1e12 / self.interarrival_mean_ps if self.interarrival_mean_ps else None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Requests that were left out of an output, since its format cannot represent them."""

    deallocates: int
    """Number of deallocations."""
    flushes: int
    """Number of flushes."""
    write_zeroes: int
    """Number of write-zeroes requests."""


@dataclass(frozen=True, slots=True)
class TraceConversion:
    """Result of converting a trace."""

    read: TraceSummary
    """Statistics of the trace that was read."""
    written: int
    """Number of requests written."""
    left_out: LeftOut
    """Requests that were left out, since the format cannot represent them."""


def trace_summary(
    trace: str | Path | DataFrame, *, overrides: Mapping[str, Any] | None = None, tolerate: bool = False
) -> TraceSummary:
    """Returns the statistics of a trace, for addresses up to 1 PiB.

    Args:
        trace: The file, or a data frame as in `flashmesh.run`.
        overrides: The settings for reading it, as keys of the configuration: `{"workload.time-unit": "us"}`.
        tolerate: Whether to skip all unusable lines of a trace.

    Raises:
        ConfigError: If an override is invalid.
        WorkloadError: If the trace cannot be read, or too many of its lines are unusable.
    """
    path, overrides = as_trace(trace, overrides)
    assert path is not None
    config = configuration.load_trace(path, overrides=overrides, tolerate=tolerate)
    text, remarks = configuration.interruptibly(lambda: _native.scan_trace(config))
    return TraceSummary.from_document(json.loads(text), remarks)


def convert_trace(
    trace: str | Path,
    file: str | Path,
    format: str = "ascii",  # noqa: A002 - the field's term
    *,
    overrides: Mapping[str, Any] | None = None,
    tolerate: bool = False,
    drop_unwritable: bool = False,
) -> TraceConversion:
    """Writes the requests of a trace in another format, in the order of arrival, atomically.

    Args:
        trace: The file to read.
        file: The file to write, compressed if its name ends with .gz, .zst or .xz.
        format: The format to write: "ascii" (nanoseconds, sectors of 512 B, 1 for a read) or "msr".
        overrides: The settings for reading the trace, as keys of the configuration: `{"workload.time-unit": "us"}`.
        tolerate: Whether to skip all unusable lines of a trace.
        drop_unwritable: Whether to omit requests that are neither reads nor writes, which the formats cannot represent.

    Raises:
        ConfigError: If an override is invalid.
        WorkloadError: If the trace cannot be read, too many of its lines are unusable, or it has requests that `format`
            cannot represent.
        OutputError: If the file cannot be written.
    """
    config = configuration.load_trace(trace, overrides=overrides, tolerate=tolerate)
    with whole_file(file) as target:
        text, remarks = configuration.interruptibly(
            lambda: _native.convert_trace(config, target, file, format, drop_unwritable)
        )
    document = json.loads(text)
    read = TraceSummary.from_document(document["read"], remarks)
    return TraceConversion(read, document["written"], LeftOut(**document["left_out"]))
