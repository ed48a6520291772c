//! The account of one plane: its free blocks, its open blocks, what collection could gain.

use super::free_blocks::FreeBlocks;
use super::open_blocks::OpenBlocks;
use super::wear_spread::WearSpread;
use crate::ftl::stream::Stream;
use crate::ids::BlockId;

#[derive(Clone, Debug)]
pub(in super::super) struct Plane {
    /// Pages that can be allocated: those of free blocks and what is left of open ones.
    pub(in super::super) free_pages: u32,
    pub(in super::super) valid_pages: u32,
    /// Invalid pages in full blocks.
    pub(in super::super) invalid_pages: u32,
    /// Blocks being collected: 0 or 1.
    pub(in super::super) collecting: u32,
    /// Blocks filled so far.
    pub(in super::super) filled: u32,
    pub(in super::super) open: OpenBlocks,
    /// Whether translation pages are written here.
    pub(in super::super) has_map: bool,
    /// Pages on their way from another chip; each has its page in the open block for arrivals.
    pub(in super::super) awaited: u32,
    /// Pages that writes hold before they are programmed.
    pub(in super::super) preallocated: u32,
    pub(in super::super) free: FreeBlocks,
    pub(in super::super) wear: WearSpread,
}

impl Plane {
    pub(super) fn new(first: BlockId, blocks: u32, pages_per_block: u32, least_erased_first: bool) -> Plane {
        Plane {
            free_pages: blocks * pages_per_block,
            valid_pages: 0,
            invalid_pages: 0,
            collecting: 0,
            filled: 0,
            open: OpenBlocks::none(first, pages_per_block),
            has_map: false,
            awaited: 0,
            preallocated: 0,
            free: FreeBlocks::new(first, blocks, least_erased_first),
            wear: WearSpread::default(),
        }
    }

    /// Brings an unused plane to the state of `source`, a plane of another drive with one writer, but for its wear. `first_block`
    /// is added to the block numbers of `source`, whose blocks have `times` fewer pages.
    pub(super) fn copy_from(&mut self, source: &Plane, first_block: u32, times: u32) {
        self.free_pages = source.free_pages * times;
        self.valid_pages = source.valid_pages * times;
        self.invalid_pages = source.invalid_pages * times;
        self.filled = source.filled;
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
        self.free.len() > stream.reserved_blocks()
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
        u64::from(self.open.pages_left(stream)) + u64::from(self.free.len()) * u64::from(self.open.pages_per_block())
    }
}
