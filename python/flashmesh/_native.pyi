"""The compiled half of flashmesh. Private: use the `flashmesh` package."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__version__: str
__all__ = [
    "Blocks",
    "CheckError",
    "Config",
    "ConfigError",
    "Contender",
    "Control",
    "DispatchState",
    "Drive",
    "DriveState",
    "FlashmeshError",
    "Home",
    "InternalError",
    "OutputError",
    "Planes",
    "PolicyError",
    "PreparedDrives",
    "Router",
    "Simulation",
    "Snapshot",
    "Transaction",
    "Waiting",
    "WorkloadError",
    "Write",
    "__version__",
    "build_facts",
    "clear_states",
    "compare_traces",
    "convert_trace",
    "describe_profile",
    "fairness",
    "fit_trace",
    "former_presets",
    "generate_trace",
    "kept_states",
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

class PolicyError(FlashmeshError):
    """A policy in Python raised an exception, which is its cause, or answered what no drive can do."""

class InternalError(FlashmeshError):
    """A fault of flashmesh, not of its input."""

@final
class Config:
    """A whole configuration, checked."""

    @staticmethod
    def from_file(path: str | PathLike[str], overrides: Sequence[str], jobs: Sequence[str] = ...) -> Config: ...
    @staticmethod
    def from_str(text: str, name: str, overrides: Sequence[str], jobs: Sequence[str] = ...) -> Config: ...
    def notes(self) -> list[str]:
        """What whoever wrote it should know, a sentence each."""

    def to_toml(self) -> str: ...
    def to_json(self) -> str: ...
    def stream_names(self) -> list[str]: ...
    def traces(self) -> list[Path]: ...
    def workload_files(self) -> list[tuple[str, str]]:
        """The files that requests come from, traces and fitted profiles, each behind the stream that reads it."""

    def memory(self, checks: bool) -> tuple[int, int, int]:
        """The memory of a run, in bytes: address space, what is used at most, and what of it preconditioning takes."""

    def policies(self) -> list[tuple[str, str]]:
        """The policies in Python that it names: the key of each, and its name."""

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

    def __new__(cls, config: Config, check: bool, drives: PreparedDrives | None = None) -> Drive: ...
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

    def __new__(cls, folder: PathLike[str] | None = None, limit: int = 0, one_run: bool = False) -> PreparedDrives: ...
    def key(self, config: Config) -> str | None:
        """What decides the state in which a run begins: runs of one key share it.

        None for a drive that needs no preparation.
        """

    def take_notes(self) -> list[str]:
        """What went wrong with the folder since this was asked last, a sentence each."""

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
    def set_policy(
        self,
        kind: str,
        name: str,
        policy: object,
    ) -> None: ...
    def shape(self) -> list[int]: ...
    def require_every_feature(self) -> None: ...
    def record_timeline(self, path: str | PathLike[str]) -> None: ...
    @property
    def timeline_full_ps(self) -> int | None: ...
    @property
    def timeline_failure(self) -> str | None: ...
    def run(self, control: Control, on_requests: Callable[[int, dict[str, bytes]], None] | None = None) -> str: ...

@final
class Blocks:
    """The blocks of the plane that is to be collected. The next use fills its arrays anew: copy what you keep."""

    @property
    def plane(self) -> int:
        """The plane; where the planes of a die are collected together, one of them."""

    @property
    def invalid_pages(self) -> NDArray[np.uint16]:
        """Invalid pages of each block, by its position in the plane; 0 for what is no candidate."""

    @property
    def filled(self) -> NDArray[np.uint32]:
        """The sequence number, from 1, at which each block was filled; 0 for what is no candidate."""

    def most_invalid(self) -> int | None:
        """The candidate with the most invalid pages, the first of equals; None when all pages are valid."""

    def first_filled(self) -> int | None:
        """The candidate that was filled first."""

    def draw(self, invalid_min: int = 0) -> int | None:
        """A random candidate with so many invalid pages or more, each as likely as another; by the seed of the run."""

@final
class Write:
    """A page that is to be written, or read."""

    @property
    def lpn(self) -> int:
        """The logical page."""

    @property
    def stream(self) -> int | None:
        """The stream of the host; None for the firmware."""

    @property
    def request(self) -> int | None:
        """The request that waits for it; None without one."""

    @property
    def pages(self) -> int:
        """How many pages the request touches."""

    @property
    def position(self) -> int:
        """Which of them this is, from 0."""

@final
class Planes:
    """The planes, as a policy sees them that places writes. The next use fills its arrays anew: copy what you keep."""

    @property
    def free_pages(self) -> NDArray[np.uint32]:
        """Pages of each plane that can be written."""

    @property
    def valid_pages(self) -> NDArray[np.uint32]:
        """Valid pages of each plane."""

    @property
    def pages_open(self) -> NDArray[np.uint32]:
        """Pages used of the open blocks of each plane that take what the stream writes, and what is moved there."""

    @property
    def writes_waiting(self) -> NDArray[np.uint32]:
        """Writes that were placed on each plane and wait for their page."""

    @property
    def moves_waiting(self) -> NDArray[np.uint32]:
        """Pages that collection moves to each plane, and that wait for theirs."""

    def free_pages_of(self, plane: int) -> int:
        """Pages of a plane that can be written."""

    def valid_pages_of(self, plane: int) -> int:
        """Valid pages of a plane."""

    def pages_open_of(self, plane: int) -> int:
        """Pages used of the open blocks of a plane that take what the stream writes, and what is moved there."""

    def writes_waiting_of(self, plane: int) -> int:
        """Writes that were placed on a plane and wait for their page."""

    def moves_waiting_of(self, plane: int) -> int:
        """Pages that collection moves to a plane, and that wait for theirs."""

@final
class Router:
    """A router of NoSSD, one in each chip."""

    @property
    def row(self) -> int:
        """Its row, that of a channel; 0 in a ring."""

    @property
    def column(self) -> int:
        """Its column."""

@final
class DispatchState:
    """The dies that could begin something, and around them what waits for every die."""

    @property
    def now_ps(self) -> int:
        """The time of the decision, in picoseconds."""

    @property
    def candidates(self) -> list[int]:
        """The dies that could begin something and have not asked for a path, in ascending order.

        Where the dies of a chip take turns, the first die of a chip stands for all of them.
        """

    def candidates_of_channel(self, channel: int) -> list[int]:
        """Those of a channel."""

    def speaks_for(self, candidate: int) -> list[int]:
        """The dies of which one begins something when a candidate has a path."""

    def asks(self, die: int) -> bool:
        """Whether a die waits for a path for its next command."""

    def uses_path(self, die: int) -> bool:
        """Whether a die moves something over the interconnect, or waits for a path to do so."""

    def is_idle(self, die: int) -> bool:
        """Whether a die does nothing and nothing waits for it."""

    def outstanding_of(self, die: int) -> int:
        """Transactions that wait for a die, and those that it works on."""

    def queued(self, die: int, work: int, limit: int = ...) -> list[Transaction]:
        """What waits for a die, the first `limit` of each queue; not all of it may run now."""

@final
class DriveState:
    """What the dies do and how full the planes are. The next use fills its arrays anew: copy what you keep."""

    @property
    def outstanding(self) -> NDArray[np.uint32]:
        """Transactions that wait for each die, and those that it works on."""

    @property
    def waiting(self) -> NDArray[np.uint32]:
        """Transactions that wait for each die."""

    @property
    def idle(self) -> NDArray[np.bool_]:
        """Whether each die does nothing and nothing waits for it."""

    @property
    def valid_pages(self) -> NDArray[np.uint32]:
        """Valid pages of each plane."""

    @property
    def idle_count(self) -> int:
        """How many dies are idle."""

    def outstanding_of(self, die: int) -> int:
        """Transactions that wait for a die, and those that it works on."""

    def waiting_of(self, die: int) -> int:
        """Transactions that wait for a die."""

    def is_idle(self, die: int) -> bool:
        """Whether a die does nothing and nothing waits for it."""

    def is_channel_free(self, channel: int) -> bool:
        """Whether no die of a channel moves anything, or waits to move something."""

    def valid_pages_of(self, plane: int) -> int:
        """Valid pages of a plane."""

    def plane_of(self, lpn: int) -> int | None:
        """The plane that holds a logical page now; None for one that was never written."""

@final
class Home:
    """Where a page can be read."""

    @property
    def page(self) -> int:
        """The physical page."""

    @property
    def die(self) -> int:
        """Its die."""

    @property
    def outstanding(self) -> int:
        """Reads outstanding on that die."""

@final
class Transaction:
    """A transaction that waits for a die."""

    @property
    def work(self) -> int:
        """What it does, as a member of `flashmesh.policies.Work`."""

    @property
    def die(self) -> int:
        """The die that it waits for."""

    @property
    def plane(self) -> int:
        """The plane in its die."""

    @property
    def priority(self) -> int:
        """Its priority, 0 the most urgent."""

    @property
    def lpn(self) -> int:
        """The logical page."""

    @property
    def page(self) -> int:
        """The physical page that is read."""

    @property
    def request(self) -> int | None:
        """The request that waits for it; None for work of the firmware."""

    @property
    def stream(self) -> int:
        """The stream that it is for."""

    @property
    def bytes(self) -> int:
        """Bytes that the host asked for, or gave."""

    @property
    def order(self) -> int:
        """Grows with the arrival of transactions."""

    @property
    def queued_ps(self) -> int:
        """Since when it waits, in picoseconds."""

@final
class Waiting:
    """What waits, for the dies that the decision is about and around them."""

    @property
    def now_ps(self) -> int:
        """The time of the decision, in picoseconds."""

    @property
    def dies(self) -> list[int]:
        """The dies that the decision is about: one, or all of a chip that takes one operation at a time."""

    @property
    def collection_first(self) -> bool:
        """Whether garbage collection goes before requests here and now."""

    @property
    def space_is_out(self) -> bool:
        """Whether space is nearly out, so that only collection lets writes go on."""

    def heads(self, work: int) -> list[Transaction]:
        """The transactions of some kinds of work that may run: the first of each queue."""

    def oldest(self, work: int) -> Transaction | None:
        """The transaction of some kinds of work that may run and waits longest; None where none may."""

    def is_ready(self, work: int) -> bool:
        """Whether a transaction of one of some kinds of work may run."""

    def queued(self, die: int, work: int, limit: int = ...) -> list[Transaction]:
        """What waits for a die, the first `limit` of each queue; not all of it may run now."""

    def outstanding_of(self, die: int) -> int:
        """Transactions that wait for a die of the drive, and those that it works on."""

    def is_idle(self, die: int) -> bool:
        """Whether a die of the drive does nothing and nothing waits for it."""

@final
class Contender:
    """A die that waits for a channel or a controller."""

    @property
    def die(self) -> int:
        """The die."""

    @property
    def phase(self) -> int:
        """What it wants to send, as a member of `flashmesh.policies.Phase`."""

    @property
    def data(self) -> int:
        """Whose data it wants to send, as a member of `flashmesh.policies.DataOf`."""

    @property
    def goes_on(self) -> bool:
        """Whether it sends data now, and wants to send the next page of the same operation."""

    @property
    def position(self) -> int:
        """Its place among the dies that may want the resource."""

    @property
    def order(self) -> int:
        """Grows with every request for a path."""

def kept_states(folder: PathLike[str]) -> list[tuple[str, tuple[str, int, int] | None, bool, int, int]]:
    """The states in a folder: key, drive with capacity and time of making, whether this build can use it, size, use."""

def clear_states(folder: PathLike[str], unused_s: int) -> tuple[int, int]:
    """Removes the states that were not used for so many seconds; gives how many, and their bytes."""

def build_facts() -> list[tuple[str, str]]:
    """What the module is built of, by name: commit, profile, target, compiler."""

def parameters() -> str:
    """Every declared parameter, as JSON: its key, type, units, default, bounds, choices, conditions and meaning."""

def sections() -> list[tuple[str, str]]:
    """The sections of a configuration by name, each with what it is about."""

def presets() -> dict[str, str]: ...
def former_presets() -> dict[str, str]:
    """What presets were called before, each with its name."""

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
