"""Geometry of a drive, as policies receive it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Geometry:
    """Geometry of the array. Dies are numbered channel by channel, planes die by die."""

    channels: int
    chips_per_channel: int
    dies_per_chip: int
    planes_per_die: int
    blocks_per_plane: int
    pages_per_block: int
    page_bytes: int
    logical_pages: int
    """Number of host-visible pages of the drive."""
    seed: int
    """Seed of the run, for random numbers of a policy."""

    @property
    def dies(self) -> int:
        """Number of dies of the drive."""
        return self.channels * self.chips_per_channel * self.dies_per_chip

    @property
    def planes(self) -> int:
        """Number of planes of the drive."""
        return self.dies * self.planes_per_die

    def die_of_plane(self, plane: int) -> int:
        """Returns the index of the die that contains a plane."""
        return plane // self.planes_per_die

    def first_plane(self, die: int) -> int:
        """Returns the index of the first plane of a die."""
        return die * self.planes_per_die

    def channel_of_die(self, die: int) -> int:
        """Returns the index of the channel of a die."""
        return die // (self.chips_per_channel * self.dies_per_chip)
