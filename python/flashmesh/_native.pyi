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
    """Base class of the errors of flashmesh."""

class ConfigError(FlashmeshError):
    """Invalid configuration; the message shows the place of the error."""

class WorkloadError(FlashmeshError):
    """Workload that cannot be read or replayed."""

class OutputError(FlashmeshError):
    """Result that cannot be written."""

class CheckError(FlashmeshError):
    """Contradiction in the simulation, found by a check."""

class PolicyError(FlashmeshError):
    """Failure of a Python policy: an exception, which is the cause of this error, or an invalid result."""

class InternalError(FlashmeshError):
    """Fault of flashmesh itself, not of its input."""

@final
class Config:
    """A complete and valid configuration, with notes for its author."""

    @staticmethod
    def from_file(path: str | PathLike[str], overrides: Sequence[str], jobs: Sequence[str] = ...) -> Config: ...
    @staticmethod
    def from_str(text: str, name: str, overrides: Sequence[str], jobs: Sequence[str] = ...) -> Config: ...
    def notes(self) -> list[str]:
        """Returns the notes for the author of the configuration, one sentence each, such as keys that were renamed."""

    def unused(self) -> list[str]:
        """Returns notes about keys that have no effect because the file selects another mode, one sentence each."""

    def to_toml(self) -> str: ...
    def to_json(self) -> str: ...
    def warm_up(self) -> str:
        """Returns the event that ends the warm-up: the value of `measure.warm-up`, or its default in this drive."""

    def stream_names(self) -> list[str]: ...
    def traces(self) -> list[Path]: ...
    def workload_files(self) -> list[tuple[str, str]]:
        """Returns the traces and fitted profiles as (stream that reads the file, path), sorted by stream."""

    def memory(self, checks: bool) -> tuple[int, int, int]:
        """Returns three sizes in bytes: the address space of a run, its peak memory, and the part for preconditioning.

        With `checks`, includes the memory of the oracles.
        """

    def policies(self) -> list[tuple[str, str]]:
        """Returns the key and the name of each Python policy in the configuration."""

    def unread(self, key: str) -> str | None: ...
    def hash(self) -> str: ...

@final
class Control:
    """Progress of a run, and a way to cancel it."""

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
        """Progress of preconditioning, from 0 to 1; None outside preconditioning."""

    @property
    def simulated_ps(self) -> int: ...

_Columns: TypeAlias = tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint8]]

@final
class Snapshot:
    """A copy of the complete state of a drive."""

@final
class Drive:
    """A drive that is simulated step by step, with requests submitted in between. Times are in picoseconds."""

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
    """Preconditioned drives. A drive is prepared once for all runs with the same initial state."""

    def __new__(cls, folder: PathLike[str] | None = None, limit: int = 0, one_run: bool = False) -> PreparedDrives: ...
    def key(self, config: Config) -> str | None:
        """Returns the key of the initial state of a run; None for a drive that needs no preparation.

        Runs with the same key share the state.
        """

    def take_notes(self) -> list[str]:
        """Returns the problems with the folder of stored states since the last call, one sentence each."""

@final
class Simulation:
    """A drive with its workload, for one run."""

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
    """Blocks of a plane, among which a victim policy chooses the block to collect.

    Candidates are the full blocks that are not being collected. The position of a block is its index in the plane, from
    0.

    Usable only during the call of the policy, in the same thread. Arrays are read-only views of one buffer for each
    property: the next access of the property overwrites the buffer, so copy an array to keep it.
    """

    @property
    def plane(self) -> int:
        """Index of the plane; for superblocks, of one of the planes that are collected together."""

    @property
    def invalid_pages(self) -> NDArray[np.uint16]:
        """Number of invalid pages of each block, indexed by position; 0 for a block that is not a candidate.

        For superblocks, the sum over the planes that are collected together; if a sum exceeds 65,535, all sums are in
        units of 2, 4 or more pages.
        """

    @property
    def filled(self) -> NDArray[np.uint32]:
        """Sequence number, from 1, at which each block became full; 0 for a block that is not a candidate.

        Indexed by position. A block with a lower number became full earlier.
        """

    def most_invalid(self) -> int | None:
        """Returns the position of the candidate with the most invalid pages; None if all candidates have 0.

        Of several such candidates, the one with the lowest position.
        """

    def first_filled(self) -> int | None:
        """Returns the position of the candidate that became full first; None if there is no candidate."""

    def draw(self, invalid_min: int = 0) -> int | None:
        """Returns the position of a random candidate with at least `invalid_min` invalid pages; None if there is none.

        Each of these candidates is equally likely. The draw uses the random numbers of the run, so that the seed of the
        run determines the result.
        """

