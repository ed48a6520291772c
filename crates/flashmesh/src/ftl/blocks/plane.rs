//! State of a plane: free blocks, open blocks, and invalid pages that collection could gain.

use super::free_blocks::FreeBlocks;
use super::open_blocks::OpenBlocks;
use super::wear_spread::WearSpread;
use crate::flash::geometry::Geometry;
use crate::ftl::open_block_kind::OpenBlockKind;
use crate::ftl::slc::SlcPlane;
use crate::ids::{BlockId, PlaneId};

/// State of a plane. The fields that each program accesses come first, in one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(in super::super) struct Plane {
    /// Pages that can be allocated outside the SLC cache, in free and open blocks.
    pub(in super::super) free_pages: u32,
    pub(in super::super) valid_pages: u32,
    /// Invalid pages in full blocks outside the SLC cache.
    pub(in super::super) invalid_pages: u32,
    /// Number of blocks being collected: 0 or 1.
    pub(in super::super) collecting: u32,
    /// Number of blocks filled so far: the sequence number of the block filled last.
    pub(in super::super) blocks_filled: u32,
    /// Pages allocated to early-bound writes that are not programmed yet.
    pub(in super::super) preallocated: u32,
    pub(in super::super) open: OpenBlocks,
    /// Whether translation pages are written to the plane.
    pub(in super::super) holds_translation: bool,
    /// Pages in flight from other chips. Each has a page in the open block for arrivals.
    pub(in super::super) incoming_pages: u32,
    pub(in super::super) free: FreeBlocks,
    pub(in super::super) wear: WearSpread,
    /// Number of free blocks (0 or 1) kept for a fold in progress, or for the fold that will return a lent block. Only folded pages may open this
    /// block.
    pub(in super::super) kept_for_fold: u32,
    /// Blocks of the SLC cache; `None` without an SLC cache.
    pub(in super::super) slc: Option<Box<SlcPlane>>,
}

impl Plane {
    pub(super) fn new(geometry: &Geometry, plane: PlaneId, least_erased_first: bool) -> Plane {
        let (first, pages_per_block) = (geometry.first_block(plane), geometry.pages_per_block);
        let blocks = geometry.native_blocks_per_plane();
        Plane {
            free_pages: blocks * pages_per_block,
            valid_pages: 0,
            invalid_pages: 0,
            collecting: 0,
            blocks_filled: 0,
            open: OpenBlocks::empty(geometry, plane),
            holds_translation: false,
            incoming_pages: 0,
            preallocated: 0,
            free: FreeBlocks::new(first, blocks, least_erased_first),
            wear: WearSpread::default(),
            kept_for_fold: 0,
            slc: SlcPlane::new(geometry, plane, least_erased_first),
        }
    }

    /// Copies the state of `source`, except for wear, to this unused plane. `source` is a plane of another drive with a single open block of host
    /// writes. A block of this drive has `times` as many pages as a block of that drive. Adds `first_block` to the block numbers of `source`.
    pub(super) fn copy_from(&mut self, source: &Plane, first_block: u32, times: u32) {
        self.free_pages = source.free_pages * times;
        self.valid_pages = source.valid_pages * times;
        self.invalid_pages = source.invalid_pages * times;
        self.blocks_filled = source.blocks_filled;
        self.collecting = source.collecting;
        self.open.copy_from(&source.open, first_block, times);
        // Push the free blocks in the order in which `source` would open them. All are pushed with an erase count of 0, so that this order is kept.
        while self.free.pop().is_some() {}
        let mut free = source.free.clone();
        while let Some(block) = free.pop() {
            self.free.push(BlockId(first_block + block.0), 0);
        }
    }

    #[inline]
    pub(in super::super) fn can_open(&self, stream: OpenBlockKind) -> bool {
        match stream {
            OpenBlockKind::Slc => self.slc.as_ref().is_some_and(|slc| slc.can_open(self.free.len())),
            OpenBlockKind::Fold => self.free.len() > stream.reserved_blocks(),
            _ => self.free.len() > stream.reserved_blocks() + self.kept_for_fold,
        }
    }

    /// Returns the free block that would be opened next for `stream`.
    #[inline]
    pub(super) fn peek_free(&self, stream: OpenBlockKind) -> Option<BlockId> {
        match stream {
            OpenBlockKind::Slc => self.slc.as_ref()?.free.peek(),
            _ => self.free.peek(),
        }
    }

    /// Removes and returns the free block to open next for `stream`.
    pub(super) fn pop_free(&mut self, stream: OpenBlockKind) -> Option<BlockId> {
        match stream {
            OpenBlockKind::Slc => self.slc.as_mut()?.free.pop(),
            OpenBlockKind::Fold => {
                self.kept_for_fold = 0;
                self.free.pop()
            }
            _ => self.free.pop(),
        }
    }

    /// Returns whether a collection may begin and would gain pages.
    #[inline]
    pub(in super::super) fn can_collect(&self) -> bool {
        self.collecting == 0 && self.invalid_pages > 0
    }

    /// Returns whether host writes or the map cannot allocate a page before a block is collected.
    #[inline]
    pub(in super::super) fn is_out_of_space(&self) -> bool {
        let host_is_out = || self.open.is_host_block_full() && !self.can_open(OpenBlockKind::SHARED);
        let is_map_out =
            || self.open.pages_left(OpenBlockKind::Translation) == 0 && !self.can_open(OpenBlockKind::Translation);
        host_is_out() || (self.holds_translation && is_map_out())
    }

    /// Returns the pages that a collection can write, in the open block of `stream` and in free blocks, before its victim is erased.
    #[inline]
    pub(super) fn collection_pages(&self, stream: OpenBlockKind) -> u64 {
        let free = self.free.len().saturating_sub(self.kept_for_fold);
        u64::from(self.open.pages_left(stream)) + u64::from(free) * u64::from(self.open.pages_per_block())
    }
}
