"""The compiled half of flashmesh. Private: use the `flashmesh` package."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__version__: str
__all__ = [
    "CheckError",
    "Config",
    "ConfigError",
    "Control",
    "Drive",
    "FlashmeshError",
    "InternalError",
    "OutputError",
    "PreparedDrives",
    "Simulation",
    "Snapshot",
    "WorkloadError",
    "__version__",
    "build_facts",
    "compare_traces",
    "convert_trace",
    "describe_profile",
    "fairness",
    "fit_trace",
    "generate_trace",
    "parameters",
    "presets",
    "profiles_by_paper",
    "quantities",
    "request_codes",
    "scan_trace",
    "sections",
    "student_quantile",
    "toml_places",
    "trace_output_formats",
]

class FlashmeshError(Exception):
    """Anything that stops flashmesh."""

class ConfigError(FlashmeshError):
    """A configuration that cannot be used; the text shows the place."""

class WorkloadError(FlashmeshError):
    """A workload that cannot be read or replayed."""

class OutputError(FlashmeshError):
    """A result that cannot be written."""

class CheckError(FlashmeshError):
    """A check found the simulation to contradict itself."""

class InternalError(FlashmeshError):
    """A fault of flashmesh, not of its input."""

@final
class Config:
    """A whole configuration, checked."""

    @staticmethod
    def from_file(path: str | PathLike[str], overrides: Sequence[str], jobs: Sequence[str] = ...) -> Config: ...
    @staticmethod
    def from_str(text: str, name: str, overrides: Sequence[str], jobs: Sequence[str] = ...) -> Config: ...
    def to_toml(self) -> str: ...
    def to_json(self) -> str: ...
    def stream_names(self) -> list[str]: ...
    def traces(self) -> list[Path]: ...
    def workload_files(self) -> list[tuple[str, str]]:
        """The files that requests come from, traces and fitted profiles, each behind the stream that reads it."""

    def memory(self, checks: bool) -> tuple[int, int, int]:
        """The memory of a run, in bytes: address space, what is used at most, and what of it preconditioning takes."""

    def unread(self, key: str) -> str | None: ...
    def hash(self) -> str: ...

@final
class Control:
    """How far a run is, and the switch that ends it."""

    def __new__(cls) -> Control: ...
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...
    @property
    def requests_done(self) -> int: ...
    @property
    def request_total(self) -> int | None: ...
    @property
    def preconditioned(self) -> float | None:
        """How much of the preconditioning is done, from 0 to 1; None while there is none under way."""

    @property
    def simulated_ps(self) -> int: ...

_Columns: TypeAlias = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint8]]

@final
class Snapshot:
    """A copy of the whole state of a drive."""

@final
class Drive:
    """A drive that is stepped; times are in picoseconds."""

    def __new__(cls, config: Config, check: bool) -> Drive: ...
    def submit(self, time_ps: int, op: int, offset: int, size: int, stream: int) -> int: ...
    def submit_batch(
        self,
        time_ps: NDArray[np.uint64],
        op: NDArray[np.uint8] | int,
        offset: NDArray[np.uint64] | int,
        size: NDArray[np.uint64] | int,
        stream: NDArray[np.uint32] | int,
    ) -> int: ...
    def next_event(self) -> int | None: ...
    def advance(self, time_ps: int) -> _Columns: ...
    def advance_to_completion(self, time_ps: int | None) -> _Columns: ...
    def drain(self) -> _Columns: ...
    def report(self) -> str: ...
    def snapshot(self) -> Snapshot: ...
    def restore(self, snapshot: Snapshot) -> None: ...
    @property
    def now_ps(self) -> int: ...
    @property
    def outstanding(self) -> int: ...
    @property
    def sector_size(self) -> int: ...
    def capacity(self, stream: int) -> int | None: ...

@final
class PreparedDrives:
    """Preconditioned drives, prepared once for all runs that begin with the same state."""

    def __new__(cls) -> PreparedDrives: ...

@final
class Simulation:
    """A drive with its workload, ready to run once."""

    def __new__(
        cls,
        config: Config,
        alone: int | None = None,
        drives: PreparedDrives | None = None,
        control: Control | None = None,
    ) -> Simulation: ...
    def trace_summary(self) -> str | None: ...
    def enable_checks(self) -> None: ...
    def record_timeline(self, path: str | PathLike[str]) -> None: ...
    @property
    def timeline_full_ps(self) -> int | None: ...
    @property
    def timeline_failure(self) -> str | None: ...
    def run(self, control: Control, on_requests: Callable[[int, dict[str, bytes]], None] | None = None) -> str: ...

def build_facts() -> list[tuple[str, str]]:
    """What the module is built of, by name: commit, profile, target, compiler."""

def parameters() -> str:
    """Every declared parameter, as JSON: its key, type, units, default, bounds, choices, conditions and meaning."""

def sections() -> list[tuple[str, str]]:
    """The sections of a configuration by name, each with what it is about."""

def presets() -> dict[str, str]: ...
def profiles_by_paper() -> dict[str, dict[str, str]]: ...
def describe_profile(name: str) -> str: ...
def request_codes() -> tuple[list[str], list[str]]:
    """The operations and the statuses of requests, by their numbers."""

def quantities() -> list[tuple[str, str, str]]: ...
def fairness(streams: Sequence[tuple[str, float | None, float | None]]) -> str: ...
def student_quantile(degrees: int, probability: float) -> float:
    """What a variable of Student's t distribution does not exceed with a probability."""

def toml_places(text: str) -> list[tuple[list[str], tuple[int, int], tuple[int, int]]]:
    """Every key of a TOML text with those above it, items of lists by number; the bytes of key and of value."""

def scan_trace(config: Config) -> tuple[str, list[str]]: ...
def convert_trace(
    config: Config,
    path: str | PathLike[str],
    name: str | PathLike[str],
    format: str,  # noqa: A002 - the word of the field
    drop_unwritable: bool,
) -> tuple[str, list[str]]: ...
def fit_trace(config: Config) -> tuple[str, str, list[str]]: ...
def generate_trace(
    profile: str | PathLike[str],
    path: str | PathLike[str],
    name: str | PathLike[str],
    format: str,  # noqa: A002 - the word of the field
    requests: int | None,
    seed: int,
    drop_unwritable: bool,
) -> str: ...
def compare_traces(original: Config, copy: Config) -> str: ...
def trace_output_formats() -> list[str]: ...
