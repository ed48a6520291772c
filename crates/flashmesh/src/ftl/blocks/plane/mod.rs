//! State of a plane: free blocks, open blocks, and invalid pages that collection could free.

pub(in super::super) mod free_blocks;
pub(super) mod open_blocks;
mod wear_spread;

use crate::flash::geometry::Geometry;
use crate::ftl::open_block_kind::OpenBlockKind;
use crate::ftl::slc::SlcPlane;
use crate::ids::{BlockId, PlaneId};
use free_blocks::FreeBlocks;
use open_blocks::OpenBlocks;
use wear_spread::WearSpread;

/// State of a plane. The fields that each program accesses come first, in one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(in super::super) struct Plane {
    /// Number of pages that can be allocated outside the SLC cache, in free and open blocks.
    pub(in super::super) free_pages: u32,
    pub(in super::super) valid_pages: u32,
    /// Number of invalid pages in full blocks outside the SLC cache: what collections could free.
    pub(in super::super) invalid_pages: u32,
    /// Number of blocks being collected or folded: 0 or 1.
    pub(in super::super) collecting: u32,
    /// Number of blocks filled so far outside the SLC cache, which is the sequence number of the block filled last.
    pub(in super::super) blocks_filled: u32,
    /// Number of pages allocated to early-bound writes that are not programmed yet.
    pub(in super::super) preallocated: u32,
    pub(in super::super) open: OpenBlocks,
    /// Whether translation pages are written to the plane.
    pub(in super::super) holds_translation: bool,
    /// Number of pages in flight to this plane from other chips. For each of these pages, a page of the open block for arriving pages is
    /// free.
    pub(in super::super) incoming_pages: u32,
    pub(in super::super) free: FreeBlocks,
    pub(in super::super) wear: WearSpread,
    /// Number of free blocks (0 or 1) kept for pages folded out of the SLC cache. A block is kept for a fold in progress, or for the fold that will
    /// return a native block lent to the cache. Only folded pages may open this block.
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

    /// Copies the state of `source`, except for wear, to this unused plane. `source` is a plane of a simulated sample with a single open block of
    /// host writes. A block of this drive has `times` as many pages as a block of the sample. `first_block` is added to the block numbers of
    /// `source`.
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

    /// Returns the free block that would be opened next for data of kind `stream`; `None` if no block is free.
    #[inline]
    pub(super) fn peek_free(&self, stream: OpenBlockKind) -> Option<BlockId> {
        match stream {
            OpenBlockKind::Slc => self.slc.as_ref()?.free.peek(),
            _ => self.free.peek(),
        }
    }

    /// Removes and returns the free block to open next for data of kind `stream`; `None` if no block is free.
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

    /// Returns whether a collection may begin: none is in progress, and a full block has invalid pages.
    #[inline]
    pub(in super::super) fn can_collect(&self) -> bool {
        self.collecting == 0 && self.invalid_pages > 0
    }

    /// Returns whether host writes, or writes of translation pages, cannot allocate a page before a block is collected.
    #[inline]
    pub(in super::super) fn is_out_of_space(&self) -> bool {
        let host_is_out = || self.open.is_host_block_full() && !self.can_open(OpenBlockKind::SHARED);
        let is_map_out =
            || self.open.pages_left(OpenBlockKind::Translation) == 0 && !self.can_open(OpenBlockKind::Translation);
        host_is_out() || (self.holds_translation && is_map_out())
    }

    /// Returns the number of pages that a collection can write before its victim is erased: in the open block of kind `stream` and in all
    /// free blocks, including the reserve (last free block) but not a block kept for a fold.
    #[inline]
    pub(super) fn collection_pages(&self, stream: OpenBlockKind) -> u64 {
        let free = self.free.len().saturating_sub(self.kept_for_fold);
        u64::from(self.open.pages_left(stream)) + u64::from(free) * u64::from(self.open.pages_per_block())
    }
}
