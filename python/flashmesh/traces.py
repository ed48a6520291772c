"""Traces on their own, without a drive: what is in one, and the same one in another format."""

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
    """What is in a trace, named as in its JSON; of the requests that a run would get, all of it exact."""

    remarks: tuple[str, ...]
    """A sentence for each fate of lines that are no requests as they stand."""
    document: dict[str, Any] = field(repr=False, compare=False)
    """The JSON document itself."""

    @classmethod
    def from_document(cls, document: dict[str, Any], remarks: list[str]) -> TraceSummary:
        """The summary behind a JSON document; further keys are left to `document`."""
        return build(cls, document | {"remarks": remarks, "document": document})

    @property
    def arrivals_per_s(self) -> float | None:
        """Mean rate of arrivals; None when all requests arrive at once."""
        return 1e12 / self.interarrival_mean_ps if self.interarrival_mean_ps else None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Requests that no format written here can say, and that were left out."""

    deallocates: int
    """Those that deallocate."""
    flushes: int
    """Those that flush."""
    write_zeroes: int
    """Those that write zeroes without sending them."""


@dataclass(frozen=True, slots=True)
class TraceConversion:
    """What became of a trace that was written in another format."""

    read: TraceSummary
    """What is in the trace that was read."""
    written: int
    """Requests written."""
    left_out: LeftOut
    """Requests left out."""


def trace_summary(
    trace: str | Path | DataFrame, *, overrides: Mapping[str, Any] | None = None, tolerate: bool = False
) -> TraceSummary:
    """Reads a trace and says what is in it, on addresses up to 1 PiB.

    Args:
        trace: The file, or a data frame as `flashmesh.run` takes it.
        overrides: How to read it, as keys of the configuration such as `{"workload.time-unit": "us"}`.
        tolerate: Whether to skip unusable lines of a trace, however many.

    Raises:
        ConfigError: When an override cannot be used.
        WorkloadError: When the trace cannot be read, or too many of its lines cannot be used.
    """
    path, overrides = as_trace(trace, overrides)
    assert path is not None
    config = configuration.load_trace(path, overrides=overrides, tolerate=tolerate)
    text, remarks = configuration.interruptibly(lambda: _native.scan_trace(config))
    return TraceSummary.from_document(json.loads(text), remarks)


def convert_trace(
    trace: str | Path,
    file: str | Path,
    format: str = "ascii",  # noqa: A002 - the word of the field
    *,
    overrides: Mapping[str, Any] | None = None,
    tolerate: bool = False,
    drop_unwritable: bool = False,
) -> TraceConversion:
    """Writes the requests of a trace in another format, by their arrivals; the file appears whole or not at all.

    Args:
        trace: The file to read.
        file: The file to write, packed when its name ends with .gz, .zst or .xz.
        format: What to write: "ascii" (nanoseconds, sectors of 512 B, 1 for a read) or "msr".
        overrides: How to read the trace, as keys of the configuration such as `{"workload.time-unit": "us"}`.
        tolerate: Whether to skip unusable lines of a trace, however many.
        drop_unwritable: Whether to leave out requests that neither read nor write, which no format here can say.

    Raises:
        ConfigError: When an override cannot be used.
        WorkloadError: When the trace cannot be read, too many of its lines cannot be used, or it holds what `format`
            cannot say.
        OutputError: When the file cannot be written.
    """
    config = configuration.load_trace(trace, overrides=overrides, tolerate=tolerate)
    with whole_file(file) as target:
        text, remarks = configuration.interruptibly(
            lambda: _native.convert_trace(config, target, file, format, drop_unwritable)
        )
    document = json.loads(text)
    read = TraceSummary.from_document(document["read"], remarks)
    return TraceConversion(read, document["written"], LeftOut(**document["left_out"]))
