//! The blocks of the SLC cache of one plane.

use crate::flash::geometry::Geometry;
use crate::ftl::blocks::free_blocks::FreeBlocks;
use crate::ids::{BlockId, PlaneId};

#[derive(Clone, Debug)]
pub(in super::super) struct SlcPlane {
    pub(in super::super) free: FreeBlocks,
    /// Full blocks that are not being folded, the one filled first first.
    pub(in super::super) full: Vec<BlockId>,
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
        geometry.has_slc().then(|| Box::new(SlcPlane { free, full: Vec::new() }))
    }
}
