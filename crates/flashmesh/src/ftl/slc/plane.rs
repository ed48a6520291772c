//! The blocks of the SLC cache of one plane.

use crate::flash::geometry::Geometry;
use crate::ftl::blocks::free_blocks::FreeBlocks;
use crate::ids::{BlockId, PlaneId};

#[derive(Clone, Debug)]
pub(in super::super) struct SlcPlane {
    pub(in super::super) free: FreeBlocks,
    /// Full blocks that are not being folded, the one filled first first.
    pub(in super::super) full: Vec<BlockId>,
    /// Where its blocks are lent.
    pub(in super::super) lent: Option<Lent>,
}

/// What a plane lends to a dynamic cache.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Lent {
    /// Blocks of the cache, each with the block of the plane that it stands for.
    pub(in super::super) blocks: Vec<(BlockId, BlockId)>,
    /// Free blocks that the plane keeps for itself.
    pub(in super::super) kept_free: u32,
}

impl SlcPlane {
    /// All blocks are free; `None` where the drive has no SLC cache.
    pub(in super::super) fn new(
        geometry: &Geometry,
        plane: PlaneId,
        least_erased_first: bool,
    ) -> Option<Box<SlcPlane>> {
        let first = BlockId(geometry.first_block(plane).0 + geometry.native_blocks_per_plane());
        let blocks = geometry.slc.per_plane;
        let free = FreeBlocks::new(first, blocks, least_erased_first);
        let lent = geometry.slc.is_dynamic.then(Lent::default);
        geometry.has_slc().then(|| Box::new(SlcPlane { free, full: Vec::new(), lent }))
    }

    /// Whether another block may be opened, while the plane has so many free.
    #[inline]
    pub(in super::super) fn can_open(&self, free_in_plane: u32) -> bool {
        self.free.len() > 0 && self.lent.as_ref().is_none_or(|lent| free_in_plane > lent.kept_free)
    }

    /// Whether blocks are lent that were not given back.
    pub(in super::super) fn has_lent(&self) -> bool {
        self.lent.as_ref().is_some_and(|lent| !lent.blocks.is_empty())
    }
}
