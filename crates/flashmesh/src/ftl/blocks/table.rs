//! State of every erase block: valid pages, programmed pages, wear.

mod image;

use crate::engine::prefetch::prefetch;
use crate::flash::geometry::Geometry;
use crate::ftl::collection::Candidates;
use crate::ftl::interleaving::Interleaving;
use crate::ids::{BlockId, PlaneId, Ppn};

/// State of an erase block in its cycle of programs, collection and erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// Erased, not opened yet.
    Free,
    /// Open for programs, or fully allocated while the last programs are in flight.
    Open,
    /// All pages are programmed; candidate for collection.
    Full,
    /// Victim: its valid pages are moved, then it is erased.
    Collecting,
    /// Block of the SLC cache with all pages programmed, to be folded.
    SlcFull,
}

/// Tables indexed by block, and a bitmap indexed by page. All entries of a fresh drive are zero: free and never used.
#[derive(Clone, Debug)]
pub(in super::super) struct BlockTable {
    geometry: Geometry,
    words_per_block: usize,
    /// Bitmap of valid pages. Each block begins at a new word.
    valid: Vec<u64>,
    /// Row of each block, within one cache line: number of [valid pages](VALID), number of [pages programmed](PROGRAMMED) since the last erase,
    /// [state](STATE), and whether the block was last opened for [translation](TRANSLATION) pages. Arrays of integers, not structs, because `vec!`
    /// then gets zeroed memory from the operating system.
    rows: Vec<[u16; 4]>,
    /// Number of invalid pages of each full block; 0 for other blocks.
    invalid_pages: Vec<u16>,
    /// Order in which the full blocks of each plane were filled, as a sequence number from 1; 0 for blocks that are not full.
    filled: Vec<u32>,
    erase_count: Vec<u32>,
}

// Indices of the columns in a row of `BlockTable::rows`.
const VALID: usize = 0;
const PROGRAMMED: usize = 1;
const STATE: usize = 2;
const TRANSLATION: usize = 3;

impl BlockTable {
    pub(in super::super) fn new(geometry: &Geometry) -> BlockTable {
        let blocks = geometry.blocks() as usize;
        let words_per_block = geometry.pages_per_block.div_ceil(u64::BITS) as usize;
        BlockTable {
            geometry: geometry.clone(),
            words_per_block,
            valid: vec![0; blocks * words_per_block],
            rows: vec![[0; 4]; blocks],
            invalid_pages: vec![0; blocks],
            filled: vec![0; blocks],
            erase_count: vec![0; blocks],
        }
    }

    #[inline]
    pub(in super::super) fn block_of(&self, ppn: Ppn) -> BlockId {
        self.geometry.block_of(ppn)
    }

    #[inline]
    pub(in super::super) fn plane_of(&self, block: BlockId) -> PlaneId {
        self.geometry.plane_of_block(block)
    }

    #[inline]
    fn bit_of(&self, block: BlockId, ppn: Ppn) -> (usize, u64) {
        let page = ppn.0 - block.0 * self.geometry.pages_per_block;
        (block.index() * self.words_per_block + (page / u64::BITS) as usize, 1 << (page % u64::BITS))
    }

    #[inline]
    pub(in super::super) fn set_valid(&mut self, block: BlockId, ppn: Ppn) {
        let (word, bit) = self.bit_of(block, ppn);
        debug_assert_eq!(self.valid[word] & bit, 0, "page {ppn:?} is valid already");
        self.valid[word] |= bit;
        self.rows[block.index()][VALID] += 1;
    }