@final
class Write:
    """A page to be written or, for the method `read` of an allocator, a page that a request reads."""

    @property
    def lpn(self) -> int:
        """Logical page number."""

    @property
    def stream(self) -> int | None:
        """Index of the host stream, from 0; None for a translation page."""

    @property
    def request(self) -> int | None:
        """Id of the request to which the page belongs; None if it belongs to no request, as in a destage."""

    @property
    def pages(self) -> int:
        """Number of pages of the request; 1 if the page belongs to no request."""

    @property
    def position(self) -> int:
        """Index of the page in the request, from 0; 0 if the page belongs to no request."""

@final
class Planes:
    """State of the planes of the drive, for a placement policy.

    Usable only during the call of the policy, in the same thread. Arrays are read-only views of one buffer for each
    property: the next access of the property overwrites the buffer, so copy an array to keep it.
    """

    @property
    def free_pages(self) -> NDArray[np.uint32]:
        """Number of free pages of each plane, indexed by plane.

        Free pages are in free blocks, including the reserve of GC, and in open blocks; the SLC cache does not count.
        """

    @property
    def valid_pages(self) -> NDArray[np.uint32]:
        """Number of valid pages of each plane, indexed by plane."""

    @property
    def pages_open(self) -> NDArray[np.uint32]:
        """Number of used pages in the open blocks of each plane to which the page can go, indexed by plane.

        For a host write, the open block of host writes and that of pages moved by GC count together; for a translation
        page, only that of translation pages.
        """

    @property
    def writes_waiting(self) -> NDArray[np.uint32]:
        """Number of writes placed on each plane and not yet assigned a physical page, indexed by plane."""

    @property
    def moves_waiting(self) -> NDArray[np.uint32]:
        """Number of pages that GC moves to each plane, not yet assigned a physical page, indexed by plane."""

    def free_pages_of(self, plane: int) -> int:
        """Returns `free_pages[plane]`, without filling the array."""

    def valid_pages_of(self, plane: int) -> int:
        """Returns `valid_pages[plane]`, without filling the array."""

    def pages_open_of(self, plane: int) -> int:
        """Returns `pages_open[plane]`, without filling the array."""

    def writes_waiting_of(self, plane: int) -> int:
        """Returns `writes_waiting[plane]`, without filling the array."""

    def moves_waiting_of(self, plane: int) -> int:
        """Returns `moves_waiting[plane]`, without filling the array."""

@final
class Router:
    """Router of NoSSD, one in each chip."""

    @property
    def row(self) -> int:
        """Row of the router, from 0, which is the index of its channel; 0 in a ring."""

    @property
    def column(self) -> int:
        """Column of the router, from 0 in the west; in a ring, the position of the router."""

@final
class DispatchState:
    """Dies that can request a path, and the queues of all dies, for the method `next_die` of a scheduler.

    Usable only during the call of the policy, in the same thread.
    """

    @property
    def now_ps(self) -> int:
        """Simulated time of the decision, in picoseconds."""

    @property
    def candidates(self) -> list[int]:
        """Indices of the dies that can start an operation and have not requested a path, in ascending order.

        If a chip executes one operation at a time, only its first die is listed, for all dies of the chip.
        """

    def candidates_of_channel(self, channel: int) -> list[int]:
        """Returns the candidates on a channel, in ascending order."""

    def speaks_for(self, candidate: int) -> list[int]:
        """Returns the dies for which a candidate requests a path. One of them uses the path for an operation.

        The dies are all dies of the chip if it executes one operation at a time, otherwise only the candidate.
        """

    def asks(self, die: int) -> bool:
        """Returns whether a die waits for a path for its next command."""

    def uses_path(self, die: int) -> bool:
        """Returns whether a die has a transfer in progress or waits for a path for one."""

    def is_idle(self, die: int) -> bool:
        """Returns whether a die is idle and has nothing queued."""

    def outstanding_of(self, die: int) -> int:
        """Returns the number of transactions queued for a die or in execution on it."""

    def queued(self, die: int, work: int, limit: int = ...) -> list[Transaction]:
        """Returns the first `limit` transactions for `work` in each queue of a die; all of them without `limit`.

        `work` is a `flashmesh.policies.Work`: one purpose, or several joined by `|`. A die has a queue for each plane
        and purpose, and for each priority unless `schedule.priorities` is `off`. Some of the transactions may not be
        ready to run.
        """

