"""Profiles fitted to traces: fitting, generation of traces, and comparison with the original."""

from __future__ import annotations

import json
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashmesh import _native, configuration
from flashmesh._native import ConfigError
from flashmesh.execution import Interrupted, Job, execute
from flashmesh.files import whole_file, write_text
from flashmesh.simulate import cores
from flashmesh.traces import LeftOut, TraceSummary

if TYPE_CHECKING:
    from collections.abc import Mapping

REFERENCE_DRIVES = {"venice-z-nand": "z_nand", "venice-pm9a3": "pm9a3"}
"""Presets of a fast and a slow drive, on which traces are replayed to compare latencies; each with its name in
`TraceFigure.key`."""
LOAD_MAX = 0.5
"""Maximum load in open replay, as a share of the throughput in stress replay. A trace with a higher load is slowed
down."""
CHECKED_REQUESTS = 1_000_000
"""Number of requests at the start of a trace that are compared with a copy after a fit."""


@dataclass(frozen=True, slots=True)
class TraceFigure:
    """A statistic of an original trace and of its copy."""

    key: str
    """Stable identifier of the figure, for programs."""
    title: str
    """Name of the figure in tables."""
    unit: str
    """Unit: share, bytes, 1/s, pages, requests, ps, or empty for a plain number."""
    measure: str
    """Measure of the difference: "relative" to the original (page counts: to at least a twentieth of all accessed
    pages), the Kolmogorov "distance" of two distributions, or "absolute" for figures that may be near 0."""
    original: float | None
    """Value of the original; None for a distribution."""
    copy: float | None
    """Value of the copy; None for a distribution."""
    difference: float | None
    """Difference of the copy from the original, as `measure` says; None if only the original is 0."""
    bound: float
    """Bound that copies made from fitted profiles meet (docs/fitting.md). A relative figure lies between
    `original / (1 + bound)` and `original * (1 + bound)`."""

    @property
    def is_within(self) -> bool:
        """Whether the difference is within the bound."""
        least = -self.bound / (1.0 + self.bound) if self.measure == "relative" else -self.bound
        return self.difference is not None and least <= self.difference <= self.bound


@dataclass(frozen=True, slots=True)
class TraceComparison:
    """Comparison of an original and its copy."""

    original: str
    copy: str
    time_scales: dict[str, float]
    """Factors by which arrival times are stretched in open replay, by reference drive; 1 for an unchanged trace."""
    figures: tuple[TraceFigure, ...]

    @property
    def misses(self) -> tuple[TraceFigure, ...]:
        """The figures whose difference is unknown or exceeds their bound."""
        return tuple(figure for figure in self.figures if not figure.is_within)

    @property
    def document(self) -> dict[str, Any]:
        """The comparison as JSON."""
        figures = [{name: getattr(figure, name) for name in TraceFigure.__slots__} for figure in self.figures]
        scales = self.time_scales
        return {"original": self.original, "copy": self.copy, "time_scales": scales, "figures": figures}


@dataclass(frozen=True, slots=True)
class TraceGeneration:
    """Result of generating a trace from a profile."""

    written: int
    """Number of requests written."""
    left_out: LeftOut
    """Requests that the format cannot represent."""


def fit_trace(
    trace: str | Path,
    file: str | Path,
    *,
    overrides: Mapping[str, Any] | None = None,
    tolerate: bool = False,
) -> TraceSummary:
    """Fits a profile to a trace, and writes it atomically.

    Args:
        trace: The trace.
        file: The profile to write.
        overrides: The settings for reading the trace, as keys of the configuration: `{"workload.time-unit": "us"}`.
        tolerate: Whether to skip all unusable lines of a trace.

    Raises:
        ConfigError: If an override is invalid.
        WorkloadError: If the trace cannot be read, or too many of its lines are unusable.
        OutputError: If the profile cannot be written.
    """
    config = configuration.load_trace(trace, overrides=overrides, tolerate=tolerate)
    if tomllib.loads(config.to_toml())["workload"]["flushes"]:
        raise ConfigError("workload.flushes: a profile has no flushes, which cover no bytes: leave out the key")
    with whole_file(file) as target:
        text, summary, remarks = configuration.interruptibly(lambda: _native.fit_trace(config))
        write_text(target, text)
    return TraceSummary.from_document(json.loads(summary), remarks)


def generate_trace(
    profile: str | Path,
    file: str | Path,
    format: str = "ascii",  # noqa: A002 - the field's term
    *,
    requests: int | None = None,
    seed: int = 1,
    drop_unwritable: bool = False,
) -> TraceGeneration:
    """Generates a trace from a fitted profile, and writes it atomically.

    Args:
        profile: The profile.
        file: The trace to write, compressed if its name ends with .gz, .zst or .xz.
        format: The format to write: "ascii" (nanoseconds, sectors of 512 B, 1 for a read) or "msr".
        requests: The number of requests; by default that of the original.
        seed: Seed of all random numbers.
        drop_unwritable: Whether to omit requests that are neither reads nor writes, which the formats cannot represent.

    Raises:
        WorkloadError: If the profile is invalid, or has requests that `format` cannot represent.
        OutputError: If the trace cannot be written.
    """
    with whole_file(file) as target:
        text = configuration.interruptibly(
            lambda: _native.generate_trace(Path(profile), target, Path(file), format, requests, seed, drop_unwritable)
        )
    document = json.loads(text)
    return TraceGeneration(document["written"], LeftOut(**document["left_out"]))