    /// Records the `pages` pages of `block` from `first` on as programmed and valid. Returns whether all pages of the block are then
    /// programmed.
    pub(in super::super) fn program_run(&mut self, block: BlockId, first: Ppn, pages: u32) -> bool {
        let mut page = first.0 - self.geometry.ppn(block, 0).0;
        let end = page + pages;
        while page < end {
            let count = (u64::BITS - page % u64::BITS).min(end - page);
            let bits = u64::MAX >> (u64::BITS - count) << (page % u64::BITS);
            let word = &mut self.valid[block.index() * self.words_per_block + (page / u64::BITS) as usize];
            debug_assert_eq!(*word & bits, 0, "pages of {block:?} are valid already");
            *word |= bits;
            page += count;
        }
        self.rows[block.index()][VALID] += pages as u16;
        self.rows[block.index()][PROGRAMMED] += pages as u16;
        self.programmed_pages(block) == self.geometry.pages_of(block)
    }

    /// Marks all pages of victim `block` as invalid. Returns how many were valid.
    pub(in super::super) fn clear_all_valid(&mut self, block: BlockId) -> u32 {
        debug_assert_eq!(self.state(block), BlockState::Collecting);
        self.valid[block.index() * self.words_per_block..][..self.words_per_block].fill(0);
        u32::from(std::mem::take(&mut self.rows[block.index()][VALID]))
    }

    /// Marks `ppn`, a valid page of `block`, as invalid. Returns whether the block is full, so that a collection of it would free this page.
    #[inline]
    pub(in super::super) fn clear_valid(&mut self, block: BlockId, ppn: Ppn) -> bool {
        let (word, bit) = self.bit_of(block, ppn);
        debug_assert_ne!(self.valid[word] & bit, 0, "page {ppn:?} is invalid already");
        self.valid[word] &= !bit;
        self.rows[block.index()][VALID] -= 1;
        let full = self.rows[block.index()][STATE] == BlockState::Full as u16;
        self.invalid_pages[block.index()] += u16::from(full);
        full
    }

    /// Counts one more page of `block` as programmed. Returns whether all pages of the block are then programmed.
    #[inline]
    pub(in super::super) fn count_program(&mut self, block: BlockId) -> bool {
        let programmed = &mut self.rows[block.index()][PROGRAMMED];
        *programmed += 1;
        u32::from(*programmed) == self.geometry.pages_of(block)
    }

    pub(in super::super) fn open(&mut self, block: BlockId, translation: bool) {
        debug_assert_eq!(self.state(block), BlockState::Free);
        self.set_state(block, BlockState::Open);
        self.rows[block.index()][TRANSLATION] = u16::from(translation);
    }

    /// Returns whether `block` holds translation pages, instead of host data; meaningless for a free block.
    #[inline]
    pub(in super::super) fn holds_translation(&self, block: BlockId) -> bool {
        self.rows[block.index()][TRANSLATION] != 0
    }

    /// Marks a block as full. `sequence` numbers the blocks of its plane, from 1, in the order in which they were filled. Returns the number of
    /// invalid pages of the block.
    pub(in super::super) fn fill(&mut self, block: BlockId, sequence: u32) -> u32 {
        let invalid_pages = self.geometry.pages_per_block - self.valid_pages(block);
        self.set_state(block, BlockState::Full);
        self.invalid_pages[block.index()] = invalid_pages as u16;
        self.filled[block.index()] = sequence;
        invalid_pages
    }

    /// Marks a full block as the victim of a collection, so that it is not selected again. Returns the number of its invalid pages.
    pub(in super::super) fn collect(&mut self, block: BlockId) -> u32 {
        debug_assert_eq!(self.state(block), BlockState::Full);
        self.set_state(block, BlockState::Collecting);
        self.filled[block.index()] = 0;
        u32::from(std::mem::take(&mut self.invalid_pages[block.index()]))
    }

    /// Marks a block of the SLC cache as full. Its invalid pages are not counted, because SLC blocks are folded, not collected.
    pub(in super::super) fn fill_slc(&mut self, block: BlockId) {
        debug_assert_eq!(self.state(block), BlockState::Open);
        self.set_state(block, BlockState::SlcFull);
    }

