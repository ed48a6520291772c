//! The open blocks of a plane, one for each stream.

use crate::ftl::stream::Stream;
use crate::ids::{BlockId, StreamId};

/// A block and its next page to allocate; nothing is open when `next_page` is the number of pages of a block.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct OpenBlock {
    pub(in super::super) block: BlockId,
    pub(in super::super) next_page: u32,
}

#[derive(Clone, Debug)]
pub(in super::super) struct OpenBlocks {
    pages_per_block: u32,
    blocks: [OpenBlock; Stream::COUNT],
    /// Those of host streams beyond the first.
    beyond: Vec<OpenBlock>,
    /// The streams of the host that have an open block of their own here, a bit each; none where all share one.
    writers: u64,
}

impl OpenBlocks {
    /// Nothing is open, in a plane whose first block is `first`.
    pub(super) fn none(first: BlockId, pages_per_block: u32) -> OpenBlocks {
        let nothing = OpenBlock { block: first, next_page: pages_per_block };
        OpenBlocks { pages_per_block, blocks: [nothing; Stream::COUNT], beyond: Vec::new(), writers: 0 }
    }

    /// Gives each of `writers`, a bit a stream, an open block of its own; with none all share one.
    pub(super) fn admit_writers(&mut self, writers: u64) {
        let streams = u64::BITS - writers.leading_zeros();
        let nothing = OpenBlock { next_page: self.pages_per_block, ..self.blocks[0] };
        self.writers = writers;
        self.beyond = vec![nothing; streams.saturating_sub(1) as usize];
    }

    /// The stream whose open block takes what `stream` of the host writes: its own, or the first there is.
    #[inline]
    pub(in super::super) fn writer(&self, stream: Option<StreamId>) -> Stream {
        if self.writers == 0 {
            return Stream::SHARED;
        }
        let writes_here = |stream: &StreamId| self.writers.checked_shr(stream.0).is_some_and(|bits| bits & 1 != 0);
        Stream::Host(stream.filter(writes_here).unwrap_or(StreamId(self.writers.trailing_zeros())))
    }

    #[inline]
    pub(in super::super) fn get(&self, stream: Stream) -> &OpenBlock {
        match stream {
            Stream::Host(StreamId(stream @ 1..)) => &self.beyond[stream as usize - 1],
            _ => &self.blocks[stream.index()],
        }
    }

    #[inline]
    pub(in super::super) fn get_mut(&mut self, stream: Stream) -> &mut OpenBlock {
        match stream {
            Stream::Host(StreamId(stream @ 1..)) => &mut self.beyond[stream as usize - 1],
            _ => &mut self.blocks[stream.index()],
        }
    }

    /// The stream that goes on at `next_page` of `block`. A block that is full may be open again for another one.
    pub(super) fn stream_at(&self, block: BlockId, next_page: u32) -> Option<Stream> {
        let writers = (0..=self.beyond.len() as u32).map(|stream| Stream::Host(StreamId(stream)));
        writers.chain(Stream::OF_DRIVE).find(|&stream| {
            let open = self.get(stream);
            (open.block, open.next_page) == (block, next_page)
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &OpenBlock> {
        self.blocks.iter().chain(&self.beyond)
    }

    #[inline]
    pub(in super::super) fn pages_left(&self, stream: Stream) -> u32 {
        self.pages_per_block - self.get(stream).next_page
    }

    /// Whether an open block of the host is full. One that was never written counts too: its first write would have to wait.
    #[inline]
    pub(super) fn is_host_out(&self) -> bool {
        match self.writers {
            0 => self.pages_left(Stream::SHARED) == 0,
            writers => self.is_one_out(writers),
        }
    }

    fn is_one_out(&self, writers: u64) -> bool {
        (0..u64::BITS).any(|stream| writers >> stream & 1 != 0 && self.pages_left(Stream::Host(StreamId(stream))) == 0)
    }

    /// Takes over the open blocks of `source`, a plane of another drive with one writer whose blocks have `times` fewer pages.
    /// `first_block` is added to their numbers.
    pub(super) fn copy_from(&mut self, source: &OpenBlocks, first_block: u32, times: u32) {
        let nothing_open = self.blocks[0];
        self.blocks = source.blocks.map(|OpenBlock { block, next_page }| OpenBlock {
            block: BlockId(first_block + block.0),
            next_page: next_page * times,
        });
        let written = std::mem::replace(self.get_mut(Stream::SHARED), nothing_open);
        *self.get_mut(self.writer(None)) = written;
    }

    #[inline]
    pub(super) fn pages_per_block(&self) -> u32 {
        self.pages_per_block
    }
}
