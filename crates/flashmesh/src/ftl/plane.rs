//! The account of one plane: its free blocks, its open blocks, what collection could gain.

use super::wear::FreeBlocks;
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

/// The number of frontiers, but for those of streams beyond the first.
const FRONTIERS: usize = 6;

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
    fn index(self) -> usize {
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

/// A block and its next page to allocate; nothing is open when `next_page` is the number of pages of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenBlock {
    pub(super) block: BlockId,
    pub(super) next_page: u32,
}

/// The account of one plane.
#[derive(Clone, Debug)]
pub(super) struct Plane {
    pages_per_block: u32,
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
    open: [OpenBlock; FRONTIERS],
    /// The open blocks of streams beyond the first.
    open_beyond: Vec<OpenBlock>,
    /// The streams of the host that have an open block of their own here, a bit each; none where all share one.
    writers: u64,
    /// Whether translation pages are written here.
    pub(super) translates: bool,
    /// Pages on their way from another chip; their places in the open block for such pages are kept.
    pub(super) awaited: u32,
    /// Pages handed out to writes that wait for their turn.
    pub(super) preallocated: u32,
    pub(super) free: FreeBlocks,
    /// The highest erase count.
    pub(super) erase_count_max: u32,
    /// No full block has a lower erase count.
    pub(super) erase_count_min: u32,
    /// Whether a block was erased since the least erased one was last looked for.
    pub(super) wear_changed: bool,
}

impl Plane {
    pub(super) fn new(first: BlockId, blocks: u32, pages_per_block: u32, least_erased_first: bool) -> Plane {
        Plane {
            pages_per_block,
            free_pages: blocks * pages_per_block,
            valid_pages: 0,
            guests: 0,
            invalid_pages: 0,
            collecting: 0,
            filled: 0,
            open: [OpenBlock { block: first, next_page: pages_per_block }; FRONTIERS],
            open_beyond: Vec::new(),
            writers: 0,
            translates: false,
            awaited: 0,
            preallocated: 0,
            free: FreeBlocks::new(first, blocks, least_erased_first),
            erase_count_max: 0,
            erase_count_min: 0,
            wear_changed: false,
        }
    }

    /// Gives each of `writers`, a bit a stream, an open block of its own; none lets all share one.
    pub(super) fn admit_writers(&mut self, writers: u64) {
        let streams = u64::BITS - writers.leading_zeros();
        let nothing = OpenBlock { next_page: self.pages_per_block, ..self.open[0] };
        self.writers = writers;
        self.open_beyond = vec![nothing; streams.saturating_sub(1) as usize];
    }

    /// The stream whose open block takes what `stream` writes: its own, or the first there is.
    #[inline]
    pub(super) fn writer(&self, stream: Option<StreamId>) -> StreamId {
        if self.writers == 0 {
            return StreamId(0);
        }
        let writes_here = |stream: &StreamId| self.writers.checked_shr(stream.0).is_some_and(|bits| bits & 1 != 0);
        stream.filter(writes_here).unwrap_or(StreamId(self.writers.trailing_zeros()))
    }

    /// The open block of `frontier`.
    #[inline]
    pub(super) fn open_block(&self, frontier: Frontier) -> &OpenBlock {
        match frontier {
            Frontier::Host(StreamId(stream @ 1..)) => &self.open_beyond[stream as usize - 1],
            _ => &self.open[frontier.index()],
        }
    }

    /// The open block of `frontier`, to be changed.
    #[inline]
    pub(super) fn open_block_mut(&mut self, frontier: Frontier) -> &mut OpenBlock {
        match frontier {
            Frontier::Host(StreamId(stream @ 1..)) => &mut self.open_beyond[stream as usize - 1],
            _ => &mut self.open[frontier.index()],
        }
    }

    /// All open blocks.
    pub(super) fn open_blocks(&self) -> impl Iterator<Item = &OpenBlock> {
        self.open.iter().chain(&self.open_beyond)
    }

    /// Brings a plane that was never used to the state of `source`, the first plane of another drive with one writer, but for
    /// its wear.
    pub(super) fn copy_from(&mut self, source: &Plane, first_block: u32) {
        self.free_pages = source.free_pages;
        self.valid_pages = source.valid_pages;
        self.invalid_pages = source.invalid_pages;
        self.filled = source.filled;
        let nothing_open = self.open[0];
        self.open = source.open.map(|open| OpenBlock { block: BlockId(first_block + open.block.0), ..open });
        let written = std::mem::replace(self.open_block_mut(Frontier::SHARED), nothing_open);
        *self.open_block_mut(Frontier::Host(self.writer(None))) = written;
        // In the order in which the source would open them, since their erase counts are equal here.
        while self.free.pop().is_some() {}
        let mut free = source.free.clone();
        while let Some(block) = free.pop() {
            self.free.push(BlockId(first_block + block.0), 0);
        }
    }

    /// Pages left in the open block of `frontier`.
    #[inline]
    pub(super) fn open_pages(&self, frontier: Frontier) -> u32 {
        self.pages_per_block - self.open_block(frontier).next_page
    }

    /// Whether `frontier` may open another block.
    #[inline]
    pub(super) fn can_open(&self, frontier: Frontier) -> bool {
        self.free.len() > frontier.untouchable_blocks()
    }

    /// Whether the host, or the map, can allocate nothing until a block is collected.
    #[inline]
    pub(super) fn is_out_of_space(&self) -> bool {
        let is_out = |frontier| self.open_pages(frontier) == 0 && !self.can_open(frontier);
        let host_is_out = || match self.writers {
            0 => is_out(Frontier::SHARED),
            writers => !self.can_open(Frontier::SHARED) && self.lacks_pages(writers),
        };
        host_is_out() || (self.translates && is_out(Frontier::Translation))
    }

    /// Whether one of `writers` has no page left in its open block. One that never wrote counts as well: its first write would
    /// have to wait.
    fn lacks_pages(&self, writers: u64) -> bool {
        (0..u64::BITS)
            .any(|stream| writers >> stream & 1 != 0 && self.open_pages(Frontier::Host(StreamId(stream))) == 0)
    }

    /// Pages that a collection can move to the open block of `frontier` and to free ones before it must have erased its victim.
    #[inline]
    pub(super) fn collection_pages(&self, frontier: Frontier) -> u64 {
        u64::from(self.open_pages(frontier)) + u64::from(self.free.len()) * u64::from(self.pages_per_block)
    }
}