    /// Marks a full block of the SLC cache as being folded (its valid pages move to native blocks).
    pub(in super::super) fn fold(&mut self, block: BlockId) {
        debug_assert_eq!(self.state(block), BlockState::SlcFull);
        self.set_state(block, BlockState::Collecting);
    }

    /// Frees an erased victim. Returns its erase count, including this erase.
    pub(in super::super) fn erase(&mut self, block: BlockId) -> u32 {
        assert_eq!(self.state(block), BlockState::Collecting, "{block:?} is erased without having been a victim");
        assert_eq!(self.valid_pages(block), 0, "{block:?} is erased while it holds valid pages");
        self.set_state(block, BlockState::Free);
        self.rows[block.index()][PROGRAMMED] = 0;
        self.erase_count[block.index()] += 1;
        self.erase_count[block.index()]
    }

    /// Frees a native block that was lent to the SLC cache, after its erase. No page of a lent block counts as programmed. Returns the
    /// erase count of the block, including this erase.
    pub(in super::super) fn erase_lent(&mut self, block: BlockId) -> u32 {
        debug_assert_eq!((self.state(block), self.programmed_pages(block)), (BlockState::Open, 0));
        self.set_state(block, BlockState::Free);
        self.erase_count[block.index()] += 1;
        self.erase_count[block.index()]
    }

    /// Fills `block` with copies of block `source_block` of `source`, interleaved as `interleaving` describes. Copies its whole state except for
    /// wear.
    pub(in super::super) fn copy_from(
        &mut self,
        block: BlockId,
        source: &BlockTable,
        source_block: BlockId,
        interleaving: &Interleaving,
    ) {
        let (to, from) = (block.index(), source_block.index());
        let words = &source.valid[from * source.words_per_block..][..source.words_per_block];
        let own = &mut self.valid[to * self.words_per_block..][..self.words_per_block];
        interleaving.copy_bits(words, source.geometry.pages_per_block, own);
        let scaled = |pages: u16| pages * interleaving.copies() as u16;
        let [valid, programmed, state, translation] = source.rows[from];
        self.rows[to] = [scaled(valid), scaled(programmed), state, translation];
        self.invalid_pages[to] = scaled(source.invalid_pages[from]);
        self.filled[to] = source.filled[from];
    }

    /// Returns the validity of 64 pages of `block`, beginning with page 64 x `word`. Bit i is set if page 64 x `word` + i is valid.
    #[inline]
    pub(in super::super) fn valid_word(&self, block: BlockId, word: usize) -> u64 {
        self.valid[block.index() * self.words_per_block + word]
    }

    /// Prefetches, into the CPU cache, the entries that [`BlockTable::clear_valid`] changes for `ppn`.
    #[inline]
    pub(in super::super) fn prefetch(&self, ppn: Ppn) {
        let block = self.block_of(ppn);
        let (word, _) = self.bit_of(block, ppn);
        prefetch(&self.valid, word);
        prefetch(&self.rows, block.index());
    }

    /// Returns the offsets of the valid pages of `block` in ascending order.
    pub(in super::super) fn valid_offsets(&self, block: BlockId) -> Vec<u32> {
        let words = &self.valid[block.index() * self.words_per_block..][..self.words_per_block];
        let mut offsets = Vec::with_capacity(self.valid_pages(block) as usize);
        for (first, &word) in (0..).step_by(u64::BITS as usize).zip(words) {
            let mut left = word;
            while left != 0 {
                offsets.push(first + left.trailing_zeros());
                left &= left - 1;
            }
        }
        offsets
    }

    #[inline]
    pub(in super::super) fn words_per_block(&self) -> usize {
        self.words_per_block
    }

    #[inline]
    pub(in super::super) fn is_valid(&self, ppn: Ppn) -> bool {
        let (word, bit) = self.bit_of(self.block_of(ppn), ppn);
        self.valid[word] & bit != 0
    }

    #[inline]
    pub(in super::super) fn valid_pages(&self, block: BlockId) -> u32 {
        u32::from(self.rows[block.index()][VALID])
    }