def compare_traces(
    original: str | Path,
    copy: str | Path,
    *,
    overrides: Mapping[str, Any] | None = None,
    copy_overrides: Mapping[str, Any] | None = None,
    tolerate: bool = False,
    latency: bool = True,
) -> TraceComparison:
    """Compares a copy of a trace with its original, figure by figure.

    Args:
        original: The original.
        copy: The copy.
        overrides: The settings for reading the original, as keys of the configuration.
        copy_overrides: The settings for reading the copy.
        tolerate: Whether to accept traces with any number of unusable lines.
        latency: Whether to also replay both on the reference drives.

    Raises:
        ConfigError: If an override is invalid.
        WorkloadError: If a trace cannot be read, or too many of its lines are unusable.
        Interrupted: On Ctrl-C.
    """
    sides = [(original, dict(overrides or {})), (copy, dict(copy_overrides or {}))]
    configs = [configuration.load_trace(trace, overrides=own, tolerate=tolerate) for trace, own in sides]
    compared = json.loads(configuration.interruptibly(lambda: _native.compare_traces(configs[0], configs[1])))
    figures = [TraceFigure(**figure) for figure in compared["figures"]]
    scales: dict[str, float] = {}
    if latency:
        for drive in REFERENCE_DRIVES:
            scales[drive], rows = replays(drive, sides, tolerate, compared["replay_bounds"])
            figures += rows
    return TraceComparison(str(original), str(copy), scales, tuple(figures))


def compare_profile(
    original: str | Path,
    profile: str | Path,
    *,
    overrides: Mapping[str, Any] | None = None,
    tolerate: bool = False,
    seed: int = 1,
    requests: int | None = None,
    latency: bool = True,
) -> TraceComparison:
    """Generates a copy of a trace from its profile, compares the two, and deletes the copy.

    Args:
        original: The trace that the profile was fitted to.
        profile: The profile.
        overrides: The settings for reading the original, as keys of the configuration.
        tolerate: Whether to skip all unusable lines of an original.
        seed: The seed of the copy.
        requests: The number of requests to compare, from the start of both; by default all.
        latency: Whether to also replay both on the reference drives.

    Raises:
        ConfigError: If an override is invalid.
        WorkloadError: If the trace or the profile is invalid.
        OutputError: If there is not enough disk space for the copy.
        Interrupted: On Ctrl-C.
    """
    with tempfile.TemporaryDirectory(prefix="flashmesh-") as folder:
        copy = Path(folder) / "copy.ascii"
        generate_trace(profile, copy, requests=requests, seed=seed, drop_unwritable=True)
        beginning = {} if requests is None else {"workload.requests": requests}
        return compare_traces(
            original,
            copy,
            overrides={**(overrides or {}), **beginning},
            copy_overrides={"workload.time-unit": "ns"},
            tolerate=tolerate,
            latency=latency,
        )


def replays(
    drive: str,
    sides: list[tuple[str | Path, dict[str, Any]]],
    tolerate: bool,
    bounds: list[tuple[str, str, float]],
) -> tuple[float, list[TraceFigure]]:
    """Returns (time scale of open replay, figures of both replay modes) of both traces on a drive."""
    stress = replay(drive, sides, tolerate, {"replay.mode": "stress"})
    original = stress[0].document
    workload = original["workload"]
    offered = workload["requests"] * 1e12 / workload["span_ps"] if workload["span_ps"] else 0.0
    scale = max(1.0, offered / (LOAD_MAX * original["iops"]))
    results = {
        "stress": stress,
        "open": replay(drive, sides, tolerate, {"replay.mode": "open", "replay.time-scale": scale}),
    }
    return scale, [replay_figure(drive, mode, name, bound, results[mode]) for mode, name, bound in bounds]


def replay_figure(drive: str, mode: str, name: str, bound: float, results: list[Any]) -> TraceFigure:
    """Returns the figure `name` of the replays of an original and of its copy on a drive."""
    is_rate = name == "iops"
    values = [float(result.document["iops"] if is_rate else getattr(result.latency_ps.all, name)) for result in results]
    difference = values[1] / values[0] - 1.0 if values[0] else None
    key = f"{name if is_rate else 'latency'}_{REFERENCE_DRIVES[drive]}_{mode}" + ("" if is_rate else f"_{name}_ps")
    titles = {"mean": "mean", "p99": "99th percentile", "iops": "requests"}
    unit = "1/s" if is_rate else "ps"
    return TraceFigure(
        key, f"{drive}, {mode}: {titles[name]}", unit, "relative", values[0], values[1], difference, bound
    )


def replay(
    drive: str, sides: list[tuple[str | Path, dict[str, Any]]], tolerate: bool, settings: dict[str, Any]
) -> list[Any]:
    """Replays both traces on a drive in parallel, and returns their two results."""
    jobs = [
        Job(
            configuration.load(
                f"{configuration.PRESET_PREFIX}{drive}",
                overrides={**own, **settings, "workload.beyond": "wrap"},
                trace=trace,
                tolerate=tolerate,
            )
        )
        for trace, own in sides
    ]
    if not execute(jobs, cores()):
        raise Interrupted(None)
    return [job.result for job in jobs]
