//! Blocks of the SLC cache of one plane, and the native blocks lent to it.

use crate::flash::geometry::Geometry;
use crate::ftl::blocks::free_blocks::FreeBlocks;
use crate::ids::{BlockId, PlaneId};

#[derive(Clone, Debug)]
pub(in super::super) struct SlcPlane {
    pub(in super::super) free: FreeBlocks,
    /// Full blocks of the SLC cache that are not being folded, in the order in which they were filled.
    pub(in super::super) full: Vec<BlockId>,
    /// Native blocks lent to a dynamic cache; `None` for a static cache.
    pub(in super::super) lent: Option<LentBlocks>,
}

/// Native blocks that a plane has lent to its dynamic SLC cache.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct LentBlocks {
    /// SLC blocks in use, each with the native block that is lent for it.
    pub(in super::super) blocks: Vec<(BlockId, BlockId)>,
    /// Number of free native blocks that the plane does not lend.
    pub(in super::super) kept_free: u32,
}

impl SlcPlane {
    /// Creates the state of `plane` with all SLC blocks free; `None` if the drive has no SLC cache. With `least_erased_first` (dynamic wear
    /// levelling), the least erased free block is opened first.
    pub(in super::super) fn new(
        geometry: &Geometry,
        plane: PlaneId,
        least_erased_first: bool,
    ) -> Option<Box<SlcPlane>> {
        let first = BlockId(geometry.first_block(plane).0 + geometry.native_blocks_per_plane());
        let blocks = geometry.slc.per_plane;
        let free = FreeBlocks::new(first, blocks, least_erased_first);
        let lent = geometry.slc.is_dynamic.then(LentBlocks::default);
        geometry.has_slc().then(|| Box::new(SlcPlane { free, full: Vec::new(), lent }))
    }

    /// Returns whether another SLC block may be opened while the plane has `free_in_plane` free native blocks. This number matters only for a dynamic
    /// cache.
    #[inline]
    pub(in super::super) fn can_open(&self, free_in_plane: u32) -> bool {
        self.free.len() > 0 && self.lent.as_ref().is_none_or(|lent| free_in_plane > lent.kept_free)
    }

    /// Returns whether native blocks are lent; always false for a static cache.
    pub(in super::super) fn has_lent(&self) -> bool {
        self.lent.as_ref().is_some_and(|lent| !lent.blocks.is_empty())
    }
}
