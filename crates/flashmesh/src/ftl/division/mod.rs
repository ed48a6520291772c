//! Division of the drive: the planes of each namespace, their occupancy and spare blocks, and the planes that share superblocks.

pub(super) mod occupancy;
pub(super) mod partition;
pub(super) mod spare_blocks;
pub(super) mod superblocks;