@final
class DriveState:
    """State of the dies and the planes of the drive, for an allocator.

    Usable only during the call of the policy, in the same thread. Arrays are read-only views of one buffer for each
    property: the next access of the property overwrites the buffer, so copy an array to keep it.
    """

    @property
    def outstanding(self) -> NDArray[np.uint32]:
        """Number of transactions queued for each die or in execution on it, indexed by die."""

    @property
    def waiting(self) -> NDArray[np.uint32]:
        """Number of transactions queued for each die, indexed by die."""

    @property
    def idle(self) -> NDArray[np.bool_]:
        """Whether each die is idle and has nothing queued, indexed by die."""

    @property
    def valid_pages(self) -> NDArray[np.uint32]:
        """Number of valid pages of each plane, indexed by plane."""

    @property
    def idle_count(self) -> int:
        """Number of dies that are idle and have nothing queued."""

    def outstanding_of(self, die: int) -> int:
        """Returns `outstanding[die]`, without filling the array."""

    def waiting_of(self, die: int) -> int:
        """Returns `waiting[die]`, without filling the array."""

    def is_idle(self, die: int) -> bool:
        """Returns `idle[die]`, without filling the array."""

    def is_channel_free(self, channel: int) -> bool:
        """Returns whether no die of a channel has a transfer in progress or waits for a path for one."""

    def valid_pages_of(self, plane: int) -> int:
        """Returns `valid_pages[plane]`, without filling the array."""

    def plane_of(self, lpn: int) -> int | None:
        """Returns the plane that holds a logical page; None if the page is unmapped, as before its first write."""

@final
class Home:
    """Copy of a replicated page: the original or the replica."""

    @property
    def page(self) -> int:
        """Physical page number of the copy."""

    @property
    def die(self) -> int:
        """Index of the die that holds the copy."""

    @property
    def outstanding(self) -> int:
        """Number of outstanding reads on the die of the copy."""

@final
class Transaction:
    """Queued transaction: the read or program of one page, or the erase of one block."""

    @property
    def work(self) -> int:
        """Purpose of the transaction: the value of a member of `flashmesh.policies.Work`."""

    @property
    def die(self) -> int:
        """Index of the die for which the transaction is queued."""

    @property
    def plane(self) -> int:
        """Index of the plane in its die, from 0."""

    @property
    def priority(self) -> int:
        """Priority of the queue; 0 is the most urgent. 2 for all transactions if `schedule.priorities` is `off`."""

    @property
    def lpn(self) -> int:
        """Logical page number, or number of a translation page; 0 for an erase."""

    @property
    def page(self) -> int:
        """Physical page number of the page to read, to move or to replicate; for an erase, of any page of the block.

        Without meaning for other programs.
        """

    @property
    def request(self) -> int | None:
        """Id of the request that waits for the transaction; None without one, as for GC and destages."""

    @property
    def stream(self) -> int:
        """Index of the stream of the request; for a destage, of that which wrote the page; 0 for firmware work."""

    @property
    def bytes(self) -> int:
        """Number of bytes of the page that the request reads or writes; for firmware work, at most a page."""

    @property
    def order(self) -> int:
        """Sequence number of the transaction, in order of arrival at the queues of the drive."""

    @property
    def queued_ps(self) -> int:
        """Simulated time at which the transaction was enqueued, in picoseconds."""

