//! The open blocks of a plane: which one takes what.

use super::plane::Frontier;
use crate::ids::{BlockId, StreamId};

/// The number of frontiers, but for those of streams beyond the first.
const FRONTIERS: usize = 6;

/// A block and its next page to allocate; nothing is open when `next_page` is the number of pages of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenBlock {
    pub(super) block: BlockId,
    pub(super) next_page: u32,
}

/// An open block for each frontier.
#[derive(Clone, Debug)]
pub(super) struct OpenBlocks {
    pages_per_block: u32,
    blocks: [OpenBlock; FRONTIERS],
    /// Those of streams beyond the first.
    beyond: Vec<OpenBlock>,
    /// The streams of the host that have an open block of their own here, a bit each; none where all share one.
    writers: u64,
}

impl OpenBlocks {
    /// None is open, in a plane whose first block is `first`.
    pub(super) fn none(first: BlockId, pages_per_block: u32) -> OpenBlocks {
        let nothing = OpenBlock { block: first, next_page: pages_per_block };
        OpenBlocks { pages_per_block, blocks: [nothing; FRONTIERS], beyond: Vec::new(), writers: 0 }
    }

    /// Gives each of `writers`, a bit a stream, an open block of its own; none lets all share one.
    pub(super) fn admit_writers(&mut self, writers: u64) {
        let streams = u64::BITS - writers.leading_zeros();
        let nothing = OpenBlock { next_page: self.pages_per_block, ..self.blocks[0] };
        self.writers = writers;
        self.beyond = vec![nothing; streams.saturating_sub(1) as usize];
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

    /// The frontier of what the host writes and [`writer`](OpenBlocks::writer) finds for no stream.
    #[inline]
    pub(super) fn of_host(&self) -> Frontier {
        Frontier::Host(self.writer(None))
    }

    /// That of `frontier`.
    #[inline]
    pub(super) fn get(&self, frontier: Frontier) -> &OpenBlock {
        match frontier {
            Frontier::Host(StreamId(stream @ 1..)) => &self.beyond[stream as usize - 1],
            _ => &self.blocks[frontier.index()],
        }
    }

    /// That of `frontier`, to be changed.
    #[inline]
    pub(super) fn get_mut(&mut self, frontier: Frontier) -> &mut OpenBlock {
        match frontier {
            Frontier::Host(StreamId(stream @ 1..)) => &mut self.beyond[stream as usize - 1],
            _ => &mut self.blocks[frontier.index()],
        }
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &OpenBlock> {
        self.blocks.iter().chain(&self.beyond)
    }

    /// Pages left in that of `frontier`.
    #[inline]
    pub(super) fn pages_left(&self, frontier: Frontier) -> u32 {
        self.pages_per_block - self.get(frontier).next_page
    }

    /// Whether one of the host has no page left. One that never wrote counts as well: its first write would have to wait.
    #[inline]
    pub(super) fn is_host_out(&self) -> bool {
        match self.writers {
            0 => self.pages_left(Frontier::SHARED) == 0,
            writers => self.is_one_out(writers),
        }
    }

    fn is_one_out(&self, writers: u64) -> bool {
        (0..u64::BITS)
            .any(|stream| writers >> stream & 1 != 0 && self.pages_left(Frontier::Host(StreamId(stream))) == 0)
    }

    /// Brings those of a plane that was never used to the state of `source`, those of the first plane of another drive with one
    /// writer.
    pub(super) fn copy_from(&mut self, source: &OpenBlocks, first_block: u32) {
        let nothing_open = self.blocks[0];
        self.blocks = source.blocks.map(|open| OpenBlock { block: BlockId(first_block + open.block.0), ..open });
        let written = std::mem::replace(self.get_mut(Frontier::SHARED), nothing_open);
        *self.get_mut(self.of_host()) = written;
    }

    /// Pages of a block.
    #[inline]
    pub(super) fn pages_per_block(&self) -> u32 {
        self.pages_per_block
    }
}