    pub(in super::super) fn programmed_pages(&self, block: BlockId) -> u32 {
        u32::from(self.rows[block.index()][PROGRAMMED])
    }

    pub(in super::super) fn invalid_pages(&self, block: BlockId) -> u32 {
        u32::from(self.invalid_pages[block.index()])
    }

    pub(in super::super) fn filled(&self, block: BlockId) -> u32 {
        self.filled[block.index()]
    }

    #[inline]
    pub(in super::super) fn erase_count(&self, block: BlockId) -> u32 {
        self.erase_count[block.index()]
    }

    fn set_state(&mut self, block: BlockId, state: BlockState) {
        self.rows[block.index()][STATE] = state as u16;
    }

    pub(in super::super) fn state(&self, block: BlockId) -> BlockState {
        match self.rows[block.index()][STATE] {
            0 => BlockState::Free,
            1 => BlockState::Open,
            2 => BlockState::Full,
            3 => BlockState::Collecting,
            _ => BlockState::SlcFull,
        }
    }

    /// Returns whether a block is free and was never used: all of its counters are zero, and if `with_bitmap` is true, all bits of its bitmap as
    /// well.
    pub(in super::super) fn is_untouched(&self, block: BlockId, with_bitmap: bool) -> bool {
        let at = block.index();
        let [valid, programmed, state, _] = self.rows[at];
        valid | programmed | self.invalid_pages[at] == 0
            && state == BlockState::Free as u16
            && self.filled[at] | self.erase_count[at] == 0
            && (!with_bitmap || (0..self.words_per_block).all(|word| self.valid_word(block, word) == 0))
    }

    pub(in super::super) fn blocks_of_plane(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + use<> {
        let first = self.first_of_plane(plane).0;
        (first..first + self.geometry.blocks_per_plane).map(BlockId)
    }

    pub(in super::super) fn first_of_plane(&self, plane: PlaneId) -> BlockId {
        self.geometry.first_block(plane)
    }

    /// Returns the full blocks of `plane`, among which the victim selector chooses.
    pub(in super::super) fn candidates(&self, plane: PlaneId) -> Candidates<'_> {
        let (invalid_pages, filled) = self.full_blocks(plane);
        Candidates::new(plane, invalid_pages, filled)
    }

    /// Returns, for each block of `plane` in order, its number of invalid pages, and a sequence number, from 1, by which the blocks were filled. Both
    /// are 0 for blocks that are not full.
    pub(in super::super) fn full_blocks(&self, plane: PlaneId) -> (&[u16], &[u32]) {
        let first = self.first_of_plane(plane).index();
        let blocks = first..first + self.geometry.blocks_per_plane as usize;
        (&self.invalid_pages[blocks.clone()], &self.filled[blocks])
    }
}

/// Table entries of one block, for tests that inject faults.
#[cfg(test)]
pub(in super::super) struct BlockEntry<'a> {
    pub(in super::super) valid: &'a mut [u64],
    pub(in super::super) valid_pages: &'a mut u16,
    pub(in super::super) programmed_pages: &'a mut u16,
    pub(in super::super) state: &'a mut u16,
    pub(in super::super) invalid_pages: &'a mut u16,
    pub(in super::super) filled: &'a mut u32,
    pub(in super::super) translation: &'a mut u16,
}

#[cfg(test)]
impl BlockTable {
    pub(in super::super) fn entry(&mut self, block: BlockId) -> BlockEntry<'_> {
        let (at, words) = (block.index(), self.words_per_block);
        let [valid_pages, programmed_pages, state, translation] = &mut self.rows[at];
        BlockEntry {
            valid: &mut self.valid[at * words..][..words],
            valid_pages,
            programmed_pages,
            state,
            invalid_pages: &mut self.invalid_pages[at],
            filled: &mut self.filled[at],
            translation,
        }
    }
}
