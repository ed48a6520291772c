//! The account of one plane: its free blocks, its open blocks, what collection could gain.

use super::open_blocks::OpenBlocks;
use super::wear::{FreeBlocks, WearSpread};
use crate::ids::{BlockId, StreamId};

/// Free blocks that only garbage collection may open. One is enough: a collection writes at most one block's worth of
/// pages before its victim comes back erased, and a plane runs one collection at a time.
pub(super) const RESERVE_BLOCKS: u32 = 1;

/// Blocks that a plane needs to spare for pages that arrive from other chips: the open one. A page is let in only when it
/// has a place there, so that no collection, and not the host, ever waits for it.
pub const ARRIVAL_BLOCKS: u32 = 1;

/// Blocks that a plane needs to spare for copies of pages of other dies: the open one. A copy that finds no place there is dropped.
pub const REPLICA_BLOCKS: u32 = 1;

/// Blocks that a plane needs to spare where writes get their pages early: it hands out as many pages before they are programmed.
pub const PREALLOCATED_BLOCKS: u32 = 1;

/// What an open block takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frontier {
    /// Writes of a stream of the host; of all of them where they share it.
    Host(StreamId),
    /// Pages moved by garbage collection and wear levelling.
    Collection,
    /// Pages that arrive from other chips.
    Arrival,
    /// Copies of pages of other dies.
    Replica,
    /// Translation pages that are written.
    Translation,
    /// Translation pages moved by garbage collection and wear levelling.
    TranslationCollection,
}

impl Frontier {
    /// That of the host where there is only one.
    pub(super) const SHARED: Frontier = Frontier::Host(StreamId(0));

    /// The position in a table of frontiers, without those of streams beyond the first.
    #[inline]
    pub(super) fn index(self) -> usize {
        match self {
            Frontier::Host(_) => 0,
            Frontier::Collection => 1,
            Frontier::Arrival => 2,
            Frontier::Translation => 3,
            Frontier::TranslationCollection => 4,
            Frontier::Replica => 5,
        }
    }

    /// Whether its blocks hold translation pages.
    #[inline]
    pub(super) fn is_translation(self) -> bool {
        matches!(self, Frontier::Translation | Frontier::TranslationCollection)
    }

    /// Free blocks this frontier must leave untouched.
    #[inline]
    fn untouchable_blocks(self) -> u32 {
        match self {
            Frontier::Collection | Frontier::TranslationCollection => 0,
            Frontier::Host(_) | Frontier::Arrival | Frontier::Replica | Frontier::Translation => RESERVE_BLOCKS,
        }
    }
}

/// The account of one plane.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    /// Pages that can be allocated: those of free blocks and what is left of open ones.
    pub(super) free_pages: u32,
    /// Valid pages.
    pub(super) valid_pages: u32,
    /// Of these, guests: replicas, and pages whose replica was kept.
    pub(super) guests: u32,
    /// Invalid pages in full blocks.
    pub(super) invalid_pages: u32,
    /// Blocks being collected: 0 or 1.
    pub(super) collecting: u32,
    /// Blocks filled so far.
    pub(super) filled: u32,
    pub(super) open: OpenBlocks,
    /// Whether translation pages are written here.
    pub(super) translates: bool,
    /// Pages on their way from another chip; their places in the open block for such pages are kept.
    pub(super) awaited: u32,
    /// Pages handed out to writes that wait for their turn.
    pub(super) preallocated: u32,
    pub(super) free: FreeBlocks,
    pub(super) wear: WearSpread,
}

impl Plane {
    pub(super) fn new(first: BlockId, blocks: u32, pages_per_block: u32, least_erased_first: bool) -> Plane {
        Plane {
            free_pages: blocks * pages_per_block,
            valid_pages: 0,
            guests: 0,
            invalid_pages: 0,
            collecting: 0,
            filled: 0,
            open: OpenBlocks::none(first, pages_per_block),
            translates: false,
            awaited: 0,
            preallocated: 0,
            free: FreeBlocks::new(first, blocks, least_erased_first),
            wear: WearSpread::default(),
        }
    }

    /// Brings a plane that was never used to the state of `source`, the first plane of another drive with one writer, but for
    /// its wear.
    pub(super) fn copy_from(&mut self, source: &Plane, first_block: u32) {
        self.free_pages = source.free_pages;
        self.valid_pages = source.valid_pages;
        self.invalid_pages = source.invalid_pages;
        self.filled = source.filled;
        self.open.copy_from(&source.open, first_block);
        // In the order in which the source would open them, since their erase counts are equal here.
        while self.free.pop().is_some() {}
        let mut free = source.free.clone();
        while let Some(block) = free.pop() {
            self.free.push(BlockId(first_block + block.0), 0);
        }
    }

    /// Whether `frontier` may open another block.
    #[inline]
    pub(super) fn can_open(&self, frontier: Frontier) -> bool {
        self.free.len() > frontier.untouchable_blocks()
    }

    /// Whether the host, or the map, can allocate nothing until a block is collected.
    #[inline]
    pub(super) fn is_out_of_space(&self) -> bool {
        let host_is_out = || self.open.is_host_out() && !self.can_open(Frontier::SHARED);
        let is_map_out = || self.open.pages_left(Frontier::Translation) == 0 && !self.can_open(Frontier::Translation);
        host_is_out() || (self.translates && is_map_out())
    }

    /// Pages that a collection can move to the open block of `frontier` and to free ones before it must have erased its victim.
    #[inline]
    pub(super) fn collection_pages(&self, frontier: Frontier) -> u64 {
        u64::from(self.open.pages_left(frontier)) + u64::from(self.free.len()) * u64::from(self.open.pages_per_block())
    }
}
