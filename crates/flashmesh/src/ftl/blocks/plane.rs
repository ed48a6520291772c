//! The account of one plane: its free blocks, its open blocks, what collection could gain.

use super::free_blocks::FreeBlocks;
use super::open_blocks::OpenBlocks;
use super::wear_spread::WearSpread;
use crate::flash::geometry::Geometry;
use crate::ftl::slc::SlcPlane;
use crate::ftl::stream::Stream;
use crate::ids::{BlockId, PlaneId};

/// The fields that each program of a page reads come first, in one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(in super::super) struct Plane {
    /// Pages that can be allocated outside the SLC cache: those of free blocks and what is left of open ones.
    pub(in super::super) free_pages: u32,
    pub(in super::super) valid_pages: u32,
    /// Invalid pages in full blocks outside the SLC cache.
    pub(in super::super) invalid_pages: u32,
    /// Blocks being collected: 0 or 1.
    pub(in super::super) collecting: u32,
    /// Blocks filled so far.
    pub(in super::super) filled: u32,
    /// Pages that writes hold before they are programmed.
    pub(in super::super) preallocated: u32,
    pub(in super::super) open: OpenBlocks,
    /// Whether translation pages are written here.
    pub(in super::super) has_map: bool,
    /// Pages on their way from another chip; each has its page in the open block for arrivals.
    pub(in super::super) awaited: u32,
    pub(in super::super) free: FreeBlocks,
    pub(in super::super) wear: WearSpread,
    /// Free blocks that no other stream may open, since a fold needs them that is under way, or that will give a lent block back: 0 or 1.
    pub(in super::super) kept: u32,
    /// The blocks of the SLC cache, where the drive has one.
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
            filled: 0,
            open: OpenBlocks::none(geometry, plane),
            has_map: false,
            awaited: 0,
            preallocated: 0,
            free: FreeBlocks::new(first, blocks, least_erased_first),
            wear: WearSpread::default(),
            kept: 0,
            slc: SlcPlane::new(geometry, plane, least_erased_first),
        }
    }

    /// Brings an unused plane to the state of `source`, a plane of another drive with one writer, but for its wear. `first_block`
    /// is added to the block numbers of `source`, whose blocks have `times` fewer pages.
    pub(super) fn copy_from(&mut self, source: &Plane, first_block: u32, times: u32) {
        self.free_pages = source.free_pages * times;
        self.valid_pages = source.valid_pages * times;
        self.invalid_pages = source.invalid_pages * times;
        self.filled = source.filled;
        self.collecting = source.collecting;
        self.open.copy_from(&source.open, first_block, times);
        // In the order in which the source would open them, since their erase counts are equal here.
        while self.free.pop().is_some() {}
        let mut free = source.free.clone();
        while let Some(block) = free.pop() {
            self.free.push(BlockId(first_block + block.0), 0);
        }
    }

    #[inline]
    pub(in super::super) fn can_open(&self, stream: Stream) -> bool {
        match stream {
            Stream::Slc => self.slc.as_ref().is_some_and(|slc| slc.can_open(self.free.len())),
            Stream::Fold => self.free.len() > stream.reserved_blocks(),
            _ => self.free.len() > stream.reserved_blocks() + self.kept,
        }
    }

    /// The free block that `stream` opens next.
    #[inline]
    pub(super) fn peek_free(&self, stream: Stream) -> Option<BlockId> {
        match stream {
            Stream::Slc => self.slc.as_ref()?.free.peek(),
            _ => self.free.peek(),
        }
    }

    /// Takes the free block that `stream` opens next.
    pub(super) fn take_free(&mut self, stream: Stream) -> Option<BlockId> {
        match stream {
            Stream::Slc => self.slc.as_mut()?.free.pop(),
            Stream::Fold => {
                self.kept = 0;
                self.free.pop()
            }
            _ => self.free.pop(),
        }
    }

    /// Whether a collection may begin, and would gain something.
    #[inline]
    pub(in super::super) fn can_collect(&self) -> bool {
        self.collecting == 0 && self.invalid_pages > 0
    }

    /// Whether the host, or the map, can allocate nothing until a block is collected.
    #[inline]
    pub(in super::super) fn is_out_of_space(&self) -> bool {
        let host_is_out = || self.open.is_host_out() && !self.can_open(Stream::SHARED);
        let is_map_out = || self.open.pages_left(Stream::Translation) == 0 && !self.can_open(Stream::Translation);
        host_is_out() || (self.has_map && is_map_out())
    }

    /// Pages that a collection can move to the open block of `stream` and to free ones before its victim is erased.
    #[inline]
    pub(super) fn collection_pages(&self, stream: Stream) -> u64 {
        let free = self.free.len().saturating_sub(self.kept);
        u64::from(self.open.pages_left(stream)) + u64::from(free) * u64::from(self.open.pages_per_block())
    }
}
