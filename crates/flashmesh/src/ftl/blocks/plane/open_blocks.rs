//! Open blocks of a plane: one for each kind of data (host writes, moved pages, translation pages and others).

use crate::flash::geometry::Geometry;
use crate::ftl::open_block_kind::OpenBlockKind;
use crate::ids::{BlockId, PlaneId, StreamId};

/// An open block, and the offset of the next page to allocate there. If `next_page` equals the number of pages of the block, the block is full, and
/// the plane has no open block for this kind of data.
#[derive(Clone, Copy, Debug)]
pub(in crate::rooms::ftl) struct OpenBlock {
    pub(in crate::rooms::ftl) block: BlockId,
    pub(in crate::rooms::ftl) next_page: u32,
}

/// Open blocks of a plane. The fields that most writes access come first; see [`Plane`](super::Plane).
#[derive(Clone, Debug)]
#[repr(C)]
pub(in crate::rooms::ftl) struct OpenBlocks {
    pages_per_block: u32,
    /// Number of pages of an SLC block.
    slc_pages_per_block: u32,
    /// Host streams with an open block of their own in the plane, as a bit set by stream number; 0 if all host streams share one open
    /// block.
    writers: u64,
    blocks: [OpenBlock; OpenBlockKind::COUNT],
    /// Open blocks of host streams 1, 2 and so on; the open block of stream 0 is in `blocks`. Empty if all streams share one open block.
    beyond: Vec<OpenBlock>,
}

impl OpenBlocks {
    /// Creates the entries of `plane`, all marked as full, because no block is open.
    pub(super) fn empty(geometry: &Geometry, plane: PlaneId) -> OpenBlocks {
        let (pages_per_block, slc_pages_per_block) = (geometry.pages_per_block, geometry.slc.pages_per_block);
        let nothing = OpenBlock { block: geometry.first_block(plane), next_page: pages_per_block };
        let mut blocks = [nothing; OpenBlockKind::COUNT];
        let before_slc = if geometry.has_slc() { geometry.native_blocks_per_plane() } else { 0 };
        let block = BlockId(nothing.block.0 + before_slc);
        blocks[OpenBlockKind::Slc.index()] = OpenBlock { block, next_page: slc_pages_per_block };
        OpenBlocks { pages_per_block, slc_pages_per_block, blocks, beyond: Vec::new(), writers: 0 }
    }

    /// Assigns an open block of its own to each host stream in the bit set `writers` (by stream number). If the set is empty, all streams
    /// share one.
    pub(in super::super) fn set_dedicated_streams(&mut self, writers: u64) {
        let streams = u64::BITS - writers.leading_zeros();
        let nothing = OpenBlock { next_page: self.pages_per_block, ..self.blocks[0] };
        self.writers = writers;
        self.beyond = vec![nothing; streams.saturating_sub(1) as usize];
    }

    /// Returns the kind of open block for writes of host stream `stream`. If streams have open blocks of their own, but `stream` has none
    /// in this plane or is `None`, returns the kind of the first stream that has one.
    #[inline]
    pub(in crate::rooms::ftl) fn host_block_kind(&self, stream: Option<StreamId>) -> OpenBlockKind {
        if self.writers == 0 {
            return OpenBlockKind::SHARED;
        }
        let writes_here = |stream: &StreamId| self.writers.checked_shr(stream.0).is_some_and(|bits| bits & 1 != 0);
        OpenBlockKind::Host(stream.filter(writes_here).unwrap_or(StreamId(self.writers.trailing_zeros())))
    }

    #[inline]
    pub(in crate::rooms::ftl) fn get(&self, stream: OpenBlockKind) -> &OpenBlock {
        match stream {
            OpenBlockKind::Host(StreamId(stream @ 1..)) => &self.beyond[stream as usize - 1],
            _ => &self.blocks[stream.index()],
        }
    }

    #[inline]
    pub(in crate::rooms::ftl) fn get_mut(&mut self, stream: OpenBlockKind) -> &mut OpenBlock {
        match stream {
            OpenBlockKind::Host(StreamId(stream @ 1..)) => &mut self.beyond[stream as usize - 1],
            _ => &mut self.blocks[stream.index()],
        }
    }

    fn streams(&self) -> impl Iterator<Item = OpenBlockKind> + use<> {
        (0..=self.beyond.len() as u32)
            .map(|stream| OpenBlockKind::Host(StreamId(stream)))
            .chain(OpenBlockKind::NON_HOST)
    }

    /// Returns the kind of data for which `block` is open with `next_page` as its next page; `None` if there is none. Compares the page as well,
    /// because the entry of a full block remains until another block of its kind is opened.
    pub(in super::super) fn stream_at(&self, block: BlockId, next_page: u32) -> Option<OpenBlockKind> {
        self.streams().find(|&stream| {
            let open = self.get(stream);
            (open.block, open.next_page) == (block, next_page)
        })
    }

    /// Returns the open blocks with pages left, each with its kind of data.
    pub(in super::super) fn opened(&self) -> impl Iterator<Item = (OpenBlockKind, OpenBlock)> {
        let streams = self.streams().filter(|&stream| self.pages_left(stream) > 0);
        streams.map(|stream| (stream, *self.get(stream)))
    }

    #[inline]
    pub(in crate::rooms::ftl) fn pages_left(&self, stream: OpenBlockKind) -> u32 {
        let pages = if stream == OpenBlockKind::Slc { self.slc_pages_per_block } else { self.pages_per_block };
        pages - self.get(stream).next_page
    }

    /// Returns whether the open block of host writes is full. If host streams have open blocks of their own, returns whether any of these is full; a
    /// block that its stream has not opened yet counts as full, because the first write needs a free block.
    #[inline]
    pub(super) fn is_host_block_full(&self) -> bool {
        match self.writers {
            0 => self.pages_left(OpenBlockKind::SHARED) == 0,
            writers => self.is_one_out(writers),
        }
    }

    fn is_one_out(&self, writers: u64) -> bool {
        (0..u64::BITS)
            .any(|stream| writers >> stream & 1 != 0 && self.pages_left(OpenBlockKind::Host(StreamId(stream))) == 0)
    }

    /// Copies the open blocks of `source`, a plane of a simulated sample with a single open block of host writes. A block of this drive has `times`
    /// as many pages as a block of the sample. `first_block` is added to the block numbers of `source`.
    pub(in super::super) fn copy_from(&mut self, source: &OpenBlocks, first_block: u32, times: u32) {
        let nothing_open = self.blocks[0];
        let of_slc = *self.get(OpenBlockKind::Slc);
        self.blocks = source.blocks.map(|OpenBlock { block, next_page }| OpenBlock {
            block: BlockId(first_block + block.0),
            next_page: next_page * times,
        });
        let written = std::mem::replace(self.get_mut(OpenBlockKind::SHARED), nothing_open);
        *self.get_mut(self.host_block_kind(None)) = written;
        // Do not copy the SLC entry: the SLC cache of this plane is empty, and the ratio `times` of block sizes need not hold for SLC blocks.
        *self.get_mut(OpenBlockKind::Slc) = of_slc;
    }

    #[inline]
    pub(in super::super) fn pages_per_block(&self) -> u32 {
        self.pages_per_block
    }
}