@final
class Waiting:
    """Queued transactions for a scheduling decision, and the queues of all dies.

    A die has a queue for each plane and purpose, and for each priority unless `schedule.priorities` is `off`. Usable
    only during the call of the policy, in the same thread.
    """

    @property
    def now_ps(self) -> int:
        """Simulated time of the decision, in picoseconds."""

    @property
    def dies(self) -> list[int]:
        """Indices of the dies of the decision: one die, or all of a chip that executes one operation at a time."""

    @property
    def collection_first(self) -> bool:
        """Whether GC now has priority over requests at a die of the decision."""

    @property
    def space_is_out(self) -> bool:
        """Whether a die of the decision has nearly no free pages, so that only GC can make room for writes."""

    def heads(self, work: int) -> list[Transaction]:
        """Returns the transactions for `work` that may run now: the first of each queue.

        `work` is a `flashmesh.policies.Work`: one purpose, or several joined by `|`.
        """

    def oldest(self, work: int) -> Transaction | None:
        """Returns the oldest transaction of `heads(work)`; None if there is none."""

    def is_ready(self, work: int) -> bool:
        """Returns whether a transaction for `work` may run now.

        `work` is a `flashmesh.policies.Work`: one purpose, or several joined by `|`.
        """

    def queued(self, die: int, work: int, limit: int = ...) -> list[Transaction]:
        """Returns the first `limit` transactions for `work` in each queue of a die; all of them without `limit`.

        `work` is a `flashmesh.policies.Work`: one purpose, or several joined by `|`. A die has a queue for each plane
        and purpose, and for each priority unless `schedule.priorities` is `off`. Some of the transactions may not be
        ready to run.
        """

    def outstanding_of(self, die: int) -> int:
        """Returns the number of transactions queued for a die or in execution on it."""

    def is_idle(self, die: int) -> bool:
        """Returns whether a die is idle and has nothing queued."""

@final
class Contender:
    """A die that waits for a channel or a controller."""

    @property
    def die(self) -> int:
        """Index of the die in the drive."""

    @property
    def phase(self) -> int:
        """Kind of message to send: the value of a member of `flashmesh.policies.Phase`."""

    @property
    def data(self) -> int:
        """Purpose of the data to send: the value of a member of `flashmesh.policies.DataOf`; not used for commands."""

    @property
    def goes_on(self) -> bool:
        """Whether the die is sending data and requests the path for the next page of the same operation."""

    @property
    def position(self) -> int:
        """Index of the die among the dies that share the channel or controller, from 0."""

    @property
    def order(self) -> int:
        """Sequence number of the path request, in order of arrival."""

def kept_states(folder: PathLike[str]) -> list[tuple[str, tuple[str, int, int] | None, bool, int, int]]:
    """Returns the states in a folder, the most recently used first.

    Each has its key; the name of the drive, its capacity in bytes and the time of creation, or None if unknown; whether
    this build can use the state; the size in bytes; the time of the last use. Times are in seconds since 1970.
    """

def clear_states(folder: PathLike[str], unused_s: int) -> tuple[int, int]:
    """Removes the states that were not used for `unused_s` seconds.

    Returns the number of removed states and their total size in bytes. Raises OutputError if a state cannot be removed.
    """

def build_facts() -> list[tuple[str, str]]:
    """Returns facts about the build as (name, value).

    The names are commit (`unknown` outside a repository), profile, target and compiler.
    """

def parameters() -> str:
    """Returns all parameters as JSON.

    Each has its key, type, units, default, bounds, choices, step for variation, meaning, and the settings without which
    it has no effect.
    """

def sections() -> list[tuple[str, str]]:
    """Returns the names of the sections of a configuration, each with its description.

    `NAME` in a name stands for a name that the user chooses.
    """

def presets() -> dict[str, str]: ...
def former_presets() -> dict[str, str]:
    """Returns the former names of presets, which still work, each with the current name."""

def profiles_by_paper() -> dict[str, dict[str, str]]: ...
def describe_profile(name: str) -> str: ...
def request_codes() -> tuple[list[str], list[str]]:
    """Returns the names of the operations and of the completion statuses of requests, each indexed by code."""

def quantities() -> list[tuple[str, str, str]]: ...
def fairness(streams: Sequence[tuple[str, tuple[float, int] | None, tuple[float, int] | None, bool]]) -> str: ...
def student_quantile(degrees: int, probability: float) -> float:
    """Returns the quantile of Student's t distribution for `probability`, strictly between 0 and 1.

    `degrees` is the number of degrees of freedom.
    """

def toml_places(text: str) -> list[tuple[list[str], tuple[int, int], tuple[int, int]]]:
    """Returns the positions of all keys and list items in a TOML text, in no particular order.

    Each has the path of keys (the index for a list item), the byte range of the last key or item, and that of the
    value. Raises ValueError if the text is not TOML.
    """

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
