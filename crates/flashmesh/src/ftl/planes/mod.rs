//! Planes: the namespaces that they hold, their occupancy and spare blocks, and the superblocks that they form.

pub(super) mod occupancy;
pub(super) mod partition;
pub(super) mod spare_blocks;
pub(super) mod superblocks;
