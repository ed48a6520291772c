"""A drive that a program simulates step by step: the program submits requests, and advances the time explicitly."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from flashmesh import _native, configuration
from flashmesh._native import ConfigError
from flashmesh.installation import memory, states
from flashmesh.provenance import with_provenance
from flashmesh.results import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from flashmesh._native import Snapshot
    from flashmesh.configuration import ConfigSource

    Times: TypeAlias = NDArray[np.uint64]
    Codes: TypeAlias = NDArray[np.uint8]
    OpName: TypeAlias = Literal["read", "r", "write", "w", "deallocate", "trim", "discard", "flush", "write_zeroes"]


class Op(IntEnum):
    """Operation of a request."""

    READ = 0
    WRITE = 1
    DEALLOCATE = 2
    """Deallocation of the bytes (NVMe Deallocate, ATA TRIM)."""
    FLUSH = 3
    """Flush: completes when all earlier writes are in the flash; it covers no bytes."""
    WRITE_ZEROES = 4


OTHER_NAMES = {"r": Op.READ, "w": Op.WRITE, "trim": Op.DEALLOCATE, "discard": Op.DEALLOCATE}
"""Further names of operations, as used in data frames, fio and ATA."""
OPS = {op.name.lower(): op for op in Op} | OTHER_NAMES


def op_of(name: str) -> Op:
    """Returns the operation with a name, in upper or lower case.

    Raises:
        ValueError: If no operation has this name.
    """
    found = OPS.get(name.strip().lower().replace("-", "_").replace(" ", "_"))
    if found is None:
        from flashmesh.importers.problems import suggestion

        near = suggestion(name.lower(), OPS)
        told = f"did you mean {near!r}?" if near else f"there are {', '.join(map(repr, OPS))}"
        raise ValueError(f"op {name!r}: there is no such operation: {told}")
    return found


class Status(IntEnum):
    """Completion status of a request."""

    SUCCESS = 0
    INVALID_OPCODE = 1
    INVALID_FIELD = 2
    INVALID_NAMESPACE = 3
    LBA_OUT_OF_RANGE = 4


@dataclass(frozen=True, slots=True)
class Completions:
    """Requests that a step completed, in the order of completion; an array for each field."""

    id: Times
    """Id that `submit` returned for the request."""
    time_ps: Times
    """Simulated time in picoseconds at which the completion reached the host."""
    latency_ps: Times
    """Time from the arrival of the request to its completion, in picoseconds."""
    status: Codes
    """Number of the completion status, a `Status`."""

    def __len__(self) -> int:
        """Returns the number of requests."""
        return len(self.id)


class Drive:
    """A drive that a program simulates step by step.

    Requests are submitted with their arrival times in picoseconds. Advancing the drive to a time simulates everything
    up to and including that time. The streams are those of the configuration; `[workload]` and `[replay]` are ignored.

        >>> drive = Drive("preset:venice-z-nand")
        >>> drive.submit(5_000_000, Op.READ, offset=4096, size=4096)
        0
        >>> completions = drive.advance(100_000_000)
        >>> completions.id
        array([0], dtype=uint64)
        >>> drive.report().requests
        1

    If all requests that arrive up to a time are submitted before the drive is advanced to it, the report equals that of
    `run` with the same requests as a trace.
    """

    def __init__(
        self,
        config: ConfigSource,
        *,
        overrides: Mapping[str, Any] | None = None,
        seed: int | None = None,
        check: bool = False,
    ) -> None:
        """Creates the drive at time 0.

        Args:
            config: As in `run`.
            overrides: Values by their dotted key, such as `{"fabric.kind": "ideal"}`.
            seed: The seed of all random numbers.
            check: Whether to check the simulation against its oracles as it runs.

        Raises:
            ConfigError: If the configuration is invalid, or has a feature that stepped drives lack.
        """
        self._config = configuration.load(config, overrides=overrides, seed=seed, runs=False)
        for key, name in self._config.policies():
            raise ConfigError(f"{key} is {name}: a drive that is stepped runs no policy in Python: leave the key out")
        memory.require([self._config], 1, check)
        drives = states.drives(one_run=True)
        self._native = _native.Drive(self._config, check, drives)
        states.tell_notes(drives)

    def submit(self, time_ps: int, op: Op | OpName | int, offset: int = 0, size: int = 0, stream: int = 0) -> int:
        """Submits a request, and returns its id. Ids count from 0.

        Args:
            time_ps: The arrival time, in picoseconds.
            op: The operation: an `Op`, its number or its name, such as "read".
            offset: The offset in the namespace of its stream, in bytes: a multiple of `sector_size`.
            size: The size in bytes: a positive multiple of `sector_size`, 0 for a flush.
            stream: The index of its stream, in the order of the configuration, from 0.

        Raises:
            ValueError: If no operation has this name.
            WorkloadError: If the request is invalid, or arrives before the time of the drive or before the last request
                of its stream. A request beyond the capacity completes with an error status.
        """
        return self._native.submit(time_ps, op_of(op) if isinstance(op, str) else op, offset, size, stream)

    def submit_batch(
        self,
        time_ps: Times,
        op: Codes | Op | OpName | int,
        offset: Times | int,
        size: Times | int,
        stream: NDArray[np.uint32] | int = 0,
    ) -> int:
        """Submits a request for each time, or none if one is refused. Returns the id of the first; the others follow.

        Arrays are read without copying: contiguous, of `numpy.uint64`, `op` of `numpy.uint8`, `stream` of
        `numpy.uint32`. A number in place of an array applies to all requests.

        Args:
            time_ps: The arrival times.
            op: The operation of all requests, as in `submit`, or an array of numbers.
            offset: The offsets.
            size: The sizes in bytes.
            stream: The indices of the streams.

        Raises:
            TypeError: If an array has another type.
            ValueError: If an array differs in length from `time_ps`, or an operation does not exist.
            WorkloadError: As in `submit`, with the row.
        """
        return self._native.submit_batch(time_ps, op_of(op) if isinstance(op, str) else op, offset, size, stream)

    def next_event(self) -> int | None:
        """Returns the time of the next event in picoseconds; None if there is none.

        The event need not complete a request.
        """
        return self._native.next_event()

    def advance(self, time_ps: int) -> Completions:
        """Simulates everything up to and including a time, and returns the completed requests.

        Raises:
            WorkloadError: If the time is before that of the drive.
            CheckError: If a check found the simulation to contradict itself.
        """
        return Completions(*self._native.advance(time_ps))

    def advance_to_completion(self, time_ps: int | None = None) -> Completions:
        """Like `advance`, but stops at the next completion. Without `time_ps`, the simulated time is not limited."""
        return Completions(*self._native.advance_to_completion(time_ps))

    def drain(self) -> Completions:
        """Like `advance`, but simulates until all requests have completed."""
        return Completions(*self._native.drain())

    def report(self) -> Result:
        """Returns the report of a run that ends now; the drive is unchanged.

        The report equals that of a complete run if all requests have completed, else that of an interrupted run. It has
        no trace (`workload`), and `wall_s` counts from the creation of the drive.
        """
        document = with_provenance(self._native.report(), self._config)
        return Result.from_json(document, self._config.to_toml())

    def snapshot(self) -> Snapshot:
        """Returns a copy of the complete state of the drive."""
        return self._native.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Restores the state of a snapshot, which can be used again.

        Raises:
            ConfigError: If the snapshot is of a drive with another configuration; the message names the key that
                differs, and this drive is unchanged.
        """
        self._native.restore(snapshot)

    @property
    def now_ps(self) -> int:
        """The simulated time to which the drive was advanced, in picoseconds."""
        return self._native.now_ps

    @property
    def outstanding(self) -> int:
        """Number of requests that were submitted and have not completed."""
        return self._native.outstanding

    @property
    def sector_size(self) -> int:
        """Bytes of a sector; offsets and sizes of requests are multiples of it."""
        return self._native.sector_size

    @property
    def streams(self) -> list[str]:
        """Names of the streams, in the order of their indices."""
        return self._config.stream_names()

    def capacity(self, stream: int = 0) -> int:
        """Returns the bytes that requests of a stream can access.

        Raises:
            IndexError: If the drive has no stream of this index.
        """
        capacity = self._native.capacity(stream)
        if capacity is None:
            raise IndexError(f"there is no stream {stream}: the configuration has {len(self.streams)}")
        return capacity
