"""Layout of the files of jobs on the drive: consecutive ranges for files, the whole drive for a device file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ALIGNMENT = 1 << 20
"""Alignment in bytes of the first of the files that a stream adds; its other files follow without gaps."""
GIB = 1 << 30
DEVICE = re.compile(r"/dev/(?!shm/)|\\\\\.\\|[0-9a-fA-F]{4}:[0-9a-fA-F]{2}[:.]|trtype[:=]")
"""Prefixes of the names of devices."""


class Unplaced(Exception):  # noqa: N818 - callers turn it into an error with a place
    """Reason why files cannot be laid out."""

    def __init__(self, reason: str, remedy: str) -> None:
        """Creates the reason, with what the user can do."""
        super().__init__(reason)
        self.remedy = remedy


def is_device(path: str) -> bool:
    """Returns whether a path names a device such as /dev/nvme0n1, not a file."""
    return DEVICE.match(path) is not None


@dataclass(frozen=True, slots=True)
class Wanted:
    """Files that a stream needs on the drive, and their length."""

    paths: tuple[str, ...]
    """Paths of the files that the stream accesses."""
    length: int | None
    """Bytes needed of each file, from its start to the end of the accessed part; None if unknown."""


@dataclass(slots=True)
class Layout:
    """Layout of all files on the drive: the start and the length of each file."""

    capacity: int | None = None
    """Host capacity of the drive in bytes; None if not yet known."""
    starts: dict[str, int] = field(default_factory=dict)
    lengths: dict[str, int | None] = field(default_factory=dict)
    """Bytes of each file; None for a file that covers the whole drive, whose capacity is not known yet."""
    asks_capacity: bool = False
    """Whether the ranges depend on the capacity of the drive, so that they must be recomputed once the capacity is
    known."""

    def place(self, streams: Sequence[Wanted]) -> None:
        """Assigns a range of the drive to each file of all streams.

        Raises:
            Unplaced: If the files are larger than the drive, or leave no space for files without a size.
        """
        devices = {path for wanted in streams for path in wanted.paths if is_device(path)}
        if len(devices) == 1:
            (device,) = devices
            self.starts[device], self.lengths[device] = 0, self.capacity
        needed: dict[str, int | None] = {}
        for wanted in streams:
            for path in wanted.paths:
                known = needed.get(path)
                needed[path] = max((at for at in (known, wanted.length) if at is not None), default=None)
        files = [path for path in needed if path not in self.starts]
        if len(files) == 1 and needed[files[0]] is None:
            self.starts[files[0]], self.lengths[files[0]] = 0, self.capacity
            self.asks_capacity = True
            return
        end = 0
        for wanted in streams:
            fresh = [path for path in wanted.paths if path not in self.starts and needed[path] is not None]
            if fresh:
                end = self.append(fresh, max(needed[path] or 0 for path in fresh), end)
        if self.capacity is not None and len(files) > 1 and end > self.capacity:
            needs, has = (f"{count / GIB:.4g} GiB" for count in (end, self.capacity))
            raise Unplaced(
                f"the {len(files)} files of the jobs have {needs}, and the drive {has}",
                "let the jobs share a device or a file by `filename`, lower `size`, or take a larger drive",
            )
        self.share([path for path in files if path not in self.starts], end)

    def append(self, paths: Iterable[str], length: int, end: int) -> int:
        """Places files of equal length without gaps from the first multiple of `ALIGNMENT` at or after `end`.

        Returns the end of the last file.
        """
        at = -(-end // ALIGNMENT) * ALIGNMENT
        for path in paths:
            self.starts[path], self.lengths[path] = at, length
            at += length
        return at

    def share(self, paths: Sequence[str], end: int) -> None:
        """Divides the drive from byte `end` on equally among files of unknown size.

        Raises:
            Unplaced: If too little of the drive is left.
        """
        if not paths:
            return
        self.asks_capacity = True
        capacity = self.capacity if self.capacity is not None else end + (ALIGNMENT << 10) * len(paths)
        begin = -(-end // ALIGNMENT) * ALIGNMENT
        length = (capacity - begin) // len(paths) // ALIGNMENT * ALIGNMENT
        if length <= 0:
            raise Unplaced(f"no space is left on the drive for `{paths[0]}`, whose size is not given", "give it a size")
        self.append(paths, length, begin)

    def range_of(self, paths: Sequence[str]) -> tuple[int, int | None]:
        """Returns (first byte of the first file, bytes of each file).

        The bytes are None for a file that covers the whole drive, whose capacity is not known yet.

        Raises:
            Unplaced: If the files of the stream are not consecutive on the drive, or differ in length.
        """
        first, length = self.starts[paths[0]], self.lengths[paths[0]]
        for number, path in enumerate(paths):
            if number and (
                length is None or self.lengths[path] != length or self.starts[path] != first + number * length
            ):
                raise Unplaced(
                    f"`{path}` and `{paths[0]}` belong to several jobs, and files of other lengths lie between them",
                    "write a job for each file",
                )
        return first, length
