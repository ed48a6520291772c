"""A drive that a program steps: requests are submitted while it runs, and time goes as far as it is told to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from flashmesh import _native, configuration, memory, states
from flashmesh._native import ConfigError
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
    """What a request asks of the drive."""

    READ = 0
    WRITE = 1
    DEALLOCATE = 2
    """Forget the bytes (NVMe Deallocate, ATA TRIM)."""
    FLUSH = 3
    """Complete when all that was written before is in the flash; it covers no bytes."""
    WRITE_ZEROES = 4


OTHER_NAMES = {"r": Op.READ, "w": Op.WRITE, "trim": Op.DEALLOCATE, "discard": Op.DEALLOCATE}
"""What data frames, fio and ATA call some operations."""
OPS = {op.name.lower(): op for op in Op} | OTHER_NAMES


def op_of(name: str) -> Op:
    """Returns the operation of a name, as results and traces spell it; case does not matter.

    Raises:
        ValueError: When no operation has this name.
    """
    found = OPS.get(name.strip().lower().replace("-", "_").replace(" ", "_"))
    if found is None:
        from flashmesh.importers.problems import suggestion

        near = suggestion(name.lower(), OPS)
        told = f"did you mean {near!r}?" if near else f"there are {', '.join(map(repr, OPS))}"
        raise ValueError(f"op {name!r}: there is no such operation: {told}")
    return found


class Status(IntEnum):
    """How a request ended."""

    SUCCESS = 0
    INVALID_OPCODE = 1
    INVALID_FIELD = 2
    INVALID_NAMESPACE = 3
    LBA_OUT_OF_RANGE = 4


@dataclass(frozen=True, slots=True)
class Completions:
    """The requests that a step completed, in that order; an array for each of their figures."""

    id: Times
    """As it was given when the request was submitted."""
    time_ps: Times
    """When the completion reached the host, in picoseconds of simulated time."""
    latency_ps: Times
    """From the arrival of the request to its completion."""
    status: Codes
    """A `Status`."""

    def __len__(self) -> int:
        """How many there are."""
        return len(self.id)


class Drive:
    """A drive that a program steps.

    Requests are submitted with the time at which they arrive, in picoseconds, and the drive is advanced to a time: all
    that happens up to then, at that time included, is simulated. The streams are those of the configuration;
    `[workload]` and `[replay]` are not followed.

        >>> drive = Drive("preset:venice-z-nand")
        >>> drive.submit(5_000_000, Op.READ, offset=4096, size=4096)
        0
        >>> completions = drive.advance(100_000_000)
        >>> completions.id
        array([0], dtype=uint64)
        >>> drive.report().requests
        1

    Where all requests that arrive up to a time are submitted before the drive is advanced to it, the report is that of
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
        """Builds the drive, at time 0.

        Args:
            config: As in `run`.
            overrides: Values by their dotted key, such as `{"fabric.kind": "ideal"}`.
            seed: Seed of all random numbers.
            check: Whether to check the simulation against its oracles as it runs.

        Raises:
            ConfigError: When the configuration cannot be used, or asks for what a drive that is stepped does not do.
        """
        self._config = configuration.load(config, overrides=overrides, seed=seed, runs=False)
        for key, name in self._config.policies():
            raise ConfigError(f"{key} is {name}: a drive that is stepped runs no policy in Python: leave the key out")
        memory.require([self._config], 1, check)
        drives = states.drives(one_run=True)
        self._native = _native.Drive(self._config, check, drives)
        states.tell_notes(drives)

    def submit(self, time_ps: int, op: Op | OpName | int, offset: int = 0, size: int = 0, stream: int = 0) -> int:
        """Submits a request; gives its id. Ids count from 0.

        Args:
            time_ps: When it arrives, in picoseconds.
            op: What it asks: an `Op`, its number or its name, such as "read".
            offset: Where it begins in the namespace of its stream, in bytes: a multiple of `sector_size`.
            size: How many bytes it covers: a positive multiple of `sector_size`, nothing for a flush.
            stream: The stream that it comes from, in the order of the configuration, from 0.

        Raises:
            ValueError: When no operation has this name.
            WorkloadError: When the request cannot be made, or arrives before the time of the drive or before the last
                one of its stream. One beyond the capacity is answered by the drive, with a status.
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
        """Submits a request for each time, or none where one is refused; gives the id of the first, the others follow.

        The arrays are read where they are, without a copy: contiguous, of `numpy.uint64`, `op` of `numpy.uint8`,
        `stream` of `numpy.uint32`. A number in place of an array holds for all requests.

        Args:
            time_ps: When each arrives.
            op: What each asks, as `submit` takes it for all requests, or an array of numbers.
            offset: Where each begins.
            size: How many bytes each covers.
            stream: The stream that each comes from.

        Raises:
            TypeError: When an array has another type.
            ValueError: When an array has another length than `time_ps`, or an operation does not exist.
            WorkloadError: As `submit`, with the row.
        """
        return self._native.submit_batch(time_ps, op_of(op) if isinstance(op, str) else op, offset, size, stream)

    def next_event(self) -> int | None:
        """When the next event comes, which need not complete a request; None where none will until one is submitted."""
        return self._native.next_event()

    def advance(self, time_ps: int) -> Completions:
        """Simulates all that happens up to a time, at that time included; gives the requests that completed.

        Raises:
            WorkloadError: When the time lies before that of the drive.
            CheckError: When a check found the simulation to contradict itself.
        """
        return Completions(*self._native.advance(time_ps))

    def advance_to_completion(self, time_ps: int | None = None) -> Completions:
        """As `advance`, but no further than the next completion, however late that is without `time_ps`."""
        return Completions(*self._native.advance_to_completion(time_ps))

    def drain(self) -> Completions:
        """As `advance`, until all requests have completed."""
        return Completions(*self._native.drain())

    def report(self) -> Result:
        """What a run would report that ends here; the drive stays as it is.

        That is the report of a whole run when all requests have completed, and of an interrupted one before that.
        It says nothing of a trace (`workload`), and `wall_s` counts from when the drive was built.
        """
        document = with_provenance(self._native.report(), self._config)
        return Result.from_json(document, self._config.to_toml())

    def snapshot(self) -> Snapshot:
        """A copy of the whole state of the drive."""
        return self._native.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Goes back to the state of a snapshot, which stays as it is.

        Raises:
            ConfigError: When the snapshot is of a drive with another configuration; the text names the key that
                differs, and this drive stays as it is.
        """
        self._native.restore(snapshot)

    @property
    def now_ps(self) -> int:
        """The time to which the drive was advanced."""
        return self._native.now_ps

    @property
    def outstanding(self) -> int:
        """Requests that were submitted and have not completed."""
        return self._native.outstanding

    @property
    def sector_size(self) -> int:
        """Offsets and sizes are multiples of this many bytes."""
        return self._native.sector_size

    @property
    def streams(self) -> list[str]:
        """The names of the streams, in the order of their numbers."""
        return self._config.stream_names()

    def capacity(self, stream: int = 0) -> int:
        """The bytes that a stream sees.

        Raises:
            IndexError: When there is no such stream.
        """
        capacity = self._native.capacity(stream)
        if capacity is None:
            raise IndexError(f"there is no stream {stream}: the configuration has {len(self.streams)}")
        return capacity
