//! Garbage collection: when a plane wants it, and the steps of one collection.
//!
//! The user of [`Ftl`] moves the pages: for each page of [`Ftl::next_valid_page`] it reads it, allocates a page from
//! [`Ftl::stream_of_move`], programs that, and calls [`Ftl::commit_move`]; when none is left and all programs have
//! finished it erases the victim and calls [`Ftl::finish_erase`].

use super::collection::VictimSelector;
use super::{Ftl, Superblocks};
use crate::ids::{BlockId, Lpn, PlaneId};

impl Ftl {
    /// Chooses victims by a policy of the caller's own in place of the configured one.
    pub(crate) fn set_victim_selector(&mut self, selector: Box<dyn VictimSelector + Send>) {
        self.collector.set_victim_selector(selector);
    }

    /// Has moved pages go to the block that the host writes, or to one of their own.
    pub(crate) fn set_moves_shared(&mut self, shared: bool) {
        self.blocks.set_moves_shared(shared);
    }

    /// Whether `plane` should be collected: it [is short](Ftl::is_short) of free pages, something can be gained, and no collection
    /// or wear move of the plane is under way.
    #[inline]
    pub fn wants_collection(&self, plane: PlaneId) -> bool {
        self.collector.wants(&self.blocks, plane)
    }

    /// Whether the share of free pages of `plane` is below the threshold, or the host or the map is out of space there,
    /// whether or not something can be done about it.
    #[inline]
    pub(crate) fn is_short(&self, plane: PlaneId) -> bool {
        self.collector.is_short(&self.blocks, plane)
    }

    /// Whether `plane` should be collected when its die has nothing else to do.
    #[inline]
    pub fn wants_background_collection(&self, plane: PlaneId) -> bool {
        self.collector.wants_in_background(&self.blocks, plane)
    }

    /// Whether collection of `plane` goes before user requests even when it is preemptible.
    #[inline]
    pub fn is_urgent(&self, plane: PlaneId) -> bool {
        self.collector.is_urgent(&self.blocks, plane)
    }

    /// Begins a collection of `plane`: picks a victim among its full blocks and returns it.
    ///
    /// `None` when no full block has an invalid page, or a collection or wear move of the plane is under way.
    pub fn begin_collection(&mut self, plane: PlaneId) -> Option<BlockId> {
        let victim = self.collector.begin(&mut self.blocks, plane)?;
        self.store_entries(victim);
        Some(victim)
    }

    /// Stores the map entries of the valid pages of a victim where they are computed: each is looked up several times as the page moves.
    pub(super) fn store_entries(&mut self, victim: BlockId) {
        if self.mapping.is_computed() {
            let pages = self.blocks.table().valid_offsets(victim).into_iter();
            self.mapping.store(pages.map(|page| self.geometry.ppn(victim, page)));
        }
    }

    /// Static wear levelling: when the most erased block of `plane` is more than the threshold ahead of its least
    /// erased full block, marks the latter as a victim and returns it. Its (cold) data is to be moved like that of any
    /// victim.
    ///
    /// `None` while the plane is being collected, and always when static wear levelling is off.
    pub fn wants_wear_move(&mut self, plane: PlaneId) -> Option<BlockId> {
        let victim = self.collector.begin_wear_move(&mut self.blocks, plane)?;
        self.store_entries(victim);
        Some(victim)
    }

    /// The next valid page of `block` at or after `from_page`, and the logical page it holds.
    ///
    /// Each time it comes to another 64 pages it also prefetches the map entries of all of them, since their moves will be
    /// committed soon.
    #[inline]
    pub fn next_valid_page(&self, block: BlockId, from_page: u32) -> Option<(u32, Lpn)> {
        let table = self.blocks.table();
        let first_word = (from_page / u64::BITS) as usize;
        for word in first_word..table.words_per_block() {
            let page_of_word = word as u32 * u64::BITS;
            let mut bits = table.valid_word(block, word);
            if page_of_word < from_page {
                bits &= u64::MAX << (from_page - page_of_word);
            } else {
                self.prefetch_valid(block, page_of_word, bits);
            }
            if bits != 0 {
                let page = page_of_word + bits.trailing_zeros();
                return Some((page, self.mapping.lpn_at(self.geometry.ppn(block, page))));
            }
        }
        None
    }

    fn prefetch_valid(&self, block: BlockId, page_of_word: u32, mut bits: u64) {
        while bits != 0 {
            let page = page_of_word + bits.trailing_zeros();
            bits &= bits - 1;
            self.mapping.prefetch(self.mapping.lpn_at(self.geometry.ppn(block, page)));
        }
    }

    /// `block`, a victim none of whose pages is valid any more, is erased and free again.
    ///
    /// # Panics
    /// When `block` is no victim, or still holds valid pages: data would be lost.
    pub fn finish_erase(&mut self, block: BlockId) {
        self.blocks.finish_erase(block);
    }

    /// Whether planes use the same blocks together.
    #[inline]
    pub(crate) fn has_twins(&self) -> bool {
        self.blocks.has_twins()
    }

    /// Which planes do; those of a die where none do.
    pub(crate) fn superblocks(&self) -> Superblocks {
        self.blocks.superblocks()
    }

    /// The planes that open, collect and erase blocks with `plane`: itself where each is by itself.
    pub(crate) fn set_of(&self, plane: PlaneId) -> impl Iterator<Item = PlaneId> + use<> {
        self.blocks.set_of(plane)
    }

    /// Whether two planes use the same blocks together.
    pub(crate) fn share_superblocks(&self, one: PlaneId, other: PlaneId) -> bool {
        let superblocks = self.superblocks();
        self.has_twins() && superblocks.index_of(one) == superblocks.index_of(other)
    }

    /// Pages used of the open blocks of `plane` that take what `stream` writes there, and what is moved there.
    pub(crate) fn pages_open(&self, plane: PlaneId, stream: super::Stream) -> u32 {
        self.blocks.pages_open(plane, stream)
    }

    /// How far a plane is that works with others, in programs of `stream`, counting so many pages that wait for it.
    pub(crate) fn twin_progress(&self, plane: PlaneId, stream: super::Stream, waiting: u32) -> u32 {
        self.blocks.twin_progress(plane, stream, waiting)
    }

    /// Whether the planes that share superblocks with `plane` should be collected: one is short, none is being collected, and something can be gained.
    pub(crate) fn wants_twin_collection(&self, plane: PlaneId) -> bool {
        self.collector.wants_twins(&self.blocks, plane)
    }

    /// Whether the planes that share superblocks with `plane` should be collected when they have nothing else to do.
    pub(crate) fn wants_background_twin_collection(&self, plane: PlaneId) -> bool {
        self.collector.wants_twins_in_background(&self.blocks, plane)
    }

    /// Begins a collection of the planes that share superblocks with `plane`: picks a position, and gives its blocks, one in each plane.
    ///
    /// `None` when no position that is full in all planes has an invalid page, or a collection of the planes is under way.
    pub(crate) fn begin_twin_collection(&mut self, plane: PlaneId) -> Option<Vec<BlockId>> {
        let victims = self.collector.begin_twins(&mut self.blocks, plane)?;
        victims.iter().for_each(|&victim| self.store_entries(victim));
        Some(victims)
    }

    /// The victims at the position of `victim`, one in each plane of the superblock.
    pub(crate) fn twins_of_victim(&self, victim: BlockId) -> Vec<BlockId> {
        self.blocks.twins_of_block(victim).collect()
    }
}
