"""Profiles fitted to traces: made, turned into traces again, and held against the original."""

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
"""The presets on which latencies are compared, a fast drive and a slow one, with what keys of figures call them."""
LOAD_MAX = 0.5
"""Open replay is slowed down until the original asks for at most this share of what the drive can serve."""
CHECKED_REQUESTS = 1_000_000
"""Requests at the beginning of a trace that are compared with a copy after a fit."""


@dataclass(frozen=True, slots=True)
class TraceFigure:
    """One figure of an original and of its copy."""

    key: str
    """What it tells; stable."""
    title: str
    """What a person calls it."""
    unit: str
    """share, bytes, 1/s, pages, requests, ps, or empty for a plain number."""
    measure: str
    """How the difference is taken: "relative" to the original (of pages read or written to a twentieth of all pages
    touched where they are fewer), the Kolmogorov "distance" of two distributions, or "absolute" for figures that may be
    near 0."""
    original: float | None
    """None of a distribution."""
    copy: float | None
    """None of a distribution."""
    difference: float | None
    """None when the original is 0 and the copy is not."""
    bound: float
    """What copies made from fitted profiles keep to (docs/fitting.md); a relative figure lies between
    `original / (1 + bound)` and `original * (1 + bound)`."""

    @property
    def is_within(self) -> bool:
        """Whether the difference is within the bound."""
        least = -self.bound / (1.0 + self.bound) if self.measure == "relative" else -self.bound
        return self.difference is not None and least <= self.difference <= self.bound


@dataclass(frozen=True, slots=True)
class TraceComparison:
    """An original and its copy, figure by figure."""

    original: str
    copy: str
    time_scales: dict[str, float]
    """By what arrival times were multiplied in the open replay on each reference drive."""
    figures: tuple[TraceFigure, ...]

    @property
    def misses(self) -> tuple[TraceFigure, ...]:
        """The figures that are beyond their bounds."""
        return tuple(figure for figure in self.figures if not figure.is_within)

    @property
    def document(self) -> dict[str, Any]:
        """The same as JSON has it."""
        figures = [{name: getattr(figure, name) for name in TraceFigure.__slots__} for figure in self.figures]
        scales = self.time_scales
        return {"original": self.original, "copy": self.copy, "time_scales": scales, "figures": figures}


@dataclass(frozen=True, slots=True)
class TraceGeneration:
    """What became of a trace made from a profile."""

    written: int
    """Requests written."""
    left_out: LeftOut
    """Requests left out."""


def fit_trace(
    trace: str | Path,
    file: str | Path,
    *,
    overrides: Mapping[str, Any] | None = None,
    tolerate: bool = False,
) -> TraceSummary:
    """Fits a profile to a trace and writes it; the file appears whole or not at all.

    Args:
        trace: The trace.
        file: The profile to write.
        overrides: How to read the trace, as keys of the configuration such as `{"workload.time-unit": "us"}`.
        tolerate: Whether to skip unusable lines of a trace, however many.

    Raises:
        ConfigError: When an override cannot be used.
        WorkloadError: When the trace cannot be read, or too many of its lines cannot be used.
        OutputError: When the profile cannot be written.
    """
    config = configuration.load_trace(trace, overrides=overrides, tolerate=tolerate)
    if tomllib.loads(config.to_toml())["workload"]["flushes"]:
        raise ConfigError("workload.flushes: a profile has no flushes, which cover no bytes: leave the key away")
    with whole_file(file) as target:
        text, summary, remarks = configuration.interruptibly(lambda: _native.fit_trace(config))
        write_text(target, text)
    return TraceSummary.from_document(json.loads(summary), remarks)


def generate_trace(
    profile: str | Path,
    file: str | Path,
    format: str = "ascii",  # noqa: A002 - the word of the field
    *,
    requests: int | None = None,
    seed: int = 1,
    drop_unwritable: bool = False,
) -> TraceGeneration:
    """Makes a trace from a fitted profile; the file appears whole or not at all.

    Args:
        profile: The profile.
        file: The trace to write, packed when its name ends with .gz, .zst or .xz.
        format: What to write: "ascii" (nanoseconds, sectors of 512 B, 1 for a read) or "msr".
        requests: How many; as many as the original has unless given.
        seed: Seed of all random numbers.
        drop_unwritable: Whether to leave out requests that neither read nor write, which no format here can say.

    Raises:
        WorkloadError: When the profile cannot be used, or holds what `format` cannot say.
        OutputError: When the trace cannot be written.
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
    """Holds a copy of a trace against its original, figure by figure.

    Args:
        original: The original.
        copy: The copy.
        overrides: How to read the original, as keys of the configuration.
        copy_overrides: How to read the copy.
        tolerate: Whether to accept traces however many of their lines cannot be used.
        latency: Whether to replay both on the reference drives as well.

    Raises:
        ConfigError: When an override cannot be used.
        WorkloadError: When a trace cannot be read, or too many of its lines cannot be used.
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
    """Makes a copy of a trace from its profile, compares the two, and forgets the copy.

    Args:
        original: The trace that the profile was fitted to.
        profile: The profile.
        overrides: How to read the original, as keys of the configuration.
        tolerate: Whether to skip unusable lines of an original, however many.
        seed: Seed of the random numbers of the copy.
        requests: How many to compare, from the beginning of both; all unless given.
        latency: Whether to replay both on the reference drives as well.

    Raises:
        ConfigError: When an override cannot be used.
        WorkloadError: When the trace or the profile cannot be used.
        OutputError: When there is no room for the copy.
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
    """The time scale of open replay on a drive, and what both traces get from it in open and stress replay."""
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
    """One figure of the replays of an original and its copy on a drive."""
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
    """The results of both traces on a drive, replayed side by side."""
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
